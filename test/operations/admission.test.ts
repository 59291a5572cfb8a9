import { setImmediate as nextIteration } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Admission } from '../../src/graphql/request/admission.ts';
import { UNPROVEN } from '../../src/graphql/request/callers.ts';
import { Flow, yieldToEventLoop } from '../../src/shared/async/turns.ts';
import { callerOf } from '../support/tenants.ts';

type Refusal = NonNullable<Awaited<ReturnType<Admission['enter']>>>;

/** A request of a key; all that are `unproven` are of one flow. */
const of = (key: string) => ({ ...callerOf(key), ...(key === 'unproven' ? { flow: UNPROVEN } : {}) });

function open(maxOperations: number) {
  let nowMs = 0;
  let heap = 0;
  const machine = { now: () => nowMs, heapShare: () => heap };
  const admission = new Admission(maxOperations, () => 0, machine);
  const never = { signal: new AbortController().signal };
  return {
    load: admission.load,
    leave: (key: string) => admission.leave(of(key)),
    isFull: (key: string) => [admission.mayAnyBeFull, admission.isFull(of(key))],
    pass: (ms: number) => void vi.advanceTimersByTime(ms),
    fillHeap(share: number) {
      heap = share;
      nowMs += 1_000;
    },
    /** Enters, and tells the outcome so far. */
    ask(key: string, request = never) {
      const told: { outcome: Refusal | 'begun' | 'waiting' } = { outcome: 'waiting' };
      const entered = admission.enter(of(key), request);
      const settle = (refusal: Refusal | null) => {
        told.outcome = refusal ?? 'begun';
      };
      if (entered instanceof Promise) void entered.then(settle);
      else settle(entered);
      return told;
    },
  };
}

const outcomes = (told: readonly { readonly outcome: string }[]) => {
  const counts: Record<string, number> = {};
  for (const { outcome } of told) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
};
const times = <Result>(count: number, make: (i: number) => Result) =>
  Array.from({ length: count }, (_, i) => make(i));

async function settle(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await nextIteration();
}

