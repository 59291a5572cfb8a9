import { type Job, timeSliced, yieldToEventLoop } from '../async/yielding.ts';
import { Failure } from '../errors.ts';
import type { Pair, RowsOf } from '../planner/cover.ts';
import { type Demand, keyOf, type Mode } from '../planner/demand.ts';
import { choosingModes, type ModePlan, oneRow } from '../planner/modes.ts';
import { newestOf } from '../planner/newest.ts';
import type { Sending } from '../upstream/call.ts';
import { type FetchPairs, MANY } from './covered.ts';
import { hopefulRows, modeLimits, type Planning } from './estimate.ts';
import type { Fetch, Settle } from './fetch.ts';
import type { Outcome } from './outcome.ts';
import { type NameSearch, openNameSearch, type SettlePair } from './task.ts';

/** One fetch of demands that may share calls. */
interface Together {
  readonly next: FetchPairs;
  readonly planning: Planning;
  readonly sending: Sending;
  readonly settle: Settle;
  readonly search: NameSearch;
}

/**
 * Plans demands as pairs to ask for as latest and as series, and settles each demand by what comes of its pair: a latest
 * figure may stand in the series, and a series that can't be had whole has a latest figure all the same.
 */
export function planned(next: FetchPairs, planning: Planning): Fetch {
  return async (demands, sending, settle) => {
    const together = { next, planning, sending, settle, search: openNameSearch() };
    await Promise.all(byCase(demands).map((some) => fetchTogether(some, together)));
  };
}

async function fetchTogether(demands: readonly Demand[], together: Together): Promise<void> {
  const { next, planning, sending, settle, search } = together;
  const { learned } = planning;
  const plan = await modesOf(demands, planning, sending.caller);
  const wanted = byMode(demands);
  const settleIn = (mode: Mode, pair: Pair, outcome: Outcome) => {
    const demand = wanted[mode].get(keyOf(pair));
    if (demand !== undefined) settle(demand, outcome);
  };
  const fetch = (mode: Mode, pairs: readonly Pair[], rowsOf: RowsOf, settlePair: SettlePair) =>
    next({ mode, pairs, rowsOf, settle: settlePair, round: 0, search }, sending);

  const withoutSeries = new Map<string, Failure>();
  const withoutLatest: Pair[] = [];
  const settleLatest: SettlePair = (pair, outcome) => {
    const noSeries = withoutSeries.get(keyOf(pair));
    if (outcome !== 'no figure') settleIn('latest', pair, outcome);
    else if (noSeries === undefined) withoutLatest.push(pair);
    else settleIn('latest', pair, noSeries);
  };
  const settleSeries: SettlePair = (pair, outcome) => {
    const rows = outcome === 'no figure' ? [] : outcome;
    settleIn('series', pair, rows);
    if (!wanted.latest.has(keyOf(pair))) return;
    if (rows instanceof Failure && rows.code === 'UPSTREAM_INCOMPLETE') withoutSeries.set(keyOf(pair), rows);
    else settleLatest(pair, latestOf(rows));
  };
  await Promise.all([
    fetch('latest', plan.latest, oneRow, settleLatest),
    fetch('series', plan.series, hopefulRows(plan.series, learned), settleSeries),
  ]);
  // A series that can't be had whole has a latest figure all the same.
  const isWithoutSeries = (pair: Pair) => withoutSeries.has(keyOf(pair));
  await fetch('latest', plan.series.filter(isWithoutSeries), oneRow, settleLatest);
  // Where the latest row holds no value, the latest figure stands further back.
  await fetch('series', withoutLatest, hopefulRows(withoutLatest, learned), (pair, outcome) =>
    settleLatest(pair, outcome === 'no figure' ? [] : latestOf(outcome)),
  );
}

/** Which pairs to ask for as latest, and which as series; in turns, where there are many. */
async function modesOf(demands: readonly Demand[], planning: Planning, job: Job): Promise<ModePlan> {
  const isLarge = demands.length > MANY;
  if (isLarge) await yieldToEventLoop(job);
  const plan = await timeSliced(
    job,
    choosingModes(demands, modeLimits(planning), planning.learned.seriesRows),
  );
  if (isLarge) await yieldToEventLoop(job);
  return plan;
}

/** Demands of each mode by their pairs. */
function byMode(demands: readonly Demand[]): Readonly<Record<Mode, ReadonlyMap<string, Demand>>> {
  const found = { latest: new Map<string, Demand>(), series: new Map<string, Demand>() };
  for (const demand of demands) found[demand.mode].set(keyOf(demand), demand);
  return found;
}

/**
 * Demands in sets that can share calls: two metrics that differ in case alone never do, since a service that takes them
 * for one could not be told from one that doesn't.
 */
function byCase(demands: readonly Demand[]): readonly (readonly Demand[])[] {
  const spellings = new Map<string, string[]>();
  for (const { metricKey } of demands) {
    const fold = metricKey.toLowerCase();
    const known = spellings.get(fold);
    if (known === undefined) spellings.set(fold, [metricKey]);
    else if (!known.includes(metricKey)) known.push(metricKey);
  }
  const most = Math.max(1, ...[...spellings.values()].map(({ length }) => length));
  if (most === 1) return [demands];
  return Array.from({ length: most }, (_, set) =>
    demands.filter(({ metricKey }) => spellings.get(metricKey.toLowerCase())?.[set] === metricKey),
  );
}

function latestOf(outcome: Outcome): Outcome {
  if (outcome instanceof Error) return outcome;
  const newest = newestOf(outcome);
  return newest === null ? [] : [newest];
}
