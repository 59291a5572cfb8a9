import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Backing } from '../../src/cache/backing.ts';
import { guardedBacking } from '../../src/cache/guarded-backing.ts';
import { openStore } from '../../src/cache/open-store.ts';
import { StoreOutage } from '../../src/cache/outage.ts';
import type { Store } from '../../src/cache/store.ts';
import { packing } from '../../src/cache/unpacked-store.ts';
import { ConfigError } from '../../src/config/config.ts';
import { openProgram } from '../support/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'country-graph-'));
afterAll(() => rmSync(folder, { recursive: true }));

const TTL_MS = 60_000;
/** A store that holds nothing. */
const EMPTY: Backing = {
  adapter: { getMany: async (keys) => keys.map(() => undefined), setMany: async () => {} },
  sharedCounters: null,
  leases: null,
  clear: async () => {},
  first: async (_name, value) => value,
  close: async () => {},
};
const FIGURE =
  '{ observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) { value } }';

/** Leaves no room around a file. */
function fill(file: string): void {
  for (const bytes of [65_536, 4_096, 1]) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(bytes));
    } catch {
      // Less has room, or nothing.
    }
  }
}

async function open(url: string, maxBytes = 1_000_000): Promise<Store> {
  const store = await openStore({ url, timeoutMs: 100, maxBytes, onError() {} });
  if (store === null) throw new Error('There is no store.');
  return store;
}

describe.for([
  ['memory', 'memory:'],
  ['SQLite', `sqlite:${join(folder, 'store.sqlite')}`],
] as const)('%s', ([, url]) => {
  it('a store holds values by key, in one round trip, until their time is over or they are cleared', async () => {
    const store = await open(url);
    const long = {
      rows: Array.from({ length: 100 }, (_, year) => ({ year, value: year / 3, unit: 'persons' })),
    };
    await store.setMany(
      [
        { key: 'a:held:1', value: long },
        { key: 'a:held:2', value: [] },
        { key: 'b:held:1', value: { zero: 0, none: null } },
      ],
      TTL_MS,
    );
    await store.setMany([{ key: 'a:held:3', value: 'short-lived' }], 1);
    await expect.poll(() => store.getMany(['a:held:3'])).toEqual([undefined]);
    expect(await store.getMany(['b:held:1', 'none', 'a:held:2', 'a:held:1'])).toEqual([
      { zero: 0, none: null },
      undefined,
      [],
      long,
    ]);
    await store.clear('a:');
    expect(await store.getMany(['a:held:1', 'a:held:2', 'b:held:1'])).toEqual([
      undefined,
      undefined,
      { zero: 0, none: null },
    ]);
    await store.close();
  });
});

describe('memory', () => {
  it('the store in memory is bounded, and what was used last stays', async () => {
    const store = await open('memory:', 20_000);
    const value = Array.from({ length: 10 }, (_, year) => ({ year, text: 'x'.repeat(50) }));
    for (let i = 0; i < 100; i += 1) {
      await store.setMany([{ key: `key ${i}`, value }], TTL_MS);
      await store.getMany(['key 0']);
    }
    const held = await store.getMany(Array.from({ length: 100 }, (_, i) => `key ${i}`));
    expect(held[0]).toEqual(value);
    expect(held[99]).toEqual(value);
    expect(held[1]).toBeUndefined();
    expect(held.filter((one) => one !== undefined).length).toBeLessThan(30);
  });
});

