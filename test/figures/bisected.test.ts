import { describe, expect, it } from 'vitest';
import { bisected } from '../../src/observations/bisected.ts';
import { type RepairMeans, settleAs, type Task } from '../../src/observations/called.ts';
import { createDataCalls, type Refusal } from '../../src/observations/data-calls.ts';
import type { Rectangle } from '../../src/observations/planner/demand.ts';
import { createLearned } from '../../src/observations/planner/learned.ts';
import { indicators } from '../../src/service/endpoints.ts';
import { Failure } from '../../src/shared/errors.ts';
import { sendingFor } from '../service/sending.ts';
import { answerFrom, refusal, taskFor } from './answers.ts';
import { tableOf } from './data-route.ts';
import { type FurtherParts, flatPartsWith } from './parts.ts';

const KNOWN = tableOf(2, 8, () => 1);
const REFUSED = new Failure('BAD_USER_INPUT', 'The service refused the arguments.');

/** The stage over calls that are answered, unless they have a name that the service refuses. */
function open(isRefused: (rectangle: Rectangle) => Refusal | null, further: FurtherParts = {}) {
  const asked: Rectangle[] = [];
  const remembered: string[] = [];
  const kept: string[] = [];
  const learned = createLearned();
  for (const code of KNOWN.countryCodes) learned.listed.countries.add(code);
  const answered: Rectangle[] = [];
  const parts = flatPartsWith({
    learned,
    save: (_key, _mode, figures) => kept.push(...Array.from(figures, ({ pair }) => pair.metricKey)),
    refusedNames: {
      areNone: true,
      of: () => undefined,
      add: (_key, _dimension, name) => remembered.push(name),
    },
    ...further,
  });
  const means: RepairMeans = {
    ...parts,
    calls: {
      ...createDataCalls(parts),
      async ask(task) {
        asked.push(task.rectangle);
        const refused = isRefused(task.rectangle);
        task.arrived.answers += Number(refused === null);
        return refused ?? answerFrom(KNOWN, task);
      },
    },
    async receive(task, { list }) {
      const { rectangle } = task;
      answered.push(rectangle);
      for (const name of rectangle.metricKeys) learned.answered.metrics.add(name);
      settleAs(task, task.pairs, []);
      return { rows: list.received, isWhole: true };
    },
  };
  async function fetch(task: Task) {
    const [reply, sending] = [await means.calls.ask(task, sendingFor()), sendingFor()];
    return reply.isRefused ? bisected(task, reply, sending, means) : means.receive(task, reply, sending);
  }
  return { fetch, asked, answered, remembered, kept, learned };
}

const naming =
  (name: string, failure: Failure | null = null, detail = 'Not found') =>
  ({ metricKeys }: Rectangle) =>
    metricKeys.includes(name) ? refusal(detail, failure) : null;

describe('a refused call', () => {
  it('a refused call has the names that the service names settled, and the others planned anew', async () => {
    const { fetch, remembered, asked } = open(naming('wrong', null, 'metric not found: wrong'));
    const { task, settled, replanned } = taskFor({ countryCodes: ['AA'], metricKeys: ['metric_0', 'wrong'] });
    await fetch(task);
    expect([...settled]).toEqual([['AA wrong', []]]);
    expect(replanned.map(({ pairs }) => pairs)).toEqual([['AA metric_0']]);
    expect([asked.length, remembered]).toEqual([1, ['wrong']]);
  });

  it.each([
    ['a country', 'country not found: aa', ['AA metric_0', 'AA metric_1'], ['AB metric_0', 'AB metric_1']],
    [
      'a pair',
      'no rows of "AA" and "metric_1"',
      ['AA metric_1'],
      ['AA metric_0', 'AB metric_0', 'AB metric_1'],
    ],
  ])(
    'a refused call says nothing of the others if its words single out %s that was answered before',
    async (...row) => {
      const [, detail, settledPairs, others] = row;
      const { fetch, learned, asked, remembered } = open(() => refusal(detail));
      for (const code of KNOWN.countryCodes) learned.answered.countries.add(code);
      for (const key of KNOWN.metricKeys) learned.answered.metrics.add(key);
      const { task, settled, replanned } = taskFor({ ...KNOWN, metricKeys: ['metric_0', 'metric_1'] });
      await fetch(task);
      expect([...settled]).toEqual(settledPairs.map((pair) => [pair, []]));
      expect(replanned.map(({ pairs }) => pairs)).toEqual([others]);
      expect([asked.length, remembered]).toEqual([1, []]);
    },
  );

  it.each([
    ['nothing', null, ['wrong']],
    ['a failure', REFUSED, []],
  ] as const)(
    'a refused call has its names told apart until one is left; it means %s',
    async (_, failure, kept) => {
      const metricKeys = [...KNOWN.metricKeys, 'wrong'];
      const opened = open(naming('wrong', failure));
      const { task, settled } = taskFor({ countryCodes: ['AA'], metricKeys });
      const fetched = await opened.fetch(task);
      expect(fetched).toEqual({ rows: 8, isWhole: true });
      const told = new Failure('BAD_USER_INPUT', 'The service refused the arguments, for wrong.');
      expect(settled.get('AA wrong')).toEqual(failure === null ? [] : told);
      expect(settled.size).toBe(9);
      expect(opened.asked.length).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(metricKeys.length)) + 1);
      expect([opened.remembered, opened.kept]).toEqual([['wrong'], kept]);
    },
  );

  it('a refused call is inferred, not asked for, where the rest of a larger call is answered', async () => {
    const { fetch, asked } = open(naming('wrong'));
    const { task } = taskFor({ countryCodes: ['AA'], metricKeys: ['metric_0', 'wrong'] });
    await fetch(task);
    expect(asked.map(({ metricKeys }) => metricKeys)).toEqual([['metric_0', 'wrong'], ['metric_0']]);
  });

  it('a refused call has the list of the service looked at once where many names are suspected', async () => {
    const lists: string[] = [];
    const opened = open(naming('wrong'), {
      ask({ route }) {
        lists.push(route);
        for (const key of KNOWN.metricKeys) opened.learned.listed.metrics.add(key);
        return null;
      },
    });
    const { task } = taskFor({ countryCodes: ['AA'], metricKeys: [...KNOWN.metricKeys, 'wrong'] });
    await opened.fetch(task);
    expect(lists).toEqual([indicators.route]);
    expect(opened.asked.map(({ metricKeys }) => metricKeys.length)).toEqual([9, 8]);
  });

  it('a refused call is given up in the end, and called nothing', async () => {
    const { fetch } = open(() => refusal('No.', REFUSED));
    const countryCodes = Array.from({ length: 40 }, (_, i) => `X${i}`);
    const { task, settled } = taskFor({ countryCodes, metricKeys: ['wrong', 'worse'] });
    expect((await fetch(task)).isWhole).toBe(false);
    expect(settled.size).toBe(80);
    expect([...settled.values()].every((outcome) => outcome instanceof Failure)).toBe(true);
    expect(new Set(settled.values()).size).toBeGreaterThan(1);
  });

  it('a refused call says nothing of names that nobody wants: those are not asked for', async () => {
    const { fetch, asked } = open(naming('metric_7'));
    const { task } = taskFor(KNOWN);
    const pairs = task.pairs.filter(({ metricKey }) => metricKey !== 'metric_7');
    const settled = await fetch({ ...task, pairs });
    expect(settled.isWhole).toBe(true);
    expect(asked.slice(1).every(({ metricKeys }) => !metricKeys.includes('metric_7'))).toBe(true);
  });
});
