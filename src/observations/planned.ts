import type { ObservationRecord } from '../service/records/observations.ts';
import { whenAll } from '../shared/async/promises.ts';
import { Failure } from '../shared/errors.ts';
import { once } from '../shared/once.ts';
import type { CallParts, FetchPairs, PairsToFetch, Task } from './called.ts';
import { nothingArrived, type PairOutcome } from './data-calls.ts';
import type { FetchBatch, FetchListener, Outcome } from './fetch.ts';
import {
  covers,
  type Demand,
  keyOfPair,
  latestOf,
  type Mode,
  type Pair,
  type YearRange,
} from './planner/demand.ts';
import { latestIn } from './planner/latest.ts';
import { inWhole, oneRow, type PlanPart, planOf } from './planner/modes.ts';

/**
 * Plans demands as pairs to fetch as latest figures or as series, of which the latest figure is a part. Outcomes are
 * passed on call by call, so that no demand waits for another's.
 */
export function plannedStage(
  next: FetchPairs,
  { planning, cache }: Pick<CallParts, 'planning' | 'cache'>,
): FetchBatch {
  return async (demands, sending, listener) => {
    const arrived = nothingArrived();
    const fetchSet = async (some: readonly Demand[]) => {
      const answers = new Answers(some, (pair, rows, atMs) => {
        const latest = { mode: 'latest', years: null } as const;
        cache.save(sending.caller.tenant, latest, [{ pair, rows }], atMs);
      });
      const ask = (part: PlanPart, onTask?: PairsToFetch['onTask']) => {
        const settle: PairsToFetch['settle'] = (pairs, outcomes, years) => {
          const settled = answers.note(part, pairs, outcomes, years);
          listener.onOutcomes(settled.demands, settled.outcomes);
        };
        return next({ ...part, settle, onTask, round: 0, arrived }, sending);
      };
      const planned = planOf(sending.caller, some, planning);
      const plan = planned instanceof Promise ? await planned : planned;
      if (plan.length > 1) arrived.replies ??= new Map();
      await whenAll(plan.map((part) => ask(part, takingAlong(part, answers, listener))));
      const unchosen = answers.unchosen();
      if (unchosen.length > 0) await ask({ mode: 'latest', years: null, pairs: unchosen, rowsOf: oneRow });
      const furtherBack = answers.furtherBack();
      if (furtherBack.length > 0)
        await ask({ mode: 'series', pairs: furtherBack, ...inWhole(furtherBack, planning) });
    };
    await whenAll(byCase(demands).map(fetchSet));
  };
}

/** What has arrived for a pair so far, while that doesn't decide its latest figure. */
interface Undecided {
  readonly pair: Pair;
  readonly latest?: PairOutcome;
  readonly series?: Outcome;
}

/** Undefined if it takes another call to decide. */
function latestOfPair({ latest, series }: Undecided): Outcome | undefined {
  if (latest === 'no figure')
    // If there are several, all are passed on, so that readers can warn that one of them was chosen.
    return Array.isArray(series) ? latestIn(series).candidates : series;
  if (latest !== undefined || series === undefined) return latest;
  // If the series can't be completed, or has several newest rows, the service has to choose.
  if (series instanceof Failure && series.code === 'UPSTREAM_INCOMPLETE') return undefined;
  if (series instanceof Error) return series;
  const { candidates } = latestIn(series);
  return candidates.length > 1 ? undefined : candidates;
}

type CacheChoice = (pair: Pair, rows: readonly ObservationRecord[], atMs: number) => void;

/** The demands of a plan that are still to be settled, and what has arrived for them. */
class Answers {
  /** Demands of one pair may differ in their years. */
  readonly series: Map<string, readonly Demand[]>;
  /** Pairs whose latest figure is still demanded; empty unless series are demanded as well. */
  readonly latest: Set<string>;
  readonly #undecided = new Map<string, Undecided>();
  readonly #cacheChoice: CacheChoice;

  /** @param cacheChoice called with several latest figures behind a row without a value: no single call shows them */
  constructor(demands: readonly Demand[], cacheChoice: CacheChoice) {
    const ofMode = (wanted: Mode) => demands.filter(({ mode }) => mode === wanted);
    const series = ofMode('series');
    this.series = Map.groupBy(series, keyOfPair);
    this.latest = new Set(series.length === 0 ? [] : ofMode('latest').map(keyOfPair));
    this.#cacheChoice = cacheChoice;
  }

