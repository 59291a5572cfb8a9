import type { Clock } from '../shared/async/clock.ts';
import { Failure } from '../shared/errors.ts';
import { isForgotten, isUnanswered } from './http.ts';
import { Lasting } from './lasting-failures.ts';
import { isWithheld } from './outage.ts';

/** Upper bound of the jitter, in milliseconds. */
const MAX_DELAY_MS = 2_000;

/** The retry budget, shared by all operations: what each first attempt adds, and the most that can be saved up. */
const RETRIES_SHARE = 0.1;
const MOST_RETRIES = 10;

/** Longest wait, in seconds, for a service that has said when it will be back. */
const MAX_AWAY_SECONDS = 5;

export type Retries = ReturnType<typeof createRetries>;

/**
 * Retries after a 5xx or a broken connection that the next attempt may not meet ({@link Lasting}), and after nothing
 * else, with exponential backoff and full jitter. A retry budget of a tenth of all calls keeps a service in trouble from
 * several times its load. If the service has said when it will be back, no attempt is made earlier, and none if that is
 * more than MAX_AWAY_SECONDS. The failure that comes out states its attempts.
 *
 * A call that met a connection closed while idle is sent again at once, over a new one. That is no retry, since it says
 * nothing about the service.
 * @param most further attempts after the first
 * @param firstDelayMs upper bound of the first wait; it doubles with each further one
 */
export function createRetries(most: number, after: Clock['after'], firstDelayMs = 100) {
  let left = MOST_RETRIES;

  /** Begins a call. */
  function begin(signal: AbortSignal) {
    let attempts = 0;
    let resent = 0;
    left = Math.min(MOST_RETRIES, left + RETRIES_SHARE);

    /**
     * Waits until a failed call may be sent again.
     * @returns true if it is to be sent over a new connection
     * @throws the error if it may not
     */
    return async (error: unknown): Promise<boolean> => {
      if (!isWithheld(error)) attempts += 1;
      if (resent === 0 && !signal.aborted && isForgotten(error)) {
        resent = 1;
        return true;
      }
      const failures = attempts - resent;
      // Ten times 0.1 is less than 1 in floating point.
      if (failures > most || signal.aborted || !isPassing(error) || left < 1 - 1e-9)
        throw isUnanswered(error) ? error.with({ attempts }) : error;
      left -= 1;
      // Jitter on top of the time that the service has named, so that calls don't return all at once.
      const mostMs = Math.min(MAX_DELAY_MS, firstDelayMs * 2 ** (failures - 1));
      const delayMs = awaySeconds(error) * 1000 + Math.floor(Math.random() * mostMs);
      await new Promise<void>((resolve) => after(delayMs, resolve));
      return false;
    };
  }

  return { begin };
}

/** True if a failed call may succeed soon. */
function isPassing(error: unknown): error is Failure {
  return (
    error instanceof Failure &&
    error.code === 'UPSTREAM_UNAVAILABLE' &&
    !isWithheld(error) &&
    !(error.cause instanceof Lasting) &&
    awaySeconds(error) <= MAX_AWAY_SECONDS
  );
}

function awaySeconds({ fields }: Failure): number {
  return fields.retryAfterSeconds ?? 0;
}
