import { type Habits, USUAL } from './habits.ts';
import { KEYS, type Scenario, type Step } from './session.ts';
import type { Json } from './world.ts';

/** Scenarios that failed once, as small as they could be made. */
export interface Kept {
  readonly name: string;
  readonly scenario: Scenario;
}

const [ONE] = KEYS;

const ask = (text: string, variables: Json = {}): Step => ({
  kind: 'ask',
  operations: [{ text, variables }],
  keys: [ONE],
  explains: true,
});

function kept(name: string, habits: Partial<Habits>, steps: readonly Step[], env = {}): Kept {
  return {
    name,
    scenario: { seed: 1, service: 0, habits: { ...PLAIN, ...habits }, env: { ...ENV, ...env }, steps },
  };
}

const ENV = { CACHE_URL: 'none', BATCH_WINDOW_MS: '0', UPSTREAM_RETRIES: '0', MAX_UPSTREAM_CALLS: '400' };

/** A service as the observations of the live one say, and nothing odd about it. */
const PLAIN: Habits = {
  wrap: 'data',
  codeCase: 'lower',
  limit: 'taken',
  defaultRows: 100,
  maxRows: 1000,
  namesParameters: true,
  total: true,
  metaLimit: true,
  years: 'taken',
  yearsNamed: 'included',
  latestOfYears: 'within',
  unknownCountry: 'no rows',
  unknownMetric: 'no rows',
  refusesAny: true,
  noRows: 'empty',
  order: 'country',
  within: 'rising',
  tellsKeyCase: true,
  hasTwinKeys: false,
  nullRows: false,
  latestCountsNulls: false,
  places: false,
  blankPlace: null,
  releases: false,
  frequency: 'annual',
  longSeries: 0,
  leavesOutNulls: false,
  size: 'small',
  tickerLimit: 'taken',
  tickerDefault: 100,
  tickerTotal: false,
  tickerFilters: 'taken',
  tickers: 60,
  catalogueSources: 'strings',
  catalogueCategory: true,
  catalogueHasData: true,
  catalogueKey: 'metric_key',
  countryKey: 'id',
  etlKey: 'source',
  etlRefresh: 'last_successful_refresh',
  listTotals: true,
  cutList: 'none',
  etags: true,
  offices: 'nested',
  ...USUAL,
};

const SOME_KEYS = '["population_total", "rainfall_mm", "life_expectancy", "road_length_km"]';

const RATES = '["policy_rate_pct", "rainfall_mm"]';

const DERIVED =
  'change growthPercent per(metricKey: "population_total") { value } rank(among: ["KE", "DZ", "MW", "BF"]) { position of }';

const DERIVED_RATES = `a: observation(metricKey: "policy_rate_pct") { value source { key } ${DERIVED} }
  b: observation(metricKey: "rainfall_mm") { value source { key } ${DERIVED} }`;

const LATEST_RATES = `{ countries {
  a: observation(metricKey: "policy_rate_pct") { value source { key } }
  observations(metricKeys: ${RATES}, latest: true) { value period source { key } } } }`;

/** Something of each route. */
const EVERYTHING: readonly Step[] = [
  ask('{ countries { code name profile { record } signals { observations { value } } offices { name } } }'),
  ask(`{ observations(metricKeys: ${SOME_KEYS}, latest: true) { value country { code } record } }`),
  ask('{ countries { code observation(metricKey: "population_total") { value } } }'),
  ask(`{ observations(metricKeys: ${SOME_KEYS}) { value year country { code } } }`),
  ask(
    '{ indicators(category: "economy", hasData: true) { key } sources { key lastSuccessfulRefresh } tickers { symbol } }',
  ),
];

