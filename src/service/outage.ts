import { Failure } from '../shared/errors.ts';
import { type Call, isElsewhere } from './call.ts';
import { isUnanswered } from './http.ts';

/** True if a call failed without a request, because the service is known to be down. */
export function isWithheld(error: unknown): boolean {
  return error instanceof Failure && error.fields.attempts === 0;
}

/** Calls in a row that must fail before the service is taken to be down. */
const MIN_FAILURES = 3;

/** Milliseconds for which no caller with an old answer at hand asks a service that is down. */
const PAUSE_MS = 5_000;

export type Outage = ReturnType<typeof createOutage>;

/**
 * True if the service is down. A caller with an old answer at hand need not wait for a timeout to serve it, after a
 * few failures already, of which one was on its route: another route may be down alone. A caller with none asks all the
 * same, until the circuit of the route is open ({@link CallGate}).
 */
export function createOutage(now: () => number) {
  let failures = 0;
  /** Routes that these failures were on. */
  const routes = new Set<string>();
  let last: Failure | null = null;
  let seenAtMs = 0;

  return {
    /** Notes the outcome of a call, retries and all: null if there was an answer. */
    note(error: unknown, call: Call): void {
      if (isElsewhere(call)) return;
      const { route } = call;
      if (error === null) {
        failures = 0;
        routes.clear();
        return;
      }
      if (!isUnanswered(error) || isWithheld(error)) return;
      failures += 1;
      routes.add(route);
      last = error;
      seenAtMs = now();
    },
    /** Returns the failure of calls while the service is down; null if it isn't, and for one caller each pause. */
    failure(route: string): Failure | null {
      if (failures < MIN_FAILURES || !routes.has(route)) return null;
      if (now() - seenAtMs < PAUSE_MS) return last;
      seenAtMs = now();
      return null;
    },
  };
}
