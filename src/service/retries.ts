import { Failure } from '../shared/errors.ts';
import { PageInstead } from './bodies.ts';
import type { Send } from './call.ts';
import { isForgotten, isUnanswered } from './http.ts';
import { isWithheld, type Outage } from './outage.ts';

/** Milliseconds of the longest jitter. */
const MAX_DELAY_MS = 2_000;

/** Retries that a first attempt adds to those of all operations together, and the most of them that are saved up. */
const RETRIES_SHARE = 0.1;
const MOST_RETRIES = 10;

/** Seconds that a call may wait because the service has said when it will be back. */
const MAX_AWAY_SECONDS = 5;

/**
 * Tries again after a 5xx or a broken connection, with exponential backoff and full jitter; after nothing else. In the long
 * run a tenth of all calls are tried again, so that a service in trouble isn't asked several times as much. If the service
 * has said when it will be back, no attempt is made before, and none at all if that is too long to wait. A failure that
 * comes out has the number of its attempts.
 *
 * A call that met a connection which had been closed while it lay idle says nothing of the service: it goes out once
 * more at once, over a new one, and that is no retry.
 * @param retries further attempts after the first
 * @param firstDelayMs milliseconds that the first wait takes at the most; each further one takes up to double the last
 */
export function retriedStage(next: Send, retries: number, outage: Outage, firstDelayMs = 100): Send {
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
          // One turn later, since the duty of this call to find out is left to others by then, itself included.
          await null;
          continue;
        }
        if (isWithheld(error)) attempts -= 1;
        const mayRetry = attempts <= retries && !isGivenUp && isPassing(error);
        // Tenths don't add up to a whole.
        if (!mayRetry || retriesLeft < 1 - 1e-9) {
          const last = isUnanswered(error) ? error.with({ attempts: attempts + resent }) : error;
          outage.note(last, call);
          throw last;
        }
        retriesLeft -= 1;
        // Jitter on top of the time that the service has named, so that not all calls are back at once.
        const jitterMs = Math.floor(
          Math.random() * Math.min(MAX_DELAY_MS, firstDelayMs * 2 ** (attempts - 1)),
        );
        await new Promise((resolve) => setTimeout(resolve, awaySeconds(error) * 1000 + jitterMs));
      }
    }
  };
}

/** True if a failed call may go well soon. */
function isPassing(error: unknown): error is Failure {
  return (
    error instanceof Failure &&
    error.code === 'UPSTREAM_UNAVAILABLE' &&
    !isWithheld(error) &&
    // What stands in the way stays there for longer than a retry waits, and may take retries for an attack.
    !(error.cause instanceof PageInstead) &&
    awaySeconds(error) <= MAX_AWAY_SECONDS
  );
}

function awaySeconds({ fields }: Failure): number {
  return fields.retryAfterSeconds ?? 0;
}
