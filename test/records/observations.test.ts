import { describe, expect, it } from 'vitest';
import { decodeObservations, decodeSignals } from '../../src/service/records/observations.ts';
import { SENT_ROW as sent } from '../support/sent-row.ts';

const ROUTE = '/v1/data';
const RECEIVED_AT = Date.UTC(2026, 0, 1);

function without(...names: readonly (keyof typeof sent)[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(sent).filter(([name]) => !names.includes(name as keyof typeof sent)),
  );
}

function only(row: object) {
  const { rows, errors } = decodeObservations({ data: [row] }, ROUTE, RECEIVED_AT);
  expect(errors.map((fault) => fault.failure.fields.detail)).toEqual([]);
  expect(rows).toHaveLength(1);
  return rows[0] as (typeof rows)[number];
}

describe('decodeObservations', () => {
  it('decodeObservations says every field in our words and keeps the row', () => {
    const record = only(sent);
    expect(record).toEqual({
      countryCode: 'KE',
      countryName: 'Kenya',
      metricKey: 'population_total',
      metricName: 'Population, total',
      year: 2024,
      period: '2024',
      asOfPeriod: '2024-07-01',
      locationName: 'Nairobi',
      value: 55_339_003,
      unit: 'persons',
      source: 'world_bank_wdi',
      valueStatus: 'estimate',
      isModelled: true,
      estimateLow: 55_000_000,
      estimateHigh: 56_000_000.5,
      datasetVersion: '2025-10',
      retrievedAt: '2026-01-02T03:04:05.678901Z',
      fetchedAtMs: RECEIVED_AT,
      record: sent,
    });
    expect(record.record).toBe(sent);
  });

  const NULLABLE = [
    'as_of_period',
    'location_name',
    'estimate_low',
    'estimate_high',
    'dataset_version',
  ] as const;
  const nulls = {
    asOfPeriod: null,
    locationName: null,
    estimateLow: null,
    estimateHigh: null,
    datasetVersion: null,
  };

  it('decodeObservations reads nullable fields that are absent as null', () => {
    expect(only(without(...NULLABLE))).toMatchObject(nulls);
  });

  it('decodeObservations reads nullable fields that are null as null', () => {
    expect(only({ ...sent, ...Object.fromEntries(NULLABLE.map((name) => [name, null])) })).toMatchObject(
      nulls,
    );
  });

  it('decodeObservations keeps a zero as a zero', () => {
    expect(only({ ...sent, value: 0, estimate_low: 0 })).toMatchObject({ value: 0, estimateLow: 0 });
  });

  it.each(['2026-01-02T03:04:05.678901Z', '2026-01-02T03:04:05Z'])(
    'decodeObservations keeps the timestamp %s as it came',
    (text) => {
      expect(only({ ...sent, retrieved_at: text }).retrievedAt).toBe(text);
    },
  );

  it.each([
    ['2026-01-02T03:04:05.600+00:00', '2026-01-02T03:04:05.600Z'],
    ['2026-01-02T03:04:05', '2026-01-02T03:04:05Z'],
    ['2026/01/02 03:04', '2026-01-02T03:04:00Z'],
    ['2026-01-02t03:04:05.123456789+0300', '2026-01-02T00:04:05.123456789Z'],
    ['2026-01-02', '2026-01-02T00:00:00Z'],
  ])('decodeObservations tells the timestamp %s in UTC', (text, utc) => {
    expect(only({ ...sent, retrieved_at: text }).retrievedAt).toBe(utc);
  });

  it.each([
    ['reported', false],
    ['REPORTED', false],
    ['Reported', false],
    ['estimate', true],
    ['projection', true],
    ['', true],
  ])('decodeObservations takes the status %j for modelled: %j', (status, isModelled) => {
    expect(only({ ...sent, value_status: status })).toMatchObject({ valueStatus: status, isModelled });
  });

  it('decodeObservations accepts an empty unit, and fields it does not know', () => {
    const row = { ...sent, unit: '', freshness: 'current' };
    expect(only(row)).toMatchObject({ unit: '', record: row });
  });

  it('decodeObservations leaves out rows whose value is null, and counts them', () => {
    const list = decodeObservations({ data: [{ ...sent, value: null }, sent] }, ROUTE, RECEIVED_AT);
    expect(list.rows.map((row) => row.record)).toEqual([sent]);
    expect(list.errors).toEqual([]);
    expect(list.received).toBe(2);
  });

  it('decodeObservations finds fault with rows that lack a value', () => {
    const list = decodeObservations({ data: [without('value'), sent] }, ROUTE, RECEIVED_AT);
    expect(list.rows).toHaveLength(1);
    expect(list.errors[0]?.failure.fields.detail).toContain('value');
  });

  it.each(['KEN', 'ken', ' KEN '])('decodeObservations knows the country of the alpha-3 code %j', (code) => {
    const row = { ...sent, country_code: code };
    expect(only(row)).toMatchObject({ countryCode: 'KE', record: row });
    const { errors } = decodeObservations([{ ...row, year: null }], ROUTE, RECEIVED_AT);
    expect(errors).toEqual([expect.objectContaining({ countryCode: 'KE' })]);
  });

  it.each(['Kenya', 'XYZ', 'K', '404'])(
    'decodeObservations tells of a row whose country is named by %j',
    (code) => {
      const { rows, errors, unknown, received } = decodeObservations(
        { data: [sent, { ...sent, country_code: code }] },
        ROUTE,
        RECEIVED_AT,
      );
      expect({ rows: rows.length, faults: errors, received }).toEqual({ rows: 1, faults: [], received: 2 });
      expect(unknown).toEqual([
        {
          countryCode: code,
          metricKey: 'population_total',
          detail: 'data[1].country_code: expected ISO 3166-1 alpha-2 code',
        },
      ]);
    },
  );

  it.each(['', '  ', null])('decodeObservations takes %j for no place within the country', (place) => {
    expect(only({ ...sent, location_name: place }).locationName).toBeNull();
  });

  it('decodeObservations passes the counts of the answer on', () => {
    const list = decodeObservations({ data: [sent], meta: { total: 216, limit: 100 } }, ROUTE, RECEIVED_AT);
    expect(list).toMatchObject({ meta: { total: 216, limit: 100 }, received: 1 });
  });

  const wrong: [field: keyof typeof sent, value: unknown, problem: string][] = [
    ['country_code', undefined, 'expected string, received undefined'],
    ['country_code', null, 'expected string, received null'],
    ['country_code', '', 'expected ISO 3166-1 alpha-2 code'],
    ['country_name', null, 'expected string, received null'],
    ['metric_key', undefined, 'expected string, received undefined'],
    ['metric_key', '', 'expected string, received empty string'],
    ['metric_key', 7, 'expected string, received number'],
    ['metric_name', undefined, 'expected string, received undefined'],
    ['year', '2024', 'expected number, received string'],
    ['year', null, 'expected number, received null'],
    ['year', 2024.5, 'expected int, received number'],
    ['period', 2024, 'expected string, received number'],
    ['period', '', 'expected string, received empty string'],
    ['as_of_period', 2024, 'expected string, received number'],
    ['location_name', {}, 'expected string, received object'],
    ['value', '0', 'expected number, received string'],
    ['value', true, 'expected number, received boolean'],
    ['value', Number.POSITIVE_INFINITY, 'expected number, received Infinity'],
    ['unit', null, 'expected string, received null'],
    ['source', '', 'expected string, received empty string'],
    ['source', ['a'], 'expected string, received array'],
    ['value_status', null, 'expected string, received null'],
    ['estimate_low', '1', 'expected number, received string'],
    ['estimate_high', '1', 'expected number, received string'],
    ['dataset_version', 7, 'expected string, received number'],
    ['retrieved_at', undefined, 'expected string, received undefined'],
    ['retrieved_at', 1_767_000_000, 'expected string, received number'],
    ['retrieved_at', 'yesterday 1', 'expected ISO 8601 timestamp'],
    ['retrieved_at', '2026-02-30T03:04:05Z', 'expected ISO 8601 timestamp'],
    ['retrieved_at', '2026-01', 'expected ISO 8601 timestamp'],
    ['retrieved_at', '2026-13-02T03:04:05Z', 'expected ISO 8601 timestamp'],
  ];
  it.each(wrong)(
    'decodeObservations faults a row whose %s is %j, and keeps the others',
    (field, value, problem) => {
      const row = value === undefined ? without(field) : { ...sent, [field]: value };
      const { rows, errors, received } = decodeObservations(
        { observations: [sent, row, sent] },
        ROUTE,
        RECEIVED_AT,
      );
      expect(rows).toHaveLength(2);
      expect(received).toBe(3);
      expect(errors).toHaveLength(1);
      expect(errors[0]?.failure.code).toBe('UPSTREAM_INVALID_RESPONSE');
      expect(errors[0]?.failure.fields).toEqual({
        route: ROUTE,
        detail: `observations[1].${field}: ${problem}`,
      });
    },
  );

  const whose: [row: unknown, countryCode: string | null, metricKey: string | null, detail: RegExp][] = [
    [{ ...sent, year: null }, 'KE', 'population_total', /^\[0\]\.year: /],
    [{ ...without('country_code'), metric_key: 'x' }, null, 'x', /^\[0\]\.country_code: /],
    [{ ...sent, metric_key: 7 }, 'KE', null, /^\[0\]\.metric_key: /],
    [{}, null, null, /^\[0\]\.metric_key: /],
    ['row', null, null, /^\[0\]: expected object, received string$/],
    [null, null, null, /^\[0\]: expected object, received null$/],
    [[sent], null, null, /^\[0\]: expected object, received array$/],
  ];
  it.each(whose)(
    'decodeObservations says whose the fault in %j is',
    (row, countryCode, metricKey, detail) => {
      const { rows, errors } = decodeObservations([row], ROUTE, RECEIVED_AT);
      expect(rows).toEqual([]);
      expect(errors).toEqual([expect.objectContaining({ countryCode, metricKey })]);
      expect(errors[0]?.failure.fields.detail).toMatch(detail);
    },
  );
});

describe('an observation among signals', () => {
  const row = without('country_code', 'country_name', 'estimate_low', 'estimate_high', 'dataset_version');
  const among = (one: unknown, country: unknown = { code: 'ke', name: 'Kenya' }) =>
    decodeSignals({ data: { country, observations: [one] } }, '/signals', 'ke', RECEIVED_AT).observations;

  it('an observation among signals takes the country from outside', () => {
    expect(among(row)).toMatchObject([
      {
        countryCode: 'KE',
        countryName: 'Kenya',
        metricName: 'Population, total',
        estimateLow: null,
        record: row,
      },
    ]);
  });

  it.each([
    ['its older field', { ...row, metric_name: undefined, name: 'Population' }, 'Population'],
    ['nowhere', { ...row, metric_name: undefined }, null],
  ])(
    'an observation among signals takes the name of the measure from %s where there is no other',
    (_, older, metricName) => {
      expect(among(older)).toMatchObject([{ metricName }]);
    },
  );

  it('an observation among signals leaves a country without a name unnamed', () => {
    expect(among(row, { code: 'ke' })).toMatchObject([{ countryName: null }]);
  });

  it('an observation among signals is left out where the row holds no value', () => {
    expect(among({ ...row, value: null })).toEqual([]);
  });
});
