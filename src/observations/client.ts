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

/** Where the figures of all operations come from. */
export interface ObservationClient {
  /** Takes part with one operation. */
  join(caller: Caller): { readonly participant: Participant; readonly figures: Figures };
}

/**
 * Puts the stages together that the figures of an operation pass. Their order is policy:
 *
 *     lookedUp( ranged( revalidated( cached( prefetched( pooled( leased( planned( covered( completed( bisected ))))))))))
 *
 * What is held costs nothing, and whether it still holds is known before anything is fetched for being old. What is left
 * takes along what costs no further call, meets the demands of other operations, is left to others who share the store where
 * they are at it already, and is planned as one. A plan becomes rectangles, a call each, the answers to which may be cut
 * (completed) or refused (bisected).
 *
 * Down to the pool a stage works for one operation, below it for all that wait for a batch. From `covered` on, stages are
 * of another shape than {@link Fetch}: there it is a rectangle that is asked for, and rows that come.
 */
export function createObservationClient(
  parts: FiguresParts & DataFetchParts & PoolParts & LeasedParts,
): ObservationClient {
  const pool = createObservationPool(leased(createDataFetch(parts), parts), parts);
  const held = heldAtOnce(parts);
  return {
    join(caller) {
      const participant = pool.join(caller);
      // Most operations take everything from what is held: their stages are put together once they fetch.
      const fetch = abovePool(participant.fetch, parts);
      return { participant, figures: { held, fetch, several: parts.entries.several } };
    },
  };
}

/**
 * The same stages for one operation alone: it meets no other, and nothing goes along.
 * @param watched looks at what is about to be planned
 */
export function createLoneFigures(
  parts: Omit<FiguresParts, 'prefetch'> & DataFetchParts,
  watched: (next: Fetch) => Fetch,
): Figures {
  const alone = { ...parts, prefetch: NO_PREFETCH };
  const fetch = abovePool(watched(createDataFetch(alone)), alone);
  return { held: heldAtOnce(alone), fetch, several: parts.entries.several };
}

/** The stages that work for one operation; where nothing is ever held, they have nothing to do for most demands. */
function abovePool(pooled: Fetch, parts: FiguresParts): Fetch {
  return (demands, sending, settle) => {
    const hasNothingToDo = parts.tenantCache === NO_TENANT_CACHE && demands.every(isOfAnyAge);
    const fetch = hasNothingToDo
      ? ranged(pooled, parts)
      : lookedUp(ranged(revalidated(cached(prefetched(pooled, parts), parts), parts), parts), parts);
    return fetch(demands, sending, settle);
  };
}

/** Fetches demands of the service, whatever is held of them, in the fewest calls that its limits allow. */
export function createDataFetch(parts: DataFetchParts): Fetch {
  const calls = createDataCalls(parts);
  const asked = bisected(calls.askFor, parts);
  return planned(covered(completed(asked, { ...parts, calls }), parts), parts);
}
