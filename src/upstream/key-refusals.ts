import { createKeyTable } from '../cache/key-table.ts';
import type { ProvenKeys } from '../cache/proven.ts';
import type { Failure } from '../errors.ts';
import { hearingOfKey } from './authenticated.ts';
import type { Call, Send } from './call.ts';
import { NO_PAUSES, Pause, pausing } from './pause.ts';

/**
 * Sends nothing under a key that the service has just refused: after a 401 no call, after a 403 none to that route.
 * Calls that have not left yet, and further ones, fail with the service's own words. When the pause is over, one call
 * finds out if the key is accepted by now, and calls that come before its answer wait for it.
 */
export interface KeyRefusals {
  /** Keeps calls back; around the ring in which they wait for their turn. */
  stopping(next: Send): Send;
  /** Returns the refusal after which nothing at all is sent under a key now; null if something would be. */
  refusal(keyDigest: string): Failure | null;
  /** Notes the outcomes of calls that leave; within that ring, so that one is known before the next call has its turn. */
  hearing(next: Send): Send;
}

export interface KeyRefusalsParts {
  readonly proven: Pick<ProvenKeys, 'has'>;
  readonly now: () => number;
}

/** Milliseconds without calls after a refusal. A key that is activated seconds later works soon after. */
const PAUSES = { firstMs: 1_000, longestMs: 60_000 };

/** Keys whose refusals are remembered at once. */
const MAX_KEYS = { proven: 10_000, unproven: 2_000 };

/** The refusals of the service to one key. */
interface KeyRefusal {
  /** The pause of every route, after a 401. */
  readonly all: Pause;
  /** The pause of one route, after a 403. The key may be good for the others. */
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

      // The verdict on calls that left before the last refusal was known is no news.
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
        // Only the service can make a key known, so proven keys can't be pushed out by keys that are made up.
        if (wasProven || isOfRoute) keys.prove(keyDigest);
        if (isOfRoute) accepted(false);
      }

      return hearingOfKey(call, next(call, sending), { accept: () => accepted(true), refuse: refused });
    },
  };
}
