import { expect, it } from 'vitest';
import type { KeyStore } from '../../src/plugins/issued-keys/key-store.ts';
import { COVERED_COUNTRIES } from '../../src/service/records/countries.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { startServing } from '../support/serving.ts';
import { holdReadings, openFolder, openIssuing } from './issuing.ts';

const GROUPS = ['a', 'b', 'c', 'd', 'e'];
const KEYS_A_GROUP = 4;
const GROUP_BUDGET = 40;
const KEY_BUDGET = 15;

/** Operations of one call each, another for each key. */
const COUNTRIES = [...COVERED_COUNTRIES];
const askedBy = (key: number) => `{ country(code: "${COUNTRIES[key]}") { offices { name } } }`;

type Issuing = Awaited<ReturnType<typeof openIssuing>>;

/** Opens a second gateway of the same service and clock. */
const openBeside = ({ service, clock }: Issuing, options: Parameters<typeof openIssuing>[0]) =>
  openIssuing({ ...options, upstreamUrl: service.url, clock });

it.skipIf(!hasRedis)(
  'two gateways of one Redis pass no budget, and their counts are what the service received',
  async () => {
    await using redis = await startRedis();
    const env = {
      CACHE_TIMEOUT_MS: '5000',
      CACHE_TTL_SECONDS: '0',
      STALE_IF_ERROR_SECONDS: '0',
      BATCH_WINDOW_MS: '0',
    };
    await using one = await openIssuing({ cacheUrl: redis.url, env });
    await using other = await openBeside(one, { cacheUrl: redis.url, env });
    const keys: string[] = [];
    for (const name of GROUPS)
      for (let i = 0; i < KEYS_A_GROUP; i += 1) {
        const group = { name, ...(i === 0 ? { perMonth: GROUP_BUDGET } : {}) };
        keys.push(await one.issue({ name: `${name}${i}`, group, perDay: KEY_BUDGET }));
      }
    let billed = 0;
    const codes = new Set<unknown>();
    for (let time = 0; time < 24; time += 1) {
      one.pass(15);
      const replies = await Promise.all(
        keys.map((key, i) => (time % 2 === i % 2 ? one : other).ask(askedBy(i), { key })),
      );
      for (const { upstream, errors } of replies) {
        billed += upstream.calls;
        for (const { extensions } of errors) codes.add(extensions.code);
      }
    }
    expect([...codes]).toEqual(['KEY_BUDGET_SPENT']);
    const received = one.requests().length;
    expect(received).toBe(billed);
    let counted = 0;
    for (const name of GROUPS) {
      let ofKeys = 0;
      let ofGroup = 0;
      for (let i = 0; i < KEYS_A_GROUP; i += 1) {
        const { usage } = await one.desk.show(`${name}${i}`);
        const month = usage.filter(({ window }) => window === 'month');
        ofKeys += month.find(({ of }) => of === 'key')?.calls ?? 0;
        ofGroup = month.find(({ of }) => of === 'group')?.calls ?? 0;
        expect(usage.find(({ window, of }) => window === 'day' && of === 'key')?.calls).toBeLessThanOrEqual(
          KEY_BUDGET,
        );
      }
      expect(ofGroup).toBe(ofKeys);
      expect(ofGroup).toBe(GROUP_BUDGET);
      counted += ofGroup;
    }
    expect(counted).toBe(received);
  },
);

it.skipIf(!hasRedis)(
  'a key that is revoked ends on both gateways within a second, and what one has fetched answers the other',
  async () => {
    const passMs = holdReadings();
    await using redis = await startRedis();
    const env = { CACHE_TIMEOUT_MS: '5000' };
    await using one = await openIssuing({ cacheUrl: redis.url, env });
    await using other = await openBeside(one, { cacheUrl: redis.url, env });
    const key = await one.issue({ name: 'page' });
    const query = '{ countries { code } }';
    const bills = [await one.ask(query, { key }), await other.ask(query, { key })];
    expect(bills.map(({ upstream }) => upstream.calls)).toEqual([1, 0]);
    await other.desk.revoke('page');
    passMs(1_000);
    for (const gateway of [one, other])
      await expect.poll(() => gateway.codes(query, { key })).toEqual(['UNAUTHENTICATED']);
    expect(one.requests()).toHaveLength(1);
    await redis.kill();
    const status = await one.ask(query, { key: one.sandbox.keys.team });
    expect(status.errors).toEqual([]);
  },
);

