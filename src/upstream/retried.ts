import {
  ExponentialBackoff,
  fullJitterGenerator,
  handleWhen,
  type IBackoff,
  type IBackoffFactory,
  type IRetryBackoffContext,
  retry,
} from 'cockatiel';
import type { PromiseOrValue } from '../async/promise-or-value.ts';
import { Failure } from '../errors.ts';
import type { Answer, Send, Sending } from './call.ts';
import { isForgotten, isUnanswered, isUnsent } from './exchange.ts';
import type { RetryBudget } from './retry-budget.ts';

export interface RetriedParts {
  /** Further attempts after the first. */
  readonly retries: number;
  /** Retries of all calls together. */
  readonly budget: RetryBudget;
  /** Milliseconds that the first wait takes at the most; each further one takes up to double the last. */
  readonly firstDelayMs?: number;
  readonly maxDelayMs?: number;
}

/** Seconds that a call may wait because the service has said when it will be back. */
const MAX_AWAY_SECONDS = 5;

/** A failure after which the call is tried again. */
class ToRetry {
  readonly failure: Failure;

  constructor(failure: Failure) {
    this.failure = failure;
  }
}

/**
 * Tries again after a 5xx or a broken connection, with exponential backoff and full jitter; after nothing else, and as
 * long as the budget of all calls has room. If the service has said when it will be back, no attempt is made before,
 * and none at all if that is too long to wait. A failure that comes out has the number of its attempts.
 *
 * A call that met a connection which had been closed while it lay idle says nothing of the service: it goes out once
 * more at once, over a new one, and that is no retry.
 */
export function retried(next: Send, parts: RetriedParts): Send {
  const { retries, budget, firstDelayMs = 100, maxDelayMs = 2_000 } = parts;
  const policy = retry(
    handleWhen((error) => error instanceof ToRetry),
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
  return (call, sending) => {
    let attempts = 1;
    let resent = 0;
    /** Judges the failure of an attempt: a ToRetry if another one follows. */
    function judged(error: unknown): unknown {
      if (isUnsent(error)) attempts -= 1;
      const mayRetry = attempts <= retries && !sending.signal.aborted && isPassing(error);
      return mayRetry && budget.take() ? new ToRetry(error) : error;
    }
    /** Sends once, and once more if the connection is to blame. */
    function sent(onFailure: (error: unknown) => PromiseOrValue<Answer>): Promise<Answer> {
      return next(call, sending).catch((error: unknown) => {
        if (resent > 0 || sending.signal.aborted || !isForgotten(error)) return onFailure(error);
        resent += 1;
        // One turn later, since the duty of this call to find out is left to others by then, itself included.
        return Promise.resolve()
          .then(() => next(call, { ...sending, isAnew: true }))
          .catch(onFailure);
      });
    }
    function attempt(): Promise<Answer> {
      attempts += 1;
      return sent((error) => {
        throw judged(error);
      });
    }
    budget.add();
    return sent((thrown) => {
      const error = judged(thrown);
      if (!(error instanceof ToRetry)) throw told(error, attempts + resent);
      return again(attempt, error, sending).catch((last: unknown) => {
        throw told(last instanceof ToRetry ? last.failure : last, attempts + resent);
      });
    });
  };

  /** Goes on after a first attempt that failed: most calls need none of this. */
  function again(attempt: () => Promise<Answer>, first: ToRetry, { signal }: Sending): Promise<Answer> {
    const ends = new AbortController();
    const onAbort = () => ends.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    let isFirst = true;
    const going = policy.execute(() => {
      if (!isFirst) return attempt();
      isFirst = false;
      throw first;
    }, ends.signal);
    return going.finally(() => signal.removeEventListener('abort', onAbort));
  }
}

/** Adds the number of attempts to a failure, if the service has not answered any. */
function told(error: unknown, attempts: number): unknown {
  return isUnanswered(error) ? error.with({ attempts }) : error;
}

/** Tells if a failed call may go well soon. */
function isPassing(error: unknown): error is Failure {
  return (
    error instanceof Failure &&
    error.code === 'UPSTREAM_UNAVAILABLE' &&
    !isUnsent(error) &&
    awaySeconds(error) <= MAX_AWAY_SECONDS
  );
}

type Backoff = IBackoffFactory<IRetryBackoffContext<unknown>>;

/**
 * Waits until the time at which the service has said that it will be back, and then as usual, so that not all calls are
 * back at once.
 */
function notBefore(backoff: Backoff): Backoff {
  return {
    next(context): IBackoff<IRetryBackoffContext<unknown>> {
      const usual = backoff.next(context);
      const error = 'error' in context.result ? context.result.error : null;
      const awayMs = error instanceof ToRetry ? awaySeconds(error.failure) * 1000 : 0;
      return { duration: awayMs + usual.duration, next: notBefore(usual).next };
    },
  };
}

function awaySeconds({ fields }: Failure): number {
  return fields.retryAfterSeconds ?? 0;
}
