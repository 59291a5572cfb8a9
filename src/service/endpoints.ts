/**
 * Each route that we call, with its parameters and its answer.
 *
 * "Specified" is the service's promise. "Observed" is behaviour on which the specification is silent: decoders accept
 * it, and nothing relies on it.
 */
import type { Endpoint, YearsOf } from './call.ts';
import {
  COVERED_COUNTRIES,
  type CountryProfileRecord,
  type CountryRecord,
  decodeCountries,
  decodeProfile,
} from './records/countries.ts';
import {
  decodeObservations,
  decodeSignals,
  type ObservationList,
  type SignalsRecord,
} from './records/observations.ts';
import {
  decodeHealth,
  decodeIndicators,
  decodeOffices,
  decodeSources,
  decodeTickers,
  decodeVersion,
  type HealthRecord,
  type IndicatorRecord,
  type OfficeRecord,
  type PlatformVersionRecord,
  type SourceRecord,
  type TickerList,
} from './records/reference.ts';

export type NoParams = Readonly<Record<string, never>>;

/** A country by its code, in either case. */
export interface CountryParams {
  readonly code: string;
}

/** Country codes are in upper case. Order and repetition make no difference to the call; an empty list is not sent. */
interface ObservationsParams {
  readonly countryCodes: readonly string[];
  readonly metricKeys: readonly string[];
  /** True for the latest figure of each series only. */
  readonly latest: boolean;
  readonly limit?: number | undefined;
  readonly startYear?: number | undefined;
  readonly endYear?: number | undefined;
}

export interface IndicatorsParams {
  readonly category?: string | undefined;
  readonly hasData?: boolean | undefined;
}

export interface TickersParams {
  readonly limit?: number | undefined;
  readonly exchangeCode?: string | undefined;
  readonly countryCode?: string | undefined;
  readonly instrumentType?: string | undefined;
}

/**
 * Rows of one measure of one country, in all years, places and sources, with room to spare: a service that heeds no
 * `limit`, observed as 1,000 at most, sends them all.
 */
const MOST_ROWS_OF_PAIR = 10_000;

/** Specified: public. The body is not; observed as an object with `status`. */
export const health: Endpoint<NoParams, HealthRecord> = {
  route: '/health',
  isPublic: true,
  tag: 'base',
  caching: 'none',
  params: () => ({}),
  decode: (body) => decodeHealth(body, health.route),
};

/** Specified: public. The body is not; the version is looked for under its usual names. */
export const platformVersion: Endpoint<NoParams, PlatformVersionRecord> = {
  route: '/v1/platform/version',
  isPublic: true,
  tag: 'base',
  caching: 'ttl',
  params: () => ({}),
  decode: (body) => decodeVersion(body, platformVersion.route),
};

/**
 * Specified: each source's last successful refresh and next run, but not the names of the fields. Like the lists of
 * countries and indicators it is promised whole: only a total above its rows says otherwise.
 */
export const etlStatus: Endpoint<NoParams, readonly SourceRecord[]> = {
  route: '/v1/platform/etl-status',
  tag: 'base',
  caching: 'ttl',
  params: () => ({}),
  decode: (body) => decodeSources(body, etlStatus.route),
  assumed: () => numbered(DOCUMENTED_SOURCES).map((n) => ({ source: `source_${n}` })),
};

/** Specified: every country, with codes and names; ETag and Cache-Control. Observed: the two-letter code is `id`. */
export const countries: Endpoint<NoParams, readonly CountryRecord[]> = {
  route: '/v1/countries',
  tag: 'base',
  caching: 'http',
  params: () => ({}),
  decode: (body) => decodeCountries(body, countries.route),
  assumed: () => [...COVERED_COUNTRIES].map((code) => ({ id: code, name: code })),
};

/** Specified: a reference record with selected indicators if there are any. Its fields are not. */
export const countryProfile: Endpoint<CountryParams, CountryProfileRecord> = {
  route: '/v1/countries/{code}/profile',
  tag: 'figures',
  caching: 'ttl',
  params: ({ code }) => ({ path: { code: code.toUpperCase() } }),
  decode: (body, { code }) => decodeProfile(body, countryProfile.route, code),
  assumed: (_, metricKey) => ({ indicators: [{ metric_key: metricKey, source: 'source_1' }] }),
};

/** Specified: a snapshot across domains. Observed: figures without country fields, rates, benchmarks and alerts. */
export const countrySignals: Endpoint<CountryParams, SignalsRecord> = {
  route: '/v1/countries/{code}/signals',
  tag: 'figures',
  caching: 'ttl',
  params: ({ code }) => ({ path: { code: code.toUpperCase() } }),
  isDated: true,
  decode: (body, { code }, receivedAt) => decodeSignals(body, countrySignals.route, code, receivedAt),
  assumed: (target, metricKey) => ({
    observations: [assumedFigure('', metricKey)],
    fx_rates: [{ source_code: 'source_1', country_codes: [target.split('/').at(-2)] }],
    commodity_benchmarks: [],
    disaster_alerts: [{ event_key: 'event_1', source: 'source_1' }],
  }),
};

