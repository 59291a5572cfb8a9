import { createObjectMemo, type FieldContext, type FieldPair, once } from '../../plugin/index.ts';
import { type AvailabilityRecord, recordOf } from './availability-record.ts';

type Records = readonly AvailabilityRecord[];

interface Request {
  readonly countryCodes: readonly string[];
  readonly metricKeys: readonly string[];
  readonly resolve: (records: Records) => void;
  readonly reject: (error: unknown) => void;
}

interface AsOfCalls {
  /** Calls of the operation so far: each may have brought figures. */
  readonly calls: number;
  readonly records: ReturnType<typeof createCachedRecords>;
}

const ofOperations = createObjectMemo<AsOfCalls>('cached records');

export function cachedRecordsFor(context: FieldContext): AsOfCalls['records'] {
  const { calls } = context;
  const former = ofOperations.of(context);
  if (former?.calls === calls) return former.records;
  return ofOperations.put(context, { calls, records: createCachedRecords(context) }).records;
}

/**
 * Reads what is cached of the figures that one operation asks about: each pair once, whichever fields and aliases
 * share it, and in turns, since the names alone of all pairs take milliseconds.
 */
export function createCachedRecords({ cached, turns, want }: FieldContext) {
  /** Null if nothing is cached, or it isn't read yet. */
  const records = new Map<string, Map<string, AvailabilityRecord | null>>();
  const shared = new Map<string, Promise<Records>>();
  let pending: Request[] = [];
  let isReading = false;

  function recordsOf(countryCode: string) {
    const ofCountry = records.get(countryCode);
    if (ofCountry !== undefined) return ofCountry;
    const none = new Map<string, AvailabilityRecord | null>();
    records.set(countryCode, none);
    return none;
  }

  async function readAll(requests: readonly Request[]): Promise<void> {
    const unread: FieldPair[] = [];
    await turns.each(requests, ({ countryCodes, metricKeys }) => {
      for (const countryCode of countryCodes) {
        const ofCountry = recordsOf(countryCode);
        for (const metricKey of metricKeys) {
          if (ofCountry.has(metricKey)) continue;
          ofCountry.set(metricKey, null);
          unread.push({ countryCode, metricKey });
        }
      }
    });
    await cached.figures(unread, (pair, figures) => {
      recordsOf(pair.countryCode).set(pair.metricKey, recordOf(pair, figures));
    });
    await turns.each(requests, ({ countryCodes, metricKeys, resolve }) => {
      const recordOfPair = (code: string) => (key: string) => recordsOf(code).get(key) ?? [];
      resolve(countryCodes.flatMap((code) => metricKeys.flatMap(recordOfPair(code))));
    });
  }

  async function readPending(): Promise<void> {
    isReading = true;
    // Fields that are resolved at about the same time are read together.
    for (await turns.next(); pending.length > 0; await turns.next()) {
      const requests = pending;
      pending = [];
      try {
        await readAll(requests);
      } catch (error) {
        records.clear();
        for (const { reject } of requests) reject(error);
      }
    }
    isReading = false;
  }

  function read(countryCodes: readonly string[], metricKeys: readonly string[]): Promise<Records> {
    return new Promise((resolve, reject) => {
      pending.push({ countryCodes, metricKeys, resolve, reject });
      if (!isReading) void readPending();
    });
  }

  async function of(countryCodes: readonly string[], metricKeys: readonly string[]): Promise<Records> {
    want(countryCodes.length * metricKeys.length);
    return read([...new Set(countryCodes)], [...new Set(metricKeys)]);
  }

  function together(name: string, load: () => Promise<Records>): Promise<Records> {
    const coming = shared.get(name) ?? load();
    shared.set(name, coming);
    return coming;
  }

  const metricKeys = once(cached.indicatorKeys);
  const countryCodes = once(cached.countryCodes);

  return {
    metricKeys,
    countryCodes,
    /**
     * Ordered by country, then by metric.
     * @throws Failure OPERATION_TOO_EXPENSIVE before anything is read
     */
    of,
    /** Of all metrics; one list for all fields. */
    ofCountry: (code: string) => together(`country ${code}`, async () => of([code], await metricKeys())),
    /** Of all countries; one list for all fields. */
    ofIndicator: (key: string) => together(`indicator ${key}`, async () => of(countryCodes(), [key])),
  };
}
