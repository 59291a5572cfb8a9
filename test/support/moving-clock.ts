import type { Clock } from '../../src/shared/async/clock.ts';
import { heldTimers } from './held-timers.ts';

/**
 * A clock that the test advances, its timers with it, and on which sleeping takes no time.
 * @param leastMs of the timers that the test advances; shorter ones run by themselves
 */
export function movingClock(startMs: number, leastMs?: number) {
  let nowMs = startMs;
  const timers = heldTimers(leastMs);
  const clock: Clock = { now: () => nowMs, sleep: async () => {}, after: timers.after };
  return {
    clock,
    timers,
    pass(seconds: number) {
      nowMs += seconds * 1000;
      timers.pass(seconds * 1000);
    },
  };
}
