import { countryByCode } from '../catalogue/countries.ts';
import { type Indicator, indicatorByKey } from '../catalogue/indicators.ts';
import { type Query, Refused } from '../query.ts';
import type { Answer, Habits, Route } from '../route.ts';
import { newestOf, type Observation, seriesOf } from '../series.ts';

export const routes: readonly Route[] = [
  {
    template: '/v1/data',
    parameters: ['country_codes', 'country_code', 'metric_keys', 'metric_key', 'latest'],
    undocumented: ['limit', 'start_year', 'end_year', 'year', 'category', 'source'],
    answer: observations,
  },
];

function chosen<T>(
  names: readonly string[] | null,
  catalogue: ReadonlyMap<string, T>,
  thing: string,
  habits: Habits,
): T[] {
  // Puts rows in the order of codes and keys, for any order of the request.
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