// A machine of any speed begins as many in a turn: turns take no time.
beforeEach(() => {
  vi.spyOn(performance, 'now').mockReturnValue(1_000);
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('operations under way', () => {
  it('operations under way are half of the setting of one key, a quarter of all keys without proof, and no more than it in all', async () => {
    const { ask, load } = open(80);
    /** Asks a few at a time: operations begin at once for some milliseconds of an iteration, and queue after those. */
    const askAll = async (count: number, key: string) => {
      const all: ReturnType<typeof ask>[] = [];
      for (let i = 0; i < count; i += 5) {
        all.push(...times(5, () => ask(key)));
        await settle();
      }
      return all;
    };
    const told = {
      one: await askAll(60, 'one'),
      unproven: await askAll(30, 'unproven'),
      other: await askAll(40, 'other'),
    };
    expect(outcomes(told.one)).toEqual({ begun: 40, waiting: 20 });
    expect(outcomes(told.unproven)).toEqual({ begun: 20, waiting: 10 });
    expect(outcomes(told.other)).toEqual({ begun: 20, waiting: 20 });
    expect(load).toMatchObject({ underWay: 80, waiting: 50, refused: { full: 0, late: 0 } });
  });

  it('operations under way are 16 of any flow, where the setting allows that many', async () => {
    const { ask } = open(20);
    const told = times(20, () => ask('unproven'));
    await settle();
    expect(outcomes(told)).toEqual({ begun: 16, waiting: 4 });
    const { ask: askOne } = open(1);
    const alone = [askOne('unproven'), askOne('unproven'), askOne('unproven')];
    await settle();
    expect(alone.map(({ outcome }) => outcome)).toEqual(['begun', 'waiting', 'full']);
  });

  it('operations under way are not delayed if all they wait for is the next turn', async () => {
    const { ask, load } = open(40);
    const told = times(20, () => ask('one'));
    await settle();
    expect(outcomes(told)).toEqual({ begun: 20 });
    expect(load.delayed).toBe(0);
    times(2, () => ask('one'));
    await settle();
    expect(load).toMatchObject({ waiting: 2, delayed: 2 });
  });

  it('operations under way are few while the heap is nearly full', async () => {
    const { ask, fillHeap, leave, load } = open(100);
    times(30, () => ask('one'));
    await settle();
    fillHeap(0.9);
    const later = ask('one');
    await settle();
    expect(later.outcome).toBe('waiting');
    times(15, () => leave('one'));
    await settle();
    expect([later.outcome, load.underWay]).toEqual(['begun', 16]);
  });
});

describe('those that wait', () => {
  it('operations that wait begin in the order of their coming as places become free, a flow after the other', async () => {
    const { ask, leave } = open(2);
    times(2, (i) => ask(`early ${i}`));
    const [first, second] = [ask('one'), ask('other')];
    leave('early 0');
    await settle();
    expect([first.outcome, second.outcome]).toEqual(['begun', 'waiting']);
    leave('early 1');
    await settle();
    expect(second.outcome).toBe('begun');
  });

  it('operations that wait are refused where too many are waiting, or wait for too long', async () => {
    const { ask, load, pass, leave, isFull } = open(32);
    times(16, () => ask('one'));
    const waiting = times(16, () => ask('one'));
    const beyond = ask('one');
    await settle();
    expect(beyond.outcome).toBe('full');
    expect([isFull('one'), isFull('other')]).toEqual([
      [true, true],
      [true, false],
    ]);
    expect(load).toMatchObject({ underWay: 16, waiting: 16, delayed: 16, refused: { full: 1, late: 0 } });
    pass(6_000);
    leave('one');
    await settle();
    expect(waiting[0]?.outcome).toBe('late');
    await expect.poll(() => outcomes(waiting)).toEqual({ late: 16 });
    expect(load).toMatchObject({ underWay: 15, waiting: 0, refused: { full: 1, late: 16 } });
  });

  it('operations that wait wait less once there has been a queue for long', async () => {
    const { ask, leave, pass } = open(80);
    times(40, () => ask('one'));
    const first = ask('one');
    pass(700);
    const later = times(36, () => ask('one'));
    leave('one');
    await settle();
    expect([first.outcome, ...new Set(later.map(({ outcome }) => outcome))]).toEqual(['begun', 'waiting']);
    pass(600);
    leave('one');
    await settle();
    // Refuses as many as are too many: the few that are left may wait.
    await expect.poll(() => outcomes(later)).toEqual({ late: 4, begun: 1, waiting: 31 });
  });

  it('operations that wait are not refused while few wait, however slow the operations are', async () => {
    const { ask, leave, pass } = open(16);
    times(16, () => ask('one'));
    const waiting = times(16, () => ask('one'));
    for (let i = 0; i < 8; i += 1) {
      pass(240);
      leave('one');
      leave('one');
      await settle();
    }
    expect(outcomes(waiting)).toEqual({ begun: 16 });
    const last = ask('one');
    pass(5_100);
    leave('one');
    await expect.poll(() => last.outcome).toBe('late');
  });

  it('operations that wait begin a flow after the other, however many of one are waiting', async () => {
    const { ask, leave } = open(32);
    for (const key of ['one', 'other']) {
      times(16, () => ask(key));
      await settle();
    }
    const told = [...times(4, () => ask('one')), ...times(2, () => ask('third'))];
    for (const key of ['one', 'one', 'other', 'other']) {
      leave(key);
      await settle();
    }
    expect(told.map(({ outcome }) => outcome)).toEqual([
      ...['begun', 'begun', 'waiting', 'waiting'],
      ...['begun', 'begun'],
    ]);
  });

  it('operations that wait are not late for a time in which the whole process stood still', async () => {
    let nowMs = 1_000;
    const machine = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    try {
      const admission = new Admission(1, () => 0, { now: () => nowMs, heapShare: () => 0 });
      const never = { signal: new AbortController().signal };
      expect(await admission.enter(of('one'), never)).toBeNull();
      const second = admission.enter(of('one'), never);
      nowMs += 5_000;
      // However late it is, an interval comes once.
      vi.advanceTimersByTime(50);
      admission.leave(of('one'));
      expect(await second).toBeNull();
    } finally {
      machine.mockRestore();
    }
  });

  it('operations that wait are forgotten when their clients leave', async () => {
    const { ask, leave, load } = open(1);
    ask('one');
    await settle();
    const leaving = new AbortController();
    const gone = ask('one', { signal: leaving.signal });
    leaving.abort();
    expect(load.waiting).toBe(0);
    const next = ask('one');
    leave('one');
    await settle();
    expect([gone.outcome, next.outcome]).toEqual(['late', 'begun']);
    expect(load).toMatchObject({ underWay: 1, refused: { full: 0, late: 0 } });
  });
});

it('admission is at rest once all operations are over', async () => {
  const { ask, leave, load } = open(40);
  const all = times(60, (i) => ({ key: `flow ${i % 7}`, asked: ask(`flow ${i % 7}`) }));
  // Each leaves once it has begun, which the ones that wait do when others leave.
  for (let rest = all; rest.length > 0; ) {
    await expect.poll(() => rest.some(({ asked }) => asked.outcome === 'begun')).toBe(true);
    const begun = rest.filter(({ asked }) => asked.outcome === 'begun');
    rest = rest.filter((one) => !begun.includes(one));
    for (const { key } of begun) leave(key);
  }
  expect(load).toMatchObject({ underWay: 0, waiting: 0 });
});

it('an operation that has to wait for its turn begins behind older work that can go on', async () => {
  const order: string[] = [];
  const older = { flow: new Flow(), ordinal: 1, slices: 0 };
  const work = yieldToEventLoop(older)
    .then(() => yieldToEventLoop(older))
    .then(() => order.push('older work is done'));
  const begin = async () => {
    const { signal } = new AbortController();
    const refusal = await new Admission(8).enter({ ...of('a'), ordinal: 2 }, { signal });
    order.push(`the operation begins: ${refusal}`);
  };
  const beginning = begin();
  await Promise.all([work, beginning]);
  expect(order).toEqual(['older work is done', 'the operation begins: null']);
});
