/** An operation that all servers of the race answer. */
export interface Row {
  readonly letter: string;
  readonly name: string;
  readonly what: string;
  readonly query: string;
  /** The same question to a gateway made from the OpenAPI document, and its answer brought into our shape. */
  readonly mesh: { readonly query: string; answer(data: MeshData): unknown };
}

// biome-ignore lint/suspicious/noExplicitAny: lists of the service by alias, each row with the fields that were asked for
type MeshData = Readonly<Record<string, any>>;

// biome-ignore lint/suspicious/noExplicitAny: as above
type MeshRow = any;

const codeOf = ({ id }: { readonly id: string }) => id.toUpperCase();

const THREE = { population: 'population_total', gdp: 'gdp_current_usd', life: 'life_expectancy' };

const SERIES = {
  countries: ['AO', 'EG', 'ET', 'GH', 'KE', 'MA', 'NG', 'RW', 'TZ', 'ZA'],
  metrics: ['life_expectancy', 'population_total'],
  fromYear: 1990,
  toYear: 2024,
};

const figures = (alias: string, args: string, fields: string) =>
  `${alias}: figures(${args}, limit: 1000) { data { ${fields} } }`;

export const ROWS: readonly Row[] = [
  {
    letter: 'a',
    name: 'countries',
    what: '54 countries, code and name',
    query: '{ countries { code name } }',
    mesh: {
      query: '{ countries { data { id name } } }',
      answer: ({ countries }) => ({
        countries: countries.data.map((row: MeshRow) => ({ code: codeOf(row), name: row.name })),
      }),
    },
  },
  {
    letter: 'b',
    name: 'one-figure',
    what: 'one country, one latest figure',
    query: '{ country(code: "KE") { name observation(metricKey: "population_total") { value year unit } } }',
    mesh: {
      query: `{ ${figures('one', 'country_codes: "KE", metric_keys: "population_total", latest: true', 'country_name value year unit')} }`,
      answer: ({ one: { data } }) => {
        const { country_name: name, ...observation } = data[0];
        return { country: { name, observation } };
      },
    },
  },
  {
    letter: 'c',
    name: 'three-figures',
    what: '54 countries × 3 latest figures',
    query: `{ countries { code name ${Object.entries(THREE)
      .map(([alias, key]) => `${alias}: observation(metricKey: "${key}") { value year unit source { key } }`)
      .join(' ')} } }`,
    mesh: {
      query: `{ countries { data { id name } } ${figures('latest', `metric_keys: "${Object.values(THREE)}", latest: true`, 'country_code metric_key value year unit source')} }`,
      answer: ({ countries, latest: { data } }) => {
        const found = new Map<string, MeshRow>(
          data.map((row: MeshRow) => [`${row.country_code} ${row.metric_key}`, row]),
        );
        const figure = (id: string, key: string) => {
          const { value, year, unit, source } = found.get(`${id} ${key}`);
          return { value, year, unit, source: { key: source } };
        };
        return {
          countries: countries.data.map((row: MeshRow) => ({
            code: codeOf(row),
            name: row.name,
            ...Object.fromEntries(Object.entries(THREE).map(([alias, key]) => [alias, figure(row.id, key)])),
          })),
        };
      },
    },
  },
  {
    letter: 'd',
    name: 'two-depths',
    what: "one country's figure beside the 54 countries' figures of another metric",
    query:
      '{ country(code: "KE") { observation(metricKey: "population_total") { value year } } countries { code observation(metricKey: "life_expectancy") { value year } } }',
    mesh: {
      query: `{ countries { data { id } } ${figures('one', 'country_codes: "KE", metric_keys: "population_total", latest: true', 'value year')} ${figures('all', 'metric_keys: "life_expectancy", latest: true', 'country_code value year')} }`,
      answer: ({ countries, one, all: { data } }) => {
        const found = new Map(data.map(({ country_code, ...figure }: MeshRow) => [country_code, figure]));
        return {
          country: { observation: one.data[0] },
          countries: countries.data.map((row: MeshRow) => ({
            code: codeOf(row),
            observation: found.get(row.id),
          })),
        };
      },
    },
  },
  {
    letter: 'e',
    name: 'series',
    what: '10 countries × 2 series of 35 years, 17 fields a row',
    query: `{ observations(countryCodes: ${JSON.stringify(SERIES.countries)}, metricKeys: ${JSON.stringify(SERIES.metrics)}, fromYear: ${SERIES.fromYear}, toYear: ${SERIES.toYear}) { country { code name } indicator { key name unit } year period asOfPeriod locationName value unit source { key } valueStatus isModelled estimateLow estimateHigh datasetVersion retrievedAt } }`,
    mesh: {
      query: `{ ${figures('rows', `country_codes: "${SERIES.countries}", metric_keys: "${SERIES.metrics}", start_year: ${SERIES.fromYear}, end_year: ${SERIES.toYear}`, 'country_code country_name metric_key metric_name year period as_of_period location_name value unit source value_status estimate_low estimate_high dataset_version retrieved_at')} }`,
      answer: ({ rows: { data } }) => ({
        observations: data.map((row: MeshRow) => ({
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
        })),
      }),
    },
  },
];
