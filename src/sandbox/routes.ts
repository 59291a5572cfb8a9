import { type Country, countries, countryByCode } from './catalogue/countries.ts';
import { officesOf } from './catalogue/government.ts';
import { type Indicator, indicatorByKey, indicators } from './catalogue/indicators.ts';
import { sources } from './catalogue/sources.ts';
import { tickers } from './catalogue/tickers.ts';
import { type Extras, type Query, Refused } from './query.ts';
import { newestOf, type Observation, seriesOf } from './series.ts';
import { profileOf, refreshOf, signalsOf } from './signals.ts';

/** What the specification leaves open, decided. */
export interface Habits {
  readonly extras: Extras;
  readonly unknown: 'empty' | 'refuse';
  readonly government: 'offices' | 'terms';
  readonly maxRows: number;
  readonly defaultRows: number;
  /** Sources that have run since the sandbox started, and when: the end of their last good run, as the service writes it. */
  readonly runs: ReadonlyMap<string, string>;
}

/** An answer before it is wrapped; `meta` where the route has one. */
export interface Answer {
  readonly data: unknown;
  readonly meta?: Record<string, number>;
}

export interface Route {
  readonly template: string;
  readonly isPublic?: true;
  /** Answers with an ETag, and with 304 to whoever has it. */
  readonly cacheable?: true;
  /** Sent as it stands, under no envelope. */
  readonly plain?: true;
  readonly parameters?: readonly string[];
  /** Parameters that the specification doesn't name and the live service knows. */
  readonly undocumented?: readonly string[];
  answer(query: Query, habits: Habits, code: string): Answer;
}

const MAX_TICKERS = 500;
const DEFAULT_TICKERS = 100;

/** The routes of the service; all GET. */
export const routes: readonly Route[] = [
  {
    template: '/health',
    isPublic: true,
    plain: true,
    answer: () => ({ data: { status: 'ok' } }),
  },
  {
    template: '/v1/platform/version',
    isPublic: true,
    answer: () => ({ data: { name: 'Country Data Service sandbox', version: '1.0.0-synthetic' } }),
  },
  {
    template: '/v1/platform/etl-status',
    answer: (_query, { runs }) => ({
      data: sources.map(({ key, name, cadence }) => refreshOf(key, name, cadence, runs.get(key))),
    }),
  },
  {
    template: '/v1/countries',
    cacheable: true,
    answer: () => ({
      data: countries.map((country) => country.record),
      meta: { total: countries.length, page: 1, per_page: countries.length, total_pages: 1 },
    }),
  },
  {
    template: '/v1/countries/{code}/profile',
    answer: (_query, _habits, code) => ({ data: profileOf(countryOf(code)) }),
  },
  {
    template: '/v1/countries/{code}/signals',
    answer: (_query, _habits, code) => ({ data: signalsOf(countryOf(code)) }),
  },
  {
    template: '/v1/data',
    parameters: ['country_codes', 'country_code', 'metric_keys', 'metric_key', 'latest'],
    undocumented: ['limit', 'start_year', 'end_year', 'year', 'category', 'source'],
    answer: observations,
  },
  {
    template: '/v1/indicators',
    parameters: ['category', 'has_data'],
    answer: (query) => {
      const category = query.text('category');
      const hasData = query.boolean('has_data');
      const data = indicators
        .filter((i) => category === undefined || i.category === category)
        .filter((i) => hasData === undefined || i.hasData === hasData)
        .map((i) => ({
          metric_key: i.key,
          metric_name: i.name,
          unit: i.unit,
          category: i.category,
          frequency: i.frequency,
          sources: i.sources,
          has_data: i.hasData,
        }));
      return { data };
    },
  },
  {
    template: '/v1/markets/tickers',
    undocumented: ['exchange_code', 'country_code', 'instrument_type', 'limit'],
    answer: (query) => {
      const limit = query.integer('limit', 1, MAX_TICKERS) ?? DEFAULT_TICKERS;
      const exchange = query.text('exchange_code')?.toUpperCase();
      const country = query.text('country_code')?.toLowerCase();
      const type = query.text('instrument_type')?.toUpperCase();
      const data = tickers
        .filter((t) => exchange === undefined || t.exchange_code === exchange)
        .filter((t) => country === undefined || t.country_code === country)
        .filter((t) => type === undefined || t.instrument_type === type)
        .slice(0, limit);
      return { data };
    },
  },
  {
    template: '/v1/government/structure/{code}',
    answer: (_query, habits, code) => {
      const { code: id, name, region } = countryOf(code);
      const country = { code: id, name, region };
      const offices = officesOf(countryOf(code));
      if (habits.government === 'offices') return { data: { country, offices } };
      const terms = offices.flatMap(({ terms: held, ...office }) =>
        held.map((term) => ({ ...office, ...term })),
      );
      return { data: { country, terms } };
    },
  },
];

