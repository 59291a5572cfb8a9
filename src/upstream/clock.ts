import { setTimeout as delay } from 'node:timers/promises';

/** Time as an argument, so that tests can hold it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after so many milliseconds; rejects with the signal's reason when that aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: Date.now,
  sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
};

/**
 * Time that never goes back, for telling how old things are: where the clock is set back, it goes on from where it was,
 * so that what was old stays old. Windows that the service counts by its own clock are not told by it.
 * @param elapsed milliseconds since any instant, by a clock that nobody can set
 */
export function steadied(now: () => number, elapsed: () => number = () => performance.now()): () => number {
  let last = { atMs: now(), elapsedMs: elapsed() };
  return () => {
    const elapsedMs = elapsed();
    const atMs = now();
    last = { atMs: atMs >= last.atMs ? atMs : last.atMs + elapsedMs - last.elapsedMs, elapsedMs };
    return last.atMs;
  };
}
