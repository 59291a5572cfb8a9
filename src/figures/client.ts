import { type Job, timeSliced, yieldToEventLoop } from '../async/turns.ts';
import { covers, type Demand, isOfAnyAge, keyOf, takenUntilMs, wholeOf } from '../plan/demand.ts';
import { type Planning, planningModes, type RangePlan } from '../plan/modes.ts';
import type { Caller, Send, Sending } from '../service/call.ts';
import { type InFlight, NO_TENANT_CACHE } from '../tenants/tenant-cache.ts';
import { type BisectedParts, bisected } from './bisected.ts';
import { createDataCalls } from './data-calls.ts';
import type { ObservationEntries, Outcome } from './entries.ts';
import type { Fetch, Figures } from './fetch.ts';
import {
  type CachedFiguresParts,
  cached,
  type HeldDemand,
  type HeldParts,
  heldAtOnce,
  isFresh,
  NO_PREFETCH,
  type Prefetch,
  prefetched,
  type ServingParts,
} from './held.ts';
import type { RefusedNames } from './names.ts';
import { type CoveredParts, covered, planned } from './planned.ts';
import { createObservationPool, type Participant, type PoolParts } from './pool.ts';
import { type CompletedParts, completed } from './repair.ts';
import { type RevalidatedParts, revalidated } from './revalidation.ts';

interface LeasedParts {
  readonly inFlight: InFlight;
  /** Entries that others have fetched. */
  readonly othersEntries: Pick<ObservationEntries, 'read'>;
  /** Milliseconds for which others' entries count for operations that come later. */
  readonly othersTtlMs: number;
  readonly now: () => number;
}

/**
 * Fetches the demands that nobody else who shares the store is fetching, and takes the rest from the store once it has
 * come. The stage stands below the pool, which makes one batch of the demands of all operations: so a demand that comes
 * to several gateways at once takes the calls that one of them would have made.
 */
