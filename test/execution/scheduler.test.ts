import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Scheduler } from '../../src/graphql/execution/run.ts';
import { Flow, TURN_MS } from '../../src/shared/async/turns.ts';

// Turns are over by the test's time, however busy the machine is.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** A scheduler of one task that takes some time before it comes to the long work. */
function open(busyMs: number) {
  const seen: string[] = [];
  const pauses: Promise<void>[] = [];
  const scheduler = new Scheduler({ flow: new Flow() }, (goesOn) => pauses.push(goesOn));
  scheduler.add(() => {
    seen.push('first');
    vi.advanceTimersByTime(busyMs);
    scheduler.inTurn(() => {
      seen.push('long');
      scheduler.add(() => seen.push('below'));
    });
  });
  return { scheduler, seen, pauses };
}

describe('what takes long', () => {
  it('what takes long is done at once as long as it is nobody else’s turn', () => {
    const { scheduler, seen, pauses } = open(0);
    expect(scheduler.work()).toBeUndefined();
    expect([seen, pauses]).toEqual([['first', 'long', 'below'], []]);
  });

  it('what takes long waits for the turns of others where it is time for them, and holds the batch back meanwhile', async () => {
    const { scheduler, seen, pauses } = open(2 * TURN_MS);
    void setImmediate().then(() => seen.push('another'));
    const working = scheduler.work();
    expect([seen, pauses.length]).toEqual([['first'], 1]);
    const goesOn = pauses[0]?.then(() => seen.push('goes on'));
    await Promise.all([working, goesOn]);
    expect(seen).toEqual(['first', 'another', 'long', 'below', 'goes on']);
  });
});
