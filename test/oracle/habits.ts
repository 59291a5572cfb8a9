import { createDice } from './dice.ts';

/** What a service does with a parameter that the specification doesn't name. */
export type Taking = 'taken' | 'ignored' | 'refused';

/** How a service tells that it doesn't know a name: by a status, with or without the name, or by no rows for it. */
export type Refusal = '404 named' | '404' | '422 named' | '422' | 'no rows';

/** Everything that the specification leaves open, as one service happens to do it. */
export interface Habits {
  readonly wrap: 'data' | 'bare' | 'results';
  readonly codeCase: 'upper' | 'lower';
  /** Rows on `/v1/data`: what becomes of `limit`, and how many come without one. */
  readonly limit: Taking;
  readonly defaultRows: number | null;
  readonly maxRows: number;
  /** Whether the words of a refusal name the parameter that is refused. */
  readonly namesParameters: boolean;
  readonly total: boolean;
  readonly metaLimit: boolean;
  readonly years: Taking;
  /** Which of the years that are named come: all of them, all but the last, or rows of the year before too, by a year of its own. */
  readonly yearsNamed: 'included' | 'end excluded' | 'both excluded' | 'of the year after';
  /** What `latest` means together with years. */
  readonly latestOfYears: 'within' | 'after' | 'refused';
  readonly unknownCountry: Refusal;
  readonly unknownMetric: Refusal;
  /** Whether one unknown name among known ones is refused, or only a call that names no known one. */
  readonly refusesAny: boolean;
  /** How a call of known names is answered for which there is no row. */
  readonly noRows: 'empty' | '404';
  readonly order: 'country' | 'metric' | 'year';
  /** The order of the rows of one series; `appended`: newest first, and what is published later at the end. */
  readonly within: 'falling' | 'rising' | 'appended' | 'none';
  readonly tellsKeyCase: boolean;
  readonly hasTwinKeys: boolean;
  readonly nullRows: boolean;
  /** Whether a row without a value can be the latest row. */
  readonly latestCountsNulls: boolean;
  readonly places: boolean;
  readonly blankPlace: '' | null;
  readonly releases: boolean;
  readonly frequency: 'annual' | 'mixed';
  readonly longSeries: number;
  /** Whether optional fields that are null are left out of rows. */
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
}

export function drawHabits(seed: number, service: number): Habits {
  const dice = (name: string) => createDice(seed, service, 'habit', name);
  const pick = <T>(name: string, ...items: readonly T[]) => dice(name).pick(items);
  const chance = (name: string, probability: number) => dice(name).chance(probability);
  const refusal = (name: string) =>
    pick<Refusal>(name, '404 named', '404', '422 named', '422', 'no rows', 'no rows');
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
  };
}
