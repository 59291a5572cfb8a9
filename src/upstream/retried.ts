import { ExponentialBackoff, fullJitterGenerator, handleWhen, retry } from 'cockatiel';
import { Failure } from '../errors.ts';
import type { Send } from './call.ts';

export interface RetriedParts {
  /** Further attempts after the first. */
  readonly retries: number;
  /** The first wait is anything up to this; each further one up to double the last. */
  readonly firstDelayMs?: number;
  readonly maxDelayMs?: number;
}

/**
 * Tries again after a 5xx or a broken connection, with exponential backoff and full jitter; after nothing else.
 * A failure that comes out names how many attempts were made.
 */
export function retried(next: Send, { retries, firstDelayMs = 100, maxDelayMs = 2_000 }: RetriedParts): Send {
  const policy = retry(
    handleWhen((error) => error instanceof Failure && error.code === 'UPSTREAM_UNAVAILABLE'),
    {
      maxAttempts: retries,
      backoff: new ExponentialBackoff({
        generator: fullJitterGenerator,
        initialDelay: firstDelayMs,
        maxDelay: maxDelayMs,
      }),
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

/** Whether the service gave no answer of its own at all. */
export function isUnanswered(error: unknown): error is Failure {
  return (
    error instanceof Failure && (error.code === 'UPSTREAM_UNAVAILABLE' || error.code === 'UPSTREAM_TIMEOUT')
  );
}
