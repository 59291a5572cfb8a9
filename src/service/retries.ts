import type { Clock } from '../shared/async/clock.ts';
import { Failure } from '../shared/errors.ts';
import type { Send } from './call.ts';
import { isForgotten, isUnanswered } from './http.ts';
import { Lasting } from './lasting-failures.ts';
import { isWithheld, type Outage } from './outage.ts';

/** Upper bound of the jitter, in milliseconds. */
const MAX_DELAY_MS = 2_000;

/** The retry budget, shared by all operations: what each first attempt adds, and the most that can be saved up. */
const RETRIES_SHARE = 0.1;
const MOST_RETRIES = 10;

/** Longest wait, in seconds, for a service that has said when it will be back. */
const MAX_AWAY_SECONDS = 5;

/**
 * Retries after a 5xx or a broken connection that the next attempt may not meet ({@link Lasting}), and after nothing
 * else, with exponential backoff and full jitter. A retry budget of a tenth of all calls keeps a service in trouble from
 * several times its load. If the service has said when it will be back, no attempt is made earlier, and none if that is
 * more than MAX_AWAY_SECONDS. The failure that comes out states its attempts.
 *
 * A call that met a connection closed while idle is sent again at once, over a new one. That is no retry, since it says
 * nothing about the service.
 * @param retries further attempts after the first
 * @param firstDelayMs upper bound of the first wait; it doubles with each further one
 */
export function retriedStage(
  next: Send,
  retries: number,
  outage: Outage,
  after: Clock['after'],
  firstDelayMs = 100,
): Send {
  let retriesLeft = MOST_RETRIES;
  return async (call, sending) => {
    let attempts = 0;
    let resent = 0;
    let isAnew = false;
    retriesLeft = Math.min(MOST_RETRIES, retriesLeft + RETRIES_SHARE);
    for (;;) {
      try {
        if (!isAnew) attempts += 1;
        const answer = await next(call, isAnew ? { ...sending, isAnew } : sending);
        outage.note(null, call);
        return answer;
      } catch (error) {
        const isGivenUp = sending.signal.aborted;
        isAnew = resent === 0 && !isGivenUp && isForgotten(error);
        if (isAnew) {
          resent += 1;
          // One microtask later, so that the gate has released the probe that this call may have been.
          await null;
          continue;
        }
        if (isWithheld(error)) attempts -= 1;
        const mayRetry = attempts <= retries && !isGivenUp && isPassing(error);
        // Ten times 0.1 is less than 1 in floating point.
        if (!mayRetry || retriesLeft < 1 - 1e-9) {
          const last = isUnanswered(error) ? error.with({ attempts: attempts + resent }) : error;
          outage.note(last, call);
          throw last;
        }
        retriesLeft -= 1;
        // Jitter on top of the time that the service has named, so that calls don't return all at once.
        const jitterMs = Math.floor(
          Math.random() * Math.min(MAX_DELAY_MS, firstDelayMs * 2 ** (attempts - 1)),
        );
        await new Promise<void>((resolve) => after(awaySeconds(error) * 1000 + jitterMs, resolve));
      }
    }
  };
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
