import type { InFlight } from '../keys/tenant-cache.ts';
import type { Caller } from '../service/caller.ts';
import type { ObservationRecord } from '../service/records/observations.ts';
import type { Sending } from '../service/sending.ts';
import { Failure } from '../shared/errors.ts';
import {
  type CallParts,
  called,
  type FetchedRows,
  type NameSearch,
  NONE_WHOLE,
  type PairOutcome,
  type PairsToFetch,
  type Repair,
  type RepairParts,
  sum,
  type Task,
} from './data-calls.ts';
import type {
  Fetch,
  FetchBatch,
  Figures,
  ObservationEntries,
  ObservationEntry,
  Outcome,
  Outcomes,
  Telling,
} from './entries.ts';
import { type HoldingParts, held, heldAtOnce, openHolding, type RevalidationParts } from './held.ts';
import {
  covers,
  type Demand,
  keyOf,
  latestOf,
  type Pair,
  takenUntilMs,
  type YearRange,
} from './planner/demand.ts';
import { mayNameYears } from './planner/learned.ts';
import { inWhole, oneRow, type Planning, type PlanPart, planOf, sharesOf } from './planner/modes.ts';
import { contenders, newestOf } from './planner/newest.ts';
import { createObservationPool, type PoolParts } from './pool.ts';

/** The parts of the stage that leaves demands to others who are fetching them. */
interface LeaseParts {
  /** Demands that others who share the store are fetching. */
  readonly inFlight: InFlight;
  /** Entries that others have fetched. */
  readonly othersEntries: ObservationEntries;
  /** Milliseconds for which others' entries count for operations that come later. */
  readonly othersTtlMs: number;
  readonly now: () => number;
}

/** The parts of all stages. Pricing takes the same, with stand-ins for those that ask or keep. */
export interface FiguresParts extends HoldingParts, RevalidationParts, PoolParts, LeaseParts, RepairParts {}

/**
 * Fetches the demands that nobody else who shares the store is fetching, and takes the rest from the store once it has
 * come. The stage stands below the pool, which makes one batch of the demands of all operations: so a demand that comes
 * to several gateways at once takes the calls that one of them would have made.
 */
export function leased(
  next: FetchBatch,
  { inFlight, othersEntries, othersTtlMs, now }: LeaseParts,
): FetchBatch {
  const { cache } = inFlight;
  if (cache === null) return next;
  return async (demands, sending, telling) => {
    const { tenant } = sending.caller;
    const startedAtMs = now();
    const byKey = new Map(demands.map((demand) => [demand.key, demand]));
    const named = (keys: readonly string[]) => keys.flatMap((key) => byKey.get(key) ?? []);
    await inFlight.together({
      group: tenant.digest,
      names: [...byKey.keys()],
      signal: sending.signal,
      fetch: (keys) => next(named(keys), sending, telling),
      async takeOver(keys) {
        const found = await othersEntries.read(tenant, named(keys));
        if (!cache.isAccepted(tenant)) return keys;
        const entryOf = ({ key }: Demand) => found.get(key);
        // An entry that was young enough at the start is not too old for having been waited for.
        const isTaken = (demand: Demand, { atMs }: ObservationEntry) =>
          atMs >= startedAtMs || startedAtMs < takenUntilMs(demand, atMs, othersTtlMs);
        const { taken = [], missing = [] } = Object.groupBy(named(keys), (demand) => {
          const entry = entryOf(demand);
          return entry !== undefined && isTaken(demand, entry) ? 'taken' : 'missing';
        });
        telling.onOutcomes(
          taken,
          taken.map((demand) => entryOf(demand)?.rows ?? []),
        );
        if (taken.length > 0) sending.bill.shared += 1;
        return missing.map(({ key }) => key);
      },
    });
  };
}

export type ObservationClient = ReturnType<typeof createObservationClient>;

/**
 * Puts together the stages that the figures of an operation pass:
 *
 *     held → pool (→ leased) → planned → covered → called (→ completed, bisected)
 *
 * - Held entries cost nothing. The rest takes along figures that cost no further call.
 * - It meets the demands of other operations in the pool, and all of them are planned as one. Demands that others who
 *   share the store are fetching already are left to them.
 * - A plan becomes rectangles, a call each. Only if an answer is cut, or a call refused, does it enter a repair.
 *
 * The first stage works for one operation, and returns its outcomes. The pool and all below work for those that wait for a
 * batch, and tell outcomes call by call. From `covered` on, stages fetch pairs, and a rectangle of them.
 */
