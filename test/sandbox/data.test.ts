import { describe, expect, it } from 'vitest';
import { start } from './start.ts';

const FIELDS = [
  'country_code',
  'country_name',
  'metric_key',
  'metric_name',
  'year',
  'period',
  'as_of_period',
  'location_name',
  'value',
  'unit',
  'source',
  'value_status',
  'estimate_low',
  'estimate_high',
  'dataset_version',
  'retrieved_at',
];

interface Row {
  country_code: string;
  metric_key: string;
  year: number;
  period: string;
  location_name?: string | null;
  source: string;
}

describe('/v1/data', () => {
  it('/v1/data sends the fields of the specification, and marks the figure as synthetic', async () => {
    const { json } = await start();
    const { data, meta } = await json('/v1/data?country_code=KE&metric_key=population_total&latest=true');
    expect(meta).toEqual({ total: 1, limit: 100 });
    expect(Object.keys(data[0])).toEqual(FIELDS);
    expect(data[0]).toMatchObject({
      country_code: 'ke',
      country_name: 'Kenya',
      metric_key: 'population_total',
      year: 2025,
      period: '2025',
      as_of_period: '2025-07-01',
      location_name: null,
      value: 57_500_000,
      unit: 'persons',
      value_status: 'projected',
      dataset_version: 'synthetic-2026.1',
    });
    expect(data[0].retrieved_at).toMatch(/^2026-07-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  });

  it('/v1/data takes one code or many, in either case, each once', async () => {
    const { json } = await start();
    const { meta } = await json(
      '/v1/data?country_codes=KE,ng,,ke&country_code=Gh&metric_keys=population_total&metric_key=gdp_current_usd&latest=true',
    );
    expect(meta.total).toBe(6);
  });

  it('/v1/data orders rows by country, metric and time, whatever order was asked for', async () => {
    const { json } = await start();
    const { data } = await json(
      '/v1/data?country_codes=ng,ke&metric_keys=population_total,idps_total&limit=1000',
    );
    const pairs = [...new Set(data.map((row: Row) => `${row.country_code} ${row.metric_key}`))];
    expect(pairs).toEqual(['ke idps_total', 'ke population_total', 'ng idps_total', 'ng population_total']);
    for (const pair of pairs) {
      const years = data
        .filter((r: Row) => `${r.country_code} ${r.metric_key}` === pair)
        .map((r: Row) => r.year);
      expect(years).toEqual(years.toSorted((a: number, b: number) => a - b));
    }
  });

  it('/v1/data is cut at 100 rows without a word but meta, at more by limit, and never beyond 1000', async () => {
    const { json, send } = await start();
    const query = '/v1/data?country_codes=ke,ng,gh&metric_keys=population_total';
    const short = await json(query);
    expect([short.data.length, short.meta]).toEqual([100, { total: 228, limit: 100 }]);
    const whole = await json(`${query}&limit=1000`);
    expect([whole.data.length, whole.meta]).toEqual([228, { total: 228, limit: 1000 }]);
    expect(whole.data.slice(0, 100)).toEqual(short.data);

    const tooMany = await send(`${query}&limit=1001`);
    expect([tooMany.status, await tooMany.json()]).toEqual([
      422,
      {
        detail: [
          {
            loc: ['query', 'limit'],
            msg: 'Input should be less than or equal to 1000',
            type: 'less_than_equal',
          },
        ],
      },
    ]);
  });

  it('/v1/data has a pair that exceeds the limit alone', async () => {
    const { json } = await start();
    const { data, meta } = await json('/v1/data?country_code=ke&metric_key=rainfall_monthly_mm&limit=1000');
    expect(data).toHaveLength(1000);
    expect(meta.total).toBeGreaterThan(2000);
    const years = await json(
      '/v1/data?country_code=ke&metric_key=rainfall_monthly_mm&limit=1000&start_year=2016&end_year=2025',
    );
    expect(years.data).toHaveLength(years.meta.total);
  });

  it('/v1/data gives one latest row for a pair: greatest year, then period, then the whole country', async () => {
    const { json } = await start();
    const { data, meta } = await json(
      '/v1/data?country_codes=so,ke&metric_keys=idps_total,rainfall_monthly_mm,population_total&latest=true',
    );
    expect(meta.total).toBe(6);
    const row = (country: string, metric: string) =>
      data.find((r: Row) => r.country_code === country && r.metric_key === metric);
    // Places within Somalia have figures newer than the newest of the whole country.
    expect(row('so', 'idps_total')).toMatchObject({ year: 2025, location_name: expect.any(String) });
    const { data: national } = await json(
      '/v1/data?country_code=so&metric_key=idps_total&end_year=2022&latest=true',
    );
    expect(national[0]).toMatchObject({ location_name: null });
    // Rain is measured in both at once.
    expect(row('ke', 'rainfall_monthly_mm')).toMatchObject({ location_name: null });
    expect(row('ke', 'idps_total')).toMatchObject({ value: 0, location_name: null });
  });

  it('/v1/data knows no rows for a pair without figures', async () => {
    const { json } = await start();
    expect(await json('/v1/data?country_code=so&metric_key=inflation_cpi_latest_yoy_pct')).toEqual({
      data: [],
      meta: { total: 0, limit: 100 },
    });
  });

  it('/v1/data passes over the unknown, or refuses the whole call', async () => {
    const known = 'country_codes=ke,zz&metric_keys=population_total,median_income_usd&latest=true';
    const lenient = await (await start()).json(`/v1/data?${known}`);
    expect(lenient.data.map((row: Row) => row.country_code)).toEqual(['ke']);

    const { send } = await start({ unknown: 'refuse' });
    const country = await send(`/v1/data?${known}`);
    expect([country.status, await country.json()]).toEqual([404, { detail: 'country not found: zz' }]);
    const metric = await send('/v1/data?country_code=ke&metric_key=median_income_usd');
    expect([metric.status, await metric.json()]).toEqual([
      404,
      { detail: 'metric not found: median_income_usd' },
    ]);
  });

  it.each([
    ['latest=perhaps', 'latest', 'bool_parsing'],
    ['limit=ten', 'limit', 'int_parsing'],
    ['limit=0', 'limit', 'greater_than_equal'],
    ['year=20245', 'year', 'less_than_equal'],
  ])('/v1/data refuses %s', async (query, name, type) => {
    const { send } = await start();
    const response = await send(`/v1/data?${query}`);
    expect(response.status).toBe(422);
    expect((await response.json()).detail[0]).toMatchObject({ loc: ['query', name], type });
  });
});

describe('parameters that the specification doesn’t name', () => {
  const pair = '/v1/data?country_code=ke&metric_key=population_total';

  it('parameters that the specification doesn’t name are honoured', async () => {
    const { json, send } = await start();
    expect((await json(`${pair}&start_year=2001&end_year=2010`)).meta.total).toBe(10);
    expect((await json(`${pair}&year=2001`)).data[0].year).toBe(2001);
    const old = await json(`${pair}&source=un_wpp`);
    expect(new Set(old.data.map((row: Row) => row.source))).toEqual(new Set(['un_wpp']));
    expect((await json('/v1/data?country_code=ke&category=governance&latest=true')).meta.total).toBeLessThan(
      20,
    );
    expect((await send(`${pair}&year=2001&start_year=2000`)).status).toBe(400);
    expect((await json(`${pair}&page=2`)).meta.total).toBe(76);
    for (const ticker of (await json('/v1/markets/tickers?country_code=KE&instrument_type=bond')).data) {
      expect(ticker).toMatchObject({ country_code: 'ke', instrument_type: 'BOND', exchange_code: 'NSE' });
    }
    expect((await send('/v1/markets/tickers?limit=501')).status).toBe(422);
  });

  it('parameters that the specification doesn’t name are passed over', async () => {
    const { json } = await start({ extras: 'ignore' });
    expect((await json(`${pair}&year=2001&start_year=2000&limit=5000`)).meta).toEqual({
      total: 76,
      limit: 100,
    });
    expect((await json('/v1/markets/tickers?limit=500')).data).toHaveLength(100);
  });

  it('parameters that the specification doesn’t name are refused', async () => {
    const { send } = await start({ extras: 'refuse' });
    const response = await send(`${pair}&limit=10`);
    expect(response.status).toBe(422);
    expect((await response.json()).detail).toEqual([
      { loc: ['query', 'limit'], msg: 'Extra inputs are not permitted', type: 'extra_forbidden' },
    ]);
    expect((await send(pair)).status).toBe(200);
  });

  it('parameters that the specification doesn’t name are limited by other bounds when told', async () => {
    const { json, send } = await start({ maxRows: 20, defaultRows: 5 });
    expect((await json(pair)).data).toHaveLength(5);
    expect((await json(`${pair}&limit=20`)).data).toHaveLength(20);
    expect((await send(`${pair}&limit=21`)).status).toBe(422);
  });
});
