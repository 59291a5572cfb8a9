import { createDice } from './dice.ts';
import type { TimeSpelling } from './times.ts';

/** Treatment of a parameter that the specification doesn't name. */
export type Taking = 'taken' | 'ignored' | 'refused';

/**
 * Answer of a service to a name that it doesn't know: a status, with or without the name, or no rows for it.
 */
export type Refusal = '404 named' | '404' | '422 named' | '422' | 'no rows';

/** Everything that the specification leaves open, as one service happens to do it. */
export interface Habits {
  readonly wrap: 'data' | 'bare' | 'results';
  readonly codeCase: 'upper' | 'lower';
  /** Rows on `/v1/data`: the treatment of `limit`, and the number that comes without one. */
  readonly limit: Taking;
  readonly defaultRows: number | null;
  readonly maxRows: number;
  /** True if the words of a refusal name the parameter that is refused. */
  readonly namesParameters: boolean;
  readonly total: boolean;
  readonly metaLimit: boolean;
  readonly years: Taking;
  /**
   * Years that come of those that are named: all of them, all but the last, or rows of the year before too,
   * by a year of its own.
   */
  readonly yearsNamed: 'included' | 'end excluded' | 'both excluded' | 'of the year after';
  /** Meaning of `latest` together with years. */
  readonly latestOfYears: 'within' | 'after' | 'refused';
  readonly unknownCountry: Refusal;
  readonly unknownMetric: Refusal;
  /**
   * True if a call with one unknown name among known ones is refused; else only one without any known name
   * is.
   */
  readonly refusesAny: boolean;
  /** Answer to a call of known names for which there is no row. */
  readonly noRows: 'empty' | '404';
  readonly order: 'country' | 'metric' | 'year';
  /** The order of the rows of one series; `appended`: newest first, and later publications at the end. */
  readonly within: 'falling' | 'rising' | 'appended' | 'none';
  readonly tellsKeyCase: boolean;
  readonly hasTwinKeys: boolean;
  readonly nullRows: boolean;
  /** True if a row without a value can be the latest row. */
  readonly latestCountsNulls: boolean;
  readonly places: boolean;
  readonly blankPlace: '' | null;
  readonly releases: boolean;
  readonly frequency: 'annual' | 'mixed';
  readonly longSeries: number;
  /** True if optional fields that are null are left out of rows. */
  readonly leavesOutNulls: boolean;
  readonly size: 'tiny' | 'small' | 'full';
  readonly tickerLimit: Taking;
  readonly tickerDefault: number | null;
  readonly tickerTotal: boolean;
  readonly tickerFilters: 'taken' | 'ignored';
  readonly tickers: number;
  readonly catalogueSources: 'strings' | 'objects' | 'one' | 'none';
  readonly catalogueCategory: boolean;
  readonly catalogueHasData: boolean;
  readonly catalogueKey: 'metric_key' | 'key' | 'id';
  readonly countryKey: 'id' | 'code';
  readonly etlKey: 'source' | 'source_key' | 'key' | 'code';
  readonly etlRefresh: 'last_successful_refresh' | 'last_success_at' | 'last_success';
  readonly listTotals: boolean;
  /** A list that the service stops before its end, telling so in `meta.total`. */
  readonly cutList: 'none' | '/v1/countries' | '/v1/indicators' | '/v1/platform/etl-status';
  readonly etags: boolean;
  readonly offices: 'nested' | 'flat';
  /** Spelling of periods: the usual way, one way a series, or each by its own. */
  readonly periods: 'usual' | 'one way' | 'any way';
  /** True if some periods are words that no rule reads. */
  readonly opaquePeriods: boolean;
  /** Series besides the usual ones: `all` has halves, weeks, days and fiscal years too. */
  readonly frequencies: 'usual' | 'all';
  /** True if some series hold figures of several frequencies. */
  readonly blends: boolean;
  /** True if several sources tell the same periods of some indicators. */
  readonly severalSources: boolean;
  /** The row that the service takes for the latest, of several rows of one time. */
  readonly latestTie: 'retrieved' | 'first source' | 'last source' | 'all';
  /** True if it prefers the shorter of periods that end the same day. */
  readonly latestIsShort: boolean;
  /** Spelling of refreshes and runs, and of the times at which rows were retrieved. */
  readonly times: TimeSpelling;
  readonly retrievalTimes: Extract<TimeSpelling, 'utc' | 'zoneless' | 'offset' | 'spaced'>;
  /** True if some next runs are told by words. */
  readonly unreadableTimes: boolean;
  /**
   * Wrong answers to some calls for figures: rows of another country or metric alone, or of all countries.
   */
  readonly strays: 'none' | 'country' | 'metric' | 'all countries';
  /** True if some records of a country are answered with those of another one. */
  readonly strayRecords: boolean;
  readonly catalogueFilters: 'taken' | 'ignored';
  /** Form of failures with the status 200, in answer to some calls. */
  readonly failing: 'never' | FailingEnvelope;
  /** True if good answers say so in further words of the envelope. */
  readonly saysWell: boolean;
  /** Answer of the service if it has no such record of a country. */
  readonly absence: 'named' | 'unworded';
  /** Writing of some values: another text of the same number, or one that is none. */
  readonly oddNumbers: 'none' | 'spelled' | 'text' | 'beyond' | 'token';
  readonly encoding: 'identity' | Encoding;
  /** True if bodies are encoded though nobody asked for that. */
  readonly encodesUnasked: boolean;
  /** Rows that `meta.total` counts: all that match, or those that are sent. */
  readonly totalOf: 'all' | 'sent';
  /** True if the order of rows is another one for each call. */
  readonly ordersByCall: boolean;
  /** True if rows come by their source first. */
  readonly bySource: boolean;
  /** Number of requests after which a connection is reset as the next one comes; 0: never. */
  readonly requestsAConnection: number;
}