describe('SQLite', () => {
  it('SQLite takes what no text can hold for a fault, and holds nothing of it', async () => {
    const faults: unknown[] = [];
    const url = `sqlite:${join(folder, 'deep.sqlite')}`;
    const store = await openStore({
      url,
      timeoutMs: 100,
      maxBytes: 0,
      onError: (fault) => faults.push(fault),
    });
    const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    await store?.setMany([{ key: 'a:held:deep', value: deep }], TTL_MS);
    expect(await store?.getMany(['a:held:deep'])).toEqual([undefined]);
    expect(faults).toEqual([expect.any(RangeError)]);
    await store?.close();
  });

  it('SQLite survives a restart: the same query costs nothing', async () => {
    const env = { CACHE_URL: `sqlite:${join(folder, 'restart.sqlite')}` };
    const first = await openProgram({ env });
    const { data } = await first.ask(FIGURE);
    await first[Symbol.asyncDispose]();
    await using second = await openProgram({ env });
    const again = await second.ask(FIGURE);
    expect(again).toMatchObject({ data, upstream: { calls: 0, cached: 1 } });
    expect(second.requests()).toEqual([]);
  });

  it('SQLite refuses a folder that is not there at the start', async () => {
    await expect(open(`sqlite:${join(folder, 'nowhere', 'cache.sqlite')}`)).rejects.toThrow(ConfigError);
  });

  it('SQLite keeps within its bytes where they are bounded, and drops what would expire first', async () => {
    const path = join(folder, 'bounded.sqlite');
    const options = { url: `sqlite:${path}`, timeoutMs: 5_000, maxBytes: 0, onError() {} };
    const store = await openStore({ ...options, mostBytes: 1_000_000 });
    const random = () => randomBytes(600).toString('base64');
    for (let i = 0; i < 4_000; i += 1) await store?.setMany([{ key: `${i}`, value: random() }], 60_000 + i);
    const kept = await store?.getMany(Array.from({ length: 4_000 }, (_, i) => `${i}`));
    await store?.close();
    expect(statSync(path).size).toBeLessThan(1_200_000);
    expect(kept?.slice(0, 2_000).filter((value) => value !== undefined)).toEqual([]);
    expect(kept?.slice(-500)).not.toContain(undefined);
  });

  it('SQLite is read by its owner alone', async () => {
    const file = join(folder, 'private.sqlite');
    writeFileSync(file, '');
    chmodSync(file, 0o644);
    await using program = await openProgram({ env: { CACHE_URL: `sqlite:${file}` } });
    await program.ask(FIGURE);
    const modes = [file, `${file}-wal`, `${file}-shm`].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600, 0o600]);
  });

  /** Files that were set aside in place of one, with their contents. */
  const asideOf = (file: string) =>
    readdirSync(folder)
      .filter((name) => name.startsWith(`${basename(file)}.damaged-`) && /\d$/.test(name))
      .map((name) => readFileSync(join(folder, name)));

  it.for([
    ['no database', (_: Buffer) => Buffer.from('Nothing of a database. '.repeat(100))],
    ['another beginning', (whole: Buffer) => Buffer.concat([Buffer.alloc(100, 7), whole.subarray(100)])],
    ['half of itself', (whole: Buffer) => whole.subarray(0, whole.length >> 1)],
    [
      'tables overwritten',
      (whole: Buffer) => Buffer.concat([whole.subarray(0, 100), Buffer.alloc(whole.length - 100, 7)]),
    ],
  ] as const)('SQLite sets a damaged file aside, and goes on with another: %s', async ([what, damage]) => {
    const file = join(folder, `${what.replaceAll(' ', '-')}.sqlite`);
    const env = { CACHE_URL: `sqlite:${file}` };
    const first = await openProgram({ env });
    await first.ask(FIGURE);
    await first[Symbol.asyncDispose]();
    const damaged = damage(readFileSync(file));
    writeFileSync(file, damaged);

    await using program = await openProgram({ env });
    expect(program.problems).toMatchObject([{ message: expect.stringContaining(`${file}.damaged-`) }]);
    expect(asideOf(file)).toEqual([damaged]);
    expect((await program.ask(FIGURE)).upstream).toMatchObject({ calls: 1, cached: 0 });
    expect((await program.ask(FIGURE)).upstream).toMatchObject({ calls: 0, cached: 1 });
  });

  it('SQLite sets a file aside whose damage shows later', async () => {
    const file = join(folder, 'later.sqlite');
    await using program = await openProgram({ env: { CACHE_URL: `sqlite:${file}` } });
    const { data } = await program.ask(FIGURE);
    const other = new DatabaseSync(file);
    other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    writeFileSync(file, Buffer.alloc(readFileSync(file).length, 7));
    other.close();
    expect(await program.ask(FIGURE)).toMatchObject({ data, errors: [], upstream: { calls: 1 } });
    await program.ask(FIGURE);
    expect(asideOf(file)).toHaveLength(1);
    expect(await program.ask(FIGURE)).toMatchObject({ data, upstream: { calls: 0, cached: 1 } });
  });

  it('SQLite goes on once another file can be opened in the place of a damaged one', async () => {
    const place = join(folder, 'gone');
    mkdirSync(place);
    const file = join(place, 'cache.sqlite');
    const store = await openStore({ url: `sqlite:${file}`, timeoutMs: 1_000, maxBytes: 0, onError() {} });
    await store?.setMany([{ key: 'a', value: 1 }], 60_000);
    const other = new DatabaseSync(file);
    other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    writeFileSync(file, Buffer.alloc(readFileSync(file).length, 7));
    other.close();
    renameSync(place, `${place}-away`);
    expect(await store?.getMany(['a'])).toEqual([undefined]);
    mkdirSync(place);
    await store?.setMany([{ key: 'a', value: 2 }], 60_000);
    expect(await store?.getMany(['a'])).toEqual([2]);
    await store?.close();
  });

  /** A disk takes root to be made; CI has it. */
  const mayMount = process.env.CI === 'true' || process.getuid?.() === 0;

  it.skipIf(!mayMount)(
    'SQLite says that its disk is full, holds in memory until it is not, and starts all the same',
    async () => {
      const full = join(folder, 'full');
      mkdirSync(full);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', full]);
      try {
        const file = join(full, 'cache.sqlite');
        const env = { CACHE_URL: `sqlite:${file}` };
        const first = await openProgram({ env });
        expect((await first.ask(FIGURE)).upstream).toMatchObject({ calls: 1 });
        fill(join(full, 'rest'));
        const other = FIGURE.replace('KE', 'NG');
        for (const calls of [1, 0]) expect((await first.ask(other)).upstream).toMatchObject({ calls });
        expect((await first.ask(FIGURE)).upstream).toMatchObject({ calls: 0 });
        for (const code of ['UG', 'TZ', 'RW']) await first.ask(FIGURE.replace('KE', code));
        expect(first.problems[0]).toMatchObject({
          message: expect.stringMatching(/^The store \(CACHE_URL\) fails \(database or disk is full\)/),
          isOver: false,
        });
        expect(((first.problems[0] as Error).cause as Error).message).toBe('database or disk is full');
        await first[Symbol.asyncDispose]();

        for (const name of ['cache.sqlite', 'new.sqlite']) {
          await using program = await openProgram({ env: { CACHE_URL: `sqlite:${join(full, name)}` } });
          for (const calls of [1, 0]) expect((await program.ask(other)).upstream).toMatchObject({ calls });
          expect(program.problems[0]).toMatchObject({
            message: expect.stringContaining('holds figures in its memory'),
          });
        }
      } finally {
        execFileSync('umount', ['-l', full]);
      }
    },
  );

  it('SQLite with another pepper answers nobody from what is there', async () => {
    const CACHE_URL = `sqlite:${join(folder, 'pepper.sqlite')}`;
    const first = await openProgram({ env: { CACHE_URL, KEY_PEPPER: 'pepper of the first' } });
    await first.ask(FIGURE);
    await first[Symbol.asyncDispose]();
    await using other = await openProgram({ env: { CACHE_URL, KEY_PEPPER: 'pepper of the other' } });
    expect((await other.ask(FIGURE)).upstream).toMatchObject({ calls: 1, cached: 0 });
  });

  it.for([
    ['no JSON', 'garbage'],
    ['packed text cut short', '~KLUv/'],
    ['another shape', `{"value":{"value":[{"value":"none"}],"atMs":${Date.now()}}}`],
    [
      'an answer without a list',
      `{"value":{"value":{"status":200,"body":{},"etag":null,"allowedMs":null},"atMs":${Date.now()}}}`,
    ],
    ['a number', '7'],
    ['null', 'null'],
  ] as const)('SQLite with garbage in it misses: %s', async ([, garbage]) => {
    const file = join(folder, `garbage-${garbage.length}.sqlite`);
    await using program = await openProgram({ env: { CACHE_URL: `sqlite:${file}` } });
    const query = `{ countries { name } indicators { key } ${FIGURE.slice(1)}`;
    const { data } = await program.ask(query);
    const db = new DatabaseSync(file);
    db.prepare('UPDATE entries SET value = ?').run(garbage);
    db.close();
    expect(await program.ask(query)).toMatchObject({ data, errors: [], upstream: { calls: 3, cached: 0 } });
    expect(program.problems).toEqual([]);
  });
});

