/** Retries that a first attempt adds to the budget. */
const SHARE = 0.1;

/** Retries that may be saved up; a gateway begins with as many. */
const MOST = 10;

/**
 * Bounds the retries of all operations together: in the long run they are a tenth of the calls, so that a service in
 * trouble isn't asked several times as much as when it is well.
 */
export interface RetryBudget {
  /** Notes that a call is about to be attempted for the first time. */
  add(): void;
  /** Spends a retry. Returns false if none is left. */
  take(): boolean;
}

export function createRetryBudget(share = SHARE, most = MOST): RetryBudget {
  let left = most;
  return {
    add() {
      left = Math.min(most, left + share);
    },
    take() {
      // Tenths don't add up to a whole.
      if (left < 1 - 1e-9) return false;
      left -= 1;
      return true;
    },
  };
}