export type FailingEnvelope = 'detail' | 'error' | 'errors' | 'success' | 'status' | 'message';

export type Encoding = 'gzip' | 'x-gzip' | 'deflate' | 'raw deflate' | 'br' | 'zstd' | 'gzip, br';

export function drawHabits(seed: number, service: number): Habits {
  const dice = (name: string) => createDice(seed, service, 'habit', name);
  const pick = <T>(name: string, ...items: readonly T[]) => dice(name).pick(items);
  const chance = (name: string, probability: number) => dice(name).chance(probability);
  const refusal = (name: string) =>
    pick<Refusal>(name, '404 named', '404', '422 named', '422', 'no rows', 'no rows');
  const isOdd = chance('isOdd', 0.7);
  const tellsKeyCase = chance('tellsKeyCase', 0.6);
  const cutList = dice('cutList').pick<Habits['cutList']>([
    '/v1/countries',
    '/v1/indicators',
    '/v1/platform/etl-status',
  ]);
  return {
    wrap: pick('wrap', 'data', 'data', 'data', 'data', 'bare', 'results'),
    codeCase: pick('codeCase', 'lower', 'upper'),
    limit: pick('limit', 'taken', 'taken', 'ignored', 'refused'),
    defaultRows: pick('defaultRows', 100, 100, 100, null),
    maxRows: pick('maxRows', 1000, 1000, 1000, 250),
    namesParameters: chance('namesParameters', 0.7),
    total: chance('total', 0.6),
    metaLimit: chance('metaLimit', 0.6),
    years: pick('years', 'taken', 'taken', 'ignored', 'refused'),
    yearsNamed: pick(
      'yearsNamed',
      'included',
      'included',
      'end excluded',
      'both excluded',
      'of the year after',
    ),
    latestOfYears: pick('latestOfYears', 'within', 'within', 'within', 'after', 'refused'),
    unknownCountry: refusal('unknownCountry'),
    unknownMetric: refusal('unknownMetric'),
    refusesAny: chance('refusesAny', 0.8),
    noRows: pick('noRows', 'empty', 'empty', '404'),
    order: pick('order', 'country', 'metric', 'year'),
    within: pick('within', 'falling', 'rising', 'rising', 'appended', 'none'),
    tellsKeyCase,
    hasTwinKeys: tellsKeyCase && chance('hasTwinKeys', 0.25),
    nullRows: chance('nullRows', 0.35),
    latestCountsNulls: chance('latestCountsNulls', 0.5),
    places: chance('places', 0.4),
    blankPlace: chance('blankPlace', 0.1) ? '' : null,
    releases: chance('releases', 0.3),
    frequency: pick('frequency', 'annual', 'annual', 'mixed'),
    longSeries: pick('longSeries', 0, 0, 0, 130, 260, 1100),
    leavesOutNulls: chance('leavesOutNulls', 0.4),
    size: pick('size', 'tiny', 'small', 'small', 'full'),
    tickerLimit: pick('tickerLimit', 'taken', 'taken', 'ignored', 'refused'),
    tickerDefault: pick('tickerDefault', 100, 100, 100, null),
    tickerTotal: chance('tickerTotal', 0.4),
    tickerFilters: pick('tickerFilters', 'taken', 'ignored'),
    tickers: pick('tickers', 0, 12, 60, 100, 140, 250),
    catalogueSources: pick('catalogueSources', 'strings', 'objects', 'one', 'none'),
    catalogueCategory: chance('catalogueCategory', 0.8),
    catalogueHasData: chance('catalogueHasData', 0.8),
    catalogueKey: pick('catalogueKey', 'metric_key', 'metric_key', 'key', 'id'),
    countryKey: pick('countryKey', 'id', 'id', 'code'),
    etlKey: pick('etlKey', 'source', 'source_key', 'key', 'code'),
    etlRefresh: pick('etlRefresh', 'last_successful_refresh', 'last_success_at', 'last_success'),
    listTotals: chance('listTotals', 0.5),
    cutList: chance('hasCutList', 0.08) ? cutList : 'none',
    etags: chance('etags', 0.5),
    offices: pick('offices', 'nested', 'nested', 'flat'),
    ...(isOdd && chance('bareRefusals', 0.2)
      ? { unknownCountry: '404', unknownMetric: '404', refusesAny: true }
      : {}),
    ...drawFurther(pick, (name, probability) => isOdd && chance(name, probability)),
  };
}

