import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openStore } from '../../src/cache/open-store.ts';
import { StoreOutage } from '../../src/cache/outage.ts';
import { ConfigError } from '../../src/config/config.ts';
import { figureOf, openIssuing, START } from '../issued/issuing.ts';
import { runCommand } from '../support/command.ts';
import { movingClock } from '../support/moving-clock.ts';
import type { Reply } from '../support/program.ts';
import { hasRedis, startRedis } from '../support/redis.ts';

/** What each kind of key is answered while the store fails, as `docs/operating.md` has it for all outages. */
const GUIDE = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
const [, TABLE = ''] = GUIDE.split('\n| during the outage | answer |\n|---|---|\n');
const ANSWERS = Array.from(
  (TABLE.split('\n\n', 1)[0] ?? '').matchAll(/^\| .* \| (.*) \|$/gm),
  ([, cell]) => cell,
);

/** Passes bytes on to a port; replies may be late, and connections silent, though they stay open. */
async function openWay(port: number) {
  const pairs: { near: Socket; far: Socket; isSilent: boolean }[] = [];
  let areNewSilent = false;
  let lateMs = 0;
  const server = createServer((near) => {
    const pair = { near, far: connect(port, '127.0.0.1'), isSilent: areNewSilent };
    pairs.push(pair);
    const { far } = pair;
    near.on('data', (bytes) => void (pair.isSilent || far.write(bytes)));
    far.on('data', (bytes) => {
      if (!pair.isSilent) setTimeout(() => near.write(bytes), lateMs);
    });
    near.on('close', () => far.destroy()).on('error', () => {});
    far.on('error', () => {});
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** @param forAll true if new connections are silent as well */
    silence(forAll = false) {
      areNewSilent = forAll;
      for (const pair of pairs) pair.isSilent = true;
    },
    slow(ms: number) {
      lateMs = ms;
    },
    connections: () => pairs.length,
    async [Symbol.asyncDispose]() {
      for (const { near } of pairs) near.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

type Program = Awaited<ReturnType<typeof openIssuing>>;

/** Milliseconds of the store's timeout, shorter than all other timers that the test holds. */
const TIMEOUT_MS = 200;

/** What a counter of the store may take, in milliseconds. */
const COUNT_MS = 3 * TIMEOUT_MS;

/**
 * The answers during one outage: `begin` makes the store fail.
 * @param isMute true if nothing but a timeout ends what the store is asked from then on
 */
async function answersOf(cacheUrl: string, begin: () => unknown, isMute = false) {
  await using program = await openIssuing({
    cacheUrl,
    env: { CACHE_TIMEOUT_MS: String(TIMEOUT_MS) },
    clock: movingClock(START, TIMEOUT_MS),
  });
  const { team, free } = program.sandbox.keys;
  const issued = await program.issue({ name: 'page' });
  for (const key of [team, issued]) await program.ask(figureOf('KE'), { key });
  for (const code of ['AO', 'BF', 'BI', 'BJ', 'BW', 'CD']) await program.ask(figureOf(code), { key: free });
  program.pass(60);
  await program.ask(figureOf('CF'), { key: free });
  // An issued key stays good for ten seconds after it was read last.
  await program.ask(figureOf('KE'), { key: issued });
  await begin();
  const answerTo = async (code: string, key: string) => {
    const asked = program.ask(figureOf(code), { key });
    if (isMute) await passTimeouts(program, asked);
    return cellOf(await asked);
  };
  const cells = [
    await answerTo('KE', team),
    await answerTo('NG', team),
    await answerTo('NG', team),
    await answerTo('KE', issued),
    await answerTo('GH', issued),
  ];
  const limited: string[] = [];
  for (const code of ['CG', 'CI']) limited.push(await answerTo(code, free));
  cells.push([...new Set(limited)].join(', then '));
  const metrics = await (await fetch(program.url.replace('/graphql', '/metrics'))).text();
  expect(metrics).toContain('country_graph_store_outages 1\n');
  expect(metrics).toContain('country_graph_problems_total 0\n');
  const told = program.problems.filter((problem) => problem instanceof StoreOutage);
  return { cells, told, faults: program.problems.length - told.length };
}

/** Has the timeouts of the store pass until there is an answer. */
async function passTimeouts({ clock: { timers } }: Program, asked: Promise<Reply>): Promise<void> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  asked.then(end, end);
  for (; !isOver; await setImmediate()) {
    const soonestMs = Math.min(...timers.left());
    if (soonestMs <= COUNT_MS) timers.pass(soonestMs);
  }
}

function cellOf({ errors, upstream }: Reply): string {
  const [first] = errors;
  if (first === undefined) return `yes, ${upstream.calls} calls`.replace('1 calls', '1 call');
  const { code: name, retryAfterSeconds } = first.extensions;
  return name === 'RATE_LIMITED' && first.message.includes('CACHE_URL')
    ? `\`${name}\`, which says why, with \`retryAfterSeconds\` of ${retryAfterSeconds}`
    : `\`${name}\``;
}

const OUTAGES: Readonly<Record<string, () => ReturnType<typeof answersOf>>> = {
  'Redis killed': async () => {
    await using redis = await startRedis();
    return await answersOf(redis.url, () => redis.kill());
  },
  'Redis silent (connections half open)': async () => {
    await using redis = await startRedis();
    await using proxy = await openWay(redis.port);
    return await answersOf(proxy.url, () => proxy.silence(true), true);
  },
  'Redis slow (replies after 1.5 s)': async () => {
    await using redis = await startRedis();
    await using way = await openWay(redis.port);
    return await answersOf(way.url, () => way.slow(1_500), true);
  },
  'Redis full (`noeviction`)': async () => {
    await using redis = await startRedis();
    return await answersOf(redis.url, async () => {
      const client = await createClient({ url: redis.url }).connect();
      await client.configSet({ maxmemory: '1', 'maxmemory-policy': 'noeviction' });
      await client.close();
    });
  },
  'SQLite file locked by another process': async () => {
    const folder = mkdtempSync(join(tmpdir(), 'locked-'));
    const path = join(folder, 'figures.db');
    const locks: DatabaseSync[] = [];
    try {
      return await answersOf(`sqlite:${path}`, () => {
        for (const file of [path, `${path}.keys`]) {
          const lock = new DatabaseSync(file);
          lock.exec('BEGIN EXCLUSIVE');
          locks.push(lock);
        }
      });
    } finally {
      for (const lock of locks) lock.close();
      rmSync(folder, { recursive: true });
    }
  },
};

describe.skipIf(!hasRedis)('an outage of the store', () => {
  it.for(Object.keys(OUTAGES))(
    'an outage of the store is told once, and each key is answered as the guide says: %s',
    async (name) => {
      const { cells, told, faults } = (await OUTAGES[name]?.()) ?? { cells: [], told: [], faults: 0 };
      expect(GUIDE.replaceAll('\n', ' ')).toContain(name.replace('Redis ', ''));
      expect(cells).toEqual(ANSWERS);
      expect(cells[0]).toBe('yes, 0 calls');
      expect(cells[2]).toBe('yes, 0 calls');
      expect(told.map((outage) => (outage as StoreOutage).isOver)).toEqual([false]);
      expect(String(told[0])).toContain('CACHE_URL');
      expect(faults).toBe(0);
    },
  );

  it('an outage of the store that is silent is over within seconds, since its connections are replaced', async () => {
    await using redis = await startRedis();
    await using proxy = await openWay(redis.port);
    const told: StoreOutage[] = [];
    const onFault = (error: unknown) => void told.push(error as StoreOutage);
    const store = await openStore({ url: proxy.url, timeoutMs: 100, maxBytes: 1e6, onError: onFault });
    const value = (atMs: number) => ({ atMs, value: atMs });
    const write = (atMs: number) => store?.setMany([{ key: 'a', value: value(atMs) }], 60_000);
    await write(1);
    proxy.silence();
    const before = proxy.connections();
    // Held in memory until then, and written to Redis after.
    await write(2);
    for (let i = 0; i < 4; i += 1) expect(await store?.getMany(['a'])).toEqual([value(2)]);
    await expect.poll(() => told.at(-1)?.isOver, { timeout: 15_000 }).toBe(true);
    expect(proxy.connections() - before).toBeGreaterThan(0);
    await expect
      .poll(
        async () => {
          await store?.getMany(['a']);
          const other = await openStore({ url: redis.url, timeoutMs: 1_000, maxBytes: 0, onError() {} });
          const [written] = (await other?.getMany(['a'])) ?? [];
          await other?.close();
          return written;
        },
        { timeout: 10_000, interval: 500 },
      )
      .toEqual(value(2));
    expect(told.map(({ isOver }) => isOver)).toEqual([false, true]);
    await store?.close();
  });

  it('an outage of the store that is a Redis Cluster is refused in words, at start and by doctor', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    await using redis = await startRedis(undefined, ['--cluster-enabled', 'yes', '--dir', folder]);
    const opening = openStore({ url: redis.url, timeoutMs: 1_000, maxBytes: 1e6, onError() {} });
    await expect(opening).rejects.toThrow(ConfigError);
    await expect(opening).rejects.toThrow(/CACHE_URL: is part of a Redis Cluster, which can't be used/);
    const { stdout, code } = await runCommand(['doctor'], { env: { CACHE_URL: redis.url } });
    expect(stdout).toMatch(/^NO {2}cache: .*\n.*is part of a Redis Cluster/m);
    expect(code).toBe(1);
  });
});
