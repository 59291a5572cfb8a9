import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { WriteQueue } from '../../src/server/write-queue.ts';

afterEach(() => void vi.restoreAllMocks());

/** A queue that writes down all that was written, and a clock that stands still but for the test. */
function open() {
  const clock = { nowMs: 5 };
  vi.spyOn(performance, 'now').mockImplementation(() => clock.nowMs);
  const queue = new WriteQueue();
  const written: string[] = [];
  return { clock, written, add: (name: string) => queue.add(() => void written.push(name)) };
}

it('the write queue writes what is ready at the end of the iteration, as it came', async () => {
  const { written, add } = open();
  for (const name of ['a', 'b', 'c']) add(name);
  await Promise.resolve();
  expect(written).toEqual([]);
  await setImmediate();
  expect(written).toEqual(['a', 'b', 'c']);
});

it('the write queue does not wait for the end of a long iteration', async () => {
  const { clock, written, add } = open();
  add('a');
  clock.nowMs += 1.1;
  add('b');
  expect(written).toEqual(['a', 'b']);
  add('c');
  clock.nowMs += 0.9;
  add('d');
  expect(written).toEqual(['a', 'b']);
  await setImmediate();
  expect(written).toEqual(['a', 'b', 'c', 'd']);
});

it('the write queue writes what comes while it writes', async () => {
  const queue = new WriteQueue();
  const written: string[] = [];
  queue.add(() => {
    written.push('a');
    queue.add(() => void written.push('b'));
  });
  await setImmediate();
  await setImmediate();
  expect(written).toEqual(['a', 'b']);
});
