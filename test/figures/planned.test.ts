import { describe, expect, it } from 'vitest';
import { bisected } from '../../src/observations/bisected.ts';
import { calledStage, NONE_WHOLE, type PairsToFetch, settleAs } from '../../src/observations/called.ts';
import { coveredStage } from '../../src/observations/client.ts';
import { nothingArrived } from '../../src/observations/data-calls.ts';
import type { Outcome } from '../../src/observations/fetch.ts';
import { plannedStage } from '../../src/observations/planned.ts';
import {
  type Demand,
  demandFor,
  keyOfPair,
  type Mode,
  type Pair,
  pairsOf,
} from '../../src/observations/planner/demand.ts';
import { createLearned } from '../../src/observations/planner/learned.ts';
import { repairCut } from '../../src/observations/repair.ts';
import type { ObservationRecord } from '../../src/service/records/observations.ts';
import { Failure } from '../../src/shared/errors.ts';
import { sendingFor } from '../service/sending.ts';
import { answerFrom, rowAt, tableWith, valuesOf } from './answers.ts';
import { createDataRoute, SEEN, type Table, tableOf } from './data-route.ts';
import { type FurtherParts, partsWith } from './parts.ts';

type FetchTask = ReturnType<typeof calledStage>;

const demand = (mode: Mode, countryCode: string, metricKey = 'm') => demandFor(mode, countryCode, metricKey);

/** Demands over a next stage that settles pairs as it is told to. */
async function plan(
  demands: readonly Demand[],
  settle: (wanted: PairsToFetch) => void,
  further: FurtherParts = { overfetchRows: 0 },
) {
  const asked: { mode: Mode; pairs: string[] }[] = [];
  const next: Parameters<typeof plannedStage>[0] = async (wanted) => {
    if (wanted.pairs.length > 0) asked.push({ mode: wanted.mode, pairs: wanted.pairs.map(keyOfPair) });
    settle(wanted);
    return NONE_WHOLE;
  };
  const fetch = plannedStage(next, partsWith(further));
  const outcomes: [string, Outcome][] = [];
  await fetch(demands, sendingFor(), {
    onOutcomes: (told, came) =>
      outcomes.push(...came.map((outcome, i) => [told[i]?.key ?? '', outcome] as [string, Outcome])),
  });
  return { asked, outcomes };
}

/** Rows of a series, the national one of each year. */
async function seriesOf(...values: number[]): Promise<readonly ObservationRecord[]> {
  const table = tableWith(values.map((value, i) => rowAt('KE', 'm', 2000 + i, value)));
  const rectangle = { countryCodes: ['KE'], metricKeys: ['m'] };
  return (await answerFrom(table, { mode: 'series', rectangle })).list.rows;
}

