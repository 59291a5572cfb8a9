import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { hasRedis, startRedis } from '../support/redis.ts';
import { startSandbox } from '../support/sandbox-service.ts';
import { type Serving, servingStarter } from '../support/serving.ts';

const folder = mkdtempSync(join(tmpdir(), 'country-graph-'));
afterAll(() => rmSync(folder, { recursive: true }));

const startService = (latencyMs = 100) => startSandbox({ latencyMs });

const start = servingStarter({
  env: { GRAPHIQL: 'off', MAX_CONCURRENT_OPERATIONS: '2000' },
  isLogKept: true,
});

async function ask(url: string, query: string, variables?: object, key = 'demo-team') {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, connection: 'close' },
    body: JSON.stringify({ query, variables }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  const { data, errors = [], extensions } = (await response.json()) as any;
  return { data, errors, upstream: extensions?.upstream };
}

/** Stands before a Redis, and has the reply to a lease come late, once it is told to. */
async function startLate(port: number, lateMs: number) {
  let isNextLate = false;
  const server = createServer((client) => {
    const redis = connect(port, '127.0.0.1');
    let holdUntilMs = 0;
    client.on('data', (chunk) => {
      if (isNextLate && chunk.includes('lease:')) {
        isNextLate = false;
        holdUntilMs = performance.now() + lateMs;
      }
      redis.write(chunk);
    });
    redis.on('data', (chunk) => {
      const leftMs = holdUntilMs - performance.now();
      if (leftMs > 0) setTimeout(() => client.write(chunk), leftMs);
      else client.write(chunk);
    });
    for (const [end, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      end.on('error', () => {});
      end.on('close', () => other.destroy());
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    next() {
      isNextLate = true;
    },
    async [Symbol.asyncDispose]() {
      server.close();
    },
  };
}

const METRICS = ['population_total', 'life_expectancy', 'gdp_current_usd', 'inflation_cpi'];
const CODES =
  'AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG ER ET GA GH GM GN GQ GW KE KM LR LS LY MA MG ML MR MU MW MZ NA NE NG RW SC SD SL SN SO SS ST SZ TD TG TN TZ'.split(
    ' ',
  );
const FIGURE =
  'query ($code: CountryCode!, $metric: String!) { country(code: $code) { name observation(metricKey: $metric) { value } } }';
/** Demands of operations, no two of which want the same figure. */
const WANTED = CODES.flatMap((code) => METRICS.map((metric) => ({ code, metric })));

/** Operations of each of two gateways: so many reach both within the second that a batch may be gathered in, in CI too. */
const EACH = 100;

/**
 * Has a gateway load the code that runs operations, and learn that the key is good; it holds no wanted figure
 * then.
 */
async function warmUp({ url }: Serving): Promise<void> {
  for (let i = 0; i < 10; i += 1) await ask(url, FIGURE, { code: 'ZA', metric: 'population_total' });
}

/**
 * Asks so many operations of each address at once; those that a busy machine makes it refuse are asked again.
 */
const askAll = (urls: readonly string[], count = WANTED.length) =>
  Promise.all(
    urls.flatMap((url) =>
      WANTED.slice(0, count).map(async (wanted) => {
        for (;;) {
          const reply = await ask(url, FIGURE, wanted);
          if (reply.errors[0]?.extensions.code !== 'OVERLOADED') return reply;
          await pause(100);
        }
      }),
    ),
  );

const callsOf = (replies: readonly { readonly upstream: { readonly calls: number } }[]) =>
  replies.reduce((sum, { upstream }) => sum + upstream.calls, 0);

describe.skipIf(!hasRedis)('two gateways over one Redis that are asked the same at once', () => {
  it('two gateways over one Redis that are asked the same at once make the calls of one: 200 cold operations', async () => {
    await using service = await startService();
    // However busy the machine is, the operations that are sent at once are a batch.
    const gathering = { COUNTRY_DATA_URL: service.url, BATCH_WINDOW_MS: '1000' };
    const alone = await start({ ...gathering, CACHE_URL: 'memory:' });
    await warmUp(alone);
    service.log.clear();
    const expected = await askAll([alone.url], EACH);
    const callsOfOne = service.log.length;
    expect(callsOf(expected)).toBe(callsOfOne);

    await using redis = await startRedis();
    const env = { ...gathering, CACHE_URL: redis.url, CACHE_TIMEOUT_MS: '2000' };
    const [one, other] = await Promise.all([start(env), start(env)]);
    await Promise.all([warmUp(one), warmUp(other)]);
    service.log.clear();
    const replies = await askAll([one.url, other.url], EACH);
    expect(replies.flatMap(({ errors }) => errors).slice(0, 2)).toEqual([]);
    expect(replies.map(({ data }) => data)).toEqual([...expected, ...expected].map(({ data }) => data));
    expect(service.log.map(({ path, query }) => [path, query.country_codes])).toHaveLength(callsOfOne);
    expect(callsOf(replies)).toBe(callsOfOne);
    // Operations that took over another's demands say so.
    expect(replies.filter(({ upstream }) => upstream.shared > 0).length).toBeGreaterThan(EACH);
  });

  it('two gateways over one Redis that are asked the same at once keep keys apart', async () => {
    await using service = await startService();
    await using redis = await startRedis();
    const env = { COUNTRY_DATA_URL: service.url, CACHE_URL: redis.url };
    const [one, other] = await Promise.all([start(env), start(env)]);
    const replies = await Promise.all([
      ask(one.url, FIGURE, WANTED[0]),
      ask(other.url, FIGURE, WANTED[0], 'demo-analyst'),
    ]);
    expect(replies.map(({ errors, upstream }) => [errors, upstream.calls])).toEqual([
      [[], 2],
      [[], 2],
    ]);
  });

  it('two gateways over one Redis that are asked the same at once ask for themselves where the one that was at it fails, or is killed', async () => {
    await using service = await startService(1_000);
    await using redis = await startRedis();
    const env = { COUNTRY_DATA_URL: service.url, CACHE_URL: redis.url };
    const [one, other] = await Promise.all([start(env), start(env)]);
    const query =
      '{ observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) { value } }';
    const lost = ask(one.url, query).catch(() => 'lost');
    await expect.poll(() => service.log.length, { timeout: 10_000 }).toBe(1);
    const waiting = ask(other.url, query);
    await pause(300);
    one.child.kill('SIGKILL');
    expect(await lost).toBe('lost');
    // The lease ends by itself.
    expect(await waiting).toMatchObject({ errors: [], upstream: { calls: 1 } });
    expect(service.log).toHaveLength(2);
  });

  it('two gateways over one Redis that are asked the same at once wait no longer for one whose lease is told late', async () => {
    await using service = await startService(700);
    await using redis = await startRedis();
    await using late = await startLate(redis.port, 400);
    const env = { COUNTRY_DATA_URL: service.url, CACHE_TIMEOUT_MS: '250' };
    const one = await start({ ...env, CACHE_URL: late.url });
    const other = await start({ ...env, CACHE_URL: redis.url });
    const query =
      '{ observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) { value } }';
    late.next();
    const first = ask(one.url, query);
    await expect.poll(() => service.log.length, { timeout: 10_000 }).toBe(1);
    const startedMs = performance.now();
    expect(await ask(other.url, query)).toMatchObject({ errors: [] });
    // A lease that nobody ended had others wait for five seconds.
    expect(performance.now() - startedMs).toBeLessThan(3_000);
    expect(await first).toMatchObject({ errors: [] });
    expect(service.log).toHaveLength(1);
  });

  it('two gateways over one Redis that are asked the same at once go on each for itself when the Redis is killed in the middle, and nothing hangs', async () => {
    await using service = await startService(1_000);
    await using redis = await startRedis();
    const env = { COUNTRY_DATA_URL: service.url, CACHE_URL: redis.url };
    const [one, other] = await Promise.all([start(env), start(env)]);
    const answering = askAll([one.url, other.url], 20);
    await expect.poll(() => service.log.length, { timeout: 10_000 }).toBeGreaterThan(0);
    await redis.kill();
    const replies = await answering;
    expect(replies.flatMap(({ errors }) => errors)).toEqual([]);
    for (const { data } of replies) expect(data.country.observation).not.toBeUndefined();
    expect(callsOf(replies)).toBe(service.log.length);
  });
});

describe.for([
  ['held in memory', () => ({ CACHE_URL: 'memory:' })],
  ['held nowhere', () => ({ CACHE_URL: 'none' })],
  ['held in a file', () => ({ CACHE_URL: `sqlite:${join(folder, 'shared.sqlite')}` })],
] as const)('two workers that are asked the same at once, where figures are %s', ([, cache]) => {
  it('two workers that are asked the same at once make the calls of one', async () => {
    await using service = await startService(1_000);
    const env = { COUNTRY_DATA_URL: service.url, WORKERS: '2', CACHE_TIMEOUT_MS: '15000', ...cache() };
    const { url, errors } = await start(env);
    const query =
      '{ countries { code } observations(countryCodes: ["KE", "NG"], metricKeys: ["population_total"], latest: true) { value } }';
    const replies = await Promise.all(Array.from({ length: 20 }, () => ask(url, query)));
    expect(replies.flatMap(({ errors }) => errors)).toEqual([]);
    expect(new Set(replies.map(({ data }) => JSON.stringify(data))).size).toBe(1);
    expect(service.log.map(({ route }) => route).toSorted()).toEqual(['/v1/countries', '/v1/data']);
    expect(callsOf(replies)).toBe(2);
    await expect.poll(() => new Set(errors().match(/"worker":\d+/g)).size).toBe(2);
    // Shares finished calls with nobody if nothing is held.
    const later = await ask(url, query);
    expect(later.upstream.calls).toBe(cache().CACHE_URL === 'none' ? 2 : 0);
  });
});
