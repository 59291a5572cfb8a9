import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openStore } from '../../src/cache/open-store.ts';
import type { SharedCounters } from '../../src/cache/store.ts';
import { createLedger, type Ledger } from '../../src/keys/ledger.ts';
import { Tenants } from '../../src/keys/tenant.ts';
import { Failure } from '../../src/shared/errors.ts';
import { openProgram } from '../support/program.ts';
import { hasRedis, startRedis } from '../support/redis.ts';

const folder = mkdtempSync(join(tmpdir(), 'country-graph-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const STORES = {
  SQLite: async () => ({
    url: `sqlite:${join(folder, `${files++}.sqlite`)}`,
    kill: async () => {},
    async [Symbol.asyncDispose]() {},
  }),
  Redis: () => startRedis(),
} as const;

const START = Date.parse('2026-11-21T10:00:30Z');
const FREE = "rate limit exceeded for plan 'free': 5 requests per minute";
const SPENT = "request blocked: the monthly request limit for plan 'free' (1000 requests) was reached";

/** The ledger of one gateway, which knows tenants of its own, by their names. */
function ledgerOver(now: () => number, counters: SharedCounters | null | undefined) {
  const ledger = createLedger(now, counters);
  const tenants = new Tenants((key) => key, now);
  type Departure = NonNullable<Awaited<ReturnType<Ledger['take']>>>;
  const departures = new Map<string, Departure>();
  /** The state in which the last call under a key has left, or one that leaves now. */
  const departureOf = (key: string): Departure => {
    const date = new Date(now());
    const month = date.getUTCFullYear() * 12 + date.getUTCMonth();
    return (
      departures.get(key) ?? { minute: Math.floor(now() / 60_000), month, monthsSpent: 0, isShared: false }
    );
  };
  return {
    async take(key: string) {
      const departure = await ledger.take(tenants.named(key));
      if (departure !== null) departures.set(key, departure);
      return departure !== null;
    },
    putBack: (key: string) => ledger.book(tenants.named(key), departureOf(key), { left: false }),
    accepted: (key: string) => ledger.book(tenants.named(key), departureOf(key), { left: true }),
    quota: (key: string) => ledger.quota(tenants.named(key)),
    refresh: (key: string) => ledger.refresh(tenants.named(key)),
    limited(key: string, detail: string) {
      const error = new Failure('RATE_LIMITED', 'no', { detail });
      return ledger.book(tenants.named(key), departureOf(key), { left: true, error });
    },
    refusal: (key: string) => ledger.refusal(tenants.named(key)),
    opensAtMs: (key: string) => ledger.opensAtMs(tenants.named(key)),
  };
}

/** Ledgers of so many gateways over one store, and a clock for all. */
async function open(url: string, gateways = 3) {
  let nowMs = START;
  const stores = await Promise.all(
    Array.from({ length: gateways }, () => openStore({ url, timeoutMs: 200, maxBytes: 0, onError() {} })),
  );
  return {
    ledgers: stores.map((store) => ledgerOver(() => nowMs, store?.sharedCounters)),
    pass(seconds: number) {
      nowMs += seconds * 1000;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(stores.map((store) => store?.close()));
    },
  };
}

/** Number of requests that are granted, of so many at once from each. */
const grants = async (ledgers: readonly ReturnType<typeof ledgerOver>[], each = 10) => {
  const takes = ledgers.flatMap((ledger) => Array.from({ length: each }, () => ledger.take('one')));
  return (await Promise.all(takes)).filter(Boolean).length;
};

for (const [name, start] of Object.entries(STORES)) {
  describe.skipIf(name === 'Redis' && !hasRedis)(`three ledgers over one ${name}`, () => {
    it('three ledgers over one store grant a minute once, in this minute and in the next', async () => {
      await using store = await start();
      await using scene = await open(store.url, 3);
      const { ledgers, pass } = scene;
      // The plan is not known: nobody is held back, and everything is counted.
      expect(await grants(ledgers, 1)).toBe(3);
      expect(ledgers.at(-1)?.quota('one').callsThisMinute).toBe(3);
      ledgers[0]?.limited('one', FREE);
      await expect.poll(() => grants(ledgers)).toBe(0);
      for (const ledger of ledgers) {
        expect(ledger.quota('one')).toMatchObject({
          plan: 'free',
          requestsPerMinute: 5,
          state: 'MINUTE_SPENT',
        });
        expect(ledger.opensAtMs('one')).toBe(START + 30_000);
      }
      pass(30);
      expect(await grants(ledgers)).toBe(5);
      pass(60);
      expect(await grants(ledgers)).toBe(5);
      for (const ledger of ledgers) await ledger.refresh('one');
      expect(ledgers.map((ledger) => ledger.quota('one').callsThisMonth)).toEqual([13, 13, 13]);
    });

    it('three ledgers over one store probe a spent month once between them, and all know when it is over', async () => {
      await using store = await start();
      await using scene = await open(store.url, 3);
      const { ledgers, pass } = scene;
      ledgers[1]?.limited('one', SPENT);
      await expect.poll(() => grants(ledgers)).toBe(0);
      expect(ledgers[2]?.quota('one').state).toBe('MONTH_SPENT');
      pass(15 * 60);
      expect(await ledgers[0]?.take('one')).toBe(true);
      await expect.poll(() => grants(ledgers)).toBe(0);
      ledgers[0]?.accepted('one');
      await expect.poll(async () => (await grants(ledgers, 1)) > 0).toBe(true);
      expect(ledgers[1]?.quota('one').state).toBe('OK');
    });

    it('three ledgers over one store get a call back that has not left, into its own minute and month alone', async () => {
      await using store = await start();
      await using scene = await open(store.url, 3);
      const { ledgers, pass } = scene;
      const [one, other] = ledgers as [(typeof ledgers)[0], (typeof ledgers)[0]];
      const counted = async () => {
        await other.refresh('one');
        const { callsThisMinute, callsThisMonth } = other.quota('one');
        return [callsThisMinute, callsThisMonth];
      };
      expect([await one.take('one'), await other.take('one'), await one.take('one')]).toEqual([
        true,
        true,
        true,
      ]);
      expect(one.quota('one').callsThisMinute).toBe(3);
      one.putBack('one');
      expect(one.quota('one').callsThisMinute).toBe(2);
      await expect.poll(counted).toEqual([2, 2]);
      pass(60);
      expect(await other.take('one')).toBe(true);
      // A call of a minute that is over goes back into the month alone.
      one.putBack('one');
      await expect.poll(counted).toEqual([1, 2]);
      one.limited('one', FREE);
      await expect.poll(async () => [await counted(), other.quota('one').plan]).toEqual([[1, 2], 'free']);
      pass(60);
      for (const isTaken of [true, true, true, true, true, false])
        expect(await other.take('one')).toBe(isTaken);
      other.putBack('one');
      await expect.poll(counted).toEqual([4, 6]);
      expect([await one.take('one'), await one.take('one')]).toEqual([true, false]);
    });

    it('three ledgers over one store keep keys apart', async () => {
      await using store = await start();
      await using scene = await open(store.url, 2);
      scene.ledgers[0]?.limited('one', FREE);
      await expect.poll(() => scene.ledgers[1]?.take('one')).toBe(false);
      expect(await scene.ledgers[1]?.take('two')).toBe(true);
    });
  });
}

describe.skipIf(!hasRedis)('counters that die', () => {
  it('counters that die let no call of a known plan leave until they are back, and all of one that nobody has named', async () => {
    await using redis = await startRedis();
    await using scene = await open(redis.url, 2);
    const [ledger] = scene.ledgers as [(typeof scene.ledgers)[0]];
    ledger.limited('one', FREE);
    scene.pass(60);
    expect(await ledger.take('one')).toBe(true);
    await redis.kill();
    expect(await ledger.take('one')).toBe(false);
    expect(ledger.quota('one')).toMatchObject({ requestsPerMinute: 5, callsThisMinute: 1, state: 'OK' });
    expect(ledger.refusal('one')).toMatchObject({
      code: 'RATE_LIMITED',
      message: expect.stringContaining("can't be reached, so that none is sent"),
      fields: { retryAfterSeconds: 1 },
    });
    for (let i = 0; i < 9; i += 1) expect(await ledger.take('two')).toBe(true);
    scene.pass(60);
    expect(await ledger.take('one')).toBe(false);
    await using _ = await startRedis(redis.port);
    scene.pass(1);
    await expect.poll(() => ledger.take('one')).toBe(true);
  });
});

/** Passes bytes on to a port, each so much later. */
async function delaying(port: number, delay: { ms: number }) {
  const server = createServer((client) => {
    const redis = connect(port, '127.0.0.1');
    const pass = (from: Socket, to: Socket) => {
      from.on('data', (bytes) => setTimeout(() => to.write(bytes), delay.ms));
      from.on('close', () => to.destroy()).on('error', () => to.destroy());
    };
    pass(client, redis);
    pass(redis, client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
    },
  };
}

describe.skipIf(!hasRedis)('two gateways with 200 workers on one key of the free plan', () => {
  it.each([
    ['whose counters are there', 'five', 0, 10_000],
    ['whose counters take too long', 'none', 400, 200],
    ['whose counters take nearly too long', 'five', 450, 1_000],
  ])(
    'two gateways with 200 workers on one key of the free plan %s send %s a minute after the first 429',
    { timeout: 60_000 },
    async (_, sent, delayMs, timeoutMs) => {
      await using redis = await startRedis();
      const delay = { ms: 0 };
      await using slow = await delaying(redis.port, delay);
      let nowMs = START;
      const clock = { now: () => nowMs, sleep: async () => {} };
      await using service = await openProgram({ clock, sandbox: { now: clock.now } });
      const over = {
        clock,
        upstreamUrl: service.service.url,
        env: {
          CACHE_URL: slow.url,
          CACHE_TIMEOUT_MS: String(timeoutMs),
          MAX_CONCURRENT_OPERATIONS: '1000',
        },
      };
      await using one = await openProgram(over);
      await using two = await openProgram(over);
      const { free: key } = service.sandbox.keys;
      const work = (codes: readonly string[]) =>
        Promise.all(
          codes.map((code, i) =>
            (i % 2 === 0 ? one : two).ask(`{ country(code: "${code}") { profile { record } } }`, { key }),
          ),
        );
      const codes = (await service.ask('{ countries { code } }')).data.countries.map(
        ({ code }: { code: string }) => code,
      );
      const receivedSince = (count: number) => service.sandbox.log.length - count;
      for (const code of codes.slice(0, 6)) await work([code, code]);
      expect(service.sandbox.log.filter(({ status }) => status === 429)).not.toEqual([]);
      delay.ms = delayMs;
      for (let minute = 0; minute < 2; minute += 1) {
        nowMs += 60_000;
        const before = service.sandbox.log.length;
        await work(Array.from({ length: 200 }, (_, i) => codes[i % codes.length]));
        expect(receivedSince(before)).toBeLessThanOrEqual(5);
        expect(receivedSince(before) > 0).toBe(sent === 'five');
      }
    },
  );
});

describe.skipIf(!hasRedis)('three gateways on one key of the free plan', () => {
  it("three gateways on one key of the free plan don't each burn the minute", async () => {
    await using redis = await startRedis();
    let nowMs = START;
    const clock = { now: () => nowMs, sleep: async () => {} };
    await using service = await openProgram({ clock, sandbox: { now: clock.now } });
    const env = { CACHE_URL: redis.url, CACHE_TIMEOUT_MS: '10000' };
    const over = { clock, upstreamUrl: service.service.url, env };
    await using one = await openProgram(over);
    await using two = await openProgram(over);
    await using three = await openProgram(over);
    const gateways = [one, two, three];
    const { free: key } = service.sandbox.keys;
    const profiles = (codes: readonly string[]) =>
      Promise.all(
        codes.map((code, i) =>
          gateways[i % 3]?.ask(`{ country(code: "${code}") { profile { record } } }`, { key }),
        ),
      );
    // Six one after the other: the last is refused, and tells the plan.
    for (const code of ['KE', 'NG', 'GH', 'ZA', 'EG', 'MA']) {
      await gateways[code.charCodeAt(0) % 3]?.ask(`{ country(code: "${code}") { profile { record } } }`, {
        key,
      });
    }
    const refusedOf = () => service.sandbox.log.filter(({ status }) => status === 429).length;
    expect([service.sandbox.log.length, refusedOf()]).toEqual([6, 1]);

    nowMs += 30_000;
    const replies = await profiles(['TN', 'UG', 'TZ', 'RW', 'SN', 'ML', 'CI', 'CM', 'AO']);
    expect([service.sandbox.log.length, refusedOf()]).toEqual([11, 1]);
    expect(replies.filter((reply) => reply?.errors.length === 0)).toHaveLength(5);
    const refused = replies.flatMap((reply) => reply?.errors ?? []);
    expect(refused.map(({ extensions }) => [extensions.code, extensions.retryAt])).toEqual(
      Array.from({ length: 4 }, () => ['RATE_LIMITED', '2026-11-21T10:02:00.000Z']),
    );
    const { data } =
      (await three.ask('{ quota { callsThisMinute callsThisMonth plan state } }', { key })) ?? {};
    expect(data.quota).toEqual({
      callsThisMinute: 5,
      callsThisMonth: 11,
      plan: 'free',
      state: 'MINUTE_SPENT',
    });
  });
});
