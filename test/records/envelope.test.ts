import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as endpoints from '../../src/service/endpoints.ts';
import { listIn, metaIn, objectIn, wholeListIn } from '../../src/service/records/envelope.ts';
import type { Failure } from '../../src/shared/errors.ts';
import { failureOf } from './failure-of.ts';

const RECEIVED_AT = Date.UTC(2026, 0, 1);

const ROUTE = '/v1/things';

const country = { id: 'ke', name: 'Kenya', borders: ['et', 'tz'] };
const observation = {
  country_code: 'ke',
  country_name: 'Kenya',
  metric_key: 'population_total',
  metric_name: 'Population',
  year: 2024,
  period: '2024',
  value: 0,
  unit: 'persons',
  source: 'world_bank_wdi',
  value_status: 'reported',
  retrieved_at: '2026-01-02T03:04:05.678901Z',
};

describe('every list endpoint', () => {
  const lists: [name: string, row: object, decode: (body: unknown) => unknown][] = [
    ['etlStatus', { source: 'world_bank_wdi' }, (body) => endpoints.etlStatus.decode(body, {}, RECEIVED_AT)],
    ['countries', country, (body) => endpoints.countries.decode(body, {}, RECEIVED_AT)],
    [
      'indicators',
      { metric_key: 'population_total', sources: ['a'] },
      (body) => endpoints.indicators.decode(body, {}, RECEIVED_AT),
    ],
    [
      'observations',
      observation,
      (body) =>
        endpoints.observations.decode(body, { countryCodes: [], metricKeys: [], latest: false }, RECEIVED_AT)
          .rows,
    ],
    [
      'tickers',
      { exchange_code: 'NGX', symbol: 'DANGCEM' },
      (body) => endpoints.tickers.decode(body, {}, RECEIVED_AT).rows,
    ],
    [
      'governmentStructure',
      { office_name: 'President', role_type: 'head_of_state', terms: [] },
      (body) => endpoints.governmentStructure.decode(body, { code: 'KE' }, RECEIVED_AT),
    ],
  ];
  const wrappers: [shape: string, wrap: (rows: unknown[]) => unknown][] = [
    ['{data: […]}', (rows) => ({ data: rows })],
    ['{data: […], meta}', (rows) => ({ data: rows, meta: { total: rows.length, notes: [] } })],
    ['[…]', (rows) => rows],
    ['{results: […], meta}', (rows) => ({ results: rows, meta: {}, count: 2 })],
    ['{data: {results: […]}}', (rows) => ({ data: { results: rows, as_of: '2026' } })],
  ];
  const cases = lists.flatMap(([name, row, decode]) =>
    wrappers.map(([shape, wrap]) => ({ name, shape, row, decode, wrap })),
  );

  it.each(cases)('the list endpoint $name reads $shape', ({ row, decode, wrap }) => {
    const rows = [{ ...row }, { ...row }];
    const records = decode(wrap(rows)) as { record: unknown }[];
    expect(records).toHaveLength(2);
    expect(records[0]?.record).toBe(rows[0]);
    expect(records[1]?.record).toBe(rows[1]);
    expect(decode(wrap([]))).toEqual([]);
  });

  it.each(lists)('the list endpoint %s refuses a body without a list', (_, __, decode) => {
    expect(failureOf(() => decode('Bad gateway')).code).toBe('UPSTREAM_INVALID_RESPONSE');
    expect(failureOf(() => decode({ data: 'none' })).code).toBe('UPSTREAM_INVALID_RESPONSE');
  });
});

