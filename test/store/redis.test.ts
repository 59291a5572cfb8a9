import { createClient } from '@redis/client';
import { describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { movingClock } from '../support/moving-clock.ts';
import { openProgram } from '../support/program.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { startSandbox } from '../support/sandbox-service.ts';
import { servingStarter } from '../support/serving.ts';

const start = servingStarter({ isLogKept: true });

/** A gateway as a user starts it, in a process of its own. */
async function startGateway(env: Record<string, string>) {
  const { url, errors } = await start(env);
  return {
    errors,
    async ask(query: string, key = 'demo-team') {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ query }),
      });
      // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
      const { data, errors = [], extensions } = (await response.json()) as any;
      return { data, errors, upstream: extensions.upstream };
    },
  };
}

const figures = (codes: readonly string[]) =>
  `{ countries { code } observations(countryCodes: ${JSON.stringify(codes)}, metricKeys: ["population_total", "life_expectancy"], latest: true) { value country { code } } }`;

const CODES = ['KE', 'NG', 'GH', 'ZA', 'EG', 'MA', 'TN', 'UG', 'TZ', 'RW'];

describe.skipIf(!hasRedis)('two gateways over one Redis', () => {
  it('two gateways over one Redis answer for each other, and fetch only what neither has', async () => {
    await using redis = await startRedis();
    await using service = await startSandbox();
    // Waits so long that a busy machine is no Redis that is away.
    const env = { CACHE_URL: redis.url, COUNTRY_DATA_URL: service.url, CACHE_TIMEOUT_MS: '2000' };
    const [one, other] = await Promise.all([startGateway(env), startGateway(env)]);

    const first = await one.ask(figures(['KE', 'NG']));
    expect(first).toMatchObject({ errors: [], upstream: { calls: 2, cached: 0 } });
    const second = await other.ask(figures(['KE', 'NG']));
    expect(second).toMatchObject({ data: first.data, errors: [], upstream: { calls: 0, cached: 5 } });
    const third = await other.ask(figures(['NG', 'GH']));
    expect(third).toMatchObject({ errors: [], upstream: { calls: 1, cached: 3 } });
    expect(service.log.map(({ route, query }) => [route, query.country_codes])).toEqual([
      ['/v1/countries', undefined],
      ['/v1/data', 'KE,NG'],
      ['/v1/data', 'GH'],
    ]);
    // Answers the first with figures that the second fetched.
    expect(await one.ask(figures(['GH', 'KE']))).toMatchObject({ upstream: { calls: 0 } });
    expect([one.errors(), other.errors()].join('')).not.toContain('problem');
  });

  it('two gateways over one Redis know a key by one name, though one of them started before the Redis', async () => {
    const port = await freePort();
    await using service = await startSandbox();
    const gateway = { env: { CACHE_URL: `redis://127.0.0.1:${port}` }, upstreamUrl: service.url };
    await using one = await openProgram(gateway);
    await one.ask(figures(['KE']));
    await using _redis = await startRedis(port);
    await using other = await openProgram(gateway);
    await other.ask(figures(['KE']));
    // Each figure is new to both, since memory stands in for a Redis that is away.
    const codes = CODES.slice(1);
    const found = async () => {
      const code = codes.shift() ?? '';
      await one.ask(figures([code]));
      return (await other.ask(figures([code]))).upstream.calls;
    };
    await expect.poll(found, { timeout: 10_000, interval: 300 }).toBe(0);
  });

  it('two gateways over one Redis hear of a refusal from each other', async () => {
    await using redis = await startRedis();
    await using service = await startSandbox();
    const env = { CACHE_URL: redis.url, COUNTRY_DATA_URL: service.url };
    const [one, other] = await Promise.all([startGateway(env), startGateway(env)]);
    await one.ask(figures(['KE']));
    const client = createClient({ url: redis.url });
    await client.connect();
    const held = async () => (await client.keys('*:held:*')).length;
    await expect.poll(held).toBeGreaterThan(2);
    service.faults.set({ kind: 'status', status: 401 });
    await one.ask(figures(['NG']));
    // Removes the key's entries, beyond ignoring them.
    await expect.poll(held).toBe(0);
    await client.close();
    const { data, errors } = await other.ask(figures(['KE']));
    expect([data.countries, data.observations, errors.length]).toEqual([null, null, 2]);
  });

  it('two gateways over one Redis leave no key in it, in clear or coded, and nothing that stays for ever but the pepper', async () => {
    await using redis = await startRedis();
    await using service = await startSandbox();
    const gateway = await startGateway({ CACHE_URL: redis.url, COUNTRY_DATA_URL: service.url });
    for (const key of ['demo-team', 'demo-analyst', 'nobody-knows-me'])
      await gateway.ask(figures(CODES), key);
    const client = createClient({ url: redis.url });
    await client.connect();
    const names = await client.keys('*');
    const values = await Promise.all(
      names.map(async (name) => ((await client.type(name)) === 'string' ? client.get(name) : '')),
    );
    const ttls = await Promise.all(names.map((name) => client.pTTL(name)));
    await client.close();
    const dump = [...names, ...values].join('\n');
    expect(names.length).toBeGreaterThan(40);
    expect(dump).toContain('population_total');
    for (const key of ['demo-team', 'demo-analyst', 'nobody-knows-me']) {
      expect(dump).not.toContain(key);
      expect(dump).not.toContain(Buffer.from(key).toString('base64'));
    }
    // Reads -2 for names that have gone since they were listed.
    expect(names.filter((_, i) => (ttls[i] ?? -1) === -1)).toEqual(['country-graph:pepper']);
  });
});

