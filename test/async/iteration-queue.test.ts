import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { IterationQueue } from '../../src/shared/async/iteration-queue.ts';

afterEach(() => void vi.restoreAllMocks());

/** A queue whose tasks note their names, and a clock that only the test moves. */
function open() {
  const clock = { nowMs: 5 };
  vi.spyOn(performance, 'now').mockImplementation(() => clock.nowMs);
  const queue = new IterationQueue();
  const done: string[] = [];
  return { clock, done, add: (name: string) => queue.add(() => void done.push(name)) };
}

it('tasks of one iteration run at its end, in the order in which they were added', async () => {
  const { done, add } = open();
  for (const name of ['a', 'b', 'c']) add(name);
  await Promise.resolve();
  expect(done).toEqual([]);
  await setImmediate();
  expect(done).toEqual(['a', 'b', 'c']);
});

it('tasks do not wait for the end of a long iteration', async () => {
  const { clock, done, add } = open();
  add('a');
  clock.nowMs += 1.1;
  add('b');
  expect(done).toEqual(['a', 'b']);
  add('c');
  clock.nowMs += 0.9;
  add('d');
  expect(done).toEqual(['a', 'b']);
  await setImmediate();
  expect(done).toEqual(['a', 'b', 'c', 'd']);
});

it('a task that is added by a task runs in the next iteration', async () => {
  const queue = new IterationQueue();
  const done: string[] = [];
  queue.add(() => {
    done.push('a');
    queue.add(() => void done.push('b'));
  });
  await setImmediate();
  await setImmediate();
  expect(done).toEqual(['a', 'b']);
});
