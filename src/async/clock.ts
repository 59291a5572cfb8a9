import { setTimeout as delay } from 'node:timers/promises';

/** Time as an argument, so that tests can hold it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after so many milliseconds; rejects with the signal's reason when that aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls back after so many milliseconds, unless what is returned is called before. */
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
 * Time that never goes back, for telling how old things are: where the clock is set back, it goes on from where it was,
 * so that what was old stays old. Windows that the service counts by its own clock are not told by it.
 * @param elapsed milliseconds since any instant, by a clock that nobody can set
 */
export function steadied(now: () => number, elapsed: () => number = () => performance.now()): () => number {
  const [startMs, startElapsedMs] = [now(), elapsed()];
  let lastMs = startMs;
  /** How far the clock is set back. */
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