/** The usual of all that may be odd about a service. */
export const USUAL = {
  periods: 'usual',
  opaquePeriods: false,
  frequencies: 'usual',
  blends: false,
  severalSources: false,
  latestTie: 'retrieved',
  latestIsShort: false,
  times: 'utc',
  retrievalTimes: 'utc',
  unreadableTimes: false,
  strays: 'none',
  strayRecords: false,
  catalogueFilters: 'taken',
  failing: 'never',
  saysWell: false,
  absence: 'named',
  oddNumbers: 'none',
  encoding: 'identity',
  encodesUnasked: false,
  totalOf: 'all',
  ordersByCall: false,
  bySource: false,
  requestsAConnection: 0,
} as const satisfies Partial<Habits>;

/** Further oddities of a service; mostly there are none. */
function drawFurther(
  pick: <T>(name: string, ...items: readonly T[]) => T,
  chance: (name: string, probability: number) => boolean,
) {
  const seldom = <T>(name: string, probability: number, usual: T, ...others: readonly T[]): T =>
    chance(`${name} is odd`, probability) ? pick(name, ...others) : usual;
  return {
    periods: seldom<Habits['periods']>('periods', 0.4, 'usual', 'one way', 'one way', 'any way'),
    opaquePeriods: chance('opaquePeriods', 0.12),
    frequencies: seldom<Habits['frequencies']>('frequencies', 0.25, 'usual', 'all'),
    blends: chance('blends', 0.2),
    severalSources: chance('severalSources', 0.25),
    latestTie: seldom<Habits['latestTie']>(
      'latestTie',
      0.6,
      'retrieved',
      'first source',
      'last source',
      'all',
    ),
    latestIsShort: chance('latestIsShort', 0.4),
    times: seldom<Habits['times']>(
      'times',
      0.5,
      'utc',
      'day',
      'day',
      'zoneless',
      'offset',
      'spaced',
      'slashes',
      'minutes',
    ),
    retrievalTimes: seldom<Habits['retrievalTimes']>(
      'retrievalTimes',
      0.3,
      'utc',
      'zoneless',
      'offset',
      'spaced',
    ),
    unreadableTimes: chance('unreadableTimes', 0.1),
    strays: seldom<Habits['strays']>('strays', 0.12, 'none', 'country', 'metric', 'all countries'),
    strayRecords: chance('strayRecords', 0.08),
    catalogueFilters: seldom<Habits['catalogueFilters']>('catalogueFilters', 0.1, 'taken', 'ignored'),
    failing: seldom<Habits['failing']>(
      'failing',
      0.15,
      'never',
      'detail',
      'error',
      'errors',
      'success',
      'status',
      'message',
    ),
    saysWell: chance('saysWell', 0.15),
    absence: seldom<Habits['absence']>('absence', 0.1, 'named', 'unworded'),
    oddNumbers: seldom<Habits['oddNumbers']>('oddNumbers', 0.2, 'none', 'spelled', 'text', 'beyond', 'token'),
    encoding: seldom<Habits['encoding']>(
      'encoding',
      0.35,
      'identity',
      'gzip',
      'x-gzip',
      'deflate',
      'raw deflate',
      'br',
      'zstd',
      'gzip, br',
    ),
    encodesUnasked: chance('encodesUnasked', 0.5),
    totalOf: seldom<Habits['totalOf']>('totalOf', 0.25, 'all', 'sent'),
    ordersByCall: chance('ordersByCall', 0.2),
    bySource: chance('bySource', 0.15),
    requestsAConnection: seldom('requestsAConnection', 0.12, 0, 1, 2, 5),
  };
}

/** A country's code as the service writes it. */
export function cased(code: string, habits: Habits): string {
  return habits.codeCase === 'lower' ? code.toLowerCase() : code;
}

/** The fields of a record that are there. */
export function pruned(
  habits: Habits,
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (!habits.leavesOutNulls) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
