/** The end of a wait. */
type WaitEnd = 'fulfilled' | 'rejected' | 'aborted';

/**
 * Settles as the promise does, or rejects with the signal's reason if that comes first.
 * @param onEnd called once, as the wait comes to its end
 */
export function untilAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  onEnd?: (end: WaitEnd) => void,
): Promise<T> {
  if (signal.aborted) {
    onEnd?.('aborted');
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    let isOver = false;
    /** Ends the wait. @returns true if it was still going on */
    function end(as: WaitEnd): boolean {
      if (isOver) return false;
      isOver = true;
      signal.removeEventListener('abort', onAbort);
      onEnd?.(as);
      return true;
    }
    function onAbort(): void {
      if (end('aborted')) reject(signal.reason);
    }
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(
      (value) => {
        if (end('fulfilled')) resolve(value);
      },
      (error: unknown) => {
        if (end('rejected')) reject(error);
      },
    );
  });
}
