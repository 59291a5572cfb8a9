import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../src/plugins/issued-keys/key.ts';
import { draws } from '../support/draws.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { threadMs } from '../support/thread-ms.ts';
import { FIGURE, figureOf, keep, openFolder, openIssuing } from './issuing.ts';

const OPERATOR_KEY = 'an-operator-of-ours';
const ADMIN = { ADMIN_PORT: '0', OPERATOR_KEY };
const ROUNDS = draws(30, 8);

type Issuing = Awaited<ReturnType<typeof openIssuing>>;

/** Asks at `ADMIN_PORT`; a body that is a text is sent as it is. */
async function admin({ adminUrl = '' }: Issuing, method: string, path: string, body?: unknown) {
  const response = await fetch(new URL(path, adminUrl), {
    method,
    headers: {
      authorization: `Bearer ${OPERATOR_KEY}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return { status: response.status, body: (await response.json()) as any };
}

describe.skipIf(!hasRedis)('changes of one key by two gateways of one Redis', () => {
  it('changes of one key by two gateways of one Redis have one order: what a revocation comes after works no more', async () => {
    await using redis = await startRedis();
    const options = { cacheUrl: redis.url, env: { ...ADMIN, CACHE_TIMEOUT_MS: '5000' } };
    await using one = await openIssuing(options);
    await using other = await openIssuing({ ...options, upstreamUrl: one.service.url, clock: one.clock });
    /** Keys that were told, and all of whose names were revoked. */
    const told: string[] = [];
    const versions = new Set<number>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const name = `page${round}`;
      const group = { name: `group${round}`, perDay: 10 };
      const created = await admin(one, 'POST', '/keys', { name, group });
      const [revoked, rotated, member] = await Promise.all([
        admin(other, 'DELETE', `/keys/${name}`),
        admin(one, 'POST', `/keys/${name}/rotate`),
        // Another budget of the group is written to all members.
        admin(one, 'POST', '/keys', { name: `${name}-b`, group: { ...group, perDay: 20 } }),
      ]);
      expect([created.status, revoked.status, member.status]).toEqual([201, 200, 201]);
      const isFirst = rotated.status === 201;
      const ofRevoked = revoked.body[0].version;
      if (isFirst) expect(rotated.body.version).toBeLessThan(ofRevoked);
      else expect([rotated.status, rotated.body.message]).toEqual([409, expect.stringContaining(name)]);
      for (const { version } of [
        created.body,
        revoked.body[0],
        member.body,
        ...(isFirst ? [rotated.body] : []),
      ])
        versions.add(version);
      told.push(created.body.key, ...(isFirst ? [rotated.body.key] : []));
      const { body } = await admin(one, 'GET', `/keys/${name}`);
      expect(body.keys.map(({ state }: { state: string }) => state)).toEqual(body.keys.map(() => 'revoked'));
      expect(body.keys.map(({ group }: { group: { perDay: number } }) => group.perDay)).toEqual(
        body.keys.map(() => 20),
      );
    }
    expect(versions.size).toBe(3 * ROUNDS + told.length - ROUNDS);
    for (const key of told)
      for (const gateway of [one, other])
        expect(await gateway.codes(FIGURE, { key })).toEqual(['UNAUTHENTICATED']);
    expect(one.requests()).toEqual([]);
  });

  it('changes of one key by two gateways of one Redis give one working key of twenty creations of one name at once', async () => {
    await using redis = await startRedis();
    const options = { cacheUrl: redis.url, env: { ...ADMIN, CACHE_TIMEOUT_MS: '5000' } };
    await using one = await openIssuing(options);
    await using other = await openIssuing({ ...options, upstreamUrl: one.service.url, clock: one.clock });
    const creations = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        admin(i % 2 === 0 ? one : other, 'POST', '/keys', { name: 'page' }),
      ),
    );
    const statuses = creations.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
    const { body } = await admin(other, 'GET', '/keys');
    expect(body.map(({ state }: { state: string }) => state)).toEqual(['active']);
  });
});

it('changes of one key in a file have one order, by the gateway and by commands beside it', async () => {
  using folder = openFolder();
  await using program = await openIssuing({ ...folder, env: ADMIN });
  for (let round = 0; round < ROUNDS; round += 1) {
    const name = `page${round}`;
    const creations = await Promise.allSettled([
      ...Array.from({ length: 4 }, () => program.desk.create({ name })),
      admin(program, 'POST', '/keys', { name }).then(({ status }) => {
        if (status !== 201) throw new Error(`${status}`);
      }),
    ]);
    expect(creations.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await Promise.allSettled([
      program.desk.rotate(name, 60),
      admin(program, 'DELETE', `/keys/${name}`),
      program.desk.rotate(name, 60),
    ]);
    const { keys } = await program.desk.show(name);
    expect(new Set(keys.map(({ state }) => state))).toEqual(new Set(['revoked']));
  }
});

describe('bodies and parameters of the operator', () => {
  it('bodies and parameters of the operator that are of another form are refused with 400, and change nothing', async () => {
    using folder = openFolder();
    await using program = await openIssuing({ ...folder, env: ADMIN });
    await program.issue({ name: 'page' });
    const before = await program.desk.list();
    const others = ['[]', '"x"', 'null', '1', 'true', '{', '{"overlap":60}'];
    const seconds = [1e15, 1e9, -1, 1.5, '60', null, [], {}].map((overlapSeconds) => ({ overlapSeconds }));
    const statuses: [unknown, number][] = [];
    for (const body of [...others, ...seconds])
      statuses.push([body, (await admin(program, 'POST', '/keys/page/rotate', body)).status]);
    const names = ['', 'a b', 'a'.repeat(65), 1, null];
    for (const body of [
      ...others,
      ...names.map((name) => ({ name })),
      { name: 'late', expiresAt: '2020-01-01T00:00:00Z' },
      { name: 'now', expiresAt: new Date(program.clock.clock.now()).toISOString() },
      { name: 'never', expiresAt: '+275760-09-13T00:00:00Z' },
      { name: 'dear', perDay: 1e15 },
      { name: 'grouped', group: [] },
      { name: 'tagged', tags: 'figures' },
      { name: 'paged', origins: {} },
    ])
      statuses.push([body, (await admin(program, 'POST', '/keys', body)).status]);
    for (const search of ['days=1&days=2', 'days=1e15', 'days=', 'days=x', 'key=a&key=b', 'days[]=1&days=-1'])
      statuses.push([search, (await admin(program, 'GET', `/usage?${search}`)).status]);
    expect(statuses).toEqual(statuses.map(([body]) => [body, 400]));
    expect(await program.desk.list()).toEqual(before);
    expect((await admin(program, 'POST', '/keys/page/rotate')).status).toBe(201);
    expect((await admin(program, 'POST', '/keys/page/rotate', {})).status).toBe(201);
  });
});

describe('a key whose kept text is damaged', () => {
  const DAMAGES: Readonly<Record<string, (text: string) => string>> = {
    'no JSON': () => '{"name":"pa',
    empty: () => '',
    null: () => 'null',
    'a list': () => '[]',
    'a number': () => '7',
    'wrong types': (text) => text.replace('"tags":[]', '"tags":"figures"'),
    'an unknown field': (text) => text.replace('{', '{"colour":"red",'),
    'the text of another key': (text) =>
      text.replace(/"digest":"[^"]+"/, `"digest":"${digestOf('another')}"`),
  };

  it.each(Object.entries(DAMAGES))(
    'a key whose kept text is damaged (%s) is refused in words, and its operator is told once',
    async (_, damage) => {
      using folder = openFolder();
      await using program = await openIssuing(folder);
      const key = await program.issue({ name: 'page' });
      const good = await program.issue({ name: 'good' });
      const text = (await program.store.all()).texts.find((one) => JSON.parse(one).name === 'page') ?? '';
      await keep(program.store, digestOf(key), damage(text));
      for (let times = 0; times < 3; times += 1) {
        const { status, errors, headers } = await program.ask(FIGURE, { key });
        expect([status, errors[0]?.extensions.code]).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
        expect(headers.get('retry-after')).toBe('60');
      }
      expect(program.requests()).toEqual([]);
      expect(program.problems).toHaveLength(1);
      expect(String(program.problems[0])).toMatch(/issued key.* works nowhere/);
      expect(String(program.problems[0])).not.toContain(digestOf(key));
      expect(await program.codes(FIGURE, { key: good })).toEqual([]);
      await keep(program.store, digestOf(key), text);
      await expect.poll(() => program.codes(FIGURE, { key })).toEqual([]);
      expect(program.requests()).toHaveLength(1);
    },
  );
});

/** Keeps all others from writing the file of keys, by a process of its own, until it is ended. */
async function lock(path: string) {
  const code = `const { DatabaseSync } = require('node:sqlite');
    const db = new DatabaseSync(${JSON.stringify(path)});
    db.exec('BEGIN EXCLUSIVE');
    console.log('locked');
    process.stdin.on('end', () => process.exit()).resume();`;
  const child = spawn(process.execPath, ['--no-warnings', '-e', code], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return {
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}

/**
 * Watches for how long the event loop stands still without working, as it does in a synchronous wait. Work takes as long as
 * a busy machine makes it.
 */
function watchStandstill() {
  let longestMs = 0;
  let [atMs, used] = [performance.now(), process.threadCpuUsage()];
  const look = () => {
    longestMs = Math.max(longestMs, performance.now() - atMs - threadMs(used));
    [atMs, used] = [performance.now(), process.threadCpuUsage()];
  };
  const timer = setInterval(look, 10);
  return {
    /** Ends the watch. */
    longestMs() {
      clearInterval(timer);
      look();
      return longestMs;
    },
  };
}

describe('a file of keys that another process has locked', () => {
  it('a file of keys that another process has locked holds up nobody, and lets no call out that is not counted', async () => {
    using folder = openFolder();
    await using program = await openIssuing({ ...folder, env: { STALE_IF_ERROR_SECONDS: '0' } });
    const key = await program.issue({ name: 'page', visitorPerMinute: 1_000 });
    expect(await program.codes(FIGURE, { key })).toEqual([]);
    program.requests();
    const paths = ['/health/live', '/health/ready'].map((path) => new URL(path, program.url));
    {
      await using _locked = await lock(`${folder.path}/figures.db.keys`);
      const standstill = watchStandstill();
      let isRefused = false;
      const others = ['NG', 'GH', 'ZA', 'TZ'].map(async (code) => {
        const codes = await program.codes(figureOf(code), { key });
        isRefused = true;
        return codes;
      });
      let rounds = 0;
      for (; !isRefused; rounds += 1) {
        for (const path of paths) expect(await (await fetch(path)).text()).not.toBe('');
        expect(await program.codes(FIGURE, { key })).toEqual([]);
      }
      // The others wait for a second, and what is held for none of it. The last round may have ended after they were refused.
      expect(rounds).toBeGreaterThan(1);
      for (const codes of await Promise.all(others)) expect(codes).toEqual(['UPSTREAM_UNAVAILABLE']);
      // One synchronous wait for the lock took a second.
      expect(standstill.longestMs()).toBeLessThan(800);
      expect(program.requests()).toEqual([]);
    }
    program.pass(2);
    expect(await program.codes(figureOf('NG'), { key })).toEqual([]);
    expect(program.requests()).toHaveLength(1);
  });

  it('a file of keys that another process has locked keeps no gateway from its start, nor a key from what is held', async () => {
    using folder = openFolder();
    await using first = await openIssuing(folder);
    const key = await first.issue({ name: 'page' });
    expect(await first.codes(FIGURE, { key })).toEqual([]);
    first.requests();
    await using _locked = await lock(`${folder.path}/figures.db.keys`);
    await using second = await openIssuing({ ...folder, upstreamUrl: first.service.url, clock: first.clock });
    expect(await second.codes(FIGURE, { key })).toEqual([]);
    await expect(second.desk.revoke('page')).rejects.toThrow(/locked/);
    expect(first.requests()).toEqual([]);
  });
});
