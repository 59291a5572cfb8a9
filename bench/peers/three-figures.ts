import { type CountryRow, type DataRow, dataParams, getJson } from './plain-graph.ts';

/** The response to row c without GraphQL: two calls, parsed, joined and serialized. */
export async function threeFigures(authorization: string, metricKeys: readonly string[]): Promise<string> {
  const [first = '', second = '', third = ''] = metricKeys;
  const params = dataParams({ metricKeys, latest: true });
  const [{ data: countries }, { data: rows }] = (await Promise.all([
    getJson('/v1/countries', authorization),
    getJson(`/v1/data?${params}`, authorization),
  ])) as [{ data: CountryRow[] }, { data: DataRow[] }];
  const byPair = new Map(rows.map((row) => [`${row.country_code} ${row.metric_key}`, row]));
  const figure = (code: string, metricKey: string) => {
    const row = byPair.get(`${code} ${metricKey}`);
    if (row === undefined) return null;
    return { value: row.value, year: row.year, unit: row.unit, source: { key: row.source } };
  };
  return JSON.stringify({
    data: {
      countries: countries.map(({ id, name }) => ({
        code: id.toUpperCase(),
        name,
        first: figure(id, first),
        second: figure(id, second),
        third: figure(id, third),
      })),
    },
  });
}