describe('every object endpoint', () => {
  const objects: [name: string, object: object, decode: (body: unknown) => { record: unknown }][] = [
    [
      'health',
      { status: 'ok', checks: { database: 'up' } },
      (body) => endpoints.health.decode(body, {}, RECEIVED_AT),
    ],
    [
      'platformVersion',
      { version: '1.4.0', build: { commit: 'abc' } },
      (body) => endpoints.platformVersion.decode(body, {}, RECEIVED_AT),
    ],
    [
      'countryProfile',
      { country: { code: 'ke' }, indicators: [] },
      (body) => endpoints.countryProfile.decode(body, { code: 'KE' }, RECEIVED_AT),
    ],
    [
      'countrySignals',
      { country: { code: 'ke' }, observations: [] },
      (body) => endpoints.countrySignals.decode(body, { code: 'KE' }, RECEIVED_AT),
    ],
  ];
  const wrappers: [shape: string, wrap: (object: object) => unknown][] = [
    ['{data: {…}}', (object) => ({ data: object })],
    ['{data: {…}, meta}', (object) => ({ data: object, meta: { version: 'v1' } })],
    ['{…}', (object) => object],
    ['{result: {…}, meta}', (object) => ({ result: object, meta: { page: 1 } })],
  ];
  const cases = objects.flatMap(([name, object, decode]) =>
    wrappers.map(([shape, wrap]) => ({ name, shape, object, decode, wrap })),
  );

  it.each(cases)('the object endpoint $name reads $shape', ({ object, decode, wrap }) => {
    expect(decode(wrap(object)).record).toBe(object);
  });
});

describe('listIn', () => {
  const wrong: [body: unknown, detail: string][] = [
    [null, 'body: expected array, received null'],
    [undefined, 'body: expected array, received undefined'],
    ['text', 'body: expected array, received string'],
    [7, 'body: expected array, received number'],
    [{}, 'body: expected array, received object with 0 arrays'],
    [{ a: [], b: [] }, 'body: expected array, received object with 2 arrays'],
    [{ meta: [] }, 'body: expected array, received object with 0 arrays'],
    [{ data: null, rows: [] }, 'data: expected array, received null'],
    [{ data: {} }, 'data: expected array, received object with 0 arrays'],
    [{ data: { rows: {} } }, 'data: expected array, received object with 0 arrays'],
  ];
  it.each(wrong)('listIn refuses %j', (body, detail) => {
    const failure = failureOf(() => listIn(body, ROUTE));
    expect(failure.code).toBe('UPSTREAM_INVALID_RESPONSE');
    expect(failure.fields).toEqual({ route: ROUTE, detail });
  });

  const places: [body: unknown, path: string][] = [
    [[1], ''],
    [{ data: [1] }, 'data'],
    [{ rows: [1] }, 'rows'],
    [{ data: { rows: [1] } }, 'data.rows'],
  ];
  it.each(places)('listIn knows where the list of %j stood', (body, path) => {
    expect(listIn(body, ROUTE)).toEqual({ value: [1], place: { route: ROUTE, path } });
  });

  it('listIn finds any rows, the same array, whatever the wrapper is called', () => {
    const name = fc.string({ minLength: 1 }).filter((text) => text !== 'meta' && text !== '__proto__');
    const scalars = fc.dictionary(
      fc.string().filter((text) => text !== 'data'),
      fc.oneof(fc.integer(), fc.string()),
    );
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), name, scalars, fc.jsonValue(), (rows, wrapper, others, meta) => {
        expect(listIn(rows, ROUTE).value).toBe(rows);
        expect(listIn({ ...others, meta, [wrapper]: rows }, ROUTE).value).toBe(rows);
        expect(listIn({ data: { ...others, meta, [wrapper]: rows } }, ROUTE).value).toBe(rows);
      }),
    );
  });

  it('listIn answers any JSON with a list that stands in it, or with a failure that names the place', () => {
    const members = (value: unknown) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [];
    const rows = fc.array(fc.jsonValue(), { maxLength: 2 });
    const part = fc.oneof(
      rows,
      fc.integer(),
      fc.record({ rows, more: rows, n: fc.integer() }, { requiredKeys: [] }),
    );
    const any = fc.oneof(
      fc.jsonValue(),
      part,
      fc.record({ data: part, rows, meta: part }, { requiredKeys: [] }),
    );
    fc.assert(
      fc.property(any, (body) => {
        let list: readonly unknown[];
        try {
          list = listIn(body, ROUTE).value;
        } catch (error) {
          expect((error as Failure).fields.detail).toMatch(/^(body|data): expected array, received /);
          return;
        }
        expect(Array.isArray(list)).toBe(true);
        expect(
          [body, ...members(body), ...members(body).flatMap(members)].some((part) => part === list),
        ).toBe(true);
      }),
    );
  });
});