describe.skipIf(!hasRedis)('a Redis that dies in the middle of a load run and comes back', () => {
  it('a Redis that dies in the middle of a load run and comes back fails no operation', async () => {
    const first = await startRedis();
    await using service = await startSandbox();
    const env = { CACHE_URL: first.url, COUNTRY_DATA_URL: service.url, CACHE_TIMEOUT_MS: '100' };
    const gateways = await Promise.all([startGateway(env), startGateway(env)]);
    let isOver = false;
    let answered = 0;
    const failures: unknown[] = [];
    const load = async (n: number) => {
      for (let i = n; !isOver; i += 1) {
        const gateway = gateways[i % 2] as (typeof gateways)[number];
        const codes = [CODES[i % 10], CODES[(i * 3 + 1) % 10]].map(String);
        const { data, errors } = await gateway.ask(figures(codes));
        const isWhole =
          data?.countries?.length === 54 && data.observations?.length === 2 * new Set(codes).size;
        if (errors.length > 0 || !isWhole) failures.push(errors);
        else answered += 1;
      }
    };
    const loads = Array.from({ length: 4 }, (_, n) => load(n));
    await expect.poll(() => answered, { timeout: 10_000 }).toBeGreaterThan(50);
    await first.kill();
    const atDeath = answered;
    await expect.poll(() => answered - atDeath, { timeout: 10_000 }).toBeGreaterThan(50);
    await using second = await startRedis(first.port);
    const atReturn = answered;
    await expect.poll(() => answered - atReturn, { timeout: 10_000 }).toBeGreaterThan(50);
    // Uses it again once it is back.
    await expect
      .poll(
        async () => {
          const upstream = (await gateways[0]?.ask(figures(['KE'])))?.upstream;
          return upstream.calls;
        },
        { timeout: 15_000, interval: 200 },
      )
      .toBe(0);
    isOver = true;
    await Promise.all(loads);
    expect(second.port).toBe(first.port);
    expect(failures).toEqual([]);
  });
});

it.skipIf(!hasRedis)('a store is asked but once a moment for a list of names that nobody holds', async () => {
  await using redis = await startRedis();
  const { clock } = movingClock(Date.now());
  const env = { CACHE_URL: redis.url, ANSWERS_MAX_BYTES: '0', CACHE_RENEWAL: 'off' };
  await using program = await openProgram({ clock, sandbox: { now: clock.now }, env });
  const query = '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }';
  const ask = async () => (await program.ask(query)).upstream;
  for (let i = 0; i < 3; i += 1) await ask();
  const client = await createClient({ url: redis.url }).connect();
  const reads = async () => Number(/cmdstat_mget:calls=(\d+)/.exec(await client.info('commandstats'))?.[1]);
  const before = await reads();
  for (let i = 0; i < 10; i += 1) expect(await ask()).toMatchObject({ calls: 0 });
  const taken = (await reads()) - before;
  await client.close();
  // The figure alone, and now and then one once more, as a busy Redis is late; with the list it would be 20.
  expect(taken).toBeLessThan(15);
});
