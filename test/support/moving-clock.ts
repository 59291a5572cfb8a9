import type { Clock } from '../../src/shared/async/clock.ts';

/** A clock that the test advances, and on which sleeping takes no time. */
export function movingClock(startMs: number) {
  let nowMs = startMs;
  const clock: Pick<Clock, 'now' | 'sleep'> = { now: () => nowMs, sleep: async () => {} };
  return {
    clock,
    pass(seconds: number) {
      nowMs += seconds * 1000;
    },
  };
}