  /**
   * Notes the outcomes of a call, and returns the demands that they settle.
   * @param years of the outcomes, which may be whole series although some years were planned
   */
  note(plan: PlanPart, pairs: readonly Pair[], outcomes: readonly PairOutcome[], years: YearRange | null) {
    const isLatest = plan.mode === 'latest';
    const isInPlaceOfYears = years === null && plan.years !== null;
    const isAlone = this.latest.size === 0 && this.#undecided.size === 0;
    if (isLatest && isAlone && !outcomes.includes('no figure'))
      return { demands: latestOf(pairs), outcomes: outcomes as readonly Outcome[] };
    const settled = { demands: [] as Demand[], outcomes: [] as Outcome[] };
    const add = (demands: readonly Demand[], outcome: Outcome) => {
      settled.demands.push(...demands);
      for (const _ of demands) settled.outcomes.push(outcome);
    };
    const latest: [Pair, Outcome][] = [];
    for (const [i, pair] of pairs.entries()) {
      const key = keyOfPair(pair);
      const outcome = outcomes[i] as PairOutcome;
      const rows = outcome === 'no figure' ? [] : outcome;
      if (!isLatest) add(this.#takeAnswered(key, years), rows);
      const before = this.#undecided.get(key);
      const isLatestWanted = isLatest || before !== undefined || this.latest.has(key);
      if (years !== null || !isLatestWanted) continue;
      const open: Undecided = { ...before, pair, ...(isLatest ? { latest: outcome } : { series: rows }) };
      // The latest figure was planned as a call of its own, and only that it shows none makes the series decide.
      const isStillToCome = isInPlaceOfYears && before?.latest === undefined;
      const figure = isStillToCome ? undefined : latestOfPair(open);
      if (figure === undefined) this.#undecided.set(key, open);
      else {
        this.#undecided.delete(key);
        this.latest.delete(key);
        this.#cacheFurtherBack(open, figure);
        latest.push([pair, figure]);
      }
    }
    for (const [pair, figure] of latest) add(latestOf([pair]), figure);
    return settled;
  }

  /** Pairs of which the service has to choose the latest figure. */
  unchosen(): readonly Pair[] {
    return this.#open(({ latest }) => latest === undefined);
  }

  /** Pairs whose newest row has no value, so that the series has to be fetched for the latest figure. */
  furtherBack(): readonly Pair[] {
    return this.#open(({ latest }) => latest === 'no figure');
  }

  #open(isMeant: (one: Undecided) => boolean): readonly Pair[] {
    if (this.#undecided.size === 0) return [];
    return [...this.#undecided.values()].filter(isMeant).map(({ pair }) => pair);
  }

  #cacheFurtherBack({ pair, latest }: Undecided, figure: Outcome): void {
    if (latest !== 'no figure' || figure instanceof Error) return;
    const [row] = figure;
    if (row !== undefined && figure.length > 1) this.#cacheChoice(pair, figure, row.fetchedAtMs);
  }

  /**
   * Removes and returns the demands of a pair that an answer settles.
   * @param years of the answer; null for all of them
   */
  #takeAnswered(key: string, years: YearRange | null): readonly Demand[] {
    const demands = this.series.get(key);
    if (demands === undefined) return [];
    // A plan may fetch some years of a series, and beside them the whole of it in place of its latest figure.
    const isAnswered = ({ years: askedYears }: Demand) =>
      years === null || (askedYears !== null && covers(years, askedYears));
    const { left = [], answered = [] } = Object.groupBy(demands, (demand) =>
      isAnswered(demand) ? 'answered' : 'left',
    );
    this.series.set(key, left);
    return answered;
  }
}

/**
 * Lets tasks settle further demands within their rectangles, such as those of other operations. A pair that this plan
 * also fetches in the other mode is left out, since two answers would settle it.
 */
function takingAlong(
  { mode, years }: PlanPart,
  { latest, series }: Answers,
  { onCall }: FetchListener,
): PairsToFetch['onTask'] {
  if (onCall === undefined) return undefined;
  return (task: Task) => {
    const codes = once(() => new Set(task.rectangle.countryCodes));
    const keys = once(() => new Set(task.rectangle.metricKeys));
    const names = once(() => new Set(task.pairs.map(keyOfPair)));
    onCall((demand) => {
      if (!task.isOpen || demand.mode !== mode) return false;
      if (!codes().has(demand.countryCode) || !keys().has(demand.metricKey)) return false;
      const name = keyOfPair(demand);
      if ((mode === 'latest' ? series : latest).has(name)) return false;
      if (years !== null && (demand.years === null || !covers(years, demand.years))) return false;
      if (mode === 'series') series.set(name, [...(series.get(name) ?? []), demand]);
      if (!names().has(name)) task.pairs = [...task.pairs, demand];
      names().add(name);
      return true;
    });
  };
}

/**
 * Splits demands so that metrics that differ only in case never share a call: it couldn't be known whether the service
 * distinguishes them.
 */
function byCase(demands: readonly Demand[]): readonly (readonly Demand[])[] {
  const spellings = new Map<string, string[]>();
  for (const metricKey of new Set(demands.map((demand) => demand.metricKey))) {
    const lowerCase = metricKey.toLowerCase();
    const names = spellings.get(lowerCase);
    if (names === undefined) spellings.set(lowerCase, [metricKey]);
    else names.push(metricKey);
  }
  const most = Math.max(1, ...[...spellings.values()].map(({ length }) => length));
  if (most === 1) return [demands];
  return Array.from({ length: most }, (_, set) =>
    demands.filter(({ metricKey }) => spellings.get(metricKey.toLowerCase())?.[set] === metricKey),
  );
}
