import { type Demand, demandFor } from '../../src/observations/planner/demand.ts';
import type { Call, Send } from '../../src/service/call.ts';
import { Failure } from '../../src/shared/errors.ts';

/** Answers of a service on points that the specification of `/v1/data` leaves open. */
export interface Habits {
  /** `source`: all rows of one source before those of the next, whosever they are. */
  readonly order: 'pair' | 'source' | 'place' | 'year' | 'year-descending' | 'shuffled';
  /** Rows of an answer without `limit`, and the highest `limit`. */
  readonly defaultRows: number;
  readonly maxRows: number;
  readonly limit: 'honour' | 'ignore' | 'refuse';
  /** A `limit` above the highest. */
  readonly overLimit: 'lower' | 'refuse' | 'refuse-silently';
  /** Meaning of `meta.total`: all matching rows, those sent, or it is not there. */
  readonly total: 'true' | 'capped' | 'none';
  readonly tellsLimit: boolean;
  /**
   * Treatment of `start_year` and `end_year`; `exclude` leaves out the last year that is named, `exclude
   * both` the first too, and `year after` takes each for the year after that of the row.
   */
  readonly years: 'honour' | 'exclude' | 'exclude both' | 'year after' | 'ignore' | 'refuse';
  readonly unknown: 'empty' | 'name' | 'refuse';
  /** The status of a refusal on account of a name. */
  readonly unknownStatus: 404 | 422;
  /** Answer to a call that no row matches. */
  readonly nothing: 'empty' | 'not found';
  /** True if two spellings of a metric key are one key. */
  readonly folds: boolean;
}

/** The service as it has been seen. */
export const SEEN: Habits = {
  order: 'pair',
  defaultRows: 100,
  maxRows: 1000,
  limit: 'honour',
  overLimit: 'refuse',
  total: 'true',
  tellsLimit: true,
  years: 'honour',
  unknown: 'empty',
  unknownStatus: 404,
  nothing: 'empty',
  folds: false,
};

export interface Row {
  readonly countryCode: string;
  readonly metricKey: string;
  readonly year: number;
  readonly locationName: string | null;
  readonly source?: string;
  /** Null is no figure. */
  readonly value: number | null;
}

export interface Table {
  readonly countryCodes: readonly string[];
  readonly metricKeys: readonly string[];
  readonly rows: readonly Row[];
}

/** Two-letter codes that are no country's names but look like them. */
export const codeAt = (index: number) =>
  String.fromCharCode(65 + Math.floor(index / 26)) + String.fromCharCode(65 + (index % 26));
export const keyAt = (index: number) => `metric_${index}`;

/** A table in which each pair has a series of so many years up to 2025, by two sources in turn. No two rows have the same value. */
export function tableOf(
  countries: number,
  metrics: number,
  yearsOf: (c: number, m: number) => number,
): Table {
  const countryCodes = Array.from({ length: countries }, (_, index) => codeAt(index));
  const metricKeys = Array.from({ length: metrics }, (_, index) => keyAt(index));
  const rows: Row[] = [];
  for (const [c, countryCode] of countryCodes.entries()) {
    for (const [m, metricKey] of metricKeys.entries()) {
      for (let years = yearsOf(c, m); years > 0; years -= 1) {
        const source = `source ${rows.length % 2}`;
        rows.push({
          countryCode,
          metricKey,
          year: 2026 - years,
          locationName: null,
          source,
          value: rows.length,
        });
      }
    }
  }
  return { countryCodes, metricKeys, rows };
}

/** Demands of one kind for each country with each metric. */
export function demandsFor(
  mode: Demand['mode'],
  { countryCodes, metricKeys }: Pick<Table, 'countryCodes' | 'metricKeys'>,
): Demand[] {
  return countryCodes.flatMap((countryCode) =>
    metricKeys.map((metricKey) => demandFor(mode, countryCode, metricKey)),
  );
}

export const isOf =
  ({ countryCode, metricKey }: { readonly countryCode: string; readonly metricKey: string }) =>
  (row: Row) =>
    row.countryCode === countryCode && row.metricKey === metricKey;

/** The highest year, and in it the national row. */
export function newestIn(rows: readonly Row[]): Row | undefined {
  return rows.toSorted(
    (a, b) => b.year - a.year || Number(a.locationName !== null) - Number(b.locationName !== null),
  )[0];
}

/** Distance of the first and the last year that come from those that are named. */
const SHIFTS: Readonly<Record<Habits['years'], readonly [from: number, to: number]>> = {
  honour: [0, 0],
  exclude: [0, -1],
  'exclude both': [1, -1],
  'year after': [-1, -1],
  ignore: [0, 0],
  refuse: [0, 0],
};

