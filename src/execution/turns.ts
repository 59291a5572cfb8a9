import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long work keeps others waiting, in milliseconds, unless a single step of it takes longer. */
export const TURN_MS = 5;

/** Takes the steps of some work, at once where that doesn't take long; else others have their turns in between. */
export function inTurns<Result>(steps: Generator<void, Result>): Result | Promise<Result> {
  const pausesAt = performance.now() + TURN_MS;
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() < pausesAt) continue;
    return nextTurn().then(() => inTurns(steps));
  }
}
