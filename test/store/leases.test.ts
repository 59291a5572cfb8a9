import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openStore } from '../../src/cache/open-store.ts';
import type { Leases } from '../../src/cache/store.ts';
import { createInFlight } from '../../src/keys/in-flight.ts';
import { NO_TENANT_CACHE } from '../../src/keys/tenant-cache.ts';
import { type Clock, systemClock } from '../../src/shared/async/clock.ts';
import { createLeases } from '../support/memory-leases.ts';
import { hasRedis, startRedis } from '../support/redis.ts';

const folder = mkdtempSync(join(tmpdir(), 'country-graph-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function leasesAt(url: string) {
  const store = await openStore({ url, timeoutMs: 2_000, maxBytes: 0, onError() {} });
  if (store?.leases == null) throw new Error('There are no leases.');
  return { leases: store.leases, close: () => store.close() };
}

const KINDS: Readonly<Record<string, () => Promise<{ leases: Leases; close: () => Promise<unknown> }>>> = {
  SQLite: () => leasesAt(`sqlite:${join(folder, 'leases.sqlite')}`),
  async Redis() {
    const redis = await startRedis();
    const { leases, close } = await leasesAt(redis.url);
    return { leases, close: () => close().then(() => redis.kill()) };
  },
};

const lease = (holder: string, names: readonly string[], lifeMs = 60_000, group = 'one') => ({
  group,
  names,
  holder,
  lifeMs,
});

describe.for(Object.entries(KINDS).filter(([name]) => name !== 'Redis' || hasRedis))(
  'leases in %s',
  ([, open]) => {
    it('leases are taken once, by group and name, until their holder ends them', async () => {
      const { leases, close } = await open();
      const names = ['a', 'b', 'c'];
      expect(await leases.take(lease('x', ['a', 'b']))).toEqual([true, true]);
      expect(await leases.take(lease('y', names))).toEqual([false, false, true]);
      // The holder renews its own.
      expect(await leases.take(lease('x', names))).toEqual([true, true, false]);
      expect(await leases.take(lease('y', ['a'], 60_000, 'two'))).toEqual([true]);
      expect(await leases.look('one', ['a', 'b', 'c', 'd'])).toEqual([true, true, true, false]);
      // Ends no lease of another one.
      await leases.end(lease('y', ['a']));
      await leases.end(lease('x', ['b']));
      expect(await leases.look('one', names)).toEqual([true, false, true]);
      expect(await leases.take(lease('z', ['a', 'b']))).toEqual([false, true]);
      await close();
    });

    it('leases end by themselves, and may be many', async () => {
      const { leases, close } = await open();
      const names = Array.from({ length: 1_200 }, (_, i) => `n${i}`);
      expect(new Set(await leases.take(lease('x', names, 50)))).toEqual(new Set([true]));
      await expect.poll(() => leases.look('one', names)).toEqual(names.map(() => false));
      expect(await leases.take(lease('y', ['n7', 'n1199']))).toEqual([true, true]);
      const taken = await leases.take(lease('z', names));
      expect(names.filter((_, i) => !taken?.[i])).toEqual(['n7', 'n1199']);
      expect(await leases.look('one', ['n8', 'n600'])).toEqual([true, true]);
      await close();
    });
  },
);

/** Waits by `setTimeout`, which is the test's own: that of `node:timers/promises` is not. */
const clock: Clock = {
  ...systemClock,
  // Timers of the test pass over parts of a millisecond, which no real one is early by.
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, Math.ceil(ms))),
};

