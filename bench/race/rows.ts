import { seriesMetrics, seriesRow } from './pick.ts';
import { FIRST_QUESTION, type Question } from './questions.ts';

/** An operation that all servers answer. */
export interface Row {
  readonly letter: string;
  readonly name: string;
  /** A short description. */
  readonly what: string;
  /** The text for `FIRST_QUESTION`. */
  readonly query: string;
  ask(question: Question): string;
  /** The same operation for a schema that mirrors the REST service, and the conversion of its data to our schema. */
  readonly plain: { ask(question: Question): string; answer(data: PlainData, question: Question): unknown };
}

// biome-ignore lint/suspicious/noExplicitAny: lists of the service by alias, each row with the requested fields
type PlainData = Readonly<Record<string, any>>;

// biome-ignore lint/suspicious/noExplicitAny: as above
type PlainRow = any;

const codeOf = ({ id }: { readonly id: string }) => id.toUpperCase();

const ALIASES = ['first', 'second', 'third'];
const YEARS = { from: 1990, to: 2024 };

const figures = (alias: string, args: string, fields: string) =>
  `${alias}: figures(${args}, limit: 1000) { data { ${fields} } }`;

const row = (given: Omit<Row, 'query'>): Row => ({ ...given, query: given.ask(FIRST_QUESTION) });

export const ROWS: readonly Row[] = [
  row({
    letter: 'a',
    name: 'countries',
    what: '54 countries, code and name',
    ask: () => '{ countries { code name } }',
    plain: {
      ask: () => '{ countries { data { id name } } }',
      answer: ({ countries }) => ({
        countries: countries.data.map((each: PlainRow) => ({ code: codeOf(each), name: each.name })),
      }),
    },
  }),
  row({
    letter: 'b',
    name: 'one-figure',
    what: 'one country, one latest figure',
    ask: ({ country, metrics: [key] }) =>
      `{ country(code: "${country}") { name observation(metricKey: "${key}") { value year unit } } }`,
    plain: {
      ask: ({ country, metrics: [key] }) =>
        `{ ${figures('one', `country_codes: "${country}", metric_keys: "${key}", latest: true`, 'country_name value year unit')} }`,
      answer: ({ one: { data } }) => {
        const { country_name: name, ...observation } = data[0];
        return { country: { name, observation } };
      },
    },
  }),
  row({
    letter: 'c',
    name: 'three-figures',
    what: '54 countries × 3 latest figures',
    ask: ({ metrics }) =>
      `{ countries { code name ${ALIASES.map(
        (alias, i) => `${alias}: observation(metricKey: "${metrics[i]}") { value year unit source { key } }`,
      ).join(' ')} } }`,
    plain: {
      ask: ({ metrics }) =>
        `{ countries { data { id name } } ${figures('latest', `metric_keys: "${metrics}", latest: true`, 'country_code metric_key value year unit source')} }`,
      answer: ({ countries, latest: { data } }, { metrics }) => {
        const rows = new Map<string, PlainRow>(
          data.map((each: PlainRow) => [`${each.country_code} ${each.metric_key}`, each]),
        );
        const figure = (id: string, key: string | undefined) => {
          const each = rows.get(`${id} ${key}`);
          if (each === undefined) return null;
          return { value: each.value, year: each.year, unit: each.unit, source: { key: each.source } };
        };
        return {
          countries: countries.data.map((each: PlainRow) => ({
            code: codeOf(each),
            name: each.name,
            ...Object.fromEntries(ALIASES.map((alias, i) => [alias, figure(each.id, metrics[i])])),
          })),
        };
      },
    },
  }),
  row({
    letter: 'd',
    name: 'two-depths',
    what: "one country's figure beside the 54 countries' figures of another metric",
    ask: ({ country, metrics: [one, all] }) =>
      `{ country(code: "${country}") { observation(metricKey: "${one}") { value year } } countries { code observation(metricKey: "${all}") { value year } } }`,
    plain: {
      ask: ({ country, metrics: [one, all] }) =>
        `{ countries { data { id } } ${figures('one', `country_codes: "${country}", metric_keys: "${one}", latest: true`, 'value year')} ${figures('all', `metric_keys: "${all}", latest: true`, 'country_code value year')} }`,
      answer: ({ countries, one, all: { data } }) => {
        const rows = new Map(data.map(({ country_code, ...figure }: PlainRow) => [country_code, figure]));
        return {
          country: { observation: one.data[0] },
          countries: countries.data.map((each: PlainRow) => ({
            code: codeOf(each),
            observation: rows.get(each.id) ?? null,
          })),
        };
      },
    },
  }),
  row({
    letter: 'e',
    name: 'series',
    what: '10 countries × 2 series of 35 years, 17 fields a row',
    ask: (question) =>
      `{ observations(countryCodes: ${JSON.stringify(question.countries)}, metricKeys: ${JSON.stringify(seriesMetrics(question))}, fromYear: ${YEARS.from}, toYear: ${YEARS.to}) { country { code name } indicator { key name unit } year period asOfPeriod locationName value unit source { key } valueStatus isModelled estimateLow estimateHigh datasetVersion retrievedAt } }`,
    plain: {
      ask: (question) =>
        `{ ${figures('rows', `country_codes: "${question.countries}", metric_keys: "${seriesMetrics(question)}", start_year: ${YEARS.from}, end_year: ${YEARS.to}`, 'country_code country_name metric_key metric_name year period as_of_period location_name value unit source value_status estimate_low estimate_high dataset_version retrieved_at')} }`,
      answer: ({ rows: { data } }) => ({ observations: data.map(seriesRow) }),
    },
  }),
];
