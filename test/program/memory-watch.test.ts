import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchMemory } from '../../src/server/memory-watch.ts';

const MB = 1_000_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A process of 100 MB beside its heap, within a budget of 500 MB. */
function open() {
  const shares: number[] = [];
  let heapUsed = 50 * MB;
  let collected = () => {};
  const engine: NonNullable<Parameters<typeof watchMemory>[1]> = {
    taken: () => ({ rss: heapUsed + 100 * MB, heapTotal: heapUsed, heapUsed }),
    onCollected(listener) {
      collected = listener;
      return () => {
        collected = () => {};
      };
    },
  };
  const shrink = (share: number) => shares.push(share);
  const stop = watchMemory({ budgetMb: 500, shrink }, engine);
  return {
    stop,
    shares,
    second: () => void vi.advanceTimersByTime(1_000),
    use(mb: number) {
      heapUsed = mb * MB;
    },
    collect(mb: number) {
      heapUsed = mb * MB;
      collected();
    },
  };
}

it('caches shrink where what is in use and its garbage have no room, until they have, and then grow again', () => {
  const { second, collect, shares } = open();
  collect(330);
  collect(330);
  second();
  expect(shares).toEqual([0.85]);
  // Nothing is known of its effect before the next collection.
  second();
  expect(shares.at(-1)).toBe(0.85);
  collect(330);
  second();
  expect(shares.at(-1)).toBeCloseTo(0.85 ** 2);
  collect(100);
  for (let i = 0; i < 10; i += 1) second();
  const last = shares.at(-1) ?? 0;
  expect(last).toBeGreaterThan(0.85);
  for (let i = 0; i < 10; i += 1) second();
  expect(shares.at(-1)).toBeGreaterThan(0.99);
});

it('caches shrink at each look while the budget is nearly taken', () => {
  const { second, use, shares } = open();
  use(395);
  for (let i = 0; i < 3; i += 1) second();
  expect(shares).toHaveLength(3);
  expect(shares.at(-1)).toBeCloseTo(0.85 ** 3);
});

it('the watch over memory ends when it is stopped', () => {
  const { second, use, shares, stop } = open();
  use(395);
  stop();
  second();
  expect(shares).toEqual([]);
});
