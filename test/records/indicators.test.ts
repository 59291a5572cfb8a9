import { describe, expect, it } from 'vitest';
import { decodeIndicators } from '../../src/service/records/reference.ts';
import { failureOf, lackOf } from './failure-of.ts';

const ROUTE = '/v1/indicators';

const population = {
  metric_key: 'population_total',
  metric_name: 'Population, total',
  unit: 'persons',
  category: 'demographics',
  has_data: true,
  sources: ['world_bank_wdi', 'un_wpp'],
};

const only = (row: object) => decodeIndicators([row], ROUTE)[0];

describe('decodeIndicators', () => {
  it('decodeIndicators says every field in our words and keeps the row', () => {
    const [record] = decodeIndicators({ data: [population] }, ROUTE);
    expect(record).toEqual({
      key: 'population_total',
      name: 'Population, total',
      unit: 'persons',
      category: 'demographics',
      hasData: true,
      sources: ['world_bank_wdi', 'un_wpp'],
      areAllSources: true,
      record: population,
    });
    expect(record?.record).toBe(population);
  });

  it.each([
    [{ metric_key: 'a', metric_name: 'A' }, 'A'],
    [{ key: 'a', name: 'A' }, 'A'],
    [{ id: 'a', name: 'A' }, 'A'],
    [{ id: 12, key: 'a', metric_name: 7, name: 'A' }, 'A'],
    [{ key: 'a' }, null],
  ])('decodeIndicators reads key and name of %j', (row, name) => {
    expect(only(row)).toMatchObject({
      key: 'a',
      name,
      unit: null,
      category: null,
      hasData: null,
      sources: [],
    });
  });

  it.each([
    [{ sources: [{ key: 'x' }, { source: 'y' }, { source_key: 'z' }, { code: 'w' }] }, ['x', 'y', 'z', 'w']],
    [{ source: 'x' }, ['x']],
    [{ source: { key: 'x' } }, ['x']],
    [{ sources: null, source: 'x' }, ['x']],
    [{ sources: ['x', 7, null, {}, ''] }, ['x']],
    [{ sources: 7 }, []],
  ])('decodeIndicators reads sources of %j', (fields, sources) => {
    expect(only({ key: 'a', ...fields })?.sources).toEqual(sources);
  });

  it.each([
    [
      { unit: 7, category: {}, has_data: 'yes' },
      { unit: null, category: null, hasData: null },
    ],
    [{ has_data: false }, { hasData: false }],
  ])('decodeIndicators reads optional fields of %j', (fields, expected) => {
    expect(only({ key: 'a', ...fields })).toMatchObject(expected);
  });

  const wrong: [row: unknown, detail: string][] = [
    [{ name: 'A' }, 'data[0].metric_key: expected string, received undefined'],
    [{ key: 7 }, 'data[0].key: expected string, received number'],
    ['population_total', 'data[0]: expected object, received string'],
  ];
  it.each(wrong)('decodeIndicators leaves %j out, and says so', (row, detail) => {
    const list = decodeIndicators({ data: [row, population] }, ROUTE);
    expect(list.map(({ key }) => key)).toEqual(['population_total']);
    expect(lackOf(list)).toEqual({ count: 1, detail });
    expect(failureOf(() => decodeIndicators({ data: [row] }, ROUTE)).fields).toEqual({
      route: ROUTE,
      detail,
    });
  });

  const sourcesLacking: [fields: object, count: number, detail: string][] = [
    [{}, 1, '[0].sources: expected array, received undefined'],
    [{ sources: null }, 1, '[0].sources: expected array, received null'],
    [{ sources: 7 }, 1, '[0].sources[0]: expected string, received number'],
    [{ sources: ['x', {}, 7] }, 2, '[0].sources[1]: expected string, received object'],
  ];
  it.each(sourcesLacking)('decodeIndicators says what the sources of %j lack', (fields, count, detail) => {
    expect(lackOf(only({ key: 'a', ...fields })?.sources ?? [])).toEqual({ count, detail });
    expect(lackOf(only({ key: 'a', sources: [] })?.sources ?? [])).toBeNull();
  });
});
