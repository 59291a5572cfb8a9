import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cover, covering, coverWithin, expectedRows } from '../../src/observations/planner/cover.ts';
import type { Pair, Rectangle, RowsOf } from '../../src/observations/planner/demand.ts';
import type { CoverLimits } from '../../src/observations/planner/grid.ts';
import { draws } from '../support/draws.ts';

const roomy: CoverLimits = { maxRows: 1000, maxCodes: 1000, maxAddress: 10_000 };
const oneRow: RowsOf = () => 1;

/** Each of the first countries with each of the first metrics. */
function table(countries: number, metrics: number): Pair[] {
  return Array.from({ length: countries * metrics }, (_, index) => ({
    countryCode: `C${index % countries}`,
    metricKey: `m${Math.floor(index / countries)}`,
  }));
}

describe('the number of calls', () => {
  test.each<{ asked: string; pairs: Pair[]; limits?: Partial<CoverLimits>; rowsOf?: RowsOf; calls: number }>([
    { asked: 'nothing', pairs: [], calls: 0 },
    { asked: 'one figure', pairs: table(1, 1), calls: 1 },
    { asked: 'one figure, thrice', pairs: [...table(1, 1), ...table(1, 1), ...table(1, 1)], calls: 1 },
    { asked: '19 metrics of 54 countries', pairs: table(54, 19), calls: 2 },
    { asked: '207 metrics of 54 countries', pairs: table(54, 207), calls: 12 },
    { asked: '30 series of 70 years', pairs: table(30, 1), rowsOf: () => 70, calls: 3 },
    { asked: 'a series too long for a call', pairs: table(1, 1), rowsOf: () => 1001, calls: 1 },
    { asked: 'two such series', pairs: table(2, 1), rowsOf: () => 1001, calls: 2 },
    { asked: 'figures without rows', pairs: table(40, 40), rowsOf: () => 0, calls: 1 },
    {
      asked: 'a diagonal, cheaper with its holes',
      pairs: table(30, 30).filter((_, i) => i % 31 === 0),
      calls: 1,
    },
    { asked: '50 countries, 20 a call', pairs: table(50, 2), limits: { maxCodes: 20 }, calls: 3 },
    { asked: '10 countries in 12 characters', pairs: table(10, 1), limits: { maxAddress: 12 }, calls: 4 },
    { asked: 'a square cut into tiles', pairs: table(30, 30), limits: { maxRows: 100 }, calls: 9 },
    { asked: '5 lists of 14, the last of leftovers', pairs: table(20, 4), limits: { maxRows: 16 }, calls: 5 },
  ])('the number of calls is the least for $asked: $calls', ({ pairs, limits, rowsOf = oneRow, calls }) => {
    expect(cover(pairs, { ...roomy, ...limits }, rowsOf)).toHaveLength(calls);
  });

  test('that one call is not enough is told without parting them', () => {
    let asked = 0;
    const counted: RowsOf = () => {
      asked += 1;
      return 1;
    };
    expect(coverWithin(1, table(54, 207), roomy, counted)).toBeNull();
    // Asks for no row beyond the first country that is too many.
    expect(asked).toBeLessThanOrEqual(roomy.maxRows + 207);
  });

  test('others have their turns while thousands of pairs are parted', () => {
    const steps = covering(table(54, 207), roomy, (countryCode, metricKey) => {
      asked.add(`${countryCode} ${metricKey}`);
      return 1;
    });
    const asked = new Set<string>();
    let most = 0;
    let count = 0;
    for (let step = steps.next(); !step.done; step = steps.next()) {
      most = Math.max(most, asked.size);
      asked.clear();
      count += 1;
    }
    expect(most).toBe(207);
    expect(count).toBeGreaterThan(3 * 54);
  });

  test('lists that overlap are told apart', () => {
    const many = table(200, 4);
    const others = table(300, 7).filter(
      ({ countryCode, metricKey }) => Number(countryCode.slice(1)) >= 200 && Number(metricKey.slice(1)) >= 3,
    );
    const rectangles = cover([...many, ...others], roomy, oneRow);
    expect(rectangles.map((rectangle) => expectedRows(rectangle, oneRow))).toEqual([800, 400]);
  });

  test('calls of a table are about equal', () => {
    const sizes = cover(table(54, 207), roomy, oneRow).map((rectangle) => expectedRows(rectangle, oneRow));
    expect(sizes).toHaveLength(12);
    // Of 931 rows on average.
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(918);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(972);
  });

  test('among as many calls, those are taken that bring least besides', () => {
    const pairs = table(4, 4).filter((_, index) => [0, 1, 4, 5, 10, 11, 14, 15].includes(index));
    const rectangles = cover(pairs, { ...roomy, maxRows: 8 }, oneRow);
    expect(rectangles).toEqual([
      { countryCodes: ['C0', 'C1'], metricKeys: ['m0', 'm1'] },
      { countryCodes: ['C2', 'C3'], metricKeys: ['m2', 'm3'] },
    ]);
  });
});

