import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { boundMemory } from '../../src/server/heap-growth.ts';

const MB = 1_000_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A process of 100 MB beside its heap, within a budget of 500 MB. */
function open() {
  const begun = { proven: 0, unproven: 0 };
  const flags: string[] = [];
  const shares: number[] = [];
  let heapUsed = 50 * MB;
  let collected = () => {};
  const engine: NonNullable<Parameters<typeof boundMemory>[1]> = {
    setFlags: (flag) => flags.push(flag),
    taken: () => ({ rss: heapUsed + 100 * MB, heapTotal: heapUsed, heapUsed }),
    onCollected(listener) {
      collected = listener;
      return () => {
        collected = () => {};
      };
    },
  };
  const shrink = (share: number) => shares.push(share);
  const stop = boundMemory({ begun, budgetMb: 500, shrink }, engine);
  return {
    stop,
    shares,
    /** @returns the flags that a second of this load has set */
    second(proven = 0, unproven = 0): string[] {
      begun.proven += proven;
      begun.unproven += unproven;
      vi.advanceTimersByTime(1_000);
      return flags.splice(0);
    },
    use(mb: number) {
      heapUsed = mb * MB;
    },
    collect(mb: number) {
      heapUsed = mb * MB;
      collected();
    },
  };
}

it('the watch over the heap bounds the garbage of a flood under made-up keys, and leaves it to the engine again after it', () => {
  const { second, stop } = open();
  expect(second(2_000, 10)).toEqual([]);
  expect(second(2_000, 500)).toEqual([]);
  expect(second(0, 20)).toEqual([]);
  expect(second(50, 500)).toEqual(['--heap-growing-percent=50']);
  expect(second(50, 500)).toEqual([]);
  expect(second(2_000, 0)).toEqual(['--heap-growing-percent=0']);
  stop();
  expect(second(50, 500)).toEqual([]);
});

it('the watch over the heap has it grow beyond what is in use as far as the budget has room', () => {
  const { second, collect } = open();
  collect(100);
  collect(100);
  // 86 % of 500 MB without the 100 beside it, over 100 in use.
  expect(second()).toEqual(['--heap-growing-percent=230']);
  collect(150);
  // Held values have grown by 50 MB, and may again.
  expect(second()).toEqual(['--heap-growing-percent=65']);
  collect(100);
  expect(second()).toEqual(['--heap-growing-percent=230']);
});

it('the watch over the heap begins a full collection early where garbage has taken what there is, and once', () => {
  const { second, collect, use } = open();
  collect(100);
  collect(100);
  second();
  use(345);
  expect(second()).toContain('--incremental-marking-hard-trigger=95');
  expect(second()).toEqual([]);
  collect(100);
  expect(second()).toEqual(['--incremental-marking-hard-trigger=0']);
});

it('the watch over the heap gives back what is held where that leaves no room, until there is some, and then lets it grow again', () => {
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

it('the watch over the heap gives back at each look while the budget is nearly taken', () => {
  const { second, use, shares } = open();
  use(395);
  for (let i = 0; i < 3; i += 1) second();
  expect(shares).toHaveLength(3);
  expect(shares.at(-1)).toBeCloseTo(0.85 ** 3);
});
