import { Failure } from '../errors.ts';
import {
  covers,
  type Demand,
  keyOf,
  latestFor,
  type Mode,
  type Pair,
  takenUntilMs,
  type YearRange,
} from '../plan/demand.ts';
import { mayNameYears } from '../plan/learned.ts';
import { inWhole, oneRow, type PlanPart, planOf, sharesOf } from '../plan/modes.ts';
import { contenders, newestOf } from '../plan/newest.ts';
import type { Caller, Sending } from '../service/call.ts';
import type { ObservationRecord } from '../service/records/observations.ts';
import {
  called,
  type FetchedRows,
  type NameSearch,
  NONE_WHOLE,
  type PairsToFetch,
  type Repair,
  sum,
  type Task,
} from './data-calls.ts';
import type { Fetch, Figures, FiguresParts, Outcome, Settle } from './entries.ts';
import { held, heldAtOnce, openHolding } from './held.ts';
import { createObservationPool } from './pool.ts';

/**
 * Fetches the demands that nobody else who shares the store is fetching, and takes the rest from the store once it has
 * come. The stage stands below the pool, which makes one batch of the demands of all operations: so a demand that comes
 * to several gateways at once takes the calls that one of them would have made.
 */
export function leased(next: Fetch, { inFlight, othersEntries, othersTtlMs, now }: FiguresParts): Fetch {
  const { cache } = inFlight;
  if (cache === null) return next;
  return async (demands, sending, settle, onCall) => {
    const { tenant } = sending.caller;
    const startedAtMs = now();
    const byKey = new Map(demands.map((demand) => [demand.key, demand]));
    const named = (keys: readonly string[]) => keys.flatMap((key) => byKey.get(key) ?? []);
    await inFlight.together({
      group: tenant.digest,
      names: [...byKey.keys()],
      signal: sending.signal,
      fetch: (keys) => next(named(keys), sending, settle, onCall),
      async takeOver(keys) {
        const found = await othersEntries.read(tenant, named(keys));
        if (!cache.isAccepted(tenant)) return keys;
        const missing: string[] = [];
        for (const demand of named(keys)) {
          const entry = found.get(demand.key);
          const isFresh =
            entry !== undefined &&
            // An entry that was young enough at the start is not too old for having been waited for.
            (entry.atMs >= startedAtMs || startedAtMs < takenUntilMs(demand, entry.atMs, othersTtlMs));
          if (isFresh) settle(demand, entry.rows);
          else missing.push(demand.key);
        }
        if (missing.length < keys.length) sending.bill.shared += 1;
        return missing;
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
 * The first stage works for one operation, the pool and all below for those that wait for a batch. From `covered` on,
 * stages are of another shape than {@link Fetch}: they fetch pairs, and a rectangle of them.
 */
export function createObservationClient(parts: FiguresParts) {
  const pool = createObservationPool(leased(createDataFetch(parts), parts), parts);
  const holding = openHolding(parts, async () =>
    (await import('../wings/revalidation.ts')).createRevalidation(parts),
  );
  const shared = { held: heldAtOnce(holding), several: parts.entries.several };
  return {
    join(caller: Caller) {
      const participant = pool.join(caller);
      const figures: Figures = { ...shared, fetch: held(participant.fetch, holding) };
      return { participant, figures };
    },
  };
}

/** Fetches demands from the service, held or not, in the fewest calls that its limits allow. */
export function createDataFetch(parts: FiguresParts): Fetch {
  return planned(covered(called(parts, REPAIR), parts), parts);
}

/** The repair of calls, loaded by the first that needs it: most gateways hardly ever see a cut answer or a refusal. */
const REPAIR: Repair = {
  cut: async (...cut) => (await import('../wings/repair.ts')).completed(...cut),
  refused: async (...refused) => (await import('../wings/bisected.ts')).bisected(...refused),
};

type SettlePair = PairsToFetch['settle'];

type FetchPairs = (wanted: PairsToFetch, sending: Sending) => Promise<FetchedRows>;

/**
 * Covers pairs with as few calls as the limits allow, and hands each answer's rows to their pairs. The stages below may
 * find that a rectangle has to be asked for in pieces after all: its task then covers them by this stage again.
 */
export function covered(next: ReturnType<typeof called>, parts: FiguresParts): FetchPairs {
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

function isTaught({ years }: PairsToFetch, { learned }: FiguresParts): boolean {
  const { limitParam, yearsParam } = learned.facts();
  const isLimitKnown = limitParam === 'accepted' || limitParam === 'refused';
  return isLimitKnown && (years === null || yearsParam !== 'unknown');
}

interface Together {
  readonly next: FetchPairs;
  readonly planning: FiguresParts;
  readonly sending: Sending;
  readonly settle: Settle;
  readonly onCall: Parameters<Fetch>[3];
  readonly search: NameSearch;
}

/**
 * Plans demands as pairs to ask for as latest and as series, and settles each demand by the outcome of its pair: a
 * latest figure may stand in the series. If several rows of the series may be the latest, the service's own choice is
 * asked for. If the series can't be had whole, its latest figure is asked for all the same.
 */
export function planned(next: FetchPairs, planning: FiguresParts): Fetch {
  return async (demands, sending, settle, onCall) => {
    const search: NameSearch = {
      refusalsLeft: undefined,
      isListAsked: { countries: false, metrics: false },
      isRefusedWithYears: false,
      isAnswered: false,
    };
    const together = { next, planning, sending, settle, onCall, search };
    await Promise.all(byCase(demands).map((some) => fetchTogether(some, together)));
  };
}

async function fetchTogether(demands: readonly Demand[], together: Together): Promise<void> {
  const { next, planning, sending, settle, onCall, search } = together;
  const wanted = byMode(demands);
  const { series, parts } =
    wanted.latest === ALL_ASKED ? asLatest(demands) : await planOf(sending.caller, demands, planning);
  const settleIn = (mode: Mode, pair: Pair, outcome: Outcome, years: YearRange | null = null) => {
    if (mode === 'latest') {
      const latest = wanted.latest === ALL_ASKED ? latestFor(pair) : wanted.latest.get(keyOf(pair));
      if (latest !== undefined) settle(latest, outcome);
      return;
    }
    for (const demand of takeAnswered(wanted.series, pair, years)) settle(demand, outcome);
  };
  const fetch = (part: PlanPart, settlePair: SettlePair, onTask?: PairsToFetch['onTask']) =>
    next({ ...part, settle: settlePair, onTask, round: 0, search }, sending);

  /** Series that tell no latest figure: the failure to have them whole, or rows of which the service has to choose. */
  const untold = new Map<string, Failure | SeriesRows>();
  const withoutLatest: Pair[] = [];
  const settleLatest: SettlePair = (pair, outcome) => {
    if (outcome !== 'no figure') return settleIn('latest', pair, outcome);
    const series = untold.get(keyOf(pair));
    if (series === undefined) withoutLatest.push(pair);
    else if (series instanceof Failure) settleIn('latest', pair, series);
    else settleFurtherBack(pair, series);
  };
  // If the latest row holds no value, the latest figure stands further back.
  const settleFurtherBack = (pair: Pair, series: SeriesRows) => {
    const newest = newestOf(series);
    const rows = newest === null ? [] : [newest];
    const asked = { mode: 'latest', years: null } as const;
    if (newest !== null && contenders(series).length > 1)
      planning.keep(sending.caller.tenant, asked, [{ pair, rows }], newest.fetchedAtMs);
    settleIn('latest', pair, rows);
  };
  const settleSeries: SettlePair = (pair, outcome) => {
    const rows = outcome === 'no figure' ? [] : outcome;
    settleIn('series', pair, rows);
    if (wanted.latest === ALL_ASKED || !wanted.latest.has(keyOf(pair))) return;
    if (rows instanceof Failure && rows.code === 'UPSTREAM_INCOMPLETE') {
      untold.set(keyOf(pair), rows);
    } else if (rows instanceof Error) {
      settleLatest(pair, rows);
    } else {
      const newest = contenders(rows);
      if (newest.length > 1) untold.set(keyOf(pair), rows);
      else settleLatest(pair, newest);
    }
  };
  const settleRange = (years: YearRange): SettlePair => {
    return (pair, outcome) => settleIn('series', pair, outcome === 'no figure' ? [] : outcome, years);
  };
  const settling = ({ mode, years }: PlanPart) => {
    if (mode === 'latest') return settleLatest;
    return years === null ? settleSeries : settleRange(years);
  };
  const onTask = (part: PlanPart) => onCall && ((task: Task) => onCall(takingAlong(task, part, wanted)));
  await Promise.all(parts.map((part) => fetch(part, settling(part), onTask(part))));
  const again = untold.size === 0 ? [] : series.filter((pair) => untold.has(keyOf(pair)));
  if (again.length > 0) {
    await fetch({ mode: 'latest', years: null, pairs: again, rowsOf: oneRow }, settleLatest);
  }
  if (withoutLatest.length === 0) return;
  const inSeries = { mode: 'series', pairs: withoutLatest, ...inWhole(withoutLatest, planning) } as const;
  await fetch(inSeries, (pair, outcome) => {
    if (outcome === 'no figure' || outcome instanceof Error)
      settleLatest(pair, outcome === 'no figure' ? [] : outcome);
    else settleFurtherBack(pair, outcome);
  });
}

type SeriesRows = readonly ObservationRecord[];

/** Plans demands for latest figures alone: each is asked for as what it is. */
function asLatest(pairs: readonly Pair[]): Awaited<ReturnType<typeof planOf>> {
  return { series: [], parts: [{ mode: 'latest', years: null, pairs, rowsOf: oneRow }] };
}

/** Demands for series by their pairs: those of one pair may differ in their years. */
type SeriesByPair = Map<string, Demand[]>;

/** Stands for a map of all pairs: only latest figures are wanted, so each pair asked for is one of them. */
const ALL_ASKED = Symbol('all asked');

/** Demands by mode and pair. */
interface Wanted {
  readonly latest: Map<string, Demand> | typeof ALL_ASKED;
  readonly series: SeriesByPair;
}

function byMode(demands: readonly Demand[]): Wanted {
  const series: SeriesByPair = new Map();
  if (demands.every(({ mode }) => mode === 'latest')) return { latest: ALL_ASKED, series };
  const latest = new Map<string, Demand>();
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
    if (mode === 'series' && latest !== ALL_ASKED && latest.has(name)) return false;
    if (years !== null && (demand.years === null || !covers(years, demand.years))) return false;
    if (mode === 'series') series.set(name, [...(series.get(name) ?? []), demand]);
    else if (latest !== ALL_ASKED) latest.set(name, demand);
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
