import { type Clock, systemClock } from '../../src/shared/async/clock.ts';

/** Timers that last as long, in milliseconds, are the test's: windows of batches, which are shorter, run as they do. */
const LONG_MS = 1_000;

/** Timers that the test has pass: no deadline is over because a machine is busy. */
export function heldTimers(leastMs = LONG_MS) {
  let nowMs = 0;
  const timers = new Set<{ readonly atMs: number; readonly then: () => void }>();
  const after: Clock['after'] = (ms, then) => {
    if (ms < leastMs) return systemClock.after(ms, then);
    const timer = { atMs: nowMs + ms, then };
    timers.add(timer);
    return () => timers.delete(timer);
  };
  return {
    after,
    /** Milliseconds that each timer waits yet. */
    left: () => [...timers].map(({ atMs }) => atMs - nowMs),
    pass(ms: number) {
      nowMs += ms;
      const due = [...timers].filter(({ atMs }) => atMs <= nowMs).sort((a, b) => a.atMs - b.atMs);
      // One that ends another cancels it.
      for (const timer of due) if (timers.delete(timer)) timer.then();
    },
  };
}