describe('demands', () => {
  it('demands are asked for as latest and as series, each mode by itself', async () => {
    const { asked, outcomes } = await plan([demand('latest', 'KE'), demand('series', 'NG')], (wanted) => {
      settleAs(wanted, wanted.pairs, []);
    });
    expect(asked).toEqual([
      { mode: 'latest', pairs: ['KE m'] },
      { mode: 'series', pairs: ['NG m'] },
    ]);
    expect(outcomes).toEqual([
      ['latest KE m', []],
      ['series NG m', []],
    ]);
  });

  it('demands are settled from one series where both modes of a pair are wanted', async () => {
    const rows = await seriesOf(1, 2, 3);
    const { asked, outcomes } = await plan([demand('latest', 'KE'), demand('series', 'KE')], (wanted) => {
      settleAs(wanted, wanted.pairs, rows);
    });
    expect(asked).toEqual([{ mode: 'series', pairs: ['KE m'] }]);
    expect(outcomes).toEqual([
      ['series KE m', rows],
      ['latest KE m', rows.slice(-1)],
    ]);
  });

  it('demands are settled by the service’s own choice where several rows of the series may be the latest, all in one call', async () => {
    const [one, other] = (await seriesOf(1, 2)) as [ObservationRecord, ObservationRecord];
    const both = [{ ...one, source: 'a', year: other.year, period: other.period }, other];
    const demands = ['KE', 'NG', 'GH'].flatMap((code) => [demand('latest', code), demand('series', code)]);
    const { asked, outcomes } = await plan(demands, ({ mode, pairs, settle }) => {
      settle(
        pairs,
        pairs.map(({ countryCode }) => (mode === 'latest' || countryCode === 'GH' ? [one] : both)),
        null,
      );
    });
    expect(asked).toEqual([
      { mode: 'series', pairs: ['KE m', 'NG m', 'GH m'] },
      { mode: 'latest', pairs: ['KE m', 'NG m'] },
    ]);
    expect(Object.fromEntries(outcomes)).toMatchObject({
      'latest KE m': [one],
      'series KE m': both,
      'latest GH m': [one],
    });
  });

  it('demands are settled once, though years of a series are asked for beside the whole that tells its latest figure', async () => {
    const learned = createLearned();
    learned.learn({ maxRows: 100 });
    for (const code of ['KE', 'NG']) learned.learnSeries(code, 'm', 40, { from: 1960, to: 2000 });
    for (const code of ['GH', 'ZA', 'EG']) learned.learnSeries(code, 'm', 90, { from: 1920, to: 2010 });
    const years = ['NG', 'GH', 'ZA', 'EG'].map((code) =>
      demandFor('series', code, 'm', undefined, { from: 1990, to: 1992 }),
    );
    const demands = [demand('series', 'KE'), demand('latest', 'NG'), ...years];
    const { asked, outcomes } = await plan(demands, (wanted) => settleAs(wanted, wanted.pairs, []), {
      learned,
    });
    expect(asked.map(({ pairs }) => pairs.filter((pair) => pair === 'NG m'))).toEqual([['NG m'], ['NG m']]);
    expect(outcomes.map(([key]) => key).sort()).toEqual(demands.map(({ key }) => key).sort());
  });

  it('demands for a latest figure without a value are met from the series', async () => {
    const rows = await seriesOf(1, 2);
    const { asked, outcomes } = await plan([demand('latest', 'KE')], (wanted) =>
      settleAs(wanted, wanted.pairs, wanted.mode === 'latest' ? 'no figure' : rows),
    );
    expect(asked.map(({ mode }) => mode)).toEqual(['latest', 'series']);
    expect(outcomes).toEqual([['latest KE m', rows.slice(-1)]]);
  });

  it.each([
    ['before', 'no figure'],
    ['after', 'no figure'],
    ['before', 'a figure'],
    ['after', 'a figure'],
  ] as const)(
    'demands are met from a whole series that comes in place of some years, %s an answer with %s, by no further call',
    async (order, kind) => {
      const learned = createLearned();
      learned.learn({ maxRows: 100 });
      const [one, two] = (await seriesOf(1, 2)) as [ObservationRecord, ObservationRecord];
      const years = { from: one.year, to: one.year };
      const ranges = ['KE', 'NG'].map((code) => demandFor('series', code, 'm', undefined, years));
      for (const code of ['KE', 'NG']) learned.learnSeries(code, 'm', 900, { from: 1920, to: 2010 });
      const demands = [demand('latest', 'KE'), demand('latest', 'GH'), ...ranges];
      const settlings: { readonly isLatest: boolean; readonly settle: () => void }[] = [];
      const { asked, outcomes } = await plan(
        demands,
        (wanted) => {
          const isLatest = wanted.mode === 'latest';
          const rows = (code: string) =>
            !isLatest ? [one, two] : code === 'KE' && kind === 'no figure' ? kind : [two];
          const came = wanted.pairs.map(({ countryCode }) => rows(countryCode));
          settlings.push({ isLatest, settle: () => wanted.settle(wanted.pairs, came, null) });
          if (settlings.length < 2) return;
          settlings.sort((a, b) => Number(a.isLatest) - Number(b.isLatest));
          for (const { settle } of order === 'before' ? settlings : settlings.toReversed()) settle();
        },
        { learned },
      );
      expect(asked.map(({ mode }) => mode).sort()).toEqual(['latest', 'series']);
      expect(Object.fromEntries(outcomes)['latest KE m']).toEqual([two]);
      expect(outcomes.map(([key]) => key).sort()).toEqual(demands.map(({ key }) => key).sort());
    },
  );

  it('demands for the latest figure are met though the series cannot be had whole', async () => {
    const incomplete = new Failure('UPSTREAM_INCOMPLETE', 'Cut short.');
    const rows = await seriesOf(1);
    const both = [demand('latest', 'KE'), demand('series', 'KE')];
    const { asked, outcomes } = await plan(both, (wanted) =>
      settleAs(wanted, wanted.pairs, wanted.mode === 'series' ? incomplete : rows),
    );
    expect(asked.map(({ mode }) => mode)).toEqual(['series', 'latest']);
    expect(outcomes).toEqual([
      ['series KE m', incomplete],
      ['latest KE m', rows],
    ]);
  });

  it('demands that differ in the case of a metric alone never share a plan', async () => {
    const { asked } = await plan([demand('latest', 'KE', 'm'), demand('latest', 'KE', 'M')], () => {});
    expect(asked).toEqual([
      { mode: 'latest', pairs: ['KE m'] },
      { mode: 'latest', pairs: ['KE M'] },
    ]);
  });
});

