import type { Failure } from '../errors.ts';
import type { Send } from './call.ts';
import { isUnanswered, isUnsent } from './exchange.ts';

/** Calls in a row that must fail before the service is taken to be down. */
const MIN_FAILURES = 3;

/** Milliseconds for which no caller with an old answer at hand asks a service that is down. */
const PAUSE_MS = 5_000;

/**
 * Tells if the service is down. A caller with an old answer at hand need not wait for a timeout to serve it, after a
 * few failures already. A caller with none asks all the same, until the circuit of the route is open (`circuits.ts`).
 */
export interface Outage {
  /** Sees every call go by, retries and all. */
  watching(next: Send): Send;
  /**
   * Returns the failure of calls while the service is down; null if it isn't, and for one caller each pause, so that it
   * looks.
   */
  failure(): Failure | null;
}

export function createOutage(now: () => number): Outage {
  let failures = 0;
  let last: Failure | null = null;
  let seenAtMs = 0;

  return {
    watching: (next) => (call, sending) =>
      next(call, sending).then(
        (answer) => {
          failures = 0;
          return answer;
        },
        (error: unknown) => {
          if (isUnanswered(error) && !isUnsent(error)) {
            failures += 1;
            last = error;
            seenAtMs = now();
          }
          throw error;
        },
      ),
    failure() {
      if (failures < MIN_FAILURES) return null;
      if (now() - seenAtMs < PAUSE_MS) return last;
      seenAtMs = now();
      return null;
    },
  };
}
