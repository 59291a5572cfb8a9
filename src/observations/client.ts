import { NO_TENANT_CACHE } from '../cache/tenant-cache.ts';
import { isOfAnyAge } from '../planner/demand.ts';
import type { Caller, Send } from '../upstream/call.ts';
import { type BisectedParts, bisected } from './bisected.ts';
import { type CachedFiguresParts, cached } from './cached.ts';
import { type CompletedParts, completed } from './completed.ts';
import { type CoveredParts, covered } from './covered.ts';
import { createDataCalls } from './data-calls.ts';
import type { Planning } from './estimate.ts';
import type { Fetch, Figures } from './fetch.ts';
import { type HeldParts, heldAtOnce } from './held.ts';
import { type LeasedParts, leased } from './leased.ts';
import { type LookedUpParts, lookedUp } from './looked-up.ts';
import { planned } from './planned.ts';
import { createObservationPool, type Participant, type PoolParts } from './pool.ts';
import { NO_PREFETCH, type Prefetch, prefetched } from './prefetched.ts';
import { ranged } from './ranged.ts';
import { type RevalidatedParts, revalidated } from './revalidated.ts';

export interface DataFetchParts extends Omit<CompletedParts, 'calls'>, CoveredParts, Planning, BisectedParts {
  readonly send: Send;
  readonly now: () => number;
}

export interface FiguresParts extends HeldParts, LookedUpParts, RevalidatedParts, CachedFiguresParts {
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
