import { describe, expect, it } from 'vitest';
import {
  covers,
  type Demand,
  demandFor,
  type Mode,
  spanOf,
  wholeOf,
  widened,
  type YearRange,
  yearRange,
} from '../../src/observations/planner/demand.ts';
import { createLearned } from '../../src/observations/planner/learned.ts';
import { planningModes } from '../../src/observations/planner/modes.ts';
import { taken } from '../../src/shared/async/turns.ts';

const years = (from: number | null, to: number | null): YearRange => ({ from, to });

/** Demands for the years of twenty series. */
function twenty(range: YearRange | null, from = 0, metricKey = 'm') {
  return Array.from({ length: 20 }, (_, i) =>
    demandFor('series', `A${String.fromCharCode(65 + i + from)}`, metricKey, undefined, range),
  );
}

/** A plan as ranges by their names, and how many pairs each kind has. */
function plan(demands: readonly Demand[], learned = createLearned()) {
  const planning = { learned, codesPerCall: 250, overfetchRows: 500 };
  const groups = taken(planningModes(demands, planning));
  const pairsOf = (wanted: Mode) =>
    groups.flatMap(({ mode, years, pairs }) => (mode === wanted && years === null ? pairs : []));
  return {
    latest: pairsOf('latest').length,
    series: pairsOf('series').length,
    ranges: groups.flatMap(({ years, pairs }) =>
      years === null ? [] : [[years.from, years.to, pairs.length]],
    ),
  };
}

describe('a range of years', () => {
  it.each([
    [1990, 2024, years(1990, 2024)],
    [1990, null, years(1990, null)],
    [undefined, 2024, years(null, 2024)],
    [null, undefined, null],
    [1900, 2100, null],
    [-2_147_483_648, 2024, years(null, 2024)],
    [2101, 2200, null],
    [1800, 1850, null],
  ])('a range of years from %s to %s is one that a call may name', (from, to, range) => {
    expect(yearRange(from, to)).toEqual(range);
  });

  it('a range of years is asked for with a year more on each side that is not open', () => {
    expect([widened(years(1990, 2024)), widened(years(1990, null))]).toEqual([
      years(1989, 2025),
      years(1989, null),
    ]);
  });

  it('a range of years covers what lies in it', () => {
    expect(covers(years(1990, 2024), years(1990, 2024))).toBe(true);
    expect(covers(years(1990, null), years(2000, 2030))).toBe(true);
    expect(covers(years(1990, 2024), years(2000, null))).toBe(false);
    expect(covers(years(1990, 2024), years(1989, 2024))).toBe(false);
    expect(covers(years(null, 2024), years(null, 2023))).toBe(true);
  });

  it('a range of years spans others as long as it is not every year', () => {
    expect(spanOf([years(1990, 1995), years(2000, 2001)])).toEqual(years(1990, 2001));
    expect(spanOf([years(1990, null), years(1980, 2001)])).toEqual(years(1980, null));
    expect(spanOf([years(1990, null), years(null, 2001)])).toBeNull();
  });

  it('a range of years names a demand of its own', () => {
    const demand = demandFor('series', 'KE', 'm', undefined, years(1990, null));
    expect([demand.key, wholeOf(demand).key]).toEqual(['series KE m 1990–', 'series KE m']);
  });
});

describe('years are asked for alone', () => {
  it('years are asked for alone where that takes fewer calls', () => {
    expect(plan(twenty(years(1990, 2024)))).toEqual({ latest: 0, series: 0, ranges: [[1990, 2024, 20]] });
  });

  it('years are asked for alone not where whole series take no more', () => {
    expect(plan(twenty(years(1951, null)))).toMatchObject({ series: 20, ranges: [] });
    expect(plan(twenty(years(1990, 2024)).slice(0, 12))).toMatchObject({ series: 12, ranges: [] });
  });

  it('years are asked for alone not where the service takes none', () => {
    const learned = createLearned();
    learned.learn({ yearsParam: 'refused' });
    expect(plan(twenty(years(1990, 2024)), learned)).toMatchObject({ series: 20, ranges: [] });
  });

  it('years are asked for alone by the span of several ranges where that takes no more calls', () => {
    const both = [...twenty(years(2000, 2010)), ...twenty(years(2005, 2020))];
    expect(plan(both).ranges).toEqual([[2000, 2020, 20]]);
  });

  it('years are asked for alone each by itself where their span takes more calls', () => {
    const both = [...twenty(years(1951, 1953)), ...twenty(years(2020, 2022), 3, 'n')];
    expect(plan(both).ranges).toEqual([
      [1951, 1953, 20],
      [2020, 2022, 20],
    ]);
  });

  it('years are asked for alone never where the pair is wanted whole, nor where its ranges are every year together', () => {
    expect(plan([...twenty(years(2000, 2010)), ...twenty(null)])).toMatchObject({ series: 20, ranges: [] });
    expect(plan([...twenty(years(2000, null)), ...twenty(years(null, 2005))])).toMatchObject({
      series: 20,
      ranges: [],
    });
  });

  it('years are asked for alone beside latest figures, which they do not stand for', () => {
    const latest = twenty(null).map(({ countryCode }) => demandFor('latest', countryCode, 'n'));
    const whole = plan([...twenty(years(1990, 2024)), ...latest]);
    expect(whole).toEqual({ latest: 20, series: 0, ranges: [[1990, 2024, 20]] });
  });
});

describe('the rows of some years', () => {
  const range = years(2001, 2010);

  it('the rows of some years are one a year of a series that nothing is known of', () => {
    const learned = createLearned();
    expect(learned.rowsWithin(range)('KE', 'm')).toBe(10);
    expect(learned.rowsWithin(years(1900, 1949))('KE', 'm')).toBe(0);
    expect(learned.hasRowsWithin('KE', 'm', range)).toBe(false);
  });

  it('the rows of some years are a share of a series by the years that it spans', () => {
    const learned = createLearned();
    learned.learnSeries('KE', 'm', 240, { from: 2006, to: 2025 });
    expect(learned.rowsWithin(range)('KE', 'm')).toBe(60);
    expect(learned.hasRowsWithin('KE', 'm', range)).toBe(true);
  });

  it('the rows of some years are as many as came of the same years', () => {
    const learned = createLearned();
    learned.learnWithin('KE', 'm', range, 7);
    expect(learned.rowsWithin({ ...range })('KE', 'm')).toBe(7);
    expect(learned.hasRowsWithin('KE', 'm', years(2001, 2011))).toBe(false);
  });
});
