import { setTimeout as delay } from 'node:timers/promises';

/** Time as an argument, so that tests can control it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Rejects with the signal's reason if that aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Returns a function that cancels it. */
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
 * Time that never goes back, for ages: if the clock is set back, it goes on from the last instant, so that old things
 * stay old. Not for windows that the service counts by its own clock.
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
    // Nobody may have asked for long before the clock was set back.
    const leastMs = startMs + elapsed() - startElapsedMs;
    if (atMs + behindMs < lastMs) behindMs = Math.max(lastMs, leastMs) - atMs;
    lastMs = atMs + behindMs;
    return lastMs;
  };
}