/** The route that a path names, and the country code in it. */
export function routeOf(path: string): { route: Route; code: string } | null {
  for (const route of routes) {
    const [before = '', after] = route.template.split('{code}');
    if (after === undefined) {
      if (path === before) return { route, code: '' };
      continue;
    }
    const code = path.slice(before.length, path.length - after.length);
    if (path.startsWith(before) && path.endsWith(after) && code !== '' && !code.includes('/'))
      return { route, code };
  }
  return null;
}

/** @throws Refused 404 where there is no such country. */
function countryOf(code: string): Country {
  const country = countryByCode.get(code.toLowerCase());
  if (!country) throw new Refused(404, `country not found: ${code.toLowerCase()}`);
  return country;
}

function chosen<T>(
  names: readonly string[] | null,
  catalogue: ReadonlyMap<string, T>,
  thing: string,
  habits: Habits,
): T[] {
  // Rows come in the order of codes and keys, whatever order was asked for.
  const sorted = (names ?? [...catalogue.keys()]).toSorted();
  return sorted.flatMap((name) => {
    const found = catalogue.get(name);
    if (found !== undefined) return [found];
    if (habits.unknown === 'refuse') throw new Refused(404, `${thing} not found: ${name}`);
    return [];
  });
}

function observations(query: Query, habits: Habits): Answer {
  const limit = query.integer('limit', 1, habits.maxRows) ?? habits.defaultRows;
  const [year, startYear, endYear] = ['year', 'start_year', 'end_year'].map((name) =>
    query.integer(name, 1900, 2100),
  );
  if (year !== undefined && (startYear !== undefined || endYear !== undefined)) {
    throw new Refused(400, 'year cannot be combined with start_year or end_year');
  }
  const first = year ?? startYear ?? Number.NEGATIVE_INFINITY;
  const last = year ?? endYear ?? Number.POSITIVE_INFINITY;
  const category = query.text('category');
  const source = query.text('source');
  const latest = query.boolean('latest') ?? false;
  const isWanted = (row: Observation) =>
    row.year >= first && row.year <= last && (source === undefined || row.source === source);
  const isFiltered = source !== undefined || first > 0 || last < Number.POSITIVE_INFINITY;

  const asked = chosen(query.list('country_codes', 'country_code'), countryByCode, 'country', habits);
  const measures = chosen(query.list('metric_keys', 'metric_key'), indicatorByKey, 'metric', habits).filter(
    (indicator: Indicator) => category === undefined || indicator.category === category,
  );
  const data: Observation[] = [];
  let total = 0;
  for (const country of asked) {
    for (const indicator of measures) {
      const series = seriesOf(country, indicator);
      const matching = isFiltered ? series.filter(isWanted) : series;
      const newest = latest ? newestOf(matching) : undefined;
      const rows = latest ? (newest ? [newest] : []) : matching;
      total += rows.length;
      if (data.length < limit) data.push(...rows.slice(0, limit - data.length));
    }
  }
  return { data: data.map((row) => written(row, habits)), meta: { total, limit } };
}

/** A row as the last run of its source wrote it: the same figure, retrieved again. */
function written(row: Observation, { runs }: Habits): Observation {
  const run = runs.get(row.source);
  return run === undefined ? row : { ...row, retrieved_at: run };
}
