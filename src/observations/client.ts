import type { InFlight } from '../keys/tenant-cache.ts';
import type { Caller } from '../service/caller.ts';
import type { Sending } from '../service/sending.ts';
import { once } from '../shared/once.ts';
import { type CachingParts, cachedFiguresStage, findCached } from './cached.ts';
import { createPairReader } from './cached-pairs.ts';
import {
  type CallParts,
  calledStage,
  type FetchedRows,
  type FetchPairs,
  NONE_WHOLE,
  type PairsToFetch,
  type Repair,
  sum,
  type Task,
} from './called.ts';
import type { ObservationEntries } from './entries.ts';
import type { ObservationEntry } from './entry-reader.ts';
import type { Fetch, FetchBatch, FetchListener, Figures, Outcome, Outcomes } from './fetch.ts';
import { plannedStage } from './planned.ts';
import { type Demand, takenUntilMs } from './planner/demand.ts';
import { mayNameYears } from './planner/learned.ts';
import { inWhole, type Planning, sharesOf } from './planner/modes.ts';
import { createObservationPool, type PoolParts } from './pool.ts';
import { createPrefetch, NO_PREFETCH } from './prefetch.ts';
import { trafficOf } from './traffic.ts';

interface LeaseParts {
  readonly inFlight: InFlight;
  readonly entries: ObservationEntries;
  /** Milliseconds for which entries count for later operations. */
  readonly ttlMs: number;
  readonly now: () => number;
}

/** Pricing has stand-ins for the service and the caches. */
export interface FiguresParts extends CallParts {
  readonly pooling: PoolParts;
  readonly leasing: LeaseParts;
  readonly renewal: {
    /** True if a call may be spent on checking the sources. */
    readonly mayRenew: boolean;
    /** Maximum number of recent demands of all keys that may join other calls; 0 if nothing is cached. */
    readonly maxAskedLately: number;
  };
}

/**
 * Fetches the demands that no other gateway on the store is fetching, and reads the rest from the store. Stands below
 * the pool, so a demand that reaches several gateways at once costs the calls of one.
 */
