import { type Job, timeSliced, yieldToEventLoop } from '../async/yielding.ts';
import { Failure } from '../errors.ts';
import { cover, expectedRows, type Pair, type RowsOf } from '../planner/cover.ts';
import { type Demand, demandKey, type Mode, pairKey } from '../planner/demand.ts';
import type { Learned } from '../planner/learned.ts';
import { chooseModes, choosingModes, oneRow } from '../planner/modes.ts';
import { newestOf } from '../planner/newest.ts';
import type { Sending } from '../upstream/call.ts';
import type { Settle } from './fetch.ts';
import type { Outcome } from './outcome.ts';
import { createFetch, type FetchParts, limitsOf, MANY } from './planned.ts';
import type { FetchPairs, SettlePair } from './tasks.ts';

export interface FiguresParts extends FetchParts {
  readonly overfetchRows: number;
}

/** Demands beyond which a plan has neither room for a prefetch, nor can be made several times at little cost. */
const MAX_ACCOMPANIED = 1_000;

/**
 * Fetches a set of demands in the fewest calls the service's limits allow, and settles each of them by its own:
 * a cut answer is completed, a name that the service refuses fails its own demands alone, a malformed row the
 * figures of its pair. Rejects only when `sending.signal` aborts.
 */
export async function fetchFigures(
  demands: readonly Demand[],
  parts: FiguresParts,
  sending: Sending,
  settle: Settle,
): Promise<void> {
  const fetch = createFetch(parts, sending);
  await Promise.all(byCase(demands).map((some) => fetchTogether(some, parts, fetch, settle, sending.caller)));
}

async function fetchTogether(
  demands: readonly Demand[],
  parts: FiguresParts,
  fetch: FetchPairs,
  settle: Settle,
  job: Job,
): Promise<void> {
  const { learned } = parts;
  const isLarge = demands.length > MANY;
  if (isLarge) await yieldToEventLoop(job);
  const choosing = choosingModes(demands, kindLimits(parts), learned.seriesRows);
  const plan = await timeSliced(job, choosing);
  if (isLarge) await yieldToEventLoop(job);
  const wanted = new Set(demands.map(demandKey));
  const ofKind = (pair: Pair, mode: Mode) => demandKey({ ...pair, mode });
  const withoutSeries = new Map<string, Failure>();
  const withoutLatest: Pair[] = [];
  const settleLatest: SettlePair = (pair, outcome) => {
    const noSeries = withoutSeries.get(pairKey(pair.countryCode, pair.metricKey));
    if (outcome !== 'no figure') settle({ ...pair, mode: 'latest' }, outcome);
    else if (noSeries === undefined) withoutLatest.push(pair);
    else settle({ ...pair, mode: 'latest' }, noSeries);
  };
  const settleSeries: SettlePair = (pair, outcome) => {
    const rows = outcome === 'no figure' ? [] : outcome;
    settle({ ...pair, mode: 'series' }, rows);
    if (!wanted.has(ofKind(pair, 'latest'))) return;
    if (rows instanceof Failure && rows.code === 'UPSTREAM_INCOMPLETE') {
      withoutSeries.set(pairKey(pair.countryCode, pair.metricKey), rows);
    } else settleLatest(pair, latestOf(rows));
  };
  await Promise.all([
    fetch('latest', plan.latest, oneRow, settleLatest, 0),
    fetch('series', plan.series, hopefulRows(plan.series, learned), settleSeries, 0),
  ]);
  // A series that can't be had whole has a latest figure all the same.
  const isWithoutSeries = (pair: Pair) => withoutSeries.has(pairKey(pair.countryCode, pair.metricKey));
  await fetch('latest', plan.series.filter(isWithoutSeries), oneRow, settleLatest, 0);
  // Where the latest row holds no value, the latest figure stands further back.
  await fetch('series', withoutLatest, hopefulRows(withoutLatest, learned), settleFromSeries, 0);

  function settleFromSeries(pair: Pair, outcome: Outcome | 'no figure'): void {
    settleLatest(pair, outcome === 'no figure' ? [] : latestOf(outcome));
  }
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

/** What demands are planned to take; an answer that is cut short, or refused, takes more. */
export interface Estimate {
  readonly calls: number;
  /** Rows that the calls are expected to bring. */
  readonly rows: number;
}

export type Planning = Pick<FiguresParts, 'learned' | 'codesPerCall' | 'overfetchRows'>;

export function estimate(demands: readonly Demand[], planning: Planning): Estimate {
  const { learned } = planning;
  const limits = kindLimits(planning);
  const { latest, series } = chooseModes(demands, limits, learned.seriesRows);
  let [calls, rows] = [0, 0];
  const add = (pairs: readonly Pair[], rowsOf: RowsOf) => {
    for (const rectangle of pairs.length === 0 ? [] : cover(pairs, limits, rowsOf)) {
      calls += 1;
      rows += expectedRows(rectangle, rowsOf);
    }
  };
  add(latest, oneRow);
  add(series, hopefulRows(series, learned));
  return { calls, rows };
}

/**
 * The most of some candidates for a prefetch, from the first on, that go along with demands at no further call: as far as the answer
 * stays within what the service is known to bring, and within the rows that may be fetched unasked.
 */
export function goingAlong(
  demands: readonly Demand[],
  candidates: readonly Demand[],
  planning: Planning,
): readonly Demand[] {
  const { learned, overfetchRows } = planning;
  const known = candidates.filter(
    ({ mode, countryCode, metricKey }) => mode === 'latest' || learned.knowsSeries(countryCode, metricKey),
  );
  if (known.length === 0 || demands.length > MAX_ACCOMPANIED) return [];
  const alone = estimate(demands, planning);
  // Short of the limit, so that a figure more than was expected doesn't cut the answer.
  const limitRows = learned.limitParam === 'accepted' ? learned.maxRows : learned.defaultRows;
  const mostRows = Math.min(alone.rows + overfetchRows, alone.calls * limitRows * 0.9);
  for (let count = known.length; count > 0; count = Math.floor(count / 3)) {
    const some = known.slice(0, count);
    const { calls, rows } = estimate([...demands, ...some], planning);
    if (calls <= alone.calls && rows <= mostRows) return some;
  }
  return [];
}

function kindLimits(planning: Planning) {
  return { ...limitsOf(planning), overfetchRows: planning.overfetchRows };
}

/**
 * Rows of series to plan by. A first call for series of unknown length asks for all that is wanted: the service's
 * total then tells how many calls the rest takes, and what came is kept. That is as many calls as had the lengths
 * been known, while a guess is paid for either way. Only where the service gives no totals does it have to be guessed.
 */
function hopefulRows(wanted: readonly Pair[], learned: Learned): RowsOf {
  if (learned.totals === 'untold') return learned.seriesRows;
  const keys = new Set(wanted.map(({ countryCode, metricKey }) => pairKey(countryCode, metricKey)));
  return (code, metric) =>
    keys.has(pairKey(code, metric)) && !learned.knowsSeries(code, metric)
      ? 1
      : learned.seriesRows(code, metric);
}

function latestOf(outcome: Outcome): Outcome {
  if (outcome instanceof Error) return outcome;
  const newest = newestOf(outcome);
  return newest === null ? [] : [newest];
}
