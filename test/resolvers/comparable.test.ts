import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  changeOf,
  decided,
  growthOf,
  Misfit,
  matching,
  quotientOf,
} from '../../src/graphql/resolvers/derived.ts';
import type { ObservationRecord } from '../../src/service/records/observations.ts';
import { difference, growth, quotient } from '../oracle/decimals.ts';
import { draws } from '../support/draws.ts';
import { figure } from '../support/figure.ts';

/** As services write figures: up to twelve digits, six of them decimals. */
const value = fc.oneof(
  fc.constantFrom(0, 1, -1, 727.46, 693.09),
  fc
    .record({ digits: fc.integer({ min: -1e12, max: 1e12 }), places: fc.nat({ max: 6 }) })
    .map(({ digits, places }) => Number(`${digits}e-${places}`)),
);
const unit = fc.constantFrom('persons', 'percent');
const figures = fc.record({ value, unit }).map((given) => figure(given));

function counterpart(
  rows: readonly ObservationRecord[],
  own: ObservationRecord,
  year: number,
  latest: ObservationRecord | null = null,
) {
  const found = matching(rows, own, year);
  return found === null || found instanceof Misfit ? found : decided(found, own, latest);
}

/** The number, or the kind of misfit. JSON writes −0 as 0. */
const told = (outcome: number | Misfit) => (outcome instanceof Misfit ? outcome.kind : outcome + 0);

describe('two figures', () => {
  it('two figures are compared by their decimal digits, or not at all', () => {
    fc.assert(
      fc.property(figures, figures, (own, earlier) => {
        const isOfUnit = own.unit === earlier.unit;
        expect(told(changeOf(own, earlier))).toBe(isOfUnit ? difference(own.value, earlier.value) : 'unit');
        expect(told(growthOf(own, earlier))).toBe(
          !isOfUnit ? 'unit' : earlier.value <= 0 ? 'base' : growth(own.value, earlier.value),
        );
        expect(told(quotientOf(own, earlier))).toBe(
          earlier.value === 0 ? 'zero' : quotient(own.value, earlier.value) + 0,
        );
      }),
    );
  });

  it('two figures whose result is beyond what a number holds are not compared', () => {
    const [most, least] = [figure({ value: 1e308 }), figure({ value: -1e308 })];
    expect(told(changeOf(most, least))).toBe('size');
    expect(told(growthOf(most, figure({ value: 5e-324 })))).toBe('size');
    expect(told(quotientOf(most, figure({ value: 5e-324 })))).toBe('size');
  });
});

describe('the figure of another year', () => {
  const place = fc.constantFrom(null, 'Nairobi');
  const period = fc.constantFrom('', '-Q1', '-Q2', '-01', '-02', '-06-30');
  const row = fc
    .record({ year: fc.integer({ min: 2019, max: 2021 }), place, period, source: fc.constantFrom('s', 't') })
    .map((drawn) =>
      figure({
        year: drawn.year,
        period: `${drawn.year}${drawn.period}`,
        locationName: drawn.place,
        source: drawn.source,
      }),
    );

  it('the figure of another year is of the same place and the same part of the year, and never a guess', () => {
    fc.assert(
      fc.property(row, fc.array(row, { maxLength: 6 }), (own, drawn) => {
        const rows = drawn.map((one, value) => ({ ...one, value }));
        const year = own.year - 1;
        const there = rows.filter((one) => one.year === year && one.locationName === own.locationName);
        const found = counterpart(rows, own, year);
        if (there.length === 0) {
          expect(found).toBeNull();
          return;
        }
        const suffix = (one: ObservationRecord) => one.period.slice(4);
        const same = there.filter((one) => suffix(one) === suffix(own));
        const isPart = (one: ObservationRecord) => /^-(Q\d|\d\d)$/.test(suffix(one));
        if (found instanceof Misfit) {
          // Nothing goes with it, or several do alike.
          expect(same.length === 1).toBe(false);
          return;
        }
        if (found === null) throw new Error('There is a figure.');
        expect(there).toContain(found);
        const areOfOnePeriod = new Set(there.map(suffix)).size === 1;
        if (!areOfOnePeriod || isPart(own) || isPart(found)) expect(suffix(found)).toBe(suffix(own));
        if (same.length > 1) expect(found.source).toBe(own.source);
      }),
      { numRuns: draws(500) },
    );
  });

  it('the figure of another year of several is the service’s own choice of their newest period, else that of the same source, in any order', () => {
    const of = (year: number, source: string, further: Partial<ObservationRecord> = {}) =>
      figure({ year, period: `${year}`, source, value: year + source.length, metricKey: 'n', ...further });
    const own = figure({ year: 2021, period: '2021', source: 's' });
    const rows = [of(2021, 's'), of(2021, 'tt'), of(2021, 'tt', { locationName: 'Nairobi' }), of(2020, 's')];
    for (const some of [rows, rows.toReversed()]) {
      expect(matching(some, own, 2021)).toMatchObject({ mayBeLatest: true, rows: { length: 2 } });
      expect(counterpart(some, own, 2021, of(2021, 'tt'))).toMatchObject({ source: 'tt' });
      // Newer figures, and those of another part of the year, decide nothing.
      for (const latest of [of(2022, 'tt'), of(2021, 'tt', { period: '2021-Q4' }), null])
        expect(counterpart(some, own, 2021, latest)).toMatchObject({ source: 's' });
      expect(counterpart(some, figure({ year: 2021, period: '2021', source: 'u' }), 2021)).toBeInstanceOf(
        Misfit,
      );
    }
    const newer = [...rows, of(2021, 's', { period: '2022-06-30' })];
    expect(matching(newer, own, 2021)).toMatchObject({ mayBeLatest: false, rows: { length: 2 } });
    // A figure that stands there twice is one.
    expect(counterpart([of(2021, 'tt'), of(2021, 'tt')], own, 2021)).toMatchObject({ source: 'tt' });
    // Nothing earlier than a figure is the latest of its own series.
    const before = [
      figure({ year: 2020, period: '2020', value: 2 }),
      figure({ year: 2020, period: '2020', source: 't' }),
    ];
    expect(matching(before, own, 2020)).toMatchObject({ mayBeLatest: false });
  });

  it('the figure of another year may be that of the only period of a fiscal year', () => {
    const product = figure({ year: 2024, period: '2025-06-30' });
    const population = figure({ year: 2024, period: '2024' });
    expect(counterpart([population], product, 2024)).toBe(population);
    expect(counterpart([figure({ year: 2024, period: '2024-Q1' })], product, 2024)).toBeInstanceOf(Misfit);
    const before = figure({ year: 2023, period: '2024-06-30' });
    expect(counterpart([before], product, 2023)).toBe(before);
    // The only day of a year that a series of days begins in.
    expect(counterpart([figure({ year: 2023, period: '2023-12-31' })], product, 2023)).toBeInstanceOf(Misfit);
  });
});
