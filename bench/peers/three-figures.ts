import { type CountryRow, type DataRow, dataParams, getJson } from './plain-graph.ts';

const FIGURES = { population: 'population_total', gdp: 'gdp_current_usd', life: 'life_expectancy' };

/** The answer to the row of three figures, made without GraphQL: two calls, parsed, joined and written again. */
export async function threeFigures(authorization: string): Promise<string> {
  const params = dataParams({ metricKeys: Object.values(FIGURES), latest: true });
  const [{ data: countries }, { data: rows }] = (await Promise.all([
    getJson('/v1/countries', authorization),
    getJson(`/v1/data?${params}`, authorization),
  ])) as [{ data: CountryRow[] }, { data: DataRow[] }];
  const found = new Map(rows.map((row) => [`${row.country_code} ${row.metric_key}`, row]));
  const figure = (code: string, metricKey: string) => {
    const row = found.get(`${code} ${metricKey}`);
    if (row === undefined) return null;
    return { value: row.value, year: row.year, unit: row.unit, source: { key: row.source } };
  };
  return JSON.stringify({
    data: {
      countries: countries.map(({ id, name }) => ({
        code: id.toUpperCase(),
        name,
        population: figure(id, FIGURES.population),
        gdp: figure(id, FIGURES.gdp),
        life: figure(id, FIGURES.life),
      })),
    },
  });
}