/** A miniature of the data route: one function over a table, in place of everything below the loaders. */
export function createDataRoute(table: Table, habits: Habits = SEEN) {
  const targets: string[] = [];
  const ordered = inOrder(table.rows, habits.order);
  const codes = new Set(table.countryCodes);
  const spelt = (key: string) => (habits.folds ? key.toLowerCase() : key);
  const keys = new Set(table.metricKeys.map(spelt));

  function refuse(call: Call, detail: string): never {
    throw new Failure('BAD_USER_INPUT', 'The service refused the arguments.', { route: call.route, detail });
  }

  const send: Send = async (call, { payer, signal }) => {
    targets.push(call.target);
    payer.reserve(call.route).charge();
    // Waits a turn of the loop, as a network does: calls that are sent at once are sent before the first
    // answer.
    await Promise.resolve();
    signal.throwIfAborted();
    const query = new URL(call.target, 'http://service.test').searchParams;
    const wantedCodes = query.get('country_codes')?.split(',') ?? [];
    const wantedKeys = (query.get('metric_keys')?.split(',') ?? []).map(spelt);

    const asked = query.has('limit') ? Number(query.get('limit')) : undefined;
    let limit = habits.defaultRows;
    if (asked !== undefined && habits.limit === 'refuse') {
      refuse(call, 'query.limit: Extra inputs are not permitted');
    }
    if (asked !== undefined && habits.limit === 'honour') {
      if (asked > habits.maxRows && habits.overLimit === 'refuse') {
        refuse(call, `query.limit: Input should be less than or equal to ${habits.maxRows}`);
      }
      if (asked > habits.maxRows && habits.overLimit === 'refuse-silently') refuse(call, 'Bad request');
      limit = Math.min(asked, habits.maxRows);
    }
    const hasYears = query.has('start_year') || query.has('end_year');
    if (hasYears && habits.years === 'refuse')
      refuse(call, 'query.start_year: Extra inputs are not permitted');
    const named = {
      from: Number(query.get('start_year') ?? Number.NEGATIVE_INFINITY),
      to: Number(query.get('end_year') ?? Number.POSITIVE_INFINITY),
    };
    const [before, after] = SHIFTS[habits.years];
    const isWithin = ({ year }: Row) =>
      habits.years === 'ignore' || (year >= named.from + before && year <= named.to + after);

    const unknown = [
      ...wantedCodes
        .filter((code) => !codes.has(code))
        .map((code) => `country not found: ${code.toLowerCase()}`),
      ...wantedKeys.filter((key) => !keys.has(key)).map((key) => `metric not found: ${key}`),
    ];
    if (unknown[0] !== undefined && habits.unknown !== 'empty') {
      const detail = habits.unknown === 'name' ? unknown[0] : 'No such country or metric';
      if (habits.unknownStatus === 422) refuse(call, detail);
      return { status: 404, headers: {}, body: { detail }, receivedAt: 0 };
    }

    const isWanted = (row: Row) =>
      wantedCodes.includes(row.countryCode) && wantedKeys.includes(spelt(row.metricKey));
    let matching = ordered.filter((row) => isWanted(row) && isWithin(row));
    if (query.get('latest') === 'true') {
      const newest = new Map<string, Row>();
      for (const row of matching) {
        const name = `${row.countryCode} ${row.metricKey}`;
        newest.set(name, newestIn([row, ...(newest.has(name) ? [newest.get(name) as Row] : [])]) as Row);
      }
      const isNewest = new Set(newest.values());
      matching = matching.filter((row) => isNewest.has(row));
    }
    if (matching.length === 0 && habits.nothing === 'not found') {
      return { status: 404, headers: {}, body: { detail: 'No observations' }, receivedAt: 0 };
    }
    const sent = matching.slice(0, limit);
    const meta = {
      ...(habits.total === 'none' ? {} : { total: habits.total === 'true' ? matching.length : sent.length }),
      ...(habits.tellsLimit ? { limit } : {}),
    };
    return { status: 200, headers: {}, body: { data: sent.map(bodyOf), meta }, receivedAt: 0 };
  };

  return { send, targets };
}

function inOrder(rows: readonly Row[], order: Habits['order']): readonly Row[] {
  if (order === 'shuffled') return rows.toSorted((a, b) => scatter(a) - scatter(b));
  const first: Readonly<Record<typeof order, (a: Row, b: Row) => number>> = {
    pair: () => 0,
    source: (a, b) => compareText(a.source ?? '', b.source ?? ''),
    place: (a, b) => compareText(a.locationName ?? '', b.locationName ?? ''),
    year: (a, b) => a.year - b.year,
    'year-descending': (a, b) => b.year - a.year,
  };
  return rows.toSorted(
    (a, b) =>
      first[order](a, b) ||
      compareText(a.countryCode, b.countryCode) ||
      compareText(a.metricKey, b.metricKey) ||
      a.year - b.year,
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A number that looks random and depends on the row alone. */
function scatter({ value, year }: Row): number {
  return (((value ?? year) + 1) * 2_654_435_761) % 4_294_967_291;
}

function bodyOf({ countryCode, metricKey, year, locationName, value, source = 'made_up' }: Row) {
  return {
    country_code: countryCode.toLowerCase(),
    country_name: `Country ${countryCode}`,
    metric_key: metricKey,
    metric_name: `Metric ${metricKey}`,
    year,
    period: `${year}`,
    location_name: locationName,
    value,
    unit: 'persons',
    source,
    value_status: 'reported',
    retrieved_at: '2026-01-01T00:00:00Z',
  };
}
