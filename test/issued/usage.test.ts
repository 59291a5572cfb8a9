import { describe, expect, it } from 'vitest';
import { forecastsOf } from '../../src/plugins/issued-keys/key-desk.ts';
import type { UsageRow } from '../../src/plugins/issued-keys/key-store.ts';
import { Usage } from '../../src/plugins/issued-keys/usage.ts';
import { openKeyStore } from '../support/key-store.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { FIGURE, figureOf, openFolder, openIssuing, START } from './issuing.ts';

const DAY_SECONDS = 24 * 60 * 60;
const CODES = ['KE', 'NG', 'GH', 'ZA', 'EG', 'TZ', 'UG', 'RW', 'SN', 'ML'];

const STORES = ['SQLite', ...(hasRedis ? ['Redis'] : [])] as const;

async function openStoreOf(kind: (typeof STORES)[number]) {
  const folder = openFolder();
  const redis = kind === 'Redis' ? await startRedis() : null;
  return {
    cacheUrl: redis?.url ?? folder.cacheUrl,
    async [Symbol.asyncDispose]() {
      await redis?.[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

const sumOf = (rows: readonly { readonly calls: number }[]) =>
  rows.reduce((sum, { calls }) => sum + calls, 0);

const row = (names: Partial<UsageRow>, counts: UsageRow['counts'] = { operations: 1 }): UsageRow => ({
  day: '2026-03-10',
  key: 'page',
  client: '',
  document: '',
  counts,
  ...names,
});

describe('usage', () => {
  it('usage of issued keys is told by day, key, client and document, with errors by their codes', async () => {
    using folder = openFolder();
    await using program = await openIssuing(folder);
    const key = await program.issue({ name: 'page', tags: ['figures'], perMonth: 31 });
    const shop = await program.issue({ name: 'shop' });
    const named = FIGURE.replace('{', 'query Figure {');
    const web = { 'apollographql-client-name': 'web' };
    await program.ask(named, { key, headers: web });
    await program.ask(named, { key, headers: web });
    await program.ask(figureOf('NG'), { key: shop, headers: { 'x-graphql-client-name': 'shop\u00e9' } });
    await program.ask('{ country(code: "KE") { offices { name } } }', { key });
    program.pass(DAY_SECONDS);
    await program.ask(named, { key, headers: web });
    expect(program.requests()).toHaveLength(3);
    await program.gather();
    const { desk } = program;
    const { usage, forecasts } = await desk.usage({ days: 2 });
    const common = { failed: 0, calls: 1, shared: 0, errors: {} };
    expect(usage).toEqual([
      expect.objectContaining({
        ...common,
        day: '2026-03-10',
        key: 'page',
        client: 'web',
        document: 'Figure',
        operations: 2,
      }),
      {
        day: '2026-03-10',
        key: 'page',
        client: '',
        document: '',
        operations: 1,
        failed: 1,
        calls: 0,
        shared: 0,
        cached: 0,
        cacheShare: null,
        errors: { DOCUMENT_NOT_ALLOWED: 1 },
      },
      expect.objectContaining({ ...common, key: 'shop', client: 'shop?', operations: 1 }),
      expect.objectContaining({ ...common, day: '2026-03-11', key: 'page', client: 'web', operations: 1 }),
    ]);
    expect(usage[0]?.cacheShare).toBeGreaterThan(0);
    // Two calls in a day and no more, and 20.5 days to go.
    expect(forecasts[0]).toEqual({
      name: 'page',
      of: 'key',
      calls: 2,
      callsADay: 2,
      atMonthEnd: 43,
      limit: 31,
      spentOn: '2026-03-26',
    });
    expect((await desk.usage({ days: 1, name: 'shop' })).usage).toEqual([]);
    await expect(desk.usage({ days: 93 })).rejects.toThrow('up to 92');
    await expect(desk.usage({ name: 'none' })).rejects.toThrow('There is no key none.');
  });

  it('usage of issued keys counts what runs in one operation of several, and names listed documents', async () => {
    using folder = openFolder();
    await using program = await openIssuing(folder);
    const key = await program.issue({ name: 'page' });
    const queries = [
      'query A { health { status } }',
      'query B { country(code: "KE") { offices { name } } }',
      '{',
    ];
    const reply = await fetch(program.url, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(queries.map((query) => ({ query }))),
    });
    expect(await reply.json()).toHaveLength(3);
    await program.gather();
    const { usage } = await program.desk.usage({});
    expect(
      Object.fromEntries(usage.map(({ document, calls, errors }) => [document, [calls, errors]])),
    ).toEqual({
      A: [1, {}],
      B: [1, {}],
      '': [0, { GRAPHQL_PARSE_FAILED: 1 }],
    });
    expect(program.requests()).toHaveLength(2);
  });

  it.each(STORES)(
    'usage of issued keys of two gateways of one %s adds up to what the service received',
    async (kind) => {
      await using store = await openStoreOf(kind);
      const env = { CACHE_TIMEOUT_MS: '5000', CACHE_TTL_SECONDS: '0', BATCH_WINDOW_MS: '0' };
      await using one = await openIssuing({ ...store, env });
      const { service, clock } = one;
      const other = await openIssuing({ ...store, env, upstreamUrl: service.url, clock });
      const keys = await Promise.all(['a', 'b', 'c'].map((name) => one.issue({ name, perDay: 25 })));
      let asked = 0;
      let billed = 0;
      for (let time = 0; time < 6; time += 1) {
        one.pass(4 * 60 * 60);
        const replies = await Promise.all(
          CODES.slice(0, 5).flatMap((code) =>
            keys.map((key, i) => ((time + i) % 2 ? one : other).ask(figureOf(code), { key })),
          ),
        );
        asked += replies.length;
        for (const { upstream } of replies) billed += upstream.calls;
      }
      // Its end writes all that it has gathered.
      await other[Symbol.asyncDispose]();
      await one.gather();
      const { usage } = await one.desk.usage({});
      const received = one.requests().length;
      expect(received).toBeGreaterThan(0);
      expect([sumOf(usage), billed]).toEqual([received, received]);
      expect(usage.reduce((sum, { operations }) => sum + operations, 0)).toBe(asked);
      expect(new Set(usage.map(({ day }) => day)).size).toBe(2);
    },
  );

  it.each([...STORES, 'memory'] as const)(
    'usage of issued keys in %s is bounded, whatever names clients make up',
    async (kind) => {
      await using opened = await openStoreOf(kind);
      const store = await openKeyStore(kind === 'memory' ? 'memory:' : opened.cacheUrl, 1_000);
      const flood = Array.from({ length: 1_000 }, (_, i) =>
        row({ client: `made-up ${i}`, document: `D${i % 50}` }, { operations: 1, calls: 2, RATE_LIMITED: 1 }),
      );
      await store.addUsage(flood.slice(0, 500), 'first', '2026-01-01');
      await store.addUsage(flood.slice(500), 'second', '2026-01-01');
      await store.addUsage(
        [row({ document: 'D1000' }), row({ key: 'shop', client: 'web' })],
        'third',
        '2026-01-01',
      );
      const rows = await store.readUsage(['2026-03-10', '2026-03-11']);
      const page = rows.filter(({ key }) => key === 'page');
      expect(page).toHaveLength(151);
      expect(page.find(({ document }) => document === 'D1000')).toMatchObject({ client: 'other' });
      const sums = (measure: string) => page.reduce((sum, { counts }) => sum + (counts[measure] ?? 0), 0);
      expect(['operations', 'calls', 'RATE_LIMITED'].map(sums)).toEqual([1_001, 2_000, 1_000]);
      expect(rows.find(({ key }) => key === 'shop')).toEqual(row({ key: 'shop', client: 'web' }));
      const documents = Array.from({ length: 300 }, (_, i) => row({ document: `E${i}` }));
      await store.addUsage(documents, 'fourth', '2026-03-11');
      const bounded = await store.readUsage(['2026-03-10', '2026-03-11']);
      expect(bounded.length).toBeLessThanOrEqual(202);
      await store.addUsage([row({ day: '2026-03-12' })], 'fifth', '2026-03-11');
      if (kind !== 'Redis') expect(await store.readUsage(['2026-03-10'])).toEqual([]);
      await store.close();
    },
  );

  it('usage of issued keys waits for a store that is away, and is counted once', async () => {
    const sent: string[] = [];
    const kept: UsageRow[] = [];
    const store = await openKeyStore('memory:', 1_000);
    let isAway = true;
    const usage = new Usage(
      {
        ...store,
        async addUsage(rows, batch) {
          sent.push(batch);
          if (isAway) throw new Error('away');
          kept.push(...rows);
        },
      },
      () => START,
    );
    const noted = { name: null, calls: 1, shared: 0, cached: 0, errorCodes: [] };
    const key = { name: 'page' } as never;
    usage.note(key, '', 'A', noted);
    await usage.flush();
    usage.note(key, '', 'B', noted);
    isAway = false;
    await usage.flush();
    expect(kept.map(({ document }) => document)).toEqual(['A', 'B']);
    expect(sent).toHaveLength(3);
    expect(sent[0]).toBe(sent[1]);
  });

  it.skipIf(!hasRedis)(
    'usage of issued keys in Redis counts a batch once, though it was sent twice',
    async () => {
      await using opened = await openStoreOf('Redis');
      const store = await openKeyStore(opened.cacheUrl, 1_000);
      for (let time = 0; time < 2; time += 1) await store.addUsage([row({})], 'same', '2026-03-01');
      expect(await store.readUsage(['2026-03-10'])).toEqual([row({})]);
      await store.close();
    },
  );
});

describe('a forecast', () => {
  const key = (name: string, more: object = {}) =>
    ({ name, perMonth: null, group: null, createdAt: '2026-01-01T00:00:00Z', ...more }) as never;
  const NOON = Date.parse('2026-04-21T12:00:00Z');
  const calls = (day: string, count: number, of = 'page') =>
    row({ day, key: of }, { operations: 1, calls: count });

  it('a forecast goes on at the pace of the last week, for keys and their groups', () => {
    const group = { name: 'web', perMonth: 1_000, perDay: null, perMinute: null };
    const rows = [
      calls('2026-03-31', 500),
      calls('2026-04-02', 100),
      calls('2026-04-15', 65),
      calls('2026-04-21', 65),
      calls('2026-04-20', 130, 'shop'),
    ];
    const keys = [key('page', { group }), key('shop', { group, perMonth: 50 })];
    expect(forecastsOf(rows, keys, NOON)).toEqual([
      { name: 'page', of: 'key', calls: 230, callsADay: 20, atMonthEnd: 420, limit: null, spentOn: null },
      {
        name: 'shop',
        of: 'key',
        calls: 130,
        callsADay: 20,
        atMonthEnd: 320,
        limit: 50,
        spentOn: '2026-04-21',
      },
      { name: 'web', of: 'group', calls: 360, callsADay: 40, atMonthEnd: 740, limit: 1_000, spentOn: null },
    ]);
  });

  it('a forecast of a new key begins when it was made, and of an idle one is what it has spent', () => {
    const made = key('page', { createdAt: '2026-04-21T00:00:00Z' });
    expect(forecastsOf([calls('2026-04-21', 10)], [made], NOON)).toMatchObject([
      { callsADay: 20, atMonthEnd: 200 },
    ]);
    expect(forecastsOf([], [made], NOON)).toMatchObject([
      { calls: 0, callsADay: 0, atMonthEnd: 0, spentOn: null },
    ]);
  });
});
