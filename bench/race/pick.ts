import type { Question } from './questions.ts';

/*
 * The expected response of each row, made without GraphQL by picking members from the service's JSON. All responses are
 * compared with it. It is also the work of `parsing-floor`.
 */

// biome-ignore lint/suspicious/noExplicitAny: rows of several routes, each with different members
type ServiceRow = any;

export interface ServiceBody {
  readonly data: readonly ServiceRow[];
}

const LIST = '/v1/countries';
const YEARS = { start_year: '1990', end_year: '2024' };

/** Sorted, since series are. */
export const seriesMetrics = ({ metrics }: Question) => metrics.slice(0, 2).sort();

const data = (params: Readonly<Record<string, string>>) =>
  `/v1/data?${new URLSearchParams({ ...params, limit: '1000' })}`;

/** The paths of the calls that a row needs. */
export function targetsOf(letter: string, question: Question): string[] {
  const { country, countries, metrics } = question;
  const latest = (count: number) => ({ metric_keys: metrics.slice(0, count).join(','), latest: 'true' });
  switch (letter) {
    case 'a':
      return [LIST];
    case 'b':
      return [LIST, data({ country_codes: country, ...latest(1) })];
    case 'c':
      return [LIST, data(latest(3))];
    case 'd':
      return [LIST, data(latest(2))];
    case 'e':
      return [
        data({
          country_codes: countries.join(','),
          metric_keys: seriesMetrics(question).join(','),
          ...YEARS,
        }),
      ];
    default:
      throw new Error(`There is no row ${letter}.`);
  }
}

/** The expected data, made of the bodies from these paths, in the same order. */
export function pick(letter: string, question: Question, bodies: readonly ServiceBody[]): unknown {
  const [first = [], second = []] = bodies.map((body) => body.data);
  const [one = '', two = '', three = ''] = question.metrics;
  switch (letter) {
    case 'a':
      return { countries: first.map(({ id, name }) => ({ code: id.toUpperCase(), name })) };
    case 'b': {
      const code = question.country.toLowerCase();
      const { name } = first.find(({ id }) => id === code);
      const { value, year, unit } = second[0];
      return { country: { name, observation: { value, year, unit } } };
    }
    case 'c': {
      const rows = byFigure(second);
      const figure = (id: string, key: string) => {
        const row = rows.get(`${id} ${key}`);
        if (row === undefined) return null;
        return { value: row.value, year: row.year, unit: row.unit, source: { key: row.source } };
      };
      return {
        countries: first.map(({ id, name }) => ({
          code: id.toUpperCase(),
          name,
          first: figure(id, one),
          second: figure(id, two),
          third: figure(id, three),
        })),
      };
    }
    case 'd': {
      const rows = byFigure(second);
      const figure = (id: string, key: string) => {
        const row = rows.get(`${id} ${key}`);
        return row === undefined ? null : { value: row.value, year: row.year };
      };
      return {
        country: { observation: figure(question.country.toLowerCase(), one) },
        countries: first.map(({ id }) => ({ code: id.toUpperCase(), observation: figure(id, two) })),
      };
    }
    default:
      return { observations: first.map(seriesRow) };
  }
}

function byFigure(rows: readonly ServiceRow[]): Map<string, ServiceRow> {
  return new Map(rows.map((row) => [`${row.country_code} ${row.metric_key}`, row]));
}

/** A row of a series, converted to our schema. */
export const seriesRow = (row: ServiceRow) => ({
  country: { code: row.country_code.toUpperCase(), name: row.country_name },
  indicator: { key: row.metric_key, name: row.metric_name, unit: row.unit },
  year: row.year,
  period: row.period,
  asOfPeriod: row.as_of_period,
  locationName: row.location_name,
  value: row.value,
  unit: row.unit,
  source: { key: row.source },
  valueStatus: row.value_status,
  isModelled: row.value_status !== 'reported',
  estimateLow: row.estimate_low,
  estimateHigh: row.estimate_high,
  datasetVersion: row.dataset_version,
  retrievedAt: row.retrieved_at,
});