export function createObservationClient(parts: FiguresParts) {
  const pool = createObservationPool(leased(createDataFetch(parts), parts), parts);
  const holding = openHolding(parts, async () =>
    (await import('./revalidation.ts')).createRevalidation(parts),
  );
  const shared = { find: heldAtOnce(holding), several: parts.entries.several };
  return {
    join(caller: Caller) {
      const participant = pool.join(caller);
      const figures: Figures = { ...shared, fetch: held(participant.fetch, holding) };
      return { participant, figures };
    },
  };
}

/** Fetches demands from the service, held or not, in the fewest calls that its limits allow. */
export function createDataFetch(parts: RepairParts): FetchBatch {
  return planned(covered(called(parts, REPAIR), parts), parts);
}

/** Waits for all outcomes of a batch, on behalf of an operation that shares it with no other. */
export function gathered(next: FetchBatch): Fetch {
  return async (demands, sending) => {
    const outcomes: Outcomes = new Map();
    const onOutcomes: Telling['onOutcomes'] = (told, came) => {
      for (let i = 0; i < told.length; i += 1) outcomes.set((told[i] as Demand).key, came[i] as Outcome);
    };
    await next(demands, sending, { onOutcomes });
    return outcomes;
  };
}

/** The repair of calls, loaded by the first that needs it: most gateways hardly ever see a cut answer or a refusal. */
const REPAIR: Repair = {
  cut: async (...cut) => (await import('./repair.ts')).completed(...cut),
  refused: async (...refused) => (await import('./bisected.ts')).bisected(...refused),
};

type FetchPairs = (wanted: PairsToFetch, sending: Sending) => Promise<FetchedRows>;

/**
 * Covers pairs with as few calls as the limits allow, and hands each answer's rows to their pairs. The stages below may
 * find that a rectangle has to be asked for in pieces after all: its task then covers them by this stage again.
 */
export function covered(next: ReturnType<typeof called>, parts: Planning): FetchPairs {
  const { learned } = parts;
  return async function fetchPairs(wanted, sending) {
    const { caller } = sending;
    const { pairs, rowsOf } = wanted;
    if (pairs.length === 0) return NONE_WHOLE;
    const replan: Task['replan'] = (some, changes = {}) =>
      fetchPairs({ ...wanted, ...changes, onTask: undefined, pairs: some }, sending);
    const [first] = pairs;
    if (first !== undefined && pairs.length === 1) {
      const rectangle = { countryCodes: [first.countryCode], metricKeys: [first.metricKey] };
      return next({ ...wanted, rectangle, replan, isOpen: false }, sending);
    }
    const shares = await sharesOf(caller, pairs, parts, rowsOf);
    const tasks = shares.map((share): Task => ({ ...wanted, ...share, replan, isOpen: true }));
    for (const task of tasks) wanted.onTask?.(task);
    const fetch = (task: Task) => next(task, sending);
    const [only] = tasks;
    if (only !== undefined && tasks.length === 1) return fetch(only);
    // The first call teaches which parameters the service takes. The others wait for it, so that not all run into the
    // same wall.
    const ahead = !isTaught(wanted, parts) ? tasks.splice(0, 1) : [];
    const fetched: FetchedRows[] = [];
    for (const task of ahead) fetched.push(await fetch(task));
    if (ahead.length > 0 && wanted.years !== null && !mayNameYears(learned.facts())) {
      for (const task of tasks) task.isOpen = false;
      const rest = tasks.flatMap((task) => task.pairs);
      fetched.push(await fetchPairs({ ...wanted, ...inWhole(rest, parts), pairs: rest }, sending));
    } else {
      fetched.push(...(await Promise.all(tasks.map(fetch))));
    }
    return sum(fetched);
  };
}

function isTaught({ years }: PairsToFetch, { learned }: Planning): boolean {
  const { limitParam, yearsParam } = learned.facts();
  const isLimitKnown = limitParam === 'accepted' || limitParam === 'refused';
  return isLimitKnown && (years === null || yearsParam !== 'unknown');
}

