import { createCorners } from '../cache/corners.ts';
import type { ProvenKeys } from '../cache/proven.ts';
import { Failure } from '../errors.ts';
import type { Call, Send } from './call.ts';
import { Pause } from './pause.ts';

export interface AuthorizedParts {
  readonly proven: Pick<ProvenKeys, 'has'>;
  readonly now: () => number;
}

/** How long nothing is sent after a refusal. A key that is activated seconds later works soon after. */
const PAUSES = { firstMs: 1_000, longestMs: 60_000 };

/** Keys whose refusals are remembered at once. */
const MAX_KEYS = { proven: 10_000, unproven: 2_000 };

/** What the service refuses to one key. */
interface Refusals {
  /** After a 401: everything. */
  readonly all: Pause;
  /** After a 403: one route. The key may be good for the others. */
  readonly byRoute: Map<string, Pause>;
}

/** A call on its way, and how many refusals in a row there had been when it left. */
interface Visit {
  readonly call: Call;
  readonly partition: string;
  wasProven: boolean;
  isKeptBack: boolean;
  roundOfAll: number;
  roundOfRoute: number;
}

/**
 * Sends nothing under a key that the service has just refused: after a 401 no call, after a 403 none to that route. Calls
 * that have not left yet, and further ones, fail with the service's own words. When the pause is over, one call finds out
 * whether the key is accepted by now. Refusals of calls that left before the last one was known are no news.
 */
export function authorized(next: Send, { proven, now }: AuthorizedParts): Send {
  const keys = createCorners<Refusals>(MAX_KEYS);

  /** @throws Failure why the call may not leave */
  function check(visit: Visit): void {
    const { call, partition } = visit;
    const held = keys.get(partition);
    const ofRoute = held?.byRoute.get(call.route);
    const refusal = held?.all.keepsBack(visit, now()) ?? ofRoute?.keepsBack(visit, now()) ?? null;
    visit.isKeptBack = refusal !== null;
    if (refusal !== null) throw refusal.with({ route: call.route });
    visit.wasProven = proven.has(partition);
    visit.roundOfAll = held?.all.round ?? 0;
    visit.roundOfRoute = ofRoute?.round ?? 0;
  }

  function pauseOf({ call, partition, wasProven }: Visit, code: Failure['code']): Pause {
    let held = keys.get(partition);
    if (held === undefined) {
      held = { all: new Pause(PAUSES), byRoute: new Map() };
      keys.add(partition, held);
    }
    // Only the service can make a key known, so those can't be pushed out by keys that are made up.
    if (wasProven || code === 'FORBIDDEN') keys.prove(partition);
    if (code === 'UNAUTHENTICATED') return held.all;
    let ofRoute = held.byRoute.get(call.route);
    if (ofRoute === undefined) {
      ofRoute = new Pause(PAUSES);
      held.byRoute.set(call.route, ofRoute);
    }
    return ofRoute;
  }

  function refused(visit: Visit, failure: Failure): void {
    const round = failure.code === 'FORBIDDEN' ? visit.roundOfRoute : visit.roundOfAll;
    const pause = pauseOf(visit, failure.code);
    if (pause.round === round) pause.begin(failure, now());
    if (failure.code === 'FORBIDDEN') acceptedKey(visit);
  }

  /** The service knows the key, whatever it thinks of the call. */
  function acceptedKey({ partition, roundOfAll }: Visit): void {
    const held = keys.get(partition);
    if (held?.all.round === roundOfAll) held.all.end();
  }

  function accepted(visit: Visit): void {
    acceptedKey(visit);
    const ofRoute = keys.get(visit.partition)?.byRoute.get(visit.call.route);
    if (ofRoute?.round === visit.roundOfRoute) ofRoute.end();
  }

  return async (call, sending) => {
    if (call.isPublic) return next(call, sending);
    const { partition } = sending.caller;
    const visit: Visit = {
      call,
      partition,
      wasProven: false,
      isKeptBack: false,
      roundOfAll: 0,
      roundOfRoute: 0,
    };
    const beforeLeaving = () => {
      sending.beforeLeaving?.();
      check(visit);
    };
    try {
      check(visit);
      const answer = await next(call, { ...sending, beforeLeaving });
      accepted(visit);
      return answer;
    } catch (error) {
      if (error instanceof Failure && !visit.isKeptBack) {
        if (error.code === 'UNAUTHENTICATED' || error.code === 'FORBIDDEN') refused(visit, error);
        if (error.code === 'BAD_USER_INPUT') accepted(visit);
      }
      throw error;
    } finally {
      const held = keys.get(partition);
      held?.all.release(visit);
      held?.byRoute.get(call.route)?.release(visit);
    }
  };
}