export function leased(next: Fetch, { inFlight, othersEntries, othersTtlMs, now }: LeasedParts): Fetch {
  const { cache } = inFlight;
  if (cache === null) return next;
  return async (demands, sending, settle) => {
    const { tenant } = sending.caller;
    const startedAtMs = now();
    const byKey = new Map(demands.map((demand) => [demand.key, demand]));
    const named = (keys: readonly string[]) => keys.flatMap((key) => byKey.get(key) ?? []);
    await inFlight.together({
      group: tenant.digest,
      names: [...byKey.keys()],
      signal: sending.signal,
      fetch: (keys) => next(named(keys), sending, settle),
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

interface LookedUpParts extends Pick<HeldParts, 'entries' | 'tenantCache' | 'freshness' | 'now'> {
  readonly refusedNames: Pick<RefusedNames, 'of'>;
}

/** Demands that take milliseconds to look after. */
const MANY = 2_000;

/**
 * Reads the entries of all demands in one round trip to the store, for the stages below. A name that the service
 * refused lately keeps that outcome: it is not asked for again so soon.
 */
export function lookedUp(next: Fetch<HeldDemand>, parts: LookedUpParts): Fetch {
  return async (demands, sending, settle) => {
    const { caller } = sending;
    const reading = parts.entries.read(caller.tenant, demands);
    sending.waits?.store.timing(reading);
    const entries = await reading;
    if (demands.length > MANY) await yieldToEventLoop(caller);
    const others: HeldDemand[] = [];
    for (const demand of demands) {
      const held = { ...demand, entry: entries.get(demand.key) };
      const refused = isFresh(held, parts) ? undefined : refusedLately(demand, sending, parts);
      if (refused === undefined) others.push(held);
      else settle(demand, refused);
    }
    return next(others, sending, settle);
  };
}

function refusedLately(
  demand: Demand,
  { caller: { tenant }, bill, onHeld }: Sending,
  { tenantCache, refusedNames, freshness, now }: LookedUpParts,
): Outcome | undefined {
  const refused = tenantCache.isAccepted(tenant) ? refusedNames.of(tenant, demand) : undefined;
  if (refused === undefined) return undefined;
  const freshUntilMs = takenUntilMs(demand, refused.atMs, freshness.ttlMs);
  if (now() >= freshUntilMs) return undefined;
  bill.cached += 1;
  onHeld?.(freshUntilMs);
  return refused.outcome;
}

/** A demand, and its entry if that was looked up. */
type MaybeHeld = Demand & Partial<HeldDemand>;

/**
 * Asks for whole series in place of some years, unless a range takes fewer calls. Whole series are better to hold, and
 * all who ask at the same time, for any years, ask for the same. An answer that came as a whole series settles its
 * demand as that too.
 *
 * The stage stands below `lookedUp` if anything is held, since a lookup needs no call, and above all stages that go by
 * the keys of demands.
 */
function ranged<Wanted extends MaybeHeld>(
  next: Fetch<Wanted>,
  parts: ServingParts & Planning,
): Fetch<Wanted> {
  const inRanges: Fetch<Wanted> = async (demands, sending, settle) => {
    const isRange = await rangesOf(demands, parts, sending.caller);
    // Several ranges may be one whole series, which may be wanted as such besides.
    const asked = new Map<string, { readonly sent: Wanted; readonly askers: Wanted[] }>();
    for (const demand of demands) {
      const isPlain = demand.years === null || isAnsweredBySome(demand, parts) || isRange(demand);
      const sent = isPlain ? demand : wholeOf(demand);
      const known = asked.get(sent.name);
      if (known === undefined) asked.set(sent.name, { sent, askers: [demand] });
      else known.askers.push(demand);
    }
    const sent = [...asked.values()].map((one) => one.sent);
    return next(sent, sending, (demand, outcome) => {
      settle(demand, outcome);
      for (const asker of asked.get(demand.name)?.askers ?? []) {
        if (asker.key !== demand.key) settle(asker, outcome);
      }
    });
  };
  return (demands, sending, settle) =>
    demands.some(({ years }) => years !== null)
      ? inRanges(demands, sending, settle)
      : next(demands, sending, settle);
}

/** True if a held range answers a demand. */
function isAnsweredBySome(demand: MaybeHeld, parts: ServingParts): boolean {
  return demand.entry != null && demand.entry.years !== null && isFresh(demand, parts);
}

/** Tells which demands for some years are better asked for as such, by the ones that are not held. */
async function rangesOf(
  demands: readonly MaybeHeld[],
  parts: ServingParts & Planning,
  job: Job,
): Promise<(demand: Demand) => boolean> {
  const missing = demands.filter((demand) => !isFresh(demand, parts));
  if (!missing.some(({ years }) => years !== null)) return () => false;
  const { ranges } = await timeSliced(job, planningModes(missing, parts));
  const byPair = new Map<string, RangePlan>();
  for (const range of ranges) for (const pair of range.pairs) byPair.set(keyOf(pair), range);
  return (demand) => {
    const range = byPair.get(keyOf(demand));
    return range !== undefined && demand.years !== null && covers(range.years, demand.years);
  };
}

export interface DataFetchParts extends Omit<CompletedParts, 'calls'>, CoveredParts, Planning, BisectedParts {
  readonly send: Send;
  readonly now: () => number;
}

interface FiguresParts extends HeldParts, LookedUpParts, RevalidatedParts, CachedFiguresParts {
  readonly prefetch: Prefetch;
}

/** The source of the figures of all operations. */
export interface ObservationClient {
  /** Takes part with one operation. */
  join(caller: Caller): { readonly participant: Participant; readonly figures: Figures };
}

/**
 * Puts together the stages that the figures of an operation pass. Their order is policy:
 *
 *     lookedUp( ranged( revalidated( cached( prefetched( pooled( leased( planned( covered( completed( bisected ))))))))))
 *
 * - Held entries cost nothing. Entries past their time are first checked: those that still hold are not fetched.
 * - The rest takes along figures that cost no further call, and meets the demands of other operations.
 * - Demands that others who share the store are fetching already are left to them. All others are planned as one.
 * - A plan becomes rectangles, a call each. An answer may be cut (completed), a call may be refused (bisected).
 *
 * Down to the pool a stage works for one operation, below it for all that wait for a batch. From `covered` on, stages
 * are of another shape than {@link Fetch}: they ask for a rectangle, and rows come.
 */
export function createObservationClient(
  parts: FiguresParts & DataFetchParts & PoolParts & LeasedParts,
): ObservationClient {
  const pool = createObservationPool(leased(createDataFetch(parts), parts), parts);
  const held = heldAtOnce(parts);
  return {
    join(caller) {
      const participant = pool.join(caller);
      // Most operations take everything from held entries: their stages are put together once they fetch.
      const fetch = abovePool(participant.fetch, parts);
      return { participant, figures: { held, fetch, several: parts.entries.several } };
    },
  };
}

/**
 * Puts the same stages together for one operation alone: it meets no other, and nothing goes along.
 * @param watched looks at the demands before they are planned
 */
export function createLoneFigures(
  parts: Omit<FiguresParts, 'prefetch'> & DataFetchParts,
  watched: (next: Fetch) => Fetch,
): Figures {
  const alone = { ...parts, prefetch: NO_PREFETCH };
  const fetch = abovePool(watched(createDataFetch(alone)), alone);
  return { held: heldAtOnce(alone), fetch, several: parts.entries.several };
}

/** The stages that work for one operation. If nothing is ever held, they have nothing to do for most demands. */
function abovePool(pooled: Fetch, parts: FiguresParts): Fetch {
  return (demands, sending, settle) => {
    const hasNothingToDo = parts.tenantCache === NO_TENANT_CACHE && demands.every(isOfAnyAge);
    const fetch = hasNothingToDo
      ? ranged(pooled, parts)
      : lookedUp(ranged(revalidated(cached(prefetched(pooled, parts), parts), parts), parts), parts);
    return fetch(demands, sending, settle);
  };
}

/** Fetches demands from the service, held or not, in the fewest calls that its limits allow. */
export function createDataFetch(parts: DataFetchParts): Fetch {
  const calls = createDataCalls(parts);
  const asked = bisected(calls.askFor, parts);
  return planned(covered(completed(asked, { ...parts, calls }), parts), parts);
}
