import { describe, expect, it } from 'vitest';
import { Failure } from '../../src/errors.ts';
import { completed } from '../../src/observations/completed.ts';
import { createDataCalls } from '../../src/observations/data-calls.ts';
import type { FetchTask, Receive, Task } from '../../src/observations/task.ts';
import { createLearned } from '../../src/planner/learned.ts';
import { sendingFor } from '../upstream/sending.ts';
import { answerFrom, taskFor, valuesOf } from './answers.ts';
import { createDataRoute, type Habits, SEEN, type Table, tableOf } from './data-route.ts';

/** The stage over a next one that answers a task by one call, and a service for what it asks beyond that. */
async function complete(
  table: Table,
  task: Task,
  habits: Partial<Habits> = {},
  learned = createLearned(() => 0),
) {
  const route = createDataRoute(table, { ...SEEN, ...habits });
  const calls = createDataCalls({ send: route.send, learned, now: () => 0 });
  const kept: string[] = [];
  const parts = {
    calls,
    learned,
    keep: (_key: string, _asked: unknown, figures: Iterable<{ pair: { countryCode: string } }>) => {
      kept.push(...Array.from(figures, ({ pair }) => pair.countryCode));
    },
  };
  const received: Task[] = [];
  const receive: Receive = async (part, { list }) => {
    received.push(part);
    return { rows: list.received, isWhole: true };
  };
  const next: FetchTask = async (part, _sending, hand) => hand(part, await answerFrom(table, part, habits));
  const fetched = await completed(next, parts)(task, sendingFor(), receive);
  return { fetched, received, kept, learned, targets: route.targets };
}

describe('a whole answer', () => {
  it('is handed up as it is, and its names are known from then on', async () => {
    const table = tableOf(2, 1, () => 1);
    const { task } = taskFor(table);
    const { fetched, received, learned, targets } = await complete(table, task);
    expect(fetched).toEqual({ rows: 2, isWhole: true });
    expect(received).toEqual([task]);
    expect(targets).toEqual([]);
    expect(learned.answered.countries.has('AB') && learned.answered.metrics.has('metric_0')).toBe(true);
  });

  it('that cannot be handed up fails its pairs', async () => {
    const table = tableOf(1, 1, () => 1);
    const { task, settled } = taskFor(table);
    const next: FetchTask = async (part, _sending, hand) => hand(part, await answerFrom(table, part));
    const learned = createLearned(() => 0);
    const calls = createDataCalls({ send: createDataRoute(table).send, learned, now: () => 0 });
    const failure = new Failure('UPSTREAM_INVALID_RESPONSE', 'Not to be read.');
    const stage = completed(next, { calls, learned, keep() {} });
    const fetched = await stage(task, sendingFor(), async () => {
      throw failure;
    });
    expect(fetched.isWhole).toBe(false);
    expect([...settled.values()]).toEqual([failure]);
  });
});

describe('a cut answer', () => {
  // Three series of four rows: nine rows come, those of the last one cut short.
  const table = tableOf(3, 1, () => 4);
  const habits = { defaultRows: 9 };

  it('has its last run planned anew, and keeps what the total proves', async () => {
    const { task, settled, replanned, comes } = taskFor(table, { mode: 'series' });
    comes.push({ rows: 4, isWhole: true });
    const { fetched, received, kept } = await complete(table, task, habits);
    expect(received).toEqual([]);
    expect(replanned.map(({ pairs }) => pairs)).toEqual([['AC metric_0']]);
    expect(replanned[0]?.changes?.round).toBe(1);
    expect(valuesOf(settled)).toEqual({ 'AA metric_0': [0, 1, 2, 3], 'AB metric_0': [4, 5, 6, 7] });
    expect(kept).toEqual(['AA', 'AB']);
    expect(fetched).toEqual({ rows: 12, isWhole: true });
  });

  it.each([
    ['other rows than the total counts', { rows: 5, isWhole: true }],
    ['not everything', { rows: 4, isWhole: false }],
  ])('has what it kept fetched again where of the rest came %s', async (_, rest) => {
    const { task, settled, replanned, comes } = taskFor(table, { mode: 'series' });
    comes.push(rest, { rows: 8, isWhole: true });
    const { fetched, kept } = await complete(table, task, habits);
    expect(replanned.map(({ pairs }) => pairs)).toEqual([['AC metric_0'], ['AA metric_0', 'AB metric_0']]);
    expect([settled.size, kept.length]).toEqual([0, 0]);
    expect(fetched.isWhole).toBe(rest.isWhole);
  });

  it('keeps nothing where the rest holds a pair that nobody wants', async () => {
    const { task, replanned } = taskFor(table, { mode: 'series' });
    const wanted = task.pairs.slice(0, 2);
    await complete(table, { ...task, pairs: wanted }, habits);
    expect(replanned.map(({ pairs }) => pairs)).toEqual([['AA metric_0', 'AB metric_0']]);
  });

  it('that nobody waits for is left', async () => {
    const { task, replanned } = taskFor(table, { mode: 'series' });
    const { fetched } = await complete(table, { ...task, pairs: [] }, habits);
    expect([fetched.isWhole, replanned.length]).toEqual([false, 0]);
  });

  it('is given up after eight rounds', async () => {
    const { task, settled, replanned } = taskFor(table, { mode: 'series', round: 8 });
    const { fetched } = await complete(table, task, habits);
    expect([fetched.isWhole, replanned.length, settled.size]).toEqual([false, 0, 3]);
    for (const outcome of settled.values()) expect(outcome).toMatchObject({ code: 'UPSTREAM_INCOMPLETE' });
  });

  it('of a single series is asked for with a higher limit, and then continued by years', async () => {
    const long = tableOf(1, 1, () => 20);
    const habits = { defaultRows: 9, maxRows: 9, limit: 'refuse' } as const;
    const { task, settled, replanned } = taskFor(long, { mode: 'series' });
    expect((await complete(long, task, habits)).targets).toEqual([]);
    expect(replanned).toHaveLength(1);

    const learned = createLearned(() => 0);
    learned.learn('limitParam', 'refused');
    const { fetched, targets, kept } = await complete(long, task, habits, learned);
    expect(fetched).toEqual({ rows: 20, isWhole: true });
    expect(targets.every((target) => target.includes('start_year='))).toBe(true);
    expect(valuesOf(settled)).toEqual({ 'AA metric_0': Array.from({ length: 20 }, (_, i) => i) });
    expect([kept, learned.seriesRows('AA', 'metric_0')]).toEqual([['AA'], 20]);
  });

  it('of a single series that nothing counts is halved, and no year is left out where the last one named is', async () => {
    const long = tableOf(1, 1, () => 20);
    const habits = { defaultRows: 9, maxRows: 9, limit: 'refuse', total: 'none', years: 'exclude' } as const;
    const { task, settled } = taskFor(long, { mode: 'series' });
    const learned = createLearned(() => 0);
    learned.learn('limitParam', 'refused');
    await complete(long, task, habits, learned);
    expect(valuesOf(settled)).toEqual({ 'AA metric_0': Array.from({ length: 20 }, (_, i) => i) });
  });
});
