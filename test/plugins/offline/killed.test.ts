import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { FillOptions } from '../../../src/plugins/offline/fill.ts';
import { goldenNames, goldenOperation } from '../../support/golden-queries.ts';
import { openProgram, type ProgramOptions } from '../../support/program.ts';
import { startSandbox } from '../../support/sandbox-service.ts';
import { fillApart, type SharedClock } from './filling.ts';

const folder = await mkdtemp(join(tmpdir(), 'country-graph-killed-'));
afterAll(() => rm(folder, { recursive: true }));

const DATA = '/v1/data';

/** Waits for a minute after which a fill is killed. */
const KILLS = [1, 12, 40];

/** Golden queries of what the specification names, but for those of news, of the time of day, of what is cached, and of what never is. */
const ANSWERED = goldenNames.filter(
  (name) => !/^(availability|live|trade|policies|platform)\/|^observations\/freshness$/.test(name),
);

const pairsOf = ({ query }: { readonly query: Readonly<Record<string, string>> }) =>
  (query.country_codes ?? '')
    .split(',')
    .flatMap((code) => (query.metric_keys ?? '').split(',').map((key) => `${code} ${key}`));

it('a fill of everything under the free plan, killed three times, asks nothing twice, meets no 429, is renewed for a quarter of its calls after one source has run, and answers offline as online', async () => {
  const clock: SharedClock = { nowMs: Date.parse('2030-03-31T12:00:00Z') };
  await using sandbox = await startSandbox({ now: () => clock.nowMs });
  const env = {
    COUNTRY_DATA_URL: sandbox.url,
    CACHE_URL: `sqlite:${join(folder, 'all.db')}`,
    COUNTRY_DATA_KEY: sandbox.keys.free,
  };
  const options: FillOptions = { all: true, records: true, yes: true, json: true };
  for (const killAfterWaits of KILLS) {
    const { signal } = await fillApart({ options, env, clock, killAfterWaits });
    expect(signal).toBe('SIGKILL');
  }
  const { code, stdout, stderr } = await fillApart({ options, env, clock });
  expect([code, stderr]).toEqual([0, '']);
  const calls = sandbox.log.map(({ path, query, status }) => ({
    target: `${path} ${JSON.stringify(query)}`,
    status,
  }));
  expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(calls.map(({ target }) => target)).size).toBe(calls.length);
  const dataCalls = sandbox.log.filter(({ route }) => route === DATA).length;
  const latest = sandbox.log.filter(({ query }) => query.latest === 'true').flatMap(pairsOf);
  expect(latest.length).toBe(new Set(latest).size);
  const { bill, price } = JSON.parse(stdout);
  expect(bill.errors).toEqual({});
  expect(bill.quota.callsThisMonth).toBe(sandbox.usage('free').month);
  expect(price.figures).toBe(2 * 54 * 207);
  expect(price.cached).toBeGreaterThan(1_000);

  const nowMs = clock.nowMs + 3_600_000;
  const asked = async (key: string, options: ProgramOptions) => {
    await using program = await openProgram({
      clock: { now: () => nowMs, sleep: async () => {} },
      ...options,
    });
    const answers: Record<string, unknown> = {};
    let spent = 0;
    for (const name of ANSWERED) {
      const { query, variables } = goldenOperation(name);
      const { data, errors, upstream } = await program.ask(query, { variables, key });
      answers[name] = { data, codes: errors.map(({ extensions }) => extensions.code).sort() };
      spent += upstream.calls;
    }
    return { answers, spent };
  };
  const offline = await asked(sandbox.keys.free, {
    upstreamUrl: 'http://127.0.0.1:9',
    env: { CACHE_URL: env.CACHE_URL, OFFLINE: 'on' },
  });
  expect(offline.spent).toBe(0);
  const online = await asked(sandbox.keys.team, { env: { CACHE_URL: 'memory:' } });
  const different = ANSWERED.filter(
    (name) => JSON.stringify(offline.answers[name]) !== JSON.stringify(online.answers[name]),
  );
  expect(different).toEqual([]);

  // A day after, in the next month, one source has run.
  clock.nowMs += 86_400_000;
  sandbox.refresh('world_bank_wdi');
  sandbox.log.clear();
  const renewal = await fillApart({
    options: { all: true, every: 'day', yes: true, json: true },
    env,
    clock,
  });
  expect([renewal.code, renewal.stderr]).toEqual([0, '']);
  const renewed = JSON.parse(renewal.stdout).bill;
  expect([renewed.errors, renewed.calls]).toEqual([{}, sandbox.log.length]);
  expect(sandbox.log.map(({ status }) => status).filter((status) => status !== 200)).toEqual([304]);
  expect(renewed.byRoute[DATA] / dataCalls).toBeLessThan(0.25);
}, 400_000);