export function leasedStage(next: FetchBatch, { inFlight, entries, ttlMs, now }: LeaseParts): FetchBatch {
  const { cache } = inFlight;
  if (cache === null) return next;
  return async (demands, sending, listener) => {
    const { tenant } = sending.caller;
    const startedAtMs = now();
    const byKey = new Map(demands.map((demand) => [demand.key, demand]));
    const named = (keys: readonly string[]) => keys.flatMap((key) => byKey.get(key) ?? []);
    await inFlight.together({
      group: tenant.digest,
      names: [...byKey.keys()],
      signal: sending.signal,
      fetch: (keys) => next(named(keys), sending, listener),
      async takeOver(keys) {
        const takenEntries = await entries.read(tenant, named(keys));
        if (!cache.isAccepted(tenant)) return keys;
        const entryOf = ({ key }: Demand) => takenEntries.get(key);
        // An entry that was young enough at the start isn't too old for having been waited for.
        const isTaken = (demand: Demand, { atMs }: ObservationEntry) =>
          atMs >= startedAtMs ||
          (atMs >= tenant.recheckBeforeMs && startedAtMs < takenUntilMs(demand, atMs, ttlMs));
        const { taken = [], missing = [] } = Object.groupBy(named(keys), (demand) => {
          const entry = entryOf(demand);
          return entry !== undefined && isTaken(demand, entry) ? 'taken' : 'missing';
        });
        listener.onOutcomes(
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
 *     cached → pool (→ leased) → planned → covered → called (→ repairCut, bisected)
 *
 * - Cached entries cost nothing. The rest takes along figures that cost no further call.
 * - It meets the demands of other operations in the pool, and all of them are planned as one. Demands that others who
 *   share the store are fetching already are left to them.
 * - A plan becomes rectangles, a call each. Only if an answer is cut, or a call refused, does it enter a repair.
 *
 * The first stage works for one operation, and returns its outcomes. The pool and all below work for those that wait for a
 * batch, and tell outcomes call by call. From `covered` on, stages fetch pairs, and a rectangle of them.
 */
export function createObservationClient(parts: FiguresParts) {
  const { cache, service, renewal } = parts;
  const pool = createObservationPool(leasedStage(createDataFetch(parts), parts.leasing), parts.pooling);
  const loadCheck = once(async () => {
    const { createRevalidation } = await import('./revalidation.ts');
    return createRevalidation({ ...cache, ask: service.ask, mayRenew: renewal.mayRenew });
  });
  const caching: CachingParts = {
    ...parts,
    prefetch: createPrefetch(cache, renewal.maxAskedLately),
    revalidation: {
      check: async (...expired) => (await loadCheck())(...expired),
      countCalls(tenant, calls, nowMs) {
        trafficOf(tenant, nowMs, cache.freshness).calls += calls;
      },
    },
  };
  const cachedPairs = createPairReader(cache.tenantCache, cache.entries.several);
  const shared = { find: findCached(caching), several: cache.entries.several, cachedPairs };
  return {
    join(caller: Caller) {
      const participant = pool.join(caller);
      const figures: Figures = { ...shared, fetch: cachedFiguresStage(participant.fetch, caching) };
      return { participant, figures };
    },
  };
}

/** Answers from the cache alone, for offline callers. Operations don't meet, since none of them waits. */
export function createCachedClient(
  parts: Pick<FiguresParts, 'planning' | 'service' | 'cache' | 'events'>,
): ObservationClient {
  const caching: CachingParts = {
    ...parts,
    prefetch: NO_PREFETCH,
    // Entries expire here only by the age that a caller accepts, and none can be renewed.
    revalidation: {
      check:
        async () =>
        ({ entry }) =>
          entry.checkedAtMs,
      countCalls() {},
    },
  };
  const fetch: Fetch = async (demands, { caller: { offline } }) => {
    const failure = offline?.ofFigures(demands) ?? new Error('This caller may ask the service.');
    return new Map(demands.map(({ key }) => [key, failure]));
  };
  const figures: Figures = {
    find: findCached(caching),
    fetch: cachedFiguresStage(fetch, caching),
    several: parts.cache.entries.several,
    cachedPairs: createPairReader(parts.cache.tenantCache, parts.cache.entries.several),
  };
  return {
    join({ tenant }) {
      const participant = { fetch, expect() {}, expectGroup() {}, forgo() {}, leave: tenant.keep() };
      return { participant, figures };
    },
  };
}

export function createDataFetch(parts: CallParts): FetchBatch {
  return plannedStage(coveredStage(calledStage(parts, REPAIR), parts.planning), parts);
}

export function gatheredStage(next: FetchBatch): Fetch {
  return async (demands, sending) => {
    const outcomes: Outcomes = new Map();
    const onOutcomes: FetchListener['onOutcomes'] = (settled, came) => {
      for (let i = 0; i < settled.length; i += 1)
        outcomes.set((settled[i] as Demand).key, came[i] as Outcome);
    };
    await next(demands, sending, { onOutcomes });
    return outcomes;
  };
}

/** Loaded on demand: most gateways hardly ever see a cut answer or a refusal. */
const REPAIR: Repair = {
  cut: async (...cut) => (await import('./repair.ts')).repairCut(...cut),
  refused: async (...refused) => (await import('./bisected.ts')).bisected(...refused),
};

/**
 * Covers pairs with as few calls as the limits allow. A task whose rectangle has to be asked for in pieces after all
 * covers them by this stage again.
 */
export function coveredStage(next: ReturnType<typeof calledStage>, parts: Planning): FetchPairs {
  const { learned } = parts;

  function fetchPairs(wanted: PairsToFetch, sending: Sending): Promise<FetchedRows> {
    const { pairs } = wanted;
    const [first] = pairs;
    if (first === undefined) return Promise.resolve(NONE_WHOLE);
    const replan: Task['replan'] = (some, changes = {}) =>
      fetchPairs({ ...wanted, ...changes, onTask: undefined, pairs: some }, sending);
    if (pairs.length > 1) return cover(wanted, replan, sending);
    const rectangle = { countryCodes: [first.countryCode], metricKeys: [first.metricKey] };
    return next({ ...wanted, rectangle, replan, isOpen: false }, sending);
  }

  async function cover(wanted: PairsToFetch, replan: Task['replan'], sending: Sending): Promise<FetchedRows> {
    const shares = await sharesOf(sending.caller, wanted.pairs, parts, wanted.rowsOf);
    const tasks = shares.map((share): Task => ({ ...wanted, ...share, replan, isOpen: true }));
    for (const task of tasks) wanted.onTask?.(task);
    const fetch = (task: Task) => next(task, sending);
    const [only] = tasks;
    if (only !== undefined && tasks.length === 1) return fetch(only);
    // The first call shows which parameters the service takes; the others wait, so that not all are refused.
    const first = isTaught(wanted, parts) ? undefined : tasks.shift();
    const fetched = first === undefined ? [] : [await fetch(first)];
    if (first !== undefined && wanted.years !== null && !mayNameYears(learned.facts())) {
      for (const task of tasks) task.isOpen = false;
      const rest = tasks.flatMap((task) => task.pairs);
      fetched.push(await fetchPairs({ ...wanted, ...inWhole(rest, parts), pairs: rest }, sending));
    } else {
      fetched.push(...(await Promise.all(tasks.map(fetch))));
    }
    return sum(fetched);
  }

  return fetchPairs;
}

function isTaught({ years }: PairsToFetch, { learned }: Planning): boolean {
  const { limitParam, yearsParam } = learned.facts();
  return limitParam !== 'unknown' && (years === null || yearsParam !== 'unknown');
}
