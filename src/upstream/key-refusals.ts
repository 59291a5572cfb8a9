import { createKeyTable } from '../cache/key-table.ts';
import type { ProvenKeys } from '../cache/proven.ts';
import type { Failure } from '../errors.ts';
import { hearingOfKey } from './authenticated.ts';
import type { Call, Send } from './call.ts';
import { NO_PAUSES, Pause, pausing } from './pause.ts';

/**
 * Sends nothing under a key that the service has just refused: after a 401 no call, after a 403 none to that route. Calls
 * that have not left yet, and further ones, fail with the service's own words. When the pause is over, one call finds out
 * whether the key is accepted by now, and those that come meanwhile wait for it.
 */
export interface KeyRefusals {
  /** Keeps calls back; around the ring where they wait for their turn. */
  stopping(next: Send): Send;
  /** Why nothing at all is sent under a key now; null where something would be. */
  refusal(keyDigest: string): Failure | null;
  /** Notes the outcomes of calls that leave; within that ring, so that one is known before the next call has its turn. */
  hearing(next: Send): Send;
}

export interface KeyRefusalsParts {
  readonly proven: Pick<ProvenKeys, 'has'>;
  readonly now: () => number;
}

/** How long nothing is sent after a refusal. A key that is activated seconds later works soon after. */
const PAUSES = { firstMs: 1_000, longestMs: 60_000 };

/** Keys whose refusals are remembered at once. */
const MAX_KEYS = { proven: 10_000, unproven: 2_000 };

/** What the service refuses to one key. */
interface KeyRefusal {
  /** After a 401: everything. */
  readonly all: Pause;
  /** After a 403: one route. The key may be good for the others. */
  readonly byRoute: Map<string, Pause>;
}

export function createKeyRefusals({ proven, now }: KeyRefusalsParts): KeyRefusals {
  const keys = createKeyTable<KeyRefusal>(MAX_KEYS);

  function pausesOf(keyDigest: string): KeyRefusal {
    let held = keys.get(keyDigest);
    if (held === undefined) {
      held = { all: new Pause(PAUSES), byRoute: new Map() };
      keys.add(keyDigest, held);
    }
    return held;
  }

  function ofRoute({ byRoute }: KeyRefusal, route: string): Pause {
    let pause = byRoute.get(route);
    if (pause === undefined) {
      pause = new Pause(PAUSES);
      byRoute.set(route, pause);
    }
    return pause;
  }

  function pausesFor({ route }: Call, keyDigest: string): readonly (Pause | undefined)[] {
    const held = keys.get(keyDigest);
    return held === undefined ? NO_PAUSES : [held.all, held.byRoute.get(route)];
  }

  function probeOf(call: Call, keyDigest: string): Promise<void> | null {
    for (const pause of pausesFor(call, keyDigest)) {
      const probed = pause?.untilProbed() ?? null;
      if (probed !== null) return probed;
    }
    return null;
  }

  return {
    refusal: (keyDigest) => keys.get(keyDigest)?.all.reason(now()) ?? null,
    stopping(next) {
      const failure = (refusal: Failure, { route }: Call) => refusal.with({ route });
      const stopped = pausing(next, { of: pausesFor, failure, now });
      return (call, sending) => {
        if (call.isPublic) return next(call, sending);
        const probe = probeOf(call, sending.caller.keyDigest);
        return probe === null ? stopped(call, sending) : probe.then(() => stopped(call, sending));
      };
    },
    hearing: (next) => (call, sending) => {
      if (call.isPublic) return next(call, sending);
      const { keyDigest } = sending.caller;
      const { route } = call;
      const before = keys.get(keyDigest);
      const rounds = { all: before?.all.round ?? 0, route: before?.byRoute.get(route)?.round ?? 0 };
      const wasProven = proven.has(keyDigest);

      // What is said to calls that left before the last refusal was known is no news.
      function accepted(isForRoute: boolean): void {
        const held = keys.get(keyDigest);
        if (held?.all.round === rounds.all) held.all.end();
        const pause = isForRoute ? held?.byRoute.get(route) : undefined;
        if (pause?.round === rounds.route) pause.end();
      }

      function refused(failure: Failure): void {
        const isOfRoute = failure.code === 'FORBIDDEN';
        const held = pausesOf(keyDigest);
        const pause = isOfRoute ? ofRoute(held, route) : held.all;
        if (pause.round === (isOfRoute ? rounds.route : rounds.all)) pause.begin(failure, now());
        // Only the service can make a key known, so those can't be pushed out by keys that are made up.
        if (wasProven || isOfRoute) keys.prove(keyDigest);
        if (isOfRoute) accepted(false);
      }

      return hearingOfKey(call, next(call, sending), { accept: () => accepted(true), refuse: refused });
    },
  };
}
