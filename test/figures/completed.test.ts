import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NOT_WHOLE, type RepairMeans, settlingFailures, type Task } from '../../src/observations/called.ts';
import { createDataCalls } from '../../src/observations/data-calls.ts';
import { createLearned } from '../../src/observations/planner/learned.ts';
import { repairCut } from '../../src/observations/repair.ts';
import { sendingFor } from '../service/sending.ts';
import { draws } from '../support/draws.ts';
import { answerFrom, taskFor, valuesOf } from './answers.ts';
import { createDataRoute, type Habits, type Row, SEEN, type Table, tableOf } from './data-route.ts';
import { flatPartsWith } from './parts.ts';

/** Has the rest of a cut answer fetched from a service. */
async function complete(table: Table, task: Task, habits: Partial<Habits> = {}, learned = createLearned()) {
  const route = createDataRoute(table, { ...SEEN, ...habits });
  const kept: string[] = [];
  const parts = flatPartsWith({
    send: route.send,
    learned,
    save(_key, _asked, figures) {
      kept.push(...Array.from(figures, ({ pair }) => pair.countryCode));
    },
  });
  const means: RepairMeans = {
    ...parts,
    calls: createDataCalls(parts),
    receive: async () => NOT_WHOLE,
  };
  const answer = await answerFrom(table, task, habits);
  const fetched = await settlingFailures(task, () => repairCut(task, answer, sendingFor(), means));
  return { fetched, kept, learned, targets: route.targets };
}

describe('a cut answer', () => {
  // Three series of four rows: nine rows come, those of the last one cut short.
  const table = tableOf(3, 1, () => 4);
  const habits = { defaultRows: 9 };

  it('a cut answer has its last run planned anew, and keeps what the total proves', async () => {
    const { task, settled, replanned, comes } = taskFor(table, { mode: 'series' });
    comes.push({ rows: 4, isWhole: true });
    const { fetched, kept } = await complete(table, task, habits);
    expect(replanned.map(({ pairs }) => pairs)).toEqual([['AC metric_0']]);
    expect(replanned[0]?.changes?.round).toBe(1);
    expect(valuesOf(settled)).toEqual({ 'AA metric_0': [0, 1, 2, 3], 'AB metric_0': [4, 5, 6, 7] });
    expect(kept).toEqual(['AA', 'AB']);
    expect(fetched).toEqual({ rows: 12, isWhole: true });
  });

  it('a cut answer has the rest planned by just the rows that the total leaves, though all series are longer than was thought', async () => {
    const long = tableOf(3, 2, () => 240);
    const { task, replanned } = taskFor(long, { mode: 'series' });
    await complete(long, task, { defaultRows: 1000 });
    const [{ pairs = [], changes } = {}] = replanned;
    expect(pairs).toEqual(['AC metric_0', 'AC metric_1']);
    const planned = ['metric_0', 'metric_1'].map((key) => changes?.rowsOf?.('AC', key));
    expect(planned).toEqual([240, 240]);
  });

  it.each([
    ['other rows than the total counts', { rows: 5, isWhole: true }],
    ['not everything', { rows: 4, isWhole: false }],
  ])('a cut answer has what it kept fetched again where of the rest came %s', async (_, rest) => {
    const { task, settled, replanned, comes } = taskFor(table, { mode: 'series' });
    comes.push(rest, { rows: 8, isWhole: true });
    const { fetched, kept } = await complete(table, task, habits);
    expect(replanned.map(({ pairs }) => pairs)).toEqual([['AC metric_0'], ['AA metric_0', 'AB metric_0']]);
    expect([settled.size, kept.length]).toEqual([0, 0]);
    expect(fetched.isWhole).toBe(rest.isWhole);
  });

  it('a cut answer keeps nothing where the rest holds a pair that nobody wants', async () => {
    const { task, replanned } = taskFor(table, { mode: 'series' });
    const wanted = task.pairs.slice(0, 2);
    await complete(table, { ...task, pairs: wanted }, habits);
    expect(replanned.map(({ pairs }) => pairs)).toEqual([['AA metric_0', 'AB metric_0']]);
  });

  it('a cut answer is given up after twenty rounds', async () => {
    const { task, settled, replanned } = taskFor(table, { mode: 'series', round: 20 });
    const { fetched } = await complete(table, task, habits);
    expect([fetched.isWhole, replanned.length, settled.size]).toEqual([false, 0, 3]);
    for (const outcome of settled.values()) expect(outcome).toMatchObject({ code: 'UPSTREAM_INCOMPLETE' });
  });

  it('a cut answer of a single series is asked for with a higher limit, and then continued by years', async () => {
    const long = tableOf(1, 1, () => 20);
    const habits = { defaultRows: 9, maxRows: 9, limit: 'refuse' } as const;
    const { task, settled, replanned } = taskFor(long, { mode: 'series' });
    expect((await complete(long, task, habits)).targets).toEqual([]);
    expect(replanned).toHaveLength(1);

    const learned = createLearned();
    learned.learn({ limitParam: 'refused' });
    const { fetched, targets, kept } = await complete(long, task, habits, learned);
    expect(fetched).toEqual({ rows: 20, isWhole: true });
    expect(targets.every((target) => target.includes('start_year='))).toBe(true);
    expect(valuesOf(settled)).toEqual({ 'AA metric_0': Array.from({ length: 20 }, (_, i) => i) });
    expect([kept, learned.seriesRows('AA', 'metric_0')]).toEqual([['AA'], 20]);
  });

  it('a cut answer of a single series that nothing counts is halved, and no year is left out where the last one named is', async () => {
    const long = tableOf(1, 1, () => 20);
    const habits = { defaultRows: 9, maxRows: 9, limit: 'refuse', total: 'none', years: 'exclude' } as const;
    const { task, settled } = taskFor(long, { mode: 'series' });
    const learned = createLearned();
    learned.learn({ limitParam: 'refused' });
    await complete(long, task, habits, learned);
    expect(valuesOf(settled)).toEqual({ 'AA metric_0': Array.from({ length: 20 }, (_, i) => i) });
  });
});

