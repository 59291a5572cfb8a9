import { setImmediate as nextIteration } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Flow, inSlice, type Job, TURN_MS, yieldToEventLoop } from '../../src/shared/async/turns.ts';

// Slices take the test's time: a busy machine charges none of them with more.
let nowMs = performance.now();
beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => nowMs));
afterEach(() => void vi.restoreAllMocks());

/** Takes longer than one iteration of the event loop has for slices. */
function work(): void {
  nowMs += TURN_MS + 1;
}

const job = (flow: Flow, ordinal: number): Job => ({ flow, ordinal, slices: 0 });

/** Has a job take so many slices, and tells of each. */
async function run(one: Job, slices: number, tell: () => void): Promise<void> {
  for (let slice = 0; slice < slices; slice += 1) {
    await yieldToEventLoop(one);
    work();
    tell();
  }
}

it('the turns give the next slice to the flow that has had the least time, however many slices another has waiting', async () => {
  const order: string[] = [];
  const hog = new Flow();
  const hogs = Array.from({ length: 16 }, (_, i) => run(job(hog, i), 4, () => order.push('hog')));
  await nextIteration();
  await nextIteration();
  const before = order.length;
  await run(job(new Flow(), 100), 2, () => order.push('other'));
  expect(order.length - before).toBeLessThanOrEqual(6);
  await Promise.all(hogs);
  expect(order).toHaveLength(16 * 4 + 2);
});

it('of flows that have had about as much, the one whose job is the oldest goes on until that is done', async () => {
  const order: string[] = [];
  const names = ['a', 'b', 'c', 'd'];
  await Promise.all(names.map((name, i) => run(job(new Flow(), i), 2, () => order.push(name))));
  expect(order.join('')).toBe('aabbccdd');
});

it('a collection of garbage in its slice doesn’t have a flow wait for all others to take as long', async () => {
  const order: string[] = [];
  const paused = job(new Flow(), 0);
  const first = yieldToEventLoop(paused).then(() => {
    for (let times = 0; times < 30; times += 1) work();
    return run(paused, 1, () => order.push('paused'));
  });
  const others = [1, 2, 3].map((since) => run(job(new Flow(), since), 12, () => order.push('other')));
  await Promise.all([first, ...others]);
  expect(order.indexOf('paused')).toBeLessThan(6);
});

it.each([
  [16, 30],
  [48, 15],
])('a flow that yields to one of %i slices has %i of the next 60', async (crowd, slices) => {
  const order: string[] = [];
  const flow = new Flow();
  const under = Array.from({ length: crowd }, (_, i) => run(job(flow, i), 60, () => order.push('under way')));
  const beginning = run(job(new Flow(flow), 100), 60, () => order.push('begins'));
  while (order.length < 60) await nextIteration();
  const begun = order.slice(0, 60).filter((what) => what === 'begins').length;
  expect(Math.abs(begun - slices)).toBeLessThanOrEqual(3);
  await Promise.all([...under, beginning]);
});

it('long jobs of a flow run one after the other, and short ones in between', async () => {
  const order: string[] = [];
  const flow = new Flow();
  const long = ['a', 'b', 'c'].map((name, i) => run(job(flow, i), 8, () => order.push(name)));
  await Promise.race(long);
  // Looks as the first is done: the others have had little more than the share of short jobs.
  const done = (name: string) => order.filter((other) => other === name).length;
  expect(done('a')).toBe(8);
  expect(done('b')).toBeLessThan(8);
  expect(done('c')).toBeLessThanOrEqual(4);
  const before = order.length;
  await run(job(flow, 3), 1, () => order.push('short'));
  expect(order.length - before).toBeLessThanOrEqual(3);
  await Promise.all(long);
});

it('timers and sockets have their turns after each slice that takes long', async () => {
  let iterations = 0;
  const count = () => {
    iterations += 1;
    if (iterations < 1_000) counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  let slices = 0;
  const flow = new Flow();
  await Promise.all(Array.from({ length: 8 }, (_, i) => run(job(flow, i), 2, () => (slices += 1))));
  clearImmediate(counting);
  expect(slices).toBe(16);
  expect(iterations).toBeGreaterThanOrEqual(15);
});

it('short slices run together in one iteration of the event loop', async () => {
  let iterations = 0;
  const count = () => {
    iterations += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  let left = 64;
  await new Promise<void>((resolve) => {
    for (let i = 0; i < 64; i += 1) {
      inSlice(job(new Flow(), i), () => {
        left -= 1;
        if (left === 0) resolve();
      });
    }
  });
  clearImmediate(counting);
  expect(iterations).toBeLessThan(32);
});
