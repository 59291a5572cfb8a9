import { LRUCache } from 'lru-cache';
import type { Answer, Call, Endpoint, Send } from './call.ts';
import { callKey } from './call.ts';
import { COVERED_COUNTRIES } from './covered-countries.ts';
import {
  countries,
  countryProfile,
  countrySignals,
  etlStatus,
  governmentStructure,
  indicators,
  observations,
  tickers,
} from './endpoints.ts';

/** Lists that later operations are priced by, per key digest. */
const MAX_LISTS = 400;

/** How old a list may be before a newer one takes its place: they hardly ever change, and each is long held. */
const RENEWING_MS = 60_000;

interface KnownList {
  readonly body: unknown;
  readonly atMs: number;
}

/** What is assumed of answers while they are not known. */
export interface Assumptions {
  /** Whether the service holds a figure; where it does, what is asked for below it is asked for too. */
  hasFigure(countryCode: string, metricKey: string): boolean;
  /** Whether lists and records have their documented size, rather than nothing in them. */
  readonly areFilled: boolean;
  /** Called for a list that is not known. */
  onAssumedList(): void;
}

/**
 * A stand-in for the service that answers without being asked: with the lists that it has given this key before, or
 * with what is assumed. Whoever runs an operation over it sees which calls it would make.
 */
export interface DryRun {
  /** Passes calls on and remembers the lists that come back. */
  remembering(next: Send): Send;
  /** Answers by what is known and assumed, and notes what it was asked. */
  answering(note: (call: Call) => void, assumptions: Assumptions): Send;
}

const DOCUMENTED_INDICATORS = 207;
const DOCUMENTED_SOURCES = 59;

/** Listings of an answer without `limit`, which is cut there. */
const DEFAULT_TICKERS = 100;

/** Listings of a list that was not cut: more than an answer without `limit` holds. */
const ASSUMED_TICKERS = 200;

/** What an answer is taken to hold while it is not known: of records, one of each thing that further calls may hang from. */
const ASSUMED: Readonly<Record<string, (call: Call) => unknown>> = {
  [countries.route]: () => [...COVERED_COUNTRIES].map((code) => ({ id: code, name: code })),
  [indicators.route]: () =>
    numbered(DOCUMENTED_INDICATORS).map((n) => ({ metric_key: `indicator_${n}`, name: `${n}` })),
  [etlStatus.route]: () => numbered(DOCUMENTED_SOURCES).map((n) => ({ source: `source_${n}` })),
  [tickers.route]: ({ target }) =>
    assumedTickers(target.includes('limit=') ? ASSUMED_TICKERS : DEFAULT_TICKERS, target),
  [countryProfile.route]: () => ({ indicators: [{ metric_key: 'indicator_1', source: 'source_1' }] }),
  [countrySignals.route]: ({ target }) => ({
    observations: [assumedFigure('', 'indicator_1')],
    fx_rates: [{ source_code: 'source_1', country_codes: [target.split('/').at(-2)] }],
    commodity_benchmarks: [],
    disaster_alerts: [{ event_key: 'event_1', source: 'source_1' }],
  }),
  [governmentStructure.route]: () => ({ offices: [{ office_name: 'office_1', terms: [] }] }),
};

function assumedFigure(countryCode: string, metricKey: string): object {
  return {
    country_code: countryCode,
    country_name: countryCode,
    metric_key: metricKey,
    metric_name: metricKey,
    year: 2000,
    period: '2000',
    value: 0,
    unit: '',
    source: 'source_1',
    value_status: 'reported',
    retrieved_at: '2000-01-01T00:00:00Z',
  };
}

/** One figure of each country and metric that a data call names, as far as there is one; whole, as its total says. */
function assumedFigures({ target }: Call, { hasFigure }: Assumptions): unknown {
  const query = new URLSearchParams(target.slice(target.indexOf('?')));
  const listed = (name: string) => query.get(name)?.split(',') ?? [];
  const data = listed('country_codes').flatMap((code) =>
    listed('metric_keys')
      .filter((key) => hasFigure(code, key))
      .map((key) => assumedFigure(code, key)),
  );
  return { data, meta: { total: data.length, limit: Number.MAX_SAFE_INTEGER } };
}

function assumedTickers(count: number, target: string): unknown[] {
  const codes = [...COVERED_COUNTRIES];
  const { searchParams } = new URL(target, 'http://service');
  return numbered(count).map((n) => ({
    exchange_code: searchParams.get('exchange_code') ?? 'X',
    symbol: `${n}`,
    country_code: searchParams.get('country_code') ?? codes[n % codes.length],
    instrument_type: searchParams.get('instrument_type'),
  }));
}

const LISTS: ReadonlySet<string> = new Set(
  [countries, indicators, etlStatus, tickers].map(({ route }: Pick<Endpoint, 'route'>) => route),
);

export function createDryRun(now: () => number): DryRun {
  const known = new LRUCache<string, KnownList>({ max: MAX_LISTS });
  const keyOf = (keyDigest: string, call: Call) => `${keyDigest} ${callKey(call)}`;

  return {
    remembering: (next) => async (call, sending) => {
      const answer = await next(call, sending);
      if (answer.status === 200 && LISTS.has(call.route)) {
        const key = keyOf(sending.caller.keyDigest, call);
        const before = known.get(key);
        const isOld = before === undefined || answer.receivedAt - before.atMs >= RENEWING_MS;
        if (isOld) known.set(key, { body: answer.body, atMs: answer.receivedAt });
      }
      return answer;
    },
    answering:
      (note, assumptions) =>
      async (call, { caller, payer }): Promise<Answer> => {
        note(call);
        payer.reserve(call.route).charge();
        const body = known.get(keyOf(caller.keyDigest, call))?.body ?? assumed(call, assumptions);
        // Where there is no record, nothing below it is asked for.
        const status = body === NO_RECORD ? 404 : 200;
        return { status, headers: {}, body, receivedAt: now() };
      },
  };
}

const NO_RECORD = { detail: '' };

function assumed(call: Call, assumptions: Assumptions): unknown {
  if (call.route === observations.route) return assumedFigures(call, assumptions);
  if (LISTS.has(call.route)) assumptions.onAssumedList();
  if (assumptions.areFilled) return ASSUMED[call.route]?.(call) ?? {};
  if (call.route.includes('{')) return NO_RECORD;
  return LISTS.has(call.route) ? [] : {};
}

function numbered(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i + 1);
}