interface Problem {
  readonly pairs: readonly Pair[];
  readonly limits: CoverLimits;
  readonly rowsOf: RowsOf;
}

/** Any demands under any limits; `names` and `most` bound the countries, metrics and pairs. */
function problems({ names, most }: { names: number; most: number }): fc.Arbitrary<Problem> {
  const name = fc.nat({ max: names - 1 });
  return fc
    .record({
      places: fc.array(fc.tuple(name, name), { maxLength: most, size: 'max' }),
      weights: fc.oneof(
        fc.constant([1]),
        fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 50 }),
        fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 50 }),
      ),
      maxRows: fc.integer({ min: 0, max: 40 }),
      maxCodes: fc.oneof(fc.constant(1000), fc.integer({ min: 1, max: 5 })),
      maxAddress: fc.oneof(fc.constant(10_000), fc.integer({ min: 1, max: 30 })),
    })
    .map(({ places, weights, ...limits }) => ({
      pairs: places.map(([country, metric]) => ({ countryCode: `C${country}`, metricKey: `m.${metric}` })),
      limits,
      rowsOf: (countryCode, metricKey) => {
        const index = Number(countryCode.slice(1)) * names + Number(metricKey.slice(2));
        return weights[(index * 7) % weights.length] as number;
      },
    }));
}

const small = problems({ names: 6, most: 10 });
const large = problems({ names: 14, most: 150 });

function boundsOf(pairs: readonly Pair[]): Rectangle {
  return {
    countryCodes: [...new Set(pairs.map((pair) => pair.countryCode))],
    metricKeys: [...new Set(pairs.map((pair) => pair.metricKey))],
  };
}

function fits(rectangle: Rectangle, { limits, rowsOf }: Problem): boolean {
  const { countryCodes, metricKeys } = rectangle;
  if (countryCodes.length === 1 && metricKeys.length === 1) return true;
  return (
    expectedRows(rectangle, rowsOf) <= limits.maxRows &&
    Math.max(countryCodes.length, metricKeys.length) <= limits.maxCodes &&
    countryCodes.join(',').length + metricKeys.join(',').length <= limits.maxAddress
  );
}

/** The least number of groups into which the pairs part such that a call can bring each, by trying every way. */
function fewest(problem: Problem): number {
  const pairs = distinct(problem.pairs);
  let least = pairs.length;
  const place = (index: number, groups: readonly (readonly Pair[])[]): void => {
    const pair = pairs[index];
    if (groups.length >= least && pair) return;
    if (!pair) {
      least = Math.min(least, groups.length);
      return;
    }
    for (const [at, group] of groups.entries()) {
      const joined = [...group, pair];
      if (fits(boundsOf(joined), problem)) place(index + 1, groups.with(at, joined));
    }
    place(index + 1, [...groups, [pair]]);
  };
  place(0, []);
  return least;
}

/**
 * Calls of a plan by hand: all metrics for some countries at a time or the reverse, or each of them alone.
 */