/** Pairs of a table, each task of which is answered by one call, or as the test says. */
async function cover(
  table: Table,
  { mode = 'latest' as Mode, codesPerCall = 250, learned = createLearned() } = {},
  through: (call: FetchTask) => FetchTask = (call) => call,
) {
  const kept: string[] = [];
  const { send } = createDataRoute(table);
  const parts = partsWith({
    send,
    learned,
    codesPerCall,
    save: (_key, _mode, figures) => kept.push(...Array.from(figures, ({ pair }) => keyOfPair(pair))),
  });
  const call = calledStage(parts, { cut: repairCut, refused: bisected });
  const settled = new Map<string, Outcome | 'no figure'>();
  const wanted: PairsToFetch = {
    mode,
    years: null,
    pairs: pairsOf(table),
    rowsOf: () => 1,
    settle: (some, outcomes) => {
      for (const [i, outcome] of outcomes.entries()) settled.set(keyOfPair(some[i] as Pair), outcome);
    },
    round: 0,
    arrived: nothingArrived(),
  };
  const fetched = await coveredStage(through(call), parts.planning)(wanted, sendingFor());
  return { fetched, settled, kept, learned };
}

describe('pairs', () => {
  it('pairs are covered by tasks, and settled by the rows of their answers', async () => {
    const table = tableOf(3, 2, () => 1);
    const { fetched, settled, kept } = await cover(table);
    expect(fetched).toEqual({ rows: 6, isWhole: true });
    expect(valuesOf(settled)).toEqual({
      'AA metric_0': [0],
      'AA metric_1': [1],
      'AB metric_0': [2],
      'AB metric_1': [3],
      'AC metric_0': [4],
      'AC metric_1': [5],
    });
    expect(kept).toEqual([...settled.keys()]);
  });

  it('pairs wait for the first call, which teaches what the service takes, and then for none', async () => {
    const table = tableOf(4, 1, () => 1);
    const learned = createLearned();
    const order: string[] = [];
    const next: FetchTask = async (task) => {
      order.push(`asks ${task.rectangle.countryCodes}`);
      await new Promise((done) => setImmediate(done));
      order.push(`has ${task.rectangle.countryCodes}`);
      return NONE_WHOLE;
    };
    await cover(table, { codesPerCall: 3, learned }, () => next);
    expect(order.slice(0, 3)).toEqual(['asks AA,AB', 'has AA,AB', 'asks AC,AD']);
    order.length = 0;
    learned.learn({ limitParam: 'accepted' });
    await cover(table, { codesPerCall: 3, learned }, () => next);
    expect(order.slice(0, 2)).toEqual(['asks AA,AB', 'asks AC,AD']);
  });

  it('pairs are whole only where each task is', async () => {
    const table = tableOf(4, 1, () => 1);
    let isWhole = false;
    const { fetched } = await cover(table, { codesPerCall: 3 }, () => async () => {
      isWhole = !isWhole;
      return { rows: 2, isWhole };
    });
    expect(fetched.isWhole).toBe(false);
  });

  it('pairs without a value in their latest row have no figure, and nothing is kept of them', async () => {
    const table = tableWith([rowAt('KE', 'm', 2024, 1), rowAt('KE', 'm', 2025, null)]);
    const { settled, kept, fetched } = await cover(table);
    expect([...settled]).toEqual([['KE m', 'no figure']]);
    expect(kept).toEqual([]);
    expect(fetched.rows).toBe(1);
  });

  it('pairs can be covered anew by a task, with other expectations', async () => {
    const table = tableOf(4, 1, () => 1);
    const rounds: number[] = [];
    const { settled } = await cover(table, {}, (call) => async (task, sending) => {
      rounds.push(task.round);
      if (task.round === 0) return task.replan(task.pairs, { round: 1, rowsOf: () => SEEN.maxRows / 2 });
      return call(task, sending);
    });
    expect(rounds).toEqual([0, 1, 1]);
    expect(settled.size).toBe(4);
  });

  it('pairs teach how long their series are', async () => {
    const table = tableOf(1, 2, (_, m) => m + 3);
    const { learned } = await cover(table, { mode: 'series' });
    expect([learned.seriesRows('AA', 'metric_0'), learned.seriesRows('AA', 'metric_1')]).toEqual([3, 4]);
  });
});
