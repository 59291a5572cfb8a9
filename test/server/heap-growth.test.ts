import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { boundHeapGrowth } from '../../src/server/heap-growth.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('bounds the garbage of a flood under made-up keys, and leaves it to the engine again after it', () => {
  const begun = { proven: 0, unproven: 0 };
  const flags: string[] = [];
  const stop = boundHeapGrowth({ begun }, (flag) => flags.push(flag));
  const second = (proven: number, unproven: number) => {
    begun.proven += proven;
    begun.unproven += unproven;
    vi.advanceTimersByTime(1_000);
    return flags.splice(0);
  };
  expect(second(2_000, 10)).toEqual([]);
  expect(second(2_000, 500)).toEqual([]);
  expect(second(0, 20)).toEqual([]);
  expect(second(50, 500)).toEqual(['--heap-growing-percent=50']);
  expect(second(50, 500)).toEqual([]);
  expect(second(2_000, 0)).toEqual(['--heap-growing-percent=0']);
  stop();
  expect(second(50, 500)).toEqual([]);
});