describe('what is in flight', () => {
  // Time passes as soon as nothing is left to do at an instant, however busy the machine is.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
    vi.setTimerTickMode('nextTimerAsync');
  });
  afterEach(() => void vi.useRealTimers());

  const inFlightOver = (leases: Leases, maxWaitMs = 5_000) =>
    createInFlight(leases, NO_TENANT_CACHE, clock, maxWaitMs);

  /** Two processes with one store; the test sees the fetches of each. */
  function scene(maxWaitMs?: number) {
    const leases = createLeases();
    const stored = new Set<string>();
    const fetches: string[] = [];
    const open = (who: string, failing = false) => {
      const inFlight = inFlightOver(leases, maxWaitMs);
      return (names: readonly string[], ms = 50, signal = new AbortController().signal) =>
        inFlight.together({
          group: 'key',
          names,
          signal,
          async fetch(some) {
            fetches.push(`${who}: ${some.join(' ')}`);
            await clock.sleep(ms);
            if (failing) throw new Error('the service is down');
            for (const name of some) stored.add(name);
          },
          takeOver: async (some) => some.filter((name) => !stored.has(name)),
        });
    };
    return { open, fetches, stored, leases };
  }

  it('what is in flight is fetched by one, and what comes late is found', async () => {
    const { open, fetches } = scene();
    const [one, other] = [open('one'), open('other')];
    await Promise.all([one(['a', 'b']), other(['a', 'b']), other(['b'])]);
    await other(['a']);
    expect(fetches).toEqual(['one: a b']);
  });

  it('what is in flight is fetched by one where what both have looked at is too old', async () => {
    const leases = createLeases();
    const fetches: string[] = [];
    let version = 0;
    const open = (who: string, readMs: number) => {
      const inFlight = inFlightOver(leases);
      return (wanted: number) =>
        inFlight.together({
          group: 'key',
          names: ['a'],
          signal: new AbortController().signal,
          async fetch() {
            fetches.push(`${who}: ${wanted}`);
            version = wanted;
          },
          async takeOver(names) {
            const read = version;
            await clock.sleep(readMs);
            return read < wanted ? names : [];
          },
        });
    };
    const [quick, slow] = [open('quick', 1), open('slow', 100)];
    await quick(1);
    await Promise.all([slow(2), quick(2)]);
    expect(fetches).toEqual(['quick: 1', 'slow: 2']);
  });

  it('what is in flight has the rest of a batch fetched at once', async () => {
    const { open, fetches } = scene();
    const others = open('one')(['a'], 2_000);
    const rest = open('other')(['a', 'b']);
    await clock.sleep(100);
    expect(fetches).toHaveLength(2);
    await others;
    expect(fetches).toEqual(['one: a', 'other: b']);
    await rest;
    expect(fetches).toHaveLength(2);
  });

  it('what is in flight is looked at before the rest is waited for, and fetched beside it where it is too old', async () => {
    const { open, fetches, stored } = scene();
    const [one, other] = [open('one'), open('other')];
    await one(['old']);
    stored.delete('old');
    fetches.length = 0;
    const others = one(['a'], 1_000);
    const rest = other(['a', 'old']);
    await clock.sleep(500);
    expect(fetches).toEqual(['one: a', 'other: old']);
    await Promise.all([others, rest]);
  });

  it('what is in flight is fetched anew where the one that was at it failed, or takes too long', async () => {
    const failing = scene();
    const one = failing.open('one', true)(['a']);
    const other = failing.open('other')(['a']);
    await expect(one).rejects.toThrow('the service is down');
    await other;
    expect(failing.fetches).toEqual(['one: a', 'other: a']);
    const slow = scene(100);
    const slowOne = slow.open('one')(['a'], 1_000);
    await slow.open('other')(['a']);
    expect(slow.fetches).toEqual(['one: a', 'other: a']);
    await slowOne;
  });

  it('what is in flight is waited for as long as its holder is alive', async () => {
    const { open, fetches } = scene();
    await Promise.all([open('one')(['a'], 1_500), open('other')(['a'])]);
    expect(fetches).toEqual(['one: a']);
  });

  it('what is in flight is waited for no longer than a second where its holder was killed', async () => {
    const { open, fetches, leases } = scene();
    const killed = createLeases();
    // Takes from a process the means to renew or end its leases.
    Object.assign(killed, { ...leases, end: async () => {} });
    let isAlive = true;
    const take: Leases['take'] = async (lease) => (isAlive ? leases.take(lease) : null);
    const lost = inFlightOver({ ...killed, take });
    void lost.together({
      group: 'key',
      names: ['a'],
      signal: new AbortController().signal,
      fetch: () => new Promise(() => {}),
      takeOver: async (names) => names,
    });
    await clock.sleep(600);
    isAlive = false;
    const startedMs = performance.now();
    await open('other')(['a']);
    expect(fetches).toEqual(['other: a']);
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });

  it('what is in flight is ended by whoever may have taken it, though the reply of the store was lost', async () => {
    const { open, fetches, leases, stored } = scene();
    const deaf = inFlightOver({
      ...leases,
      async take(lease) {
        await leases.take(lease);
        return null;
      },
    });
    const one = deaf.together({
      group: 'key',
      names: ['a'],
      signal: new AbortController().signal,
      async fetch() {
        await clock.sleep(300);
        stored.add('a');
      },
      takeOver: async (names) => names,
    });
    const startedMs = performance.now();
    await Promise.all([one, open('other')(['a'])]);
    expect(fetches).toEqual([]);
    expect(performance.now() - startedMs).toBeLessThan(600);
  });

  /** A store in which each look finds a name that somebody else has just fetched. */
  const fetchedAgain = (look: () => void): Leases => ({
    async take({ names }) {
      look();
      await clock.sleep(1);
      return names.map(() => false);
    },
    look: async (_group, names) => names.map(() => false),
    async end() {},
  });

  it('what is in flight is waited for no longer than may be where others fetch it again and again, each time too old', async () => {
    const fetches: string[] = [];
    const inFlight = inFlightOver(
      fetchedAgain(() => {}),
      50,
    );
    await inFlight.together({
      group: 'key',
      names: ['a'],
      signal: new AbortController().signal,
      fetch: async (names) => void fetches.push(...names),
      takeOver: async (names) => names,
    });
    expect(fetches).toEqual(['a']);
  });

  it('what is in flight is looked at no more by who has been given up, though others fetch it again and again', async () => {
    const leaving = new AbortController();
    let looks = 0;
    const inFlight = inFlightOver(
      fetchedAgain(() => {
        looks += 1;
        if (looks === 3) leaving.abort(new Error('left'));
      }),
    );
    const waiting = inFlight.together({
      group: 'key',
      names: ['a'],
      signal: leaving.signal,
      fetch: async () => {},
      takeOver: async (names) => names,
    });
    await expect(waiting).rejects.toThrow('left');
    expect(looks).toBe(3);
  });

  it('what is in flight is not waited for by who has been given up', async () => {
    const { open } = scene();
    const leaving = new AbortController();
    const one = open('one')(['a'], 500);
    const other = open('other')(['a'], 50, leaving.signal);
    leaving.abort(new Error('left'));
    await expect(other).rejects.toThrow('left');
    await one;
  });
});