/**
 * Specified: the fields of a row, lists of countries and measures, `latest`; one call counts once. Observed: `limit`
 * from 1 to 1000, without which an answer ends after 100 rows; `start_year` and `end_year` from 1900 to 2100; no pages;
 * counts in `meta`.
 */
export const observations: Endpoint<ObservationsParams, ObservationList> = {
  route: '/v1/data',
  tag: 'figures',
  caching: 'none',
  params: ({ countryCodes, metricKeys, latest, limit, startYear, endYear }) => ({
    query: {
      country_codes: listed(countryCodes),
      metric_keys: listed(metricKeys),
      latest: latest ? 'true' : undefined,
      limit: limit?.toString(),
      start_year: startYear?.toString(),
      end_year: endYear?.toString(),
    },
  }),
  isDated: true,
  mostRows: ({ countryCodes, metricKeys, limit = 0 }) =>
    countryCodes.length * metricKeys.length * Math.max(MOST_ROWS_OF_PAIR, limit) || Number.POSITIVE_INFINITY,
  decode: (body, _, receivedAt) => decodeObservations(body, observations.route, receivedAt),
  assumed: (target, _, yearsOf) => assumedFigures(target, yearsOf),
};

/** Specified: the catalogue, each measure with unit and sources, and both filters. The names of the fields are not. */
export const indicators: Endpoint<IndicatorsParams, readonly IndicatorRecord[]> = {
  route: '/v1/indicators',
  tag: 'base',
  caching: 'ttl',
  params: ({ category, hasData }) => ({ query: { category, has_data: hasData?.toString() } }),
  decode: (body, asked) => decodeIndicators(body, indicators.route, asked),
  assumed: () => numbered(DOCUMENTED_INDICATORS).map((n) => ({ metric_key: `indicator_${n}`, name: `${n}` })),
};

/**
 * Specified: listings with the session of each price, and no parameters. Observed: these filters, and `limit` from 1 to
 * 500, without which an answer ends after 100 rows; neither counts nor pages. A count is heeded if there is one.
 */
export const tickers: Endpoint<TickersParams, TickerList> = {
  route: '/v1/markets/tickers',
  tag: 'markets',
  caching: 'ttl',
  params: ({ limit, exchangeCode, countryCode, instrumentType }) => ({
    query: {
      limit: limit?.toString(),
      exchange_code: exchangeCode?.toUpperCase(),
      country_code: countryCode?.toUpperCase(),
      instrument_type: instrumentType,
    },
  }),
  decode: (body) => decodeTickers(body, tickers.route),
  assumed: assumedTickers,
};

/** Specified: offices and holders, each term with a status of its own. Observed: terms that name their office. */
export const governmentStructure: Endpoint<CountryParams, readonly OfficeRecord[]> = {
  route: '/v1/government/structure/{code}',
  tag: 'government',
  caching: 'ttl',
  params: ({ code }) => ({ path: { code: code.toUpperCase() } }),
  decode: (body, { code }) => decodeOffices(body, governmentStructure.route, code),
  assumed: () => ({ offices: [{ office_name: 'office_1', terms: [] }] }),
};

function listed(names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  return [...new Set(names)].sort().join(',');
}

/* The answers that pricing assumes, of their documented sizes. */

/** The year of a figure if any year will do. */
const ASSUMED_YEAR = 2000;

const DOCUMENTED_INDICATORS = 207;
const DOCUMENTED_SOURCES = 59;

/** Listings of an answer without `limit`, which is cut there. */
const DEFAULT_TICKERS = 100;

/** Listings of a whole list: more than an answer without `limit` has. */
const ASSUMED_TICKERS = 200;

/** @param target whose filters the listings match */
function assumedTickers(target: string): unknown {
  const codes = [...COVERED_COUNTRIES];
  const { searchParams } = new URL(target, 'http://service');
  const count = searchParams.has('limit') ? ASSUMED_TICKERS : DEFAULT_TICKERS;
  return numbered(count).map((n) => ({
    exchange_code: searchParams.get('exchange_code') ?? 'X',
    symbol: `${n}`,
    country_code: searchParams.get('country_code') ?? codes[n % codes.length],
    instrument_type: searchParams.get('instrument_type'),
  }));
}

function assumedFigure(countryCode: string, metricKey: string, year = ASSUMED_YEAR): object {
  return {
    country_code: countryCode,
    country_name: countryCode,
    metric_key: metricKey,
    metric_name: metricKey,
    year,
    period: `${year}`,
    value: 1,
    unit: '',
    source: 'source_1',
    value_status: 'reported',
    retrieved_at: '2000-01-01T00:00:00Z',
  };
}

function numbered(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i + 1);
}

/** Assumes that there are figures of each country and metric that a call names. */
function assumedFigures(target: string, yearsOf: YearsOf): unknown {
  const query = new URLSearchParams(target.slice(target.indexOf('?')));
  const namesIn = (name: string) => query.get(name)?.split(',') ?? [];
  const data = namesIn('country_codes').flatMap((code) =>
    namesIn('metric_keys').flatMap((key) =>
      (yearsOf(code, key) ?? [ASSUMED_YEAR]).map((year) => assumedFigure(code, key, year)),
    ),
  );
  return { data, meta: { total: data.length, limit: Number.MAX_SAFE_INTEGER } };
}
