import { describe, expect, it } from 'vitest';
import { decodeHealth, decodeSources, decodeVersion } from '../../src/service/records/reference.ts';
import { failureOf, lackOf } from './failure-of.ts';

describe('decodeSources', () => {
  const ROUTE = '/v1/platform/etl-status';

  const refresh = '2026-01-02T03:04:05Z';
  const next = '2026-01-03T03:04:05Z';
  const rows: [row: object, lastSuccessfulRefresh: string | null, nextRun: string | null][] = [
    [{ source: 'who', last_successful_refresh: refresh, next_run: next }, refresh, next],
    [{ source_key: 'who', last_success_at: refresh, next_run_at: next }, refresh, next],
    [{ key: 'who', last_success: refresh }, refresh, null],
    [{ code: 'who', last_successful_refresh: null, last_success: refresh }, refresh, null],
    [{ source: { key: 'who' }, last_successful_refresh: 7, next_run: {} }, '7', '{}'],
    [{ key: 7, source: 'who' }, null, null],
  ];
  it.each(rows)('decodeSources reads %j', (row, lastSuccessfulRefresh, nextRun) => {
    const [record] = decodeSources({ data: [row] }, ROUTE);
    expect(record).toMatchObject({ key: 'who', lastSuccessfulRefresh, nextRun, record: row });
    expect(record?.record).toBe(row);
  });

  it.each([
    [{ name: 'WHO', url: 'https://who.example' }, 'WHO', 'https://who.example'],
    [{ source_name: 'WHO', homepage: 'HTTP://who.example/a' }, 'WHO', 'HTTP://who.example/a'],
    [{ name: '', url: 'javascript:alert(1)' }, null, null],
    [{ name: 7, url: 'http://' }, null, null],
    [{}, null, null],
  ])('decodeSources takes a name and a page from %j', (row, name, url) => {
    expect(decodeSources({ data: [{ key: 'who', ...row }] }, ROUTE)).toMatchObject([{ name, url }]);
  });

  const wrong: [row: unknown, detail: string][] = [
    [{}, 'sources[0].key: expected string, received undefined'],
    [{ source: 7 }, 'sources[0].source: expected string, received number'],
    [{ source: {} }, 'sources[0].source: expected string, received object'],
    ['who', 'sources[0]: expected object, received string'],
  ];
  it.each(wrong)('decodeSources leaves %j out, and says so', (row, detail) => {
    const list = decodeSources({ sources: [row, { key: 'who' }] }, ROUTE);
    expect(list.map(({ key }) => key)).toEqual(['who']);
    expect(lackOf(list)).toEqual({ count: 1, detail });
    const failure = failureOf(() => decodeSources({ sources: [row] }, ROUTE));
    expect(failure.code).toBe('UPSTREAM_INVALID_RESPONSE');
    expect(failure.fields).toEqual({ route: ROUTE, detail });
  });
});

const NEITHER: [body: unknown, detail: string][] = [
  [null, 'body: expected object, received null'],
  [undefined, 'body: expected object, received undefined'],
  [[], 'body: expected object, received array'],
  [true, 'body: expected object, received boolean'],
  [{ data: null }, 'data: expected object, received null'],
  [{ data: [] }, 'data: expected object, received array'],
];

describe('decodeHealth', () => {
  const ROUTE = '/health';

  const cases: [body: unknown, status: string, record: unknown][] = [
    [{ status: 'ok' }, 'ok', { status: 'ok' }],
    [{ data: { status: 'ok' } }, 'ok', { status: 'ok' }],
    [{ health: { status: 'ok' } }, 'ok', { status: 'ok' }],
    [{ status: 'ok', checks: { database: 'up' } }, 'ok', { status: 'ok', checks: { database: 'up' } }],
    ['ok', 'ok', 'ok'],
    [{ data: 'ok' }, 'ok', 'ok'],
    [{}, 'unknown', {}],
    [{ ok: true }, 'unknown', { ok: true }],
    [{ status: 200 }, 'unknown', { status: 200 }],
    [{ a: {}, b: {} }, 'unknown', { a: {}, b: {} }],
  ];
  it.each(cases)('decodeHealth reads %j', (body, status, record) => {
    expect(decodeHealth(body, ROUTE)).toEqual({ status, record });
  });

  it.each(NEITHER)('decodeHealth refuses %j', (body, detail) => {
    expect(failureOf(() => decodeHealth(body, ROUTE)).fields).toEqual({ route: ROUTE, detail });
  });
});

describe('decodeVersion', () => {
  const ROUTE = '/v1/platform/version';

  const cases: [body: unknown, version: string | null, record: unknown][] = [
    [{ version: '1.4.0' }, '1.4.0', { version: '1.4.0' }],
    [{ data: { platform_version: '1.4.0' } }, '1.4.0', { platform_version: '1.4.0' }],
    [{ api_version: 1.4 }, '1.4', { api_version: 1.4 }],
    [{ version: null, tag: 'v2' }, 'v2', { version: null, tag: 'v2' }],
    [{ platform: { version: 0 }, meta: {} }, '0', { version: 0 }],
    ['1.4.0', '1.4.0', '1.4.0'],
    [2, '2', 2],
    [{}, null, {}],
    [{ version: {} }, null, { version: {} }],
  ];
  it.each(cases)('decodeVersion reads %j', (body, version, record) => {
    expect(decodeVersion(body, ROUTE)).toEqual({ version, record });
  });

  it.each(NEITHER)('decodeVersion refuses %j', (body, detail) => {
    expect(failureOf(() => decodeVersion(body, ROUTE)).fields).toEqual({ route: ROUTE, detail });
  });
});
