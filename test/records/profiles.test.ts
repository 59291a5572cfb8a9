import { describe, expect, it } from 'vitest';
import { decodeProfile } from '../../src/service/records/countries.ts';
import { failureOf, lackOf } from './failure-of.ts';

const ROUTE = '/v1/countries/{code}/profile';

const decode = (body: unknown) => decodeProfile(body, ROUTE, 'ke');
const empty = { name: null, unit: null, value: null, year: null, period: null, source: null };

const population = {
  metric_key: 'population_total',
  metric_name: 'Population, total',
  unit: 'persons',
  value: 0,
  year: 2024,
  period: '2024',
  source: 'world_bank_wdi',
};

describe('decodeProfile', () => {
  it('decodeProfile says every field in our words and keeps what was sent', () => {
    const body = { data: { country: { code: 'ke' }, indicators: [population] } };
    const record = decode(body);
    expect(record).toEqual({
      countryCode: 'KE',
      indicators: [
        {
          key: 'population_total',
          name: 'Population, total',
          unit: 'persons',
          value: 0,
          year: 2024,
          period: '2024',
          source: 'world_bank_wdi',
          record: population,
        },
      ],
      record: body.data,
    });
    expect(record.record).toBe(body.data);
    expect(record.indicators[0]?.record).toBe(population);
  });

  it.each(['indicators', 'selected_indicators', 'observations'])(
    'decodeProfile finds indicators under %s',
    (name) => {
      expect(decode({ data: { [name]: [population] } }).indicators).toHaveLength(1);
    },
  );

  it.each([
    [{ data: {} }],
    [{ data: { indicators: null } }],
    [{ data: { indicators: [] } }],
    [{ name: 'Kenya' }],
  ])('decodeProfile finds no indicators in %j', (body) => {
    expect(decode(body)).toMatchObject({ countryCode: 'KE', indicators: [] });
  });

  const shapes: [indicators: unknown, expected: object[]][] = [
    [[{ key: 'a', name: 'A' }], [{ ...empty, key: 'a', name: 'A', record: { key: 'a', name: 'A' } }]],
    [[{ id: 'a' }], [{ ...empty, key: 'a', record: { id: 'a' } }]],
    [
      ['a', 'b'],
      [
        { ...empty, key: 'a', record: 'a' },
        { ...empty, key: 'b', record: 'b' },
      ],
    ],
    [{ a: 0, b: null }, [{ ...empty, key: 'a', value: 0, record: 0 }]],
    [
      { a: { value: '1.5', year: 2024.5 } },
      [{ ...empty, key: 'a', value: 1.5, record: { value: '1.5', year: 2024.5 } }],
    ],
    [
      { a: { value: 1, year: 2.025e303 } },
      [{ ...empty, key: 'a', value: 1, record: { value: 1, year: 2.025e303 } }],
    ],
    [{ a: 'n/a' }, [{ ...empty, key: 'a', record: 'n/a' }]],
    [
      [{ key: 'a', source: { key: 'who' }, unit: 7, value: [] }],
      [
        {
          ...empty,
          key: 'a',
          source: 'who',
          record: { key: 'a', source: { key: 'who' }, unit: 7, value: [] },
        },
      ],
    ],
  ];
  it.each(shapes)('decodeProfile reads %j', (indicators, expected) => {
    expect(decode({ data: { indicators } }).indicators).toEqual(expected);
  });

  const wrong: [body: unknown, detail: string][] = [
    [{ data: { indicators: 'a' } }, 'data.indicators: expected array or object, received string'],
    [{ data: { indicators: [7] } }, 'data.indicators[0]: expected object, received number'],
    [{ data: { indicators: [''] } }, 'data.indicators[0]: expected object, received string'],
    [
      { data: { selected_indicators: [population, { name: 'A' }] } },
      'data.selected_indicators[1].metric_key: expected string, received undefined',
    ],
    [{ data: {} }, 'data.indicators: expected array or object, received undefined'],
    [{ data: { indicators: null } }, 'data.indicators: expected array or object, received null'],
    [{ a: {}, b: {} }, 'indicators: expected array or object, received undefined'],
  ];
  it.each(wrong)('decodeProfile leaves out what is wrong in %j, and says so', (body, detail) => {
    const { indicators, record } = decode(body);
    expect(lackOf(indicators)).toEqual({ count: 1, detail });
    expect([body, (body as { data?: unknown }).data]).toContain(record);
  });

  it('decodeProfile keeps the other indicators', () => {
    const { indicators } = decode({ data: { indicators: [{ name: 'A' }, population, 7] } });
    expect(indicators.map(({ key }) => key)).toEqual(['population_total']);
    expect(lackOf(indicators)).toMatchObject({ count: 2 });
    expect(lackOf(decode({ data: { indicators: [] } }).indicators)).toBeNull();
  });

  it('a profile is found in a wrapper that nobody knows, beside others', () => {
    const profile = { name: 'Kenya', indicators: [population] };
    const { indicators, record } = decode({ links: { self: '/' }, profile });
    expect(indicators).toHaveLength(1);
    expect(record).toBe(profile);
  });

  it('decodeProfile refuses what is no object', () => {
    const failure = failureOf(() => decode({ data: [] }));
    expect(failure.code).toBe('UPSTREAM_INVALID_RESPONSE');
    expect(failure.fields).toEqual({ route: ROUTE, detail: 'data: expected object, received array' });
  });
});
