import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newestOf } from '../../src/observations/planner/newest.ts';
import { draws } from '../support/draws.ts';

type Dated = Parameters<typeof newestOf>[0][number];

/** Tells which row is the newer one: positive if the first is, zero if neither. */
function compareAge(a: Dated, b: Dated): number {
  if (newestOf([a, b]) === b) return -1;
  return newestOf([b, a]) === a ? 1 : 0;
}

function row(given: Partial<Dated> = {}): Dated {
  return {
    year: 2024,
    period: '2024',
    asOfPeriod: null,
    locationName: null,
    retrievedAt: '2026-01-01T00:00:00Z',
    datasetVersion: null,
    source: 's',
    record: {},
    ...given,
  };
}

const rows = fc.array(
  fc
    .record({
      year: fc.integer({ min: 2023, max: 2024 }),
      period: fc.constantFrom(
        '2024',
        '2024Q4',
        'Q4 2024',
        '2024M12',
        '2024-H2',
        '2024-W01',
        '2024-12-31',
        '2023/24',
        'x',
        'y',
      ),
      asOfPeriod: fc.constantFrom(null, '2024-06-30', '2024-07', 'then'),
      locationName: fc.constantFrom(null, 'Kisumu', 'Nairobi'),
      retrievedAt: fc.constantFrom(
        '2026-01-01T00:00:00Z',
        '2026-01-01',
        '2026-01-01T03:00:00+03:00',
        '2026-01-01T00:00:00.0001Z',
      ),
      datasetVersion: fc.constantFrom(null, '1', '2'),
      source: fc.constantFrom('a', 'b'),
      record: fc.record({ value: fc.integer({ min: 1, max: 3 }) }),
    })
    .map((given) => row(given)),
  { minLength: 1, maxLength: 8 },
);

describe('the newest figure', () => {
  it('the newest figure is the same in whatever order the rows come', () => {
    fc.assert(
      fc.property(
        rows.chain((some) =>
          fc.tuple(fc.constant(some), fc.shuffledSubarray(some, { minLength: some.length })),
        ),
        ([some, shuffled]) => {
          expect(newestOf(shuffled)).toEqual(newestOf(some));
        },
      ),
      { numRuns: draws(3_000) },
    );
  });

  it('the newest figure is told by an order of all rows, in which none are alike that differ', () => {
    fc.assert(
      fc.property(rows, rows, rows, ([a], [b], [c]) => {
        if (a === undefined || b === undefined || c === undefined) return;
        expect(Math.sign(compareAge(a, b)) + Math.sign(compareAge(b, a))).toBe(0);
        if (compareAge(a, b) > 0 && compareAge(b, c) > 0) expect(compareAge(a, c)).toBeGreaterThan(0);
        if (JSON.stringify(a.record) !== JSON.stringify(b.record)) expect(compareAge(a, b)).not.toBe(0);
      }),
      { numRuns: draws(3_000) },
    );
  });

  it.for([
    ['the year of the row, whatever its period says', [{ year: 2023, period: '2025' }, { period: '2023Q4' }]],
    [
      'the end of the period, in any spelling',
      [
        ...[
          '2024-01',
          '2024W05',
          '2024M2',
          '2024Q1',
          '2024-05',
          'H1 2024',
          '2024-07-01',
          '2024/08/31',
          'Q3/2024',
        ],
        ...['2024-10', '2024M11', '2024-12-30'],
      ].map((period) => ({ period })),
    ],
    [
      'of those that end together, how long they are; one that is not told comes first',
      ['once', '2024-12-31', '2024-12', '2024-Q4', '2024-H2', '2024', '2020-2024'].map((period) => ({
        period,
      })),
    ],
    ['the end of a fiscal year', [{ period: '2024' }, { period: '2024/25' }]],
    [
      'the point in time of a stock',
      [{}, { asOfPeriod: '2024-06' }, { asOfPeriod: '2024-07-15' }, { asOfPeriod: '2024' }],
    ],
    ['the place', [{ locationName: 'Nairobi' }, { locationName: 'Kisumu' }, {}]],
    [
      'the instant of the retrieval',
      [
        '2026-01-01T09:00:00+03:00',
        '2026-01-01 06:00:00.0000001',
        '2026-01-01T05:59:00-00:30',
        '2026-01-02',
      ].map((retrievedAt) => ({ retrievedAt })),
    ],
    ['the release', [{}, { datasetVersion: '2024-10' }, { datasetVersion: '2025-01' }]],
    ['the source', [{ source: 'b' }, { source: 'a' }]],
  ] as const)('the newest figure goes by %s', ([, oldestFirst]) => {
    const given = (oldestFirst as readonly Partial<Dated>[]).map((one) => row(one));
    expect(given.toReversed().toSorted(compareAge)).toEqual(given);
  });
});
