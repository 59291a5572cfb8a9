import { setTimeout as delay } from 'node:timers/promises';

/** Time as an argument, so that tests can hold it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after so many milliseconds; rejects with the signal's reason if that aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls back after so many milliseconds, unless the function that it returns is called before. */
  after(ms: number, then: () => void): () => void;
}

export const systemClock: Clock = {
  now: Date.now,
  sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
  after(ms, then) {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * Gives time that never goes back, for telling how old things are: if the clock is set back, it goes on from the last
 * instant, so that old things stay old. Windows that the service counts by its own clock are not told by it.
 * @param elapsed milliseconds since any instant, by a clock that nobody can set
 */
export function createSteadyClock(
  now: () => number,
  elapsed: () => number = () => performance.now(),
): () => number {
  const [startMs, startElapsedMs] = [now(), elapsed()];
  let lastMs = startMs;
  /** Milliseconds that the clock is set back. */
  let behindMs = 0;
  return () => {
    const atMs = now();
    if (atMs >= lastMs) {
      behindMs = 0;
      lastMs = atMs;
      return atMs;
    }
    // Nobody may have looked for long before the clock was set back.
    const leastMs = startMs + elapsed() - startElapsedMs;
    if (atMs + behindMs < lastMs) behindMs = Math.max(lastMs, leastMs) - atMs;
    lastMs = atMs + behindMs;
    return lastMs;
  };
}
