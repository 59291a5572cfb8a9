import { describe, expect, it } from 'vitest';
import { Supervisor, type Worker, WorkerEnded } from '../../src/cli/workers/supervisor.ts';

type Draining = Parameters<Worker['drain']>[0];

/** A worker that does as the test says, and a clock whose pauses are over at once. */
function scene(count: number) {
  const started: FakeWorker[] = [];
  const pausesMs: number[] = [];
  const notes: string[] = [];
  const hopeless: number[] = [];
  let nowMs = 0;
  let next: 'ready' | 'silent' | number = 'ready';

  interface FakeWorker extends Worker {
    readonly drains: Draining[];
    end(code: number | NodeJS.Signals): void;
  }

  function start(): FakeWorker {
    const ended = Promise.withResolvers<number | NodeJS.Signals>();
    const ready = Promise.withResolvers<{ url: string }>();
    const drains: Draining[] = [];
    const worker: FakeWorker = {
      id: started.length + 1,
      ready: ready.promise,
      ended: ended.promise,
      drains,
      async drain(how) {
        drains.push(how);
        ended.resolve(0);
        return 0;
      },
      kill: () => worker.end('SIGKILL'),
      end(code) {
        ready.reject(new WorkerEnded(code));
        ended.resolve(code);
      },
    };
    ready.promise.catch(() => {});
    started.push(worker);
    if (next === 'ready') ready.resolve({ url: 'http://here' });
    else if (next !== 'silent') worker.end(next);
    return worker;
  }

  const supervisor = new Supervisor({
    count,
    start,
    clock: {
      now: () => nowMs,
      async sleep(ms, signal) {
        if (signal !== undefined) {
          await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        }
        pausesMs.push(ms);
        nowMs += ms;
        if (pausesMs.length >= 12) await new Promise(() => {});
      },
    },
    drainTimeoutMs: 1_000,
    note: (message) => void notes.push(message),
    onHopeless: (code) => void hopeless.push(code),
  });
  return {
    supervisor,
    started,
    pausesMs,
    notes,
    hopeless,
    pass(ms: number) {
      nowMs += ms;
    },
    startsAre(what: typeof next) {
      next = what;
    },
  };
}

describe('the supervisor', () => {
  it('the supervisor starts as many workers as are wanted, and ends where the first one can not', async () => {
    const { supervisor, started, startsAre } = scene(3);
    expect(await supervisor.start()).toEqual({ url: 'http://here' });
    expect(started).toHaveLength(3);
    const other = scene(3);
    startsAre(2);
    other.startsAre(2);
    await expect(other.supervisor.start()).rejects.toMatchObject({ code: 2 });
    expect(other.started).toHaveLength(1);
  });

  it('the supervisor replaces one that has lived at once, and waits longer and longer for those that end at once', async () => {
    const { supervisor, started, pausesMs, pass, startsAre } = scene(2);
    await supervisor.start();
    pass(60_000);
    started[0]?.end('SIGSEGV');
    await expect.poll(() => started.length).toBe(3);
    expect([pausesMs, supervisor.replaced, supervisor.workers.size]).toEqual([[], 1, 2]);
    startsAre(1);
    started[1]?.end(1);
    await expect.poll(() => pausesMs.length).toBe(12);
    expect(pausesMs).toEqual([
      200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000, 30_000, 30_000,
    ]);
    // The first two come without a pause, and the last pause isn't over.
    expect(started).toHaveLength(3 + 2 + 11);
  });

  it('the supervisor gives up where no worker is left, and its settings are why no other can start', async () => {
    const { supervisor, started, hopeless, startsAre } = scene(2);
    await supervisor.start();
    startsAre(2);
    started[0]?.end(1);
    await expect.poll(() => started.length).toBeGreaterThan(2);
    expect(hopeless).toEqual([]);
    started[1]?.end(1);
    await expect.poll(() => hopeless.length).toBeGreaterThan(0);
    expect(hopeless[0]).toBe(2);
  });

  it('the supervisor rolls one worker after the other, and keeps those that it has where a new one can not start', async () => {
    const { supervisor, started, notes, startsAre } = scene(2);
    await supervisor.start();
    await supervisor.roll();
    expect(started.map(({ drains }) => drains)).toEqual([
      [{ isReplaced: true }],
      [{ isReplaced: true }],
      [],
      [],
    ]);
    expect([...supervisor.workers]).toEqual(started.slice(2));
    startsAre(1);
    await supervisor.roll();
    expect([...supervisor.workers]).toEqual(started.slice(2, 4));
    expect(notes.at(-1)).toContain('not replaced');
    expect(supervisor.replaced).toBe(0);
  });

  it('the supervisor drains all, replaces none of them then, and counts one that ends otherwise as cut', async () => {
    const { supervisor, started } = scene(3);
    await supervisor.start();
    const [bad] = started;
    Object.assign(bad ?? {}, {
      async drain() {
        bad?.end('SIGKILL');
        return 0;
      },
    });
    expect(await supervisor.drain(5)).toBe(1);
    expect(started.slice(1).map(({ drains }) => drains)).toEqual([
      [{ isReplaced: false, delayMs: 5 }],
      [{ isReplaced: false, delayMs: 5 }],
    ]);
    expect([started.length, supervisor.workers.size]).toEqual([3, 0]);
  });
});