it('a store that is away lets nothing out that it cannot count', async () => {
  await using redis = hasRedis ? await startRedis() : null;
  if (redis === null) return;
  await using program = await openIssuing({ cacheUrl: redis.url, env: { CACHE_TIMEOUT_MS: '100' } });
  const key = await program.issue({ name: 'page' });
  expect(await program.codes('{ countries { code } }', { key })).toEqual([]);
  program.requests();
  await redis.kill();
  const codes = await program.codes('{ country(code: "KE") { offices { name } } }', { key });
  expect(codes).toEqual(['UPSTREAM_UNAVAILABLE']);
  expect(program.requests()).toEqual([]);
});

it('made-up keys with a right checksum ask the store so often, and no more', async () => {
  using folder = openFolder();
  await using program = await openIssuing(folder);
  const { makeKey } = await import('../../src/plugins/issued-keys/key.ts');
  const good = await program.issue({ name: 'page' });
  expect(await program.codes('{ countries { code } }', { key: good })).toEqual([]);
  const flood = Array.from({ length: 300 }, () => program.ask('{ countries { code } }', { key: makeKey() }));
  const asked = program.ask('{ countries { code } }', { key: good });
  const statuses = (await Promise.all(flood)).map(({ status }) => status);
  expect(statuses.every((status) => status === 401 || status === 503)).toBe(true);
  expect((await asked).errors).toEqual([]);
  expect(program.requests()).toHaveLength(1);
});

it.skipIf(!hasRedis)('a gateway that is killed under load has sent nothing that is not counted', async () => {
  await using redis = await startRedis();
  await using one = await openIssuing({ cacheUrl: redis.url });
  const env = {
    CACHE_URL: redis.url,
    CACHE_TIMEOUT_MS: '5000',
    CACHE_TTL_SECONDS: '0',
    STALE_IF_ERROR_SECONDS: '0',
    COUNTRY_DATA_URL: one.service.url,
    COUNTRY_DATA_KEY: 'demo-team',
    LOG_LEVEL: 'silent',
  };
  const gateways = [await startServing({ env }), await startServing({ env })];
  const keys: string[] = [];
  for (const name of ['a', 'b'])
    for (let i = 0; i < KEYS_A_GROUP; i += 1) {
      const group = { name, ...(i === 0 ? { perMonth: 60 } : {}) };
      keys.push(await one.issue({ name: `${name}${i}`, group }));
    }
  one.requests();
  let billed = 0;
  let lost = 0;
  const rounds = async (key: string, at: number, times: number) => {
    for (let time = 0; time < times; time += 1) {
      const country = COUNTRIES[(at * 6 + time) % COUNTRIES.length];
      const reply = await fetch(gateways[at % 2]?.url ?? '', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ query: `{ country(code: "${country}") { offices { name } } }` }),
      }).catch(() => null);
      // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
      const body = (await reply?.json().catch(() => null)) as any;
      if (body == null) lost += 1;
      else billed += body.extensions.upstream.calls;
      if (at === 1 && time === 8) gateways[1]?.child.kill('SIGKILL');
    }
  };
  await Promise.all(keys.map((key, at) => rounds(key, at, 40)));
  gateways[0]?.child.kill('SIGTERM');
  const received = one.requests().length;
  let counted = 0;
  for (const name of ['a', 'b']) {
    // Processes have the clock of the machine, and the desk here one of its own.
    const [ofGroup = 0] = await monthsOf(one.store, name);
    expect(ofGroup).toBeLessThanOrEqual(60);
    counted += ofGroup;
  }
  expect(lost).toBeGreaterThan(0);
  expect(billed).toBeLessThanOrEqual(received);
  expect(received).toBeLessThanOrEqual(counted);
  // Each key has one operation under way.
  expect(counted - billed).toBeLessThanOrEqual(keys.length);
});

/** Calls of a group in the month that the machine's clock is in. */
function monthsOf(store: KeyStore, group: string): Promise<readonly number[]> {
  const date = new Date();
  return store.read([`group:${group}:month:${date.getUTCFullYear() * 12 + date.getUTCMonth()}`]);
}