describe('objectIn', () => {
  const KNOWN = ['country', 'name'];

  const places: [body: unknown, path: string][] = [
    [{ data: { anything: 1 } }, 'data'],
    [{ name: 'Kenya', capital: {} }, ''],
    [{ country: { code: 'ke' } }, ''],
    [{ profile: { a: 1 }, took_ms: 3, meta: { b: 1 } }, 'profile'],
    [{ links: { self: '/' }, profile: { name: 'Kenya' } }, 'profile'],
    [{ a: {}, b: {} }, ''],
    [{ a: { name: 'A' }, b: { name: 'B' } }, ''],
    [{ meta: {} }, ''],
    [{}, ''],
  ];
  it.each(places)('objectIn knows where the object of %j stood', (body, path) => {
    const found = objectIn(body, ROUTE, KNOWN);
    expect(found.place).toEqual({ route: ROUTE, path });
    expect(found.value).toBe(path === '' ? body : (body as Record<string, unknown>)[path]);
  });

  const wrong: [body: unknown, detail: string][] = [
    [null, 'body: expected object, received null'],
    ['text', 'body: expected object, received string'],
    [[{ name: 'Kenya' }], 'body: expected object, received array'],
    [{ data: [] }, 'data: expected object, received array'],
    [{ data: null, name: 'Kenya' }, 'data: expected object, received null'],
  ];
  it.each(wrong)('objectIn refuses %j', (body, detail) => {
    const failure = failureOf(() => objectIn(body, ROUTE, KNOWN));
    expect(failure.code).toBe('UPSTREAM_INVALID_RESPONSE');
    expect(failure.fields).toEqual({ route: ROUTE, detail });
  });
});

describe('metaIn', () => {
  const cases: [body: unknown, total: number | null, limit: number | null][] = [
    [[], null, null],
    ['text', null, null],
    [{ data: [] }, null, null],
    [{ data: [], meta: { total: 216, limit: 100 } }, 216, 100],
    [{ data: [], meta: { total: 0 } }, 0, null],
    [{ data: [], meta: { total: 54, page: 1, per_page: 20 } }, 54, 20],
    [{ rows: [], total: 216, limit: 100 }, 216, 100],
    [{ data: [], meta: { total: 'many', limit: null } }, null, null],
    [{ data: [], meta: 'none', total: 3 }, 3, null],
    [{ data: [], meta: { total: 0, limit: 0, per_page: 20 } }, 0, 20],
    [{ data: [], meta: { total: -1, limit: -1 } }, null, null],
    [{ data: [], meta: { total: 2.5, limit: 1e300 } }, null, null],
  ];
  it.each(cases)('metaIn reads %j', (body, total, limit) => {
    expect(metaIn(body)).toEqual({ total, limit });
  });
});

describe('wholeListIn', () => {
  const whole: [body: unknown][] = [
    [[1, 2]],
    [{ data: [1, 2] }],
    [{ data: [1, 2], meta: { total: 2, limit: 2 } }],
  ];
  it.each(whole)('wholeListIn passes %j on', (body) => {
    expect(wholeListIn(body, ROUTE).value).toEqual([1, 2]);
  });

  const cut: [body: unknown, total: number][] = [
    [{ data: [1, 2], meta: { total: 3 } }, 3],
    [{ data: [1, 2], meta: { total: 54, per_page: 2 } }, 54],
    [{ data: [1, 2], meta: { total: 207, limit: 100 } }, 207],
  ];
  it.each(cut)('wholeListIn refuses %j, whose rest cannot be had', (body, total) => {
    const failure = failureOf(() => wholeListIn(body, ROUTE));
    expect(failure.code).toBe('UPSTREAM_INCOMPLETE');
    expect(failure.fields).toEqual({ route: ROUTE, received: 2, total });
  });
});
