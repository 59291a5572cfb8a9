import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { KeyDesk } from '../../src/plugins/issued-keys/key-desk.ts';
import {
  begin,
  CHANGED,
  connect,
  open,
  openLive,
  POPULATION,
  START,
  subscriptionsOf,
  TRANSPORTS,
} from '../live/live.ts';
import { openKeyStore } from '../support/key-store.ts';
import { settled } from '../support/quiet.ts';
import { keep, openFolder } from './issuing.ts';

/** A gateway with subscriptions that holds the team's key, and the desk of its operator. */
async function openIssuingLive(env: Readonly<Record<string, string>> = {}) {
  const folder = openFolder();
  const program = await openLive({
    env: { CACHE_URL: folder.cacheUrl, COUNTRY_DATA_KEY: 'demo-team', ...env },
  });
  const store = await openKeyStore(folder.cacheUrl, 1_000);
  const desk = new KeyDesk(store, () => START);
  const close = program[Symbol.asyncDispose].bind(program);
  return Object.assign(program, {
    desk,
    store,
    issue: async (terms: object) => (await desk.create(terms)).key,
    /** Calls of a key's own budget today. */
    async paid(name: string) {
      const { usage } = await desk.show(name);
      return usage.find(({ window, of }) => window === 'day' && of === 'key')?.calls;
    },
    async [Symbol.asyncDispose]() {
      await close();
      await store.close();
      folder[Symbol.dispose]();
    },
  });
}

const SUBSCRIBED = { query: CHANGED.replace('subscription', 'subscription Watch'), variables: POPULATION };

describe.each(TRANSPORTS)('a subscription over %s by an issued key', (transport) => {
  it('a subscription by an issued key is told changes, and the budget of the key pays each call of them', async () => {
    await using program = await openIssuingLive();
    const key = await program.issue({ name: 'page', perDay: 100_000 });
    const [told] = await begin(program, () => open(program, transport, { key }).subscribe(SUBSCRIBED));
    program.revise('world_bank_wdi', 'population_total', 2);
    await program.round();
    await expect.poll(() => told?.results.length).toBe(1);
    expect(told?.results[0].data.observationsChanged.changes).toHaveLength(1);
    expect(told?.results[0].extensions.upstream.calls).toBe(5);
    const sent = program.requests().length;
    expect(sent).toBe(5);
    expect(await program.paid('page')).toBe(sent);
    // Usage knows the calls while it goes on, and the operation once it is over.
    await program.issued?.usage.flush();
    const usage = async () => (await program.desk.usage({ days: 1 })).usage;
    expect(await usage()).toMatchObject([{ key: 'page', document: 'Watch', calls: sent, operations: 0 }]);
    told?.stop();
    await expect.poll(() => subscriptionsOf(program)).toBe(0);
    await program.issued?.usage.flush();
    expect(await usage()).toMatchObject([{ key: 'page', calls: sent, operations: 1 }]);
  });

  it('a subscription by an issued key goes on while nobody can read what is kept of the key, and so does the program', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    await using program = await openIssuingLive();
    const key = await program.issue({ name: 'page' });
    const [told] = await begin(program, () => open(program, transport, { key }).subscribe(SUBSCRIBED));
    const [text = '{}'] = (await program.store.all()).texts;
    const kept = JSON.parse(text);
    // As another release of the gateway may write it.
    await keep(program.store, kept.digest, JSON.stringify({ ...kept, colour: 'red' }));
    await vi.advanceTimersByTimeAsync(3_000);
    await settled(program);
    expect(told?.isOver).toBe(false);
    await keep(program.store, kept.digest, text);
    program.requests();
    await program.desk.revoke('page');
    await vi.advanceTimersByTimeAsync(1_000);
    await expect.poll(() => told?.isOver).toBe(true);
    expect(program.requests()).toEqual([]);
  });

  it('a subscription by an issued key ends within a second once the key is revoked, and no call follows', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    await using program = await openIssuingLive();
    const [kept, revoked] = [await program.issue({ name: 'kept' }), await program.issue({ name: 'revoked' })];
    const [stays, ends] = await begin(
      program,
      () => open(program, transport, { key: kept }).subscribe(SUBSCRIBED),
      () => open(program, transport, { key: revoked }).subscribe(SUBSCRIBED),
    );
    program.requests();
    await program.desk.revoke('revoked');
    await vi.advanceTimersByTimeAsync(999);
    // No look follows those of the second, however long it takes until the client is told.
    vi.useRealTimers();
    await expect.poll(() => ends?.isOver, { interval: 20 }).toBe(true);
    expect(ends?.results).toMatchObject([
      { data: null, errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] },
    ]);
    expect([stays?.isOver, await subscriptionsOf(program)]).toEqual([false, 1]);
    expect(program.requests()).toEqual([]);
  });

  it('a subscription by an issued key pauses while the budget is spent, and says until when', async () => {
    await using program = await openIssuingLive();
    const key = await program.issue({ name: 'page', perDay: 3 });
    const [told] = await begin(program, () => open(program, transport, { key }).subscribe(SUBSCRIBED));
    expect(program.requests()).toHaveLength(3);
    program.revise('world_bank_wdi', 'population_total', 2);
    await program.round();
    await expect.poll(() => told?.results.length).toBe(1);
    expect(told?.results[0].extensions).toMatchObject({
      upstream: { calls: 3 },
      warnings: [
        { code: 'SUBSCRIPTION_PAUSED', reason: 'KEY_BUDGET_SPENT', resumesAt: '2026-11-11T00:00:00.000Z' },
      ],
    });
    expect(program.requests()).toEqual([]);
    expect(await program.paid('page')).toBe(3);
    // The next day it goes on by itself.
    await program.round(12 * 3_600);
    await expect.poll(() => told?.results.length).toBe(2);
    expect(told?.results[1].data.observationsChanged.changes).toHaveLength(1);
    expect(program.requests().length).toBeGreaterThan(0);
  });

  it('a subscription by an issued key is refused by the terms of the key, at no call', async () => {
    await using program = await openIssuingLive();
    const keys = {
      ORIGIN_NOT_ALLOWED: await program.issue({ name: 'page', origins: ['https://app.example'] }),
      DOCUMENT_NOT_ALLOWED: await program.issue({ name: 'markets', tags: ['markets'] }),
      KEY_EXPIRED: await program.issue({ name: 'old', expiresAt: '2026-11-10T12:01:00Z' }),
      UNAUTHENTICATED: 'cgk_0000000000000000000000aaaaaa',
    };
    program.pass(60);
    for (const [code, key] of Object.entries(keys)) {
      const client = connect(program.url, transport, { key });
      const told = client.subscribe(SUBSCRIBED);
      await expect.poll(() => told.isOver).toBe(true);
      // A stream of events is refused as such.
      const isStream = code === 'UNAUTHENTICATED' && transport !== 'ws';
      if (isStream) expect(told.failures).toMatchObject([{ response: { status: 401 } }]);
      else expect(JSON.stringify([told.results, told.failures])).toContain(code);
      client.dispose();
    }
    expect(program.requests()).toEqual([]);
    expect(await subscriptionsOf(program)).toBe(0);
  });
});