function straightforward(problem: Problem): number {
  const { countryCodes, metricKeys } = boundsOf(problem.pairs);
  const splits = [
    chunks(countryCodes.toSorted(), (codes) => ({ countryCodes: codes, metricKeys }), problem),
    chunks(metricKeys.toSorted(), (keys) => ({ countryCodes, metricKeys: keys }), problem),
    countryCodes.map((code) => boundsOf(problem.pairs.filter((pair) => pair.countryCode === code))),
    metricKeys.map((key) => boundsOf(problem.pairs.filter((pair) => pair.metricKey === key))),
  ];
  const possible = splits.filter((split) => split.every((rectangle) => fits(rectangle, problem)));
  return Math.min(...possible.map((split) => split.length));
}

function chunks(
  names: readonly string[],
  rectangleOf: (names: readonly string[]) => Rectangle,
  problem: Problem,
): Rectangle[] {
  const full: string[][] = [];
  for (const name of names) {
    const last = full.at(-1);
    if (last && fits(rectangleOf([...last, name]), problem)) last.push(name);
    else full.push([name]);
  }
  return full.map(rectangleOf);
}

function distinct(pairs: readonly Pair[]): Pair[] {
  return [...new Map(pairs.map((pair) => [nameOf(pair), pair])).values()];
}

function nameOf({ countryCode, metricKey }: Pair): string {
  return `${countryCode} ${metricKey}`;
}

describe('for any demands, limits and rows', () => {
  test.each([
    { size: 'few', any: small },
    { size: 'many', any: large },
  ])(
    'for any demands, limits and rows, each of $size pairs is covered, and each call is within the limits',
    ({ any }) => {
      fc.assert(
        fc.property(any, (problem) => {
          const rectangles = cover(problem.pairs, problem.limits, problem.rowsOf);
          const covered = new Set(
            rectangles.flatMap(({ countryCodes, metricKeys }) =>
              countryCodes.flatMap((countryCode) =>
                metricKeys.map((metricKey) => nameOf({ countryCode, metricKey })),
              ),
            ),
          );
          expect(problem.pairs.filter((pair) => !covered.has(nameOf(pair)))).toEqual([]);
          expect(rectangles.filter((rectangle) => !fits(rectangle, problem))).toEqual([]);
        }),
        { numRuns: draws(500) },
      );
    },
  );

  test('for any demands, limits and rows, within a number of calls they are the same, or none', () => {
    fc.assert(
      fc.property(small, fc.nat({ max: 4 }), ({ pairs, limits, rowsOf }, mostCalls) => {
        const all = cover(pairs, limits, rowsOf);
        expect(coverWithin(mostCalls, pairs, limits, rowsOf)).toEqual(all.length <= mostCalls ? all : null);
      }),
      { numRuns: draws(500) },
    );
  });

  test('for any demands, limits and rows, figures without rows are no reason for another call, however many they are', () => {
    const pairs = ['m.0', 'm.1', 'm.2'].map((metricKey) => ({ countryCode: 'C0', metricKey }));
    const limits = { maxRows: 2, maxCodes: 5, maxAddress: 10_000 };
    expect(coverWithin(1, pairs, limits, () => 0)).toEqual([
      { countryCodes: ['C0'], metricKeys: ['m.0', 'm.1', 'm.2'] },
    ]);
  });

  test('for any demands, limits and rows, few pairs take the fewest calls there can be', () => {
    fc.assert(
      fc.property(small, (problem) => {
        expect(cover(problem.pairs, problem.limits, problem.rowsOf)).toHaveLength(fewest(problem));
      }),
      { numRuns: draws(500) },
    );
  });

  test('for any demands, limits and rows, many pairs take no more calls than the straightforward split', () => {
    fc.assert(
      fc.property(large, (problem) => {
        const rectangles = cover(problem.pairs, problem.limits, problem.rowsOf);
        expect(rectangles.length).toBeLessThanOrEqual(straightforward(problem));
      }),
      { numRuns: draws(500) },
    );
  });

  test('for any demands, limits and rows, the order of the demands makes no difference', () => {
    const shuffled = large.chain((problem) =>
      fc.record({
        problem: fc.constant(problem),
        pairs: fc.shuffledSubarray([...problem.pairs], { minLength: problem.pairs.length }),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ problem, pairs }) => {
        expect(cover(pairs, problem.limits, problem.rowsOf)).toEqual(
          cover(problem.pairs, problem.limits, problem.rowsOf),
        );
      }),
    );
  });
});