/** Demands that are planned as one, on their way. */
interface Together extends Telling {
  readonly planning: CallParts;
  readonly sending: Sending;
  /** Fetches pairs, and tells what has come for them. */
  readonly fetch: (
    part: PlanPart,
    settle: PairsToFetch['settle'],
    onTask?: PairsToFetch['onTask'],
  ) => Promise<unknown>;
}

/**
 * Plans demands as pairs to ask for as latest and as series, and tells the outcome of each demand by that of its pair: a
 * latest figure may stand in the series. If several rows of the series may be the latest, the service's own choice is
 * asked for. If the series can't be had whole, its latest figure is asked for all the same.
 */
export function planned(next: FetchPairs, planning: CallParts): FetchBatch {
  return async (demands, sending, telling) => {
    const search: NameSearch = {
      refusalsLeft: undefined,
      isListAsked: { countries: false, metrics: false },
      isRefusedWithYears: false,
      isAnswered: false,
    };
    const fetch: Together['fetch'] = (part, settle, onTask) =>
      next({ ...part, settle, onTask, round: 0, search }, sending);
    const together = { ...telling, planning, sending, fetch };
    await Promise.all(byCase(demands).map((some) => fetchTogether(some, together)));
  };
}

async function fetchTogether(demands: readonly Demand[], together: Together): Promise<void> {
  const { planning, sending, fetch, onCall } = together;
  const wanted = byMode(demands);
  const { series, parts } = await planOf(sending.caller, demands, planning);
  const left: LeftOpen = { series: new Map(), blank: [] };
  const settleLatest: PairsToFetch['settle'] = (pairs, outcomes) =>
    tellLatest(pairs, outcomes, left, together);
  const settleSeries =
    (years: YearRange | null) => (pairs: readonly Pair[], outcomes: readonly PairOutcome[]) => {
      const told = seriesOutcomes(pairs, outcomes, years, wanted, left);
      together.onOutcomes(told.demands, told.outcomes);
    };
  const onTask = (part: PlanPart) => onCall && ((task: Task) => onCall(takingAlong(task, part, wanted)));
  const settling = ({ mode, years }: PlanPart) => (mode === 'latest' ? settleLatest : settleSeries(years));
  await Promise.all(parts.map((part) => fetch(part, settling(part), onTask(part))));
  const chosen = left.series.size === 0 ? [] : series.filter((pair) => left.series.has(keyOf(pair)));
  if (chosen.length > 0)
    await fetch({ mode: 'latest', years: null, pairs: chosen, rowsOf: oneRow }, settleLatest);
  const { blank } = left;
  if (blank.length === 0) return;
  const inSeries = { mode: 'series', pairs: blank, ...inWhole(blank, planning) } as const;
  await fetch(inSeries, (pairs, outcomes) => {
    const newest = outcomes.map((outcome, i) =>
      Array.isArray(outcome) ? newestFor(pairs[i] as Pair, outcome, together) : outcome,
    );
    together.onOutcomes(
      latestOf(pairs),
      newest.map((outcome) => (outcome === 'no figure' ? [] : outcome)),
    );
  });
}

type SeriesRows = readonly ObservationRecord[];

/** Latest figures that are wanted, and that answers have not told. */
interface LeftOpen {
  /** By pair: the failure to have the series whole, or its rows, of which the service has to choose. */
  readonly series: Map<string, Failure | SeriesRows>;
  /** Pairs whose latest row holds no value: the figure stands further back, in a series that hasn't come. */
  readonly blank: Pair[];
}

/** Tells latest figures that have been asked for as such. */
function tellLatest(
  pairs: readonly Pair[],
  outcomes: readonly PairOutcome[],
  left: LeftOpen,
  together: Together,
): void {
  const furtherBack = (pair: Pair): Outcome | undefined => {
    const series = left.series.get(keyOf(pair));
    return series instanceof Failure || series === undefined ? series : newestFor(pair, series, together);
  };
  const told = outcomes.map((outcome, i) =>
    outcome === 'no figure' ? furtherBack(pairs[i] as Pair) : outcome,
  );
  const isTold = (_: unknown, i: number) => told[i] !== undefined;
  if (told.includes(undefined)) {
    left.blank.push(...pairs.filter((pair, i) => !isTold(pair, i)));
    together.onOutcomes(
      latestOf(pairs.filter(isTold)),
      told.filter((outcome) => outcome !== undefined),
    );
  } else together.onOutcomes(latestOf(pairs), told as Outcome[]);
}

