import type { PromiseOrValue } from '../async/promise-or-value.ts';
import { type Job, onItsOwn, timeSliced } from '../async/yielding.ts';
import { Failure } from '../errors.ts';
import type { Pair } from '../planner/cover.ts';
import { type Demand, keyOf, latestFor, type Mode } from '../planner/demand.ts';
import { type ModePlan, oneRow, type PlanPart } from '../planner/modes.ts';
import { newestOf } from '../planner/newest.ts';
import { covers, type YearRange } from '../planner/year-range.ts';
import type { Sending } from '../upstream/call.ts';
import type { FetchPairs } from './covered.ts';
import { hopefulParts, hopefulRows, modeLimits, type Planning } from './estimate.ts';
import type { Fetch, Settle } from './fetch.ts';
import { planningModes } from './mode-plans.ts';
import type { Outcome } from './outcome.ts';
import { type NameSearch, openNameSearch, type SettlePair } from './task.ts';

/** Demands that take milliseconds to plan. */
const MANY = 1_000;

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
    await all(byCase(demands).map((some) => fetchTogether(some, together)));
  };
}

async function fetchTogether(demands: readonly Demand[], together: Together): Promise<void> {
  const { next, planning, sending, settle, search } = together;
  const { learned } = planning;
  const planningAll = modesOf(demands, planning, sending.caller);
  const plan = planningAll instanceof Promise ? await planningAll : planningAll;
  const wanted = byMode(demands);
  const settleIn = (mode: Mode, pair: Pair, outcome: Outcome, years: YearRange | null = null) => {
    if (mode === 'latest') {
      const latest = wanted.latest === ALL_ASKED ? latestFor(pair) : wanted.latest.get(keyOf(pair));
      if (latest !== undefined) settle(latest, outcome);
      return;
    }
    for (const demand of takeAnswered(wanted.series, pair, years)) settle(demand, outcome);
  };
  const fetch = ({ mode, years, pairs, rowsOf }: PlanPart, settlePair: SettlePair) =>
    next({ mode, years, pairs, rowsOf, settle: settlePair, round: 0, search }, sending);

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
    if (wanted.latest === ALL_ASKED || !wanted.latest.has(keyOf(pair))) return;
    if (rows instanceof Failure && rows.code === 'UPSTREAM_INCOMPLETE') withoutSeries.set(keyOf(pair), rows);
    else settleLatest(pair, latestOf(rows));
  };
  const settleRange = (years: YearRange): SettlePair => {
    return (pair, outcome) => settleIn('series', pair, outcome === 'no figure' ? [] : outcome, years);
  };
  const settling = ({ mode, years }: PlanPart) => {
    if (mode === 'latest') return settleLatest;
    return years === null ? settleSeries : settleRange(years);
  };
  await all(hopefulParts(plan, learned).map((part) => fetch(part, settling(part))));
  // A series that can't be had whole has a latest figure all the same.
  const again = plan.series.filter((pair) => withoutSeries.has(keyOf(pair)));
  if (again.length > 0) {
    await fetch({ mode: 'latest', years: null, pairs: again, rowsOf: oneRow }, settleLatest);
  }
  if (withoutLatest.length === 0) return;
  // Where the latest row holds no value, the latest figure stands further back.
  const ofSeries = hopefulRows(withoutLatest, learned);
  await fetch({ mode: 'series', years: null, pairs: withoutLatest, rowsOf: ofSeries }, (pair, outcome) =>
    settleLatest(pair, outcome === 'no figure' ? [] : latestOf(outcome)),
  );
}

/** Which pairs to ask for as latest, and which as series; in turns, where there are many. */
function modesOf(demands: readonly Demand[], planning: Planning, job: Job): PromiseOrValue<ModePlan> {
  const plan = () => timeSliced(job, planningModes(demands, modeLimits(planning), planning.learned));
  return demands.length > MANY ? onItsOwn(job, plan) : plan();
}

/** Settles once all of some work is done; mostly that is one piece. */
function all(works: readonly Promise<unknown>[]): Promise<unknown> {
  const [only] = works;
  return only !== undefined && works.length === 1 ? only : Promise.all(works);
}

/** Demands for series by their pairs: they may differ in their years. */
type SeriesByPair = Map<string, Demand[]>;

/** Latest figures alone are wanted, so that each pair that is asked for is one of them. */
const ALL_ASKED = Symbol('all asked');

interface WantedByMode {
  readonly latest: ReadonlyMap<string, Demand> | typeof ALL_ASKED;
  readonly series: SeriesByPair;
}

function byMode(demands: readonly Demand[]): WantedByMode {
  if (demands.every(({ mode }) => mode === 'latest')) return { latest: ALL_ASKED, series: new Map() };
  const latest = new Map<string, Demand>();
  const series: SeriesByPair = new Map();
  for (const demand of demands) {
    const key = keyOf(demand);
    const others = demand.mode === 'latest' ? undefined : series.get(key);
    if (demand.mode === 'latest') latest.set(key, demand);
    else if (others === undefined) series.set(key, [demand]);
    else others.push(demand);
  }
  return { latest, series };
}

/**
 * The demands for a pair that an answer settles, each once.
 * @param years what the answer is of; null for all years
 */
function takeAnswered(wanted: SeriesByPair, pair: Pair, years: YearRange | null): readonly Demand[] {
  const key = keyOf(pair);
  const demands = wanted.get(key) ?? [];
  if (years === null || demands.length === 0) return demands;
  const isAnswered = (demand: Demand) => demand.years !== null && covers(years, demand.years);
  wanted.set(
    key,
    demands.filter((demand) => !isAnswered(demand)),
  );
  return demands.filter(isAnswered);
}

/**
 * Demands in sets that can share calls: two metrics that differ in case alone never do, since a service that takes them
 * for one could not be told from one that doesn't.
 */
function byCase(demands: readonly Demand[]): readonly (readonly Demand[])[] {
  const spellings = new Map<string, string[]>();
  for (const metricKey of new Set(demands.map((demand) => demand.metricKey))) {
    const fold = metricKey.toLowerCase();
    const known = spellings.get(fold);
    if (known === undefined) spellings.set(fold, [metricKey]);
    else known.push(metricKey);
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