/** One series with so many rows in each year from 2000 on, by turns of so many sources, each of which has places. */
function seriesOf(rowsByYear: readonly number[], sources: number): Table {
  const rows: Row[] = rowsByYear.flatMap((count, i) =>
    Array.from({ length: count }, (_, nth) => ({
      countryCode: 'AA',
      metricKey: 'metric_0',
      year: 2000 + i,
      locationName: nth < sources ? null : `place ${Math.floor(nth / sources)}`,
      source: `source ${nth % sources}`,
      value: 100 * i + nth,
    })),
  );
  return { countryCodes: ['AA'], metricKeys: ['metric_0'], rows };
}

describe('a single series of many rows a year', () => {
  const MAX_ROWS = 12;

  /** @returns values that came, or the failure, and the calls beyond the first */
  async function fetch(table: Table, habits: Partial<Habits>) {
    const learned = createLearned();
    learned.learn({ limitParam: 'refused' });
    learned.learn({ defaultRows: MAX_ROWS });
    const { task, settled } = taskFor(table, { mode: 'series' });
    const own = { limit: 'refuse', defaultRows: MAX_ROWS, maxRows: MAX_ROWS, ...habits } as const;
    const { targets } = await complete(table, task, own, learned);
    const outcome = valuesOf(settled)['AA metric_0'];
    const values = Array.isArray(outcome) ? outcome.toSorted((a, b) => (a ?? 0) - (b ?? 0)) : outcome;
    return { values, targets, data: targets.filter((target) => !target.includes('limit=')) };
  }

  const orders = ['pair', 'source', 'place', 'year', 'year-descending', 'shuffled'] as const;
  const habits = fc.record({
    order: fc.constantFrom(...orders),
    total: fc.constantFrom('true', 'none'),
    years: fc.constantFrom('honour', 'exclude', 'exclude both', 'year after', 'ignore', 'refuse'),
    nothing: fc.constantFrom('empty', 'not found'),
  } as const);
  const count = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 5 }) },
    { weight: 2, arbitrary: fc.integer({ min: 6, max: MAX_ROWS - 1 }) },
    { weight: 1, arbitrary: fc.integer({ min: MAX_ROWS, max: MAX_ROWS + 2 }) },
  );
  const rowsByYear = fc.array(count, { minLength: 1, maxLength: 30 });

  it('a single series comes whole where the service sends a full answer of the year beside those that are named', async () => {
    const table = seriesOf([MAX_ROWS, 0, 0, 1], 1);
    const { values, data } = await fetch(table, { order: 'pair', total: 'true', years: 'year after' });
    expect(values).toEqual(table.rows.map(({ value }) => value));
    expect(data).toHaveLength(11);
  });

  it('a single series of many rows a year comes whole in any order, or is incomplete for a reason', () =>
    fc.assert(
      fc.asyncProperty(habits, rowsByYear, fc.integer({ min: 1, max: 4 }), async (habit, counts, sources) => {
        const table = seriesOf(counts, sources);
        const isTold = habit.total === 'true';
        fc.pre(isTold ? table.rows.length > MAX_ROWS : table.rows.length >= MAX_ROWS);
        const { values, targets, data } = await fetch(table, { ...habit, tellsLimit: !isTold });
        expect(new Set(targets).size).toBe(targets.length);
        const isIgnored = habit.years === 'ignore' || habit.years === 'refuse';
        // A year can't be named by itself if it is left out then, or the year before comes in its place.
        const isOdd = habit.years === 'year after' || habit.years === 'exclude';
        const rowsAround = (i: number) => counts.slice(Math.max(0, i - 1), i + 2).reduce((a, b) => a + b, 0);
        const isTooLong = (count: number, i: number) => {
          const rows = isOdd ? rowsAround(i) : count;
          return isTold ? rows > MAX_ROWS : rows >= MAX_ROWS;
        };
        if (values instanceof Error) {
          const total = isTold ? table.rows.length : null;
          expect(values).toMatchObject({ code: 'UPSTREAM_INCOMPLETE', fields: { total } });
          expect(isIgnored || counts.some(isTooLong)).toBe(true);
        } else {
          expect(values).toEqual(table.rows.map(({ value }) => value));
        }
        // Rows of the years beside those that are named may come of a service that heeds them.
        if (isIgnored) expect(data.length).toBeLessThanOrEqual(counts.length < 20 ? 12 : 3);
        else if (['honour', 'exclude', 'exclude both'].includes(habit.years) && !counts.some(isTooLong)) {
          expect(data.length).toBeLessThanOrEqual(
            (isTold && habit.years === 'honour' && habit.order !== 'place' ? 3 : 6) * piecesOf(counts) + 8,
          );
        }
      }),
      { numRuns: draws(1500) },
    ));

  /** Ranges of years that it takes at the least, each of no more rows than come. */
  function piecesOf(counts: readonly number[]): number {
    let [pieces, rows] = [1, 0];
    for (const count of counts) {
      if (rows + count > MAX_ROWS) [pieces, rows] = [pieces + 1, 0];
      rows += count;
    }
    return pieces;
  }
});