export const KEPT: readonly Kept[] = [
  kept('the newest figure of each pair up to a year', {}, [
    ask(`{ observations(metricKeys: ${SOME_KEYS}, latest: true, toYear: 2012) { year value } }`),
  ]),
  kept('a place that is told as empty text is the whole country', { blankPlace: '', places: true }, [
    ask('{ indicators { observation(countryCode: "DZ") { value } } }'),
    ask('{ countries { code observations(latest: true) { indicator { key } locationName } } }'),
  ]),
  kept(
    'listings of the usual length whose total says that they are all',
    { tickers: 100, tickerLimit: 'refused', tickerTotal: true },
    [ask('{ tickers { symbol } }')],
  ),
  kept(
    'listings that are cut though limit is ignored',
    { tickers: 250, tickerLimit: 'ignored', tickerFilters: 'ignored' },
    [ask('{ tickers(exchangeCode: "NGX") { symbol } }'), ask('{ tickers { exchangeCode symbol } }')],
  ),
  kept(
    'a listing asked for again where limit is refused',
    { tickers: 250, tickerLimit: 'refused', tickerTotal: true },
    [{ ...ask('{ country(code: "DZ") { tickers { symbol } } }'), again: true } as Step],
    { CACHE_URL: 'memory:' },
  ),
  kept('an indicator that the catalogue has not', {}, [
    ask('{ indicator(key: "zz_top") { observations { value } } }'),
  ]),
  kept('the record of a country that the service has not', { size: 'tiny' }, [
    ask('{ countries(codes: ["CI", "DJ", "ML", "NE", "SC", "UG"]) { record } }'),
  ]),
  kept('releases of one figure have identifiers of their own', { releases: true }, [
    ask(
      '{ countries(codes: ["DZ"]) { observations(metricKeys: ["population_total", "rainfall_mm"]) { id retrievedAt } } }',
    ),
    ask(
      '{ countries(codes: ["MW"]) { observations(metricKeys: ["gdp_current_usd", "idps_total"]) { id retrievedAt } } }',
    ),
  ]),
  kept('a key in two spellings brings each figure once', { tellsKeyCase: false }, [
    ask('{ observations(metricKeys: ["population_total", "POPULATION_TOTAL"]) { year value } }'),
  ]),
  kept(
    'no rows told by 404 do not make a metric unknown elsewhere',
    { noRows: '404', unknownMetric: '404', size: 'tiny' },
    [
      ask('{ indicators { observations(countryCodes: ["ZZ"], latest: true) { value } } }'),
      ask('{ observations(latest: true) { value } }'),
      ask('{ countries { observations { value } } }'),
    ],
  ),
  kept('an unknown key beside known ones, refused without words', { unknownMetric: '422' }, [
    ask('{ observations(metricKeys: ["RAINFALL_MM", "no_such_metric"]) { unit } }'),
    ask('{ observations(latest: true) { year } }'),
  ]),
  kept('a newest row without a value', { nullRows: true, latestCountsNulls: true }, [
    ask('{ indicators { key observations(latest: true) { value year country { code } } } }'),
    ask('{ countries { observation(metricKey: "population_total") { value } } }'),
  ]),
  kept('the price of what stands below a profile that is not there', {}, [
    ask('{ country(code: "BF") { profile { country { name } } } }'),
  ]),
  kept(
    'the least of a figure that an earlier call brings along, below one that is held',
    {},
    [
      ask('{ observations(countryCodes: ["DZ"]) { value } }'),
      ask(
        '{ observations(countryCodes: ["DZ", "MW"]) { indicator { observation(countryCode: "MW") { value } } } }',
      ),
    ],
    { CACHE_URL: 'memory:' },
  ),
  kept(
    'the least of years in which an indicator shows figures, so that no list need tell that there is one',
    {},
    [
      ask(
        '{ indicator(key: "population_total") { observations(countryCodes: ["DZ"], toYear: 2019) { id } } }',
      ),
      ask(
        '{ indicator(key: "population_total") { observations(countryCodes: ["DZ"], fromYear: 2015) { id } } }',
      ),
    ],
  ),
  kept('the most of sources of indicators that a profile names', { size: 'tiny' }, [
    ask('{ indicators { key } }'),
    ask(`{ indicator(key: "population_total") { id }
      country(code: "LS") { profile { indicators { indicator { sources { record } } } } } }`),
  ]),
  kept(
    'lists whose items all failed, of which some have more than others',
    { cutList: '/v1/platform/etl-status', catalogueSources: 'objects' },
    [ask('{ indicators { sources { nextRun lastSuccessfulRefresh } } }')],
  ),
  kept(
    'series many times longer than an answer, in no order, without limit and total',
    { longSeries: 1100, limit: 'refused', total: false, metaLimit: false, within: 'none', size: 'tiny' },
    [ask('{ observations(countryCodes: ["UG", "LS"], metricKeys: ["rainfall_mm"]) { year period value } }')],
    { MAX_UPSTREAM_CALLS: '100' },
  ),
  {
    name: 'a series that is longer than the usual rows, from a service that refuses a high limit without words',
    scenario: {
      seed: 1,
      service: 102,
      env: ENV,
      steps: [ask('{ observations(countryCodes: ["MW"]) { year value } }')],
    },
  },
  {
    name: 'a series whose total says that it came whole, from a service that heeds no limit',
    scenario: {
      seed: 1,
      service: 51,
      env: ENV,
      steps: [
        { ...ask('{ indicators { observation(countryCode: "CF") { value } } }'), keys: [KEYS[1]] } as Step,
      ],
    },
  },
  ...(['falling', 'rising', 'appended', 'none'] as const).map((within) =>
    kept(
      `a series longer than the usual rows that come ${within}, without limit and total`,
      { longSeries: 130, limit: 'ignored', total: false, metaLimit: false, within, size: 'tiny' },
      [
        // The lists come first, so that the price of all figures is known.
        ask('{ countries { code } indicators { key } }'),
        ask('{ countries { observations { year period value } } }'),
        { kind: 'wait', seconds: 301 },
        { kind: 'revise', nth: 0 },
        ask('{ countries { observations { year period value } } }'),
        { kind: 'wait', seconds: 301 },
        { kind: 'revise', nth: 1 },
        ask('{ countries { observations { year period value } } }'),
      ],
      { CACHE_URL: 'memory:' },
    ),
  ),
  ...(
    [
      ['taken', 'included'],
      ['taken', 'end excluded'],
      ['taken', 'both excluded'],
      ['taken', 'of the year after'],
      ['ignored', 'included'],
      ['refused', 'included'],
    ] as const
  ).flatMap(([years, yearsNamed]) =>
    ['memory:', 'none'].map((store) =>
      kept(
        `some years of many series, ${years} (${yearsNamed}), held in ${store}`,
        { years, yearsNamed, size: 'full' },
        [
          ask('{ countries { code } indicators { key } }'),
          ask(`{ observations(metricKeys: ${SOME_KEYS}, fromYear: 2005, toYear: 2012) { year value } }`),
          ask(
            `{ observations(metricKeys: ${SOME_KEYS}, fromYear: 2008, toYear: 2012, latest: true) { year value } }`,
          ),
          ask(`{ observations(metricKeys: ${SOME_KEYS}, fromYear: 2000, toYear: 2006) { year value } }`),
          ask(`{ observations(metricKeys: ${SOME_KEYS}, fromYear: 2040) { year value } }`),
          ask(`{ observations(metricKeys: ${SOME_KEYS}, latest: true) { year value } }`),
          { kind: 'wait', seconds: 301 },
          { kind: 'revise', nth: 0 },
          ask(`{ observations(metricKeys: ${SOME_KEYS}, fromYear: 2005, toYear: 2012) { year value } }`),
        ],
        { CACHE_URL: store },
      ),
    ),
  ),
  ...(['retrieved', 'first source', 'last source', 'all'] as const).flatMap((latestTie) =>
    ['memory:', 'none'].map((store) =>
      kept(
        `several sources a period, of which the latest is by ${latestTie}, held in ${store}`,
        { severalSources: true, latestTie },
        [
          ask(LATEST_RATES),
          ask(`{ countries { code ${DERIVED_RATES} } }`),
          ask(`{ observations(metricKeys: ${RATES}) { year source { key } value ${DERIVED} } }`),
          ask(
            `{ observations(metricKeys: ${RATES}, latest: true) { year source { key } value ${DERIVED} } }`,
          ),
          ask(LATEST_RATES),
        ],
        { CACHE_URL: store },
      ),
    ),
  ),
  {
    name: 'two series beside each other, each longer than the limit that the other one has shown to be taken',
    scenario: {
      seed: 101,
      service: 5,
      env: { ...ENV, CACHE_URL: 'memory:' },
      steps: [
        { ...ask('{ observations(countryCodes: ["CG", "MZ", "MU"]) { unit } }'), keys: [KEYS[1]] } as Step,
      ],
    },
  },
  {
    name: 'a key in another case than that of the catalogue, where the service tells cases apart',
    scenario: {
      seed: 101,
      service: 13,
      env: { ...ENV, CACHE_URL: 'memory:' },
      steps: [
        ask('{ indicators { key } }'),
        ask('{ observations(metricKeys: ["EXPORTS_GOODS_USD"]) { locationName } }'),
      ],
    },
  },
  {
    name: 'a key that the service knows nothing of, whose figures others would have been compared with',
    scenario: {
      seed: 101,
      service: 1,
      env: { ...ENV, CACHE_URL: 'memory:' },
      steps: [
        ask(
          '{ countries { observation(metricKey: "median_income_usd") { per(metricKey: "electricity_access_pct") { year } growthPercent(since: 2023) } } }',
        ),
      ],
    },
  },
  {
    name: 'the price of a series that leaves only as long as something else is waited for',
    scenario: {
      seed: 102,
      service: 79,
      env: { ...ENV, CACHE_URL: 'memory:' },
      steps: [
        ask(
          '{ country(code: "XA") { observations(fromYear: 2023, latest: true, toYear: 2023) { value } tickers { session } } }',
        ),
        ask(
          '{ tickers(exchangeCode: "CSE") { country { name observation(metricKey: "school_enrolment_pct") { value source { nextRun } } } } }',
        ),
        ask(
          `query ($all: [_Any!]!) { _entities(representations: $all) { ... on Ticker { country { officialName profile { record } } }
            ... on Country { observation(metricKey: "school_enrolment_pct") { value growthPercent } __typename } } }`,
          {
            all: [
              { __typename: 'Ticker', exchangeCode: 'NGX', symbol: 'SYM8' },
              { __typename: 'Source', key: 'world_bank_wdi' },
              { __typename: 'Country', code: 'er' },
              { __typename: 'Ticker', exchangeCode: 'CSE', symbol: 'SYM29' },
              { __typename: 'Country', code: 'xa' },
              { __typename: 'Indicator', key: 'Twin_Metric' },
            ],
          },
        ),
      ],
    },
  },
  {
    name: 'a warning of several figures below an indicator that they show to be there',
    scenario: {
      seed: 1,
      service: 32,
      env: { ...ENV, CACHE_URL: 'memory:' },
      steps: [
        ask(
          '{ indicator(key: "stateless_total") { a0: observations(latest: true, toYear: 2021) { datasetVersion } } }',
        ),
      ],
    },
  },
  {
    name: 'ranks of a year of which later ones have come, asked for again',
    scenario: {
      seed: 51,
      service: 1,
      habits: {
        ...USUAL,
        severalSources: true,
        latestTie: 'first source',
        places: true,
        nullRows: true,
        latestCountsNulls: true,
        releases: true,
      },
      env: { ...ENV, CACHE_URL: 'memory:' },
      steps: [
        ask(
          '{ indicators(keys: ["school_enrolment_pct", "infant_mortality_per_1000", "twin_metric"]) { category observations { id } } }',
        ),
        {
          ...ask('{ observations(fromYear: 2021, toYear: 2021) { rank(among: ["TN"]) { of } } }'),
          again: true,
        } as Step,
      ],
    },
  },
  ...(['one way', 'any way'] as const).map((periods) =>
    kept(
      `periods of all frequencies, some of them blended, spelled ${periods}`,
      { periods, frequencies: 'all', blends: true, opaquePeriods: true },
      [
        ask(
          `{ countries { observations(metricKeys: ${SOME_KEYS}, latest: true, toYear: 2023) { period value } } }`,
        ),
        ask(`{ countries { observations(metricKeys: ${SOME_KEYS}) { period value ${DERIVED} } } }`),
        ask(
          `{ countries { observations(metricKeys: ${SOME_KEYS}, latest: true) { period value ${DERIVED} } } }`,
        ),
      ],
      { CACHE_URL: 'memory:' },
    ),
  ),
  ...(['day', 'zoneless', 'offset', 'slashes', 'minutes'] as const).map((times) =>
    kept(
      `a source that runs twice, told by ${times}`,
      { times, unreadableTimes: true },
      [
        ask(LATEST_RATES),
        ...[0, 1, 2].flatMap((nth): Step[] => [
          { kind: 'revise', nth },
          { kind: 'wait', seconds: 301 },
          ask(`{ sources { lastSuccessfulRefresh nextRun } }`),
          ask(LATEST_RATES),
        ]),
      ],
      { CACHE_URL: 'memory:' },
    ),
  ),
  ...(['detail', 'error', 'errors', 'success', 'status', 'message'] as const).map((failing) =>
    kept(
      `calls that fail now and then with the status 200, by ${failing}`,
      { failing, saysWell: true },
      Array.from({ length: 4 }, () => EVERYTHING).flat(),
      { CACHE_URL: 'memory:', STALE_IF_ERROR_SECONDS: '0' },
    ),
  ),
  ...(['country', 'metric', 'all countries'] as const).map((strays) =>
    kept(
      `rows and records that nobody asked for: ${strays}`,
      { strays, strayRecords: true, catalogueFilters: 'ignored', absence: 'unworded' },
      [...EVERYTHING, ...EVERYTHING],
      { CACHE_URL: 'memory:', STALE_IF_ERROR_SECONDS: '0' },
    ),
  ),
  ...(['spelled', 'text', 'beyond', 'token'] as const).map((oddNumbers) =>
    kept(`values that are odd: ${oddNumbers}`, { oddNumbers }, EVERYTHING, {
      CACHE_URL: 'memory:',
      STALE_IF_ERROR_SECONDS: '0',
    }),
  ),
  ...(['gzip', 'x-gzip', 'deflate', 'raw deflate', 'br', 'zstd', 'gzip, br'] as const).map((encoding) =>
    kept(
      `bodies in ${encoding}, asked for or not, over connections that are reset`,
      { encoding, encodesUnasked: true, requestsAConnection: 1 },
      EVERYTHING,
    ),
  ),
];
