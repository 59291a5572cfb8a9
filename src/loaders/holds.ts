/**
 * When the batch of one operation leaves: once no load still in flight can add to it, or after a bounded wait.
 *
 * DataLoader's own tick is too early: `country(code)` is ready while `countries` still waits for its list, and
 * their figures would travel in two calls.
 */
export interface Holds {
  /** Keeps the batch back until the promise settles. Its outcome is not looked at. */
  during<T>(promise: Promise<T>): Promise<T>;
  /** Has a load that keeps the batch back not do so while it waits for figures itself. */
  exceptFor<T>(figures: Promise<T>): Promise<T>;
  /** Calls back once nothing holds any longer. */
  whenFree(leave: () => void): void;
}

/** @param boundMs how long a batch that is ready waits at the most, in milliseconds */
export function createHolds(boundMs: number): Holds {
  let holding = 0;
  let bound: NodeJS.Timeout | undefined;
  let waiting: (() => void)[] = [];

  function release(): void {
    clearTimeout(bound);
    const ready = waiting;
    waiting = [];
    for (const leave of ready) leave();
  }

  // A settled load is followed by the resolvers below it, which may hold again: all of that runs before setImmediate.
  const releaseSoon = () =>
    setImmediate(() => {
      if (holding === 0 && waiting.length > 0) release();
    });

  return {
    during(promise) {
      holding += 1;
      const end = () => {
        holding -= 1;
        if (holding === 0 && waiting.length > 0) releaseSoon();
      };
      promise.then(end, end);
      return promise;
    },
    exceptFor(figures) {
      holding -= 1;
      const end = () => {
        holding += 1;
      };
      return figures.finally(end);
    },
    whenFree(leave) {
      waiting.push(leave);
      if (waiting.length > 1) return;
      bound = setTimeout(release, boundMs);
      releaseSoon();
    },
  };
}