describe('a store that', () => {
  const never = new Promise<never>(() => {});
  const broken: Record<string, () => Promise<never>> = {
    fails: () => Promise.reject(new Error('no store')),
    hangs: () => never,
  };

  it.for(Object.keys(broken))(
    'a store that %s is a miss, left alone for a while, and told once',
    async (how) => {
      let asked = 0;
      const fault = () => {
        asked += 1;
        return broken[how]?.() ?? never;
      };
      const backing: Backing = {
        ...EMPTY,
        adapter: { getMany: fault, setMany: fault },
        clear: fault,
        first: fault,
      };
      const told: unknown[] = [];
      // The while is not over by itself, however long the machine takes.
      vi.useFakeTimers({ toFake: ['Date'] });
      onTestFinished(() => void vi.useRealTimers());
      const { adapter, clear, first, close } = guardedBacking(backing, {
        timeoutMs: 10,
        onError: (error) => told.push(error),
      });
      for (let i = 0; i < 20; i += 1) {
        expect(await adapter.getMany(['a', 'b'])).toBeNull();
        await adapter.setMany([{ key: 'a', value: '1' }]);
      }
      expect(await first('pepper', 'mine')).toBeNull();
      await clear('a');
      expect(asked).toBe(3);
      expect(told).toHaveLength(1);
      await close();
    },
  );

  it('a store that has answered is not late because this process has stood still', async () => {
    const faults: unknown[] = [];
    const getMany = async () => {
      const reply = new Promise<string[]>((resolve) => setImmediate(resolve, ['there']));
      await null;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
      return reply;
    };
    const { adapter } = guardedBacking(
      { ...EMPTY, adapter: { ...EMPTY.adapter, getMany } },
      { timeoutMs: 10, onError: (error) => faults.push(error) },
    );
    // So that timers come before what has arrived.
    await new Promise(setImmediate);
    expect(await adapter.getMany(['a'])).toEqual(['there']);
    expect(faults).toEqual([]);
  });

  it('a store that is late with values, but not with its counters, goes on counting', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const later = <T>(ms: number, value: T) => new Promise<T>((resolve) => setTimeout(resolve, ms, value));
    const taken = { isTaken: true, callsThisMinute: 1, callsThisMonth: 1, note: null };
    let takes = 0;
    const { adapter, sharedCounters } = guardedBacking(
      {
        ...EMPTY,
        adapter: { getMany: () => later(110, ['late']), setMany: () => later(110, undefined) },
        sharedCounters: {
          take() {
            takes += 1;
            return later(250, taken);
          },
          read: () => later(310, taken),
          putBack: () => later(250, undefined),
          note: () => later(250, undefined),
        },
      },
      { timeoutMs: 100, onError() {} },
    );
    const at = { minute: 1, month: 1, nowMs: 60_000 };
    const reads = Array.from({ length: 5 }, () => adapter.getMany(['a']));
    await vi.advanceTimersByTimeAsync(120);
    expect(await Promise.all(reads)).toEqual(Array(5).fill(null));
    const late = [sharedCounters?.take('one', at), sharedCounters?.read('one', at)];
    await vi.advanceTimersByTimeAsync(320);
    expect(await Promise.all(late)).toEqual([taken, null]);
    // Takes once: a take that is given up may have been counted.
    expect(takes).toBe(1);
  });

  it.for([
    ['cannot be reached', async () => ({ url: 'redis://127.0.0.1:1', close() {} })],
    [
      'accepts and never answers',
      async () => {
        const server = createServer(() => {}).listen(0, '127.0.0.1');
        await once(server, 'listening');
        const { port } = server.address() as AddressInfo;
        return { url: `redis://127.0.0.1:${port}`, close: () => server.close() };
      },
    ],
  ] as const)('a store that %s neither breaks nor stops the program', async ([, start]) => {
    const { url, close } = await start();
    {
      await using program = await openProgram({ env: { CACHE_URL: url, CACHE_TIMEOUT_MS: '50' } });
      for (const calls of [1, 0, 0, 0, 0]) {
        expect(await program.ask(FIGURE)).toMatchObject({ errors: [], upstream: { calls } });
      }
      expect(program.problems).toEqual([expect.any(StoreOutage)]);
      expect(program.problems).toMatchObject([
        { isOver: false, message: expect.stringContaining('The store (CACHE_URL) fails') },
      ]);
    }
    close();
  });
});

describe('packing', () => {
  it('packing gives back what was packed, long or short', () => {
    for (const length of [0, 1, 1000]) {
      const envelope = {
        value: Array.from({ length }, (_, year) => ({ year, name: 'Côte d’Ivoire' })),
        expires: 1,
      };
      expect(packing.parse(packing.stringify(envelope))).toEqual(envelope);
    }
  });

  it('packing makes long text shorter', () => {
    const rows = Array.from({ length: 60 }, (_, year) => ({
      year,
      metric_name: 'Population, total',
      value: year,
    }));
    expect(packing.stringify(rows).length).toBeLessThan(JSON.stringify(rows).length / 4);
  });
});