it.each([
  ['127.0.0.0/8', [null, 'RATE_LIMITED', null]],
  ['203.0.113.0/24', [null, 'RATE_LIMITED', 'RATE_LIMITED']],
])('a visitor over a WebSocket is the one that a trusted proxy tells of (%s)', async (proxies, expected) => {
  await using program = await openIssuingLive({ TRUSTED_PROXIES: proxies });
  const key = await program.issue({ name: 'page', visitorPerMinute: 1 });
  const refusals = [];
  for (const from of ['10.9.9.1, 203.0.113.7', '10.9.9.2, 203.0.113.7', '203.0.113.8']) {
    const opened = await subscriptionsOf(program);
    const told = open(program, 'ws', { key, from }).subscribe(SUBSCRIBED);
    await expect.poll(async () => told.isOver || (await subscriptionsOf(program)) > opened).toBe(true);
    refusals.push(/RATE_LIMITED/.exec(JSON.stringify([told.results, told.failures]))?.[0] ?? null);
  }
  expect(refusals).toEqual(expected);
  // Subscriptions that watch the same things take the same calls.
  expect(program.requests()).toHaveLength(3);
});

describe('one visitor of a page', () => {
  const MOST = 20;
  const env = { TRUSTED_PROXIES: '127.0.0.0/8', MAX_SUBSCRIPTIONS: String(MOST) };
  /** A stream of server-sent events by a request of its own, from an address that a proxy tells. */
  const stream = (url: string, key: string, from: string, signal: AbortSignal) =>
    fetch(`${url}/stream`, {
      method: 'POST',
      signal,
      headers: {
        authorization: `Bearer ${key}`,
        accept: 'text/event-stream',
        'content-type': 'application/json',
        'x-forwarded-for': from,
        origin: 'https://app.example',
      },
      body: JSON.stringify(SUBSCRIBED),
    });

  it.for([
    [{ origins: ['https://app.example'] }, MOST / 4],
    [{ origins: ['https://app.example'], visitorPerMinute: 100 }, MOST / 4],
    [{ visitorPerMinute: 3 }, 3],
  ] as const)('one visitor of a page leaves the streams of the key to others: %o', async ([terms, share]) => {
    await using program = await openIssuingLive(env);
    const key = await program.issue({ name: 'page', ...terms });
    const leaving = new AbortController();
    // One visitor, by whatever spelling and port.
    for (let i = 0; i < MOST; i += 1) {
      const address = `[2001:db8::${(i + 1).toString(16)}]:${4_000 + i}`;
      void stream(program.url, key, address, leaving.signal).catch(() => {});
    }
    await expect.poll(() => subscriptionsOf(program)).toBe(share);
    const others = ['203.0.113.7', '2001:db8:0:1::1'];
    for (const address of others) void stream(program.url, key, address, leaving.signal).catch(() => {});
    await expect.poll(() => subscriptionsOf(program)).toBe(share + others.length);
    // Whoever leaves makes room for themselves.
    leaving.abort();
    await expect.poll(() => subscriptionsOf(program)).toBe(0);
    const again = new AbortController();
    if (!('visitorPerMinute' in terms) || terms.visitorPerMinute > MOST + 2) {
      void stream(program.url, key, '[2001:db8::99]:1', again.signal).catch(() => {});
      await expect.poll(() => subscriptionsOf(program)).toBe(1);
      again.abort();
    }
    // All of them watch the same.
    expect(program.requests()).toHaveLength(3);
  });

  it('one visitor of a page who has too many streams is told so', async () => {
    await using program = await openIssuingLive({ ...env, MAX_SUBSCRIPTIONS: '4' });
    const key = await program.issue({ name: 'page', visitorPerMinute: 10 });
    const first = open(program, 'ws', { key, from: '203.0.113.7' });
    await begin(program, () => first.subscribe(SUBSCRIBED));
    const second = open(program, 'ws', { key, from: '203.0.113.7:99' }).subscribe(SUBSCRIBED);
    await expect.poll(() => second.isOver).toBe(true);
    expect(JSON.stringify([second.results, second.failures])).toMatch(
      /One visitor may have 1 subscriptions by this key at once.*OPERATION_TOO_EXPENSIVE/,
    );
    await begin(program, () => open(program, 'ws', { key, from: '203.0.113.8' }).subscribe(SUBSCRIBED));
  });

  it('one visitor of a page is not told of under a key that is for no page', async () => {
    await using program = await openIssuingLive({ ...env, MAX_SUBSCRIPTIONS: '4' });
    const key = await program.issue({ name: 'server' });
    const client = open(program, 'ws', { key });
    await begin(program, ...Array.from({ length: 4 }, () => () => client.subscribe(SUBSCRIBED)));
  });

  it('one visitor of a page reserves no more than a share of streams', async () => {
    await using program = await openIssuingLive(env);
    const key = await program.issue({ name: 'page', origins: ['https://app.example'] });
    const reserve = async (from: string) => {
      const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': from };
      return (await fetch(`${program.url}/stream`, { method: 'PUT', headers })).status;
    };
    const statuses = [];
    for (let i = 0; i < 30; i += 1) statuses.push(await reserve(`203.0.113.7:${i}`));
    expect(statuses.filter((status) => status === 201)).toHaveLength(25);
    expect(statuses.filter((status) => status === 503)).toHaveLength(5);
    expect(await reserve('203.0.113.8')).toBe(201);
    expect(program.requests()).toEqual([]);
  });
});

it('subscriptions of two keys share looks and figures, and each pays its own', async () => {
  await using program = await openIssuingLive();
  const [one, other] = [await program.issue({ name: 'one' }), await program.issue({ name: 'other' })];
  const told = await begin(
    program,
    () => open(program, 'ws', { key: one }).subscribe(SUBSCRIBED),
    () => open(program, 'sse', { key: other }).subscribe(SUBSCRIBED),
  );
  program.revise('world_bank_wdi', 'population_total', 2);
  await program.round();
  for (const each of told) await expect.poll(() => each.results.length).toBe(1);
  await settled(program);
  const sent = program.requests().length;
  expect(((await program.paid('one')) ?? 0) + ((await program.paid('other')) ?? 0)).toBe(sent);
  // Alone, a key would have taken five.
  expect(sent).toBeLessThan(9);
});