/** Returns the newest rows of a series in place of a latest row that holds no value. */
function newestFor(pair: Pair, series: SeriesRows, { planning, sending }: Together): SeriesRows {
  const newest = newestOf(series);
  if (newest === null) return [];
  const asked = { mode: 'latest', years: null } as const;
  if (contenders(series).length > 1)
    planning.keep(sending.caller.tenant, asked, [{ pair, rows: [newest] }], newest.fetchedAtMs);
  return [newest];
}

/** The demands that series answer, or some years of them, and their latest figures, as far as they tell those. */
function seriesOutcomes(
  pairs: readonly Pair[],
  came: readonly PairOutcome[],
  years: YearRange | null,
  wanted: Wanted,
  left: LeftOpen,
) {
  const demands: Demand[] = [];
  const outcomes: Outcome[] = [];
  const latest: Pair[] = [];
  const newest: Outcome[] = [];
  for (const [i, pair] of pairs.entries()) {
    const rows = came[i] === 'no figure' ? [] : (came[i] as Outcome);
    for (const demand of takeAnswered(wanted.series, pair, years)) {
      demands.push(demand);
      outcomes.push(rows);
    }
    if (years !== null || !wanted.latest.has(keyOf(pair))) continue;
    const told = rows instanceof Error ? rows : contenders(rows);
    const isOpen =
      told instanceof Failure ? told.code === 'UPSTREAM_INCOMPLETE' : Array.isArray(told) && told.length > 1;
    if (isOpen) left.series.set(keyOf(pair), rows as Failure | SeriesRows);
    else {
      latest.push(pair);
      newest.push(told);
    }
  }
  return { demands: [...demands, ...latestOf(latest)], outcomes: [...outcomes, ...newest] };
}

/** Demands for series by their pairs: those of one pair may differ in their years. */
type SeriesByPair = Map<string, Demand[]>;

/** Demands by mode. */
interface Wanted {
  /** Pairs of which the latest figure is wanted; empty if no series are: then all that come are wanted. */
  readonly latest: ReadonlySet<string>;
  readonly series: SeriesByPair;
}

function byMode(demands: readonly Demand[]): Wanted {
  const series: SeriesByPair = Map.groupBy(
    demands.filter(({ mode }) => mode === 'series'),
    keyOf,
  );
  const latest = series.size === 0 ? [] : demands.filter(({ mode }) => mode === 'latest');
  return { latest: new Set(latest.map(keyOf)), series };
}

/**
 * Has a task answer demands of others as well, if they lie in its rectangle. Those that the answer to another one
 * settles too are left to that.
 * @param years of the rows that demands are settled by
 */
function takingAlong(task: Task, { mode, years }: PlanPart, { latest, series }: Wanted) {
  const { countryCodes, metricKeys } = task.rectangle;
  const codes = new Set(countryCodes);
  const keys = new Set(metricKeys);
  let names: Set<string> | undefined;
  return (demand: Demand): boolean => {
    if (!task.isOpen || demand.mode !== mode) return false;
    if (!codes.has(demand.countryCode) || !keys.has(demand.metricKey)) return false;
    const name = keyOf(demand);
    if (mode === 'latest' && series.has(name)) return false;
    if (mode === 'series' && latest.has(name)) return false;
    if (years !== null && (demand.years === null || !covers(years, demand.years))) return false;
    if (mode === 'series') series.set(name, [...(series.get(name) ?? []), demand]);
    names ??= new Set(task.pairs.map(keyOf));
    if (!names.has(name)) task.pairs = [...task.pairs, demand];
    names.add(name);
    return true;
  };
}

/** Takes the demands that an answer for some years of a pair settles, each once; null stands for all years. */
function takeAnswered(wanted: SeriesByPair, pair: Pair, years: YearRange | null): readonly Demand[] {
  const key = keyOf(pair);
  const demands = wanted.get(key) ?? [];
  // A plan may bring some years of a series by themselves, and the whole of it in place of its latest figure.
  const isAnswered = ({ years: own }: Demand) => years === null || (own !== null && covers(years, own));
  wanted.set(
    key,
    demands.filter((demand) => !isAnswered(demand)),
  );
  return demands.filter(isAnswered);
}

/**
 * Demands in sets that can share calls. Two metrics that differ in case alone never do: a service that takes them for
 * one could not be told from one that doesn't.
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
