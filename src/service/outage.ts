import { Failure } from '../shared/errors.ts';
import { type Call, isElsewhere } from './call.ts';
import { isUnanswered } from './http.ts';

/** True if a call failed without a request, because the service is known to be down. */
export function isWithheld(error: unknown): boolean {
  return error instanceof Failure && error.fields.attempts === 0;
}

/** Failed calls in a row after which the service counts as down. */
const MIN_FAILURES = 3;

/** Milliseconds for which callers with an old answer don't ask a service that is down. */
const PAUSE_MS = 5_000;

export type Outage = ReturnType<typeof createOutage>;

/**
 * Callers with an old answer need not wait for a timeout before they serve it, after a few failures already, of which
 * one was on their route: another route may be down alone. Callers without one ask all the same, until the circuit of
 * the route is open ({@link CallGate}).
 */
export function createOutage(now: () => number) {
  let failures = 0;
  const routes = new Set<string>();
  let last: Failure | null = null;
  let seenAtMs = 0;

  return {
    /** Notes the outcome of a call with its retries: null if there was an answer. */
    note(error: unknown, call: Call): void {
      if (isElsewhere(call)) return;
      const { route } = call;
      if (error === null) {
        failures = 0;
        // Clearing makes a new table, which the last one refers to.
        if (routes.size > 0) routes.clear();
        return;
      }
      if (!isUnanswered(error) || isWithheld(error)) return;
      failures += 1;
      routes.add(route);
      last = error;
      seenAtMs = now();
    },
    /** The last failure while the service is down; null if it isn't, and for one caller in each pause. */
    failure(route: string): Failure | null {
      if (failures < MIN_FAILURES || !routes.has(route)) return null;
      if (now() - seenAtMs < PAUSE_MS) return last;
      seenAtMs = now();
      return null;
    },
  };
}
