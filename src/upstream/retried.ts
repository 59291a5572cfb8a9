import {
  ExponentialBackoff,
  fullJitterGenerator,
  handleWhen,
  type IBackoff,
  type IBackoffFactory,
  type IRetryBackoffContext,
  retry,
} from 'cockatiel';
import { Failure } from '../errors.ts';
import type { Send } from './call.ts';

export interface RetriedParts {
  /** Further attempts after the first. */
  readonly retries: number;
  /** The first wait is anything up to this; each further one up to double the last. */
  readonly firstDelayMs?: number;
  readonly maxDelayMs?: number;
}

/** How long a call may wait because the service has said when it will be back. */
const MAX_AWAY_SECONDS = 5;

/**
 * Tries again after a 5xx or a broken connection, with exponential backoff and full jitter; after nothing else. Where the
 * service has said when it will be back, no attempt is made before, and none at all where that is too long to wait. A
 * failure that comes out names how many attempts were made.
 */
export function retried(next: Send, { retries, firstDelayMs = 100, maxDelayMs = 2_000 }: RetriedParts): Send {
  const policy = retry(
    handleWhen(
      (error) =>
        error instanceof Failure &&
        error.code === 'UPSTREAM_UNAVAILABLE' &&
        awaySeconds(error) <= MAX_AWAY_SECONDS,
    ),
    {
      maxAttempts: retries,
      backoff: notBefore(
        new ExponentialBackoff({
          generator: fullJitterGenerator,
          initialDelay: firstDelayMs,
          maxDelay: maxDelayMs,
        }),
      ),
    },
  );
  return async (call, sending) => {
    let attempts = 0;
    try {
      return await policy.execute(() => {
        attempts += 1;
        return next(call, sending);
      }, sending.signal);
    } catch (error) {
      throw isUnanswered(error) ? error.with({ attempts }) : error;
    }
  };
}

type Backoff = IBackoffFactory<IRetryBackoffContext<unknown>>;

/** Waits until the service has said that it will be back, and then as usual, so that not all calls are back at once. */
function notBefore(backoff: Backoff): Backoff {
  return {
    next(context): IBackoff<IRetryBackoffContext<unknown>> {
      const usual = backoff.next(context);
      const awayMs = 'error' in context.result ? awaySeconds(context.result.error) * 1000 : 0;
      return { duration: awayMs + usual.duration, next: notBefore(usual).next };
    },
  };
}

function awaySeconds(error: unknown): number {
  return error instanceof Failure ? (error.fields.retryAfterSeconds ?? 0) : 0;
}

/** Whether the service gave no answer of its own at all. */
export function isUnanswered(error: unknown): error is Failure {
  return (
    error instanceof Failure && (error.code === 'UPSTREAM_UNAVAILABLE' || error.code === 'UPSTREAM_TIMEOUT')
  );
}
