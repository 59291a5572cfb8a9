import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { COVERED_COUNTRIES } from '../../src/service/records/countries.ts';

const YEARS = [2020, 2021, 2022, 2023, 2024];

function rowOf(code: string, key: string, year: number) {
  return {
    country_code: code,
    country_name: `The country ${code}`,
    metric_key: key,
    metric_name: `The metric ${key}`,
    year,
    period: `${year}`,
    as_of_period: null,
    location_name: null,
    value: (year * 7 + code.charCodeAt(0) * 3 + key.length) / 10,
    unit: 'persons',
    source: 'world_bank_wdi',
    value_status: 'reported',
    estimate_low: null,
    estimate_high: null,
    dataset_version: '2025-10',
    retrieved_at: '2026-01-02T03:04:05Z',
  };
}

/**
 * A service that sends thousands of figures in one response: five years of `metric_0` and so on of all countries, or other
 * years, with the latest in their snapshots. All else comes from a sandbox.
 */
export async function openWideService(metrics: number, allYears: readonly number[] = YEARS) {
  const keys = Array.from({ length: metrics }, (_, i) => `metric_${i}`);
  const sandbox = createSandbox();
  const rest = await sandbox.listen();
  let requests = 0;

  function dataBy(search: URLSearchParams) {
    const wanted = (name: string) => search.get(name)?.split(',') ?? [];
    const [from, to] = [Number(search.get('year_from') ?? 0), Number(search.get('year_to') ?? 9999)];
    const years =
      search.get('latest') === 'true'
        ? allYears.slice(-1)
        : allYears.filter((year) => year >= from && year <= to);
    const known = wanted('metric_keys').filter((key) => keys.includes(key));
    const data = wanted('country_codes').flatMap((code) =>
      known.flatMap((key) => years.map((year) => rowOf(code, key, year))),
    );
    return { data, meta: { total: data.length } };
  }

  async function bodyOf(path: string, search: URLSearchParams): Promise<unknown> {
    const [, , , code = '', record] = path.split('/');
    if (path === '/v1/data') return dataBy(search);
    if (path === '/v1/countries')
      return { data: Array.from(COVERED_COUNTRIES, (id) => ({ id, name: `The country ${id}` })) };
    if (path === '/v1/indicators')
      return { data: keys.map((key) => ({ metric_key: key, sources: ['world_bank_wdi'] })) };
    if (record === 'signals')
      return { data: { country_code: code, observations: keys.map((key) => rowOf(code, key, 2024)) } };
    const headers = { authorization: `Bearer ${sandbox.keys.team}` };
    return (await fetch(`${rest.url}${path}?${search}`, { headers })).json();
  }

  const server = createServer((request, response) => {
    requests += 1;
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://service');
    void bodyOf(pathname, searchParams).then((body) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Requests so far. */
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await sandbox.close();
    },
  };
}
