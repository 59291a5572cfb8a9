import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { FillOptions } from '../../../src/plugins/offline/fill.ts';
import { openProgram } from '../../support/program.ts';
import { startSandbox } from '../../support/sandbox-service.ts';
import { fillHere, type SharedClock } from './filling.ts';

const START = Date.parse('2030-03-10T12:00:00Z');
const FEW: FillOptions = { indicators: 'population_total,gdp_current_usd', countries: 'KE,NG', yes: true };

const folder = await mkdtemp(join(tmpdir(), 'country-graph-fill-'));
afterAll(() => rm(folder, { recursive: true }));

let files = 0;

/** A service with a clock that waits set forward, and a file to fill from it. */
async function startFilling(options: Parameters<typeof startSandbox>[0] = {}) {
  const clock: SharedClock = { nowMs: START };
  const sandbox = await startSandbox({ now: () => clock.nowMs, ...options });
  files += 1;
  const env = {
    COUNTRY_DATA_URL: sandbox.url,
    CACHE_URL: `sqlite:${join(folder, `${files}.db`)}`,
    COUNTRY_DATA_KEY: sandbox.keys.free,
  };
  return {
    clock,
    sandbox,
    env,
    fill: (options: FillOptions, sources: readonly string[] = []) =>
      fillHere({ sources, options, env, clock }),
    statuses: () => sandbox.log.map(({ status }) => status),
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
}

/** Asks a gateway that has nothing but the file. */
async function askOffline(env: Readonly<Record<string, string>>, query: string) {
  await using program = await openProgram({
    upstreamUrl: 'http://127.0.0.1:9',
    clock: { now: () => START + 3_600_000, sleep: async () => {} },
    env: { CACHE_URL: env.CACHE_URL ?? '', OFFLINE: 'on' },
  });
  return await program.ask(query, { key: env.COUNTRY_DATA_KEY ?? null });
}

describe('fill', () => {
  it('a fill without --yes tells calls, minutes and the share of the month, and sends nothing', async () => {
    await using filling = await startFilling();
    const { yes: _, ...options } = FEW;
    const { code, stderr, stdout } = await filling.fill(options);
    expect([code, stdout, filling.sandbox.log.map(({ path }) => path)]).toEqual([4, '', []]);
    expect(stderr).toMatch(/^8 figures and series, 0 of them cached/);
    expect(stderr).toMatch(/Up to 2 calls: less than a minute at 5 a minute \(plan free, assumed/);
    const one: FillOptions = { indicators: 'life_expectancy', countries: 'KE', latest: true };
    expect((await filling.fill(one)).stderr).toMatch(/^1 figure or series, 0 of them cached/);
    const told = JSON.parse((await filling.fill({ ...options, json: true })).stdout);
    expect(told).toMatchObject({ price: { plan: 'free', requestsPerMinute: 5, cached: 0 }, bill: null });
  });

  it('a filled figure answers offline, and costs nothing the second time', async () => {
    await using filling = await startFilling();
    const first = await filling.fill({ ...FEW, json: true });
    expect([first.code, first.stderr]).toEqual([0, '']);
    const { bill } = JSON.parse(first.stdout);
    expect(bill).toMatchObject({ calls: filling.sandbox.usage('free').month, errors: {}, stopped: null });
    const { data, errors, upstream } = await askOffline(
      filling.env,
      '{ country(code: "KE") { observation(metricKey: "population_total") { value } observations(metricKeys: ["gdp_current_usd"]) { year value } } }',
    );
    expect([errors, upstream.calls]).toEqual([[], 0]);
    expect(data.country.observations.length).toBeGreaterThan(10);
    filling.sandbox.log.clear();
    filling.clock.nowMs += 90 * 86_400_000;
    const { price, bill: again } = JSON.parse((await filling.fill({ ...FEW, json: true })).stdout);
    expect([price.calls, price.cached, again.calls, filling.statuses()]).toEqual([0, 8, 0, []]);
  });

  it('a fill runs operations of a folder with their variables, and of texts, at no more calls a minute than the plan has', async () => {
    await using filling = await startFilling();
    const queries = join(folder, 'queries');
    await mkdir(queries);
    await writeFile(
      join(queries, 'one.graphql'),
      'query ($code: CountryCode!) { country(code: $code) { profile { record } } }',
    );
    await writeFile(join(queries, 'one.variables.json'), '{ "code": "GH" }');
    await writeFile(
      join(queries, 'two.graphql'),
      '{ countries(codes: ["KE","NG","ZA","EG","MA","TN"]) { signals { record } } }',
    );
    const { code } = await filling.fill({ yes: true, json: true }, [queries, '{ sources { key } }']);
    expect(code).toBe(0);
    expect(new Set(filling.statuses())).toEqual(new Set([200]));
    expect(filling.statuses().length).toBeGreaterThan(5);
    expect(filling.clock.nowMs).toBeGreaterThan(START);
    const { errors, data } = await askOffline(
      filling.env,
      '{ country(code: "GH") { profile { record } } sources { key } }',
    );
    expect([errors, data.sources.length > 0]).toEqual([[], true]);
  });

  it('a fill leaves calls of the month, ends with exit code 3, and goes on in the next month', async () => {
    await using filling = await startFilling({
      plans: { free: { requestsPerMinute: 5, monthlyRequests: 1_000 } },
    });
    const options: FillOptions = { countries: 'KE', latest: true, yes: true, json: true };
    const stopped = await filling.fill({ ...options, leave: 999 });
    expect(stopped.code).toBe(3);
    expect(JSON.parse(stopped.stdout).bill).toMatchObject({
      calls: 1,
      stopped: expect.stringContaining('999'),
    });
    filling.clock.nowMs = Date.parse('2030-04-01T00:00:10Z');
    filling.sandbox.log.clear();
    const { code } = await filling.fill(options);
    expect(code).toBe(0);
    expect(filling.sandbox.log.filter(({ path }) => path === '/v1/countries')).toEqual([]);
  });

  it('a fill names what the service has no figures of, and which operation has failed and why', async () => {
    await using filling = await startFilling();
    const misspelt = await filling.fill({
      ...FEW,
      indicators: 'population_total,populaton_total',
      countries: 'KE,zz',
    });
    expect(misspelt.code).toBe(0);
    expect(misspelt.stdout).toContain('\nThe service has no figures of populaton_total, ZZ.\n');
    const queries = join(folder, 'named');
    await mkdir(queries);
    await writeFile(join(queries, 'wrong.graphql'), '{ nothing }');
    const text = '{ country(code: "KE") { observation(metricKey: "populaton_total") { value } } }';
    const { code, stdout } = await filling.fill({ yes: true, json: true }, [queries, text]);
    const { errors, remarks } = JSON.parse(stdout).bill;
    expect([code, errors]).toEqual([1, { GRAPHQL_VALIDATION_FAILED: 1 }]);
    expect(remarks).toEqual([
      `${join(queries, 'wrong.graphql')}: Cannot query field "nothing" on type "Query".`,
      expect.stringMatching(/^\{ country\(code: "KE"\).*…: .*populaton_total/),
    ]);
  });

  it.each<FillOptions>([
    { indicators: 'population_total,gdp_current_usd,idps_total' },
    { indicators: 'population_total,gdp_current_usd', years: '1990-' },
    { indicators: 'idps_total' },
  ])('a fill of %o takes no more calls than its price', async (options) => {
    await using filling = await startFilling();
    const { code, stdout } = await filling.fill({ ...options, yes: true, json: true });
    const { price, bill } = JSON.parse(stdout);
    expect([code, bill.calls, bill.calls <= price.calls]).toEqual([0, filling.sandbox.log.length, true]);
    expect(price.calls).toBeLessThan(2 * bill.calls);
  });

  it('a fill of series that are longer than assumed sends no more than its price, and then what --most agrees to', async () => {
    await using filling = await startFilling();
    const options: FillOptions = { countries: 'KE', yes: true, json: true };
    const { code, stdout } = await filling.fill(options);
    const { price, bill } = JSON.parse(stdout);
    expect([code, bill.calls, filling.sandbox.log.length]).toEqual([4, price.calls, price.calls]);
    expect(bill.stopped).toMatch(/^The calls that were agreed to are spent.*--most/);
    const rest = await filling.fill({ ...options, most: 100 });
    expect([rest.code, filling.sandbox.log.length]).toEqual([
      0,
      price.calls + JSON.parse(rest.stdout).bill.calls,
    ]);
    expect(new Set(filling.statuses())).toEqual(new Set([200]));
  });

  it('a fill asks again before the first call beyond its price, and stops where nobody agrees', async () => {
    for (const [answers, expected] of [
      [[true, true, true], 0],
      [[true, false], 4],
    ] as const) {
      await using filling = await startFilling();
      const questions: string[] = [];
      const sentBefore: number[] = [];
      const { code, stderr } = await fillHere({
        options: { countries: 'KE' },
        env: filling.env,
        clock: filling.clock,
        async confirm(question) {
          questions.push(question);
          sentBefore.push(filling.sandbox.log.length);
          return answers[questions.length - 1] ?? false;
        },
      });
      const price = Number(/Up to (\d+) calls/.exec(stderr)?.[1]);
      expect([code, sentBefore.slice(0, 2)]).toEqual([expected, [0, price]]);
      expect(questions[1]).toMatch(
        new RegExp(`^The ${price} calls are spent, and up to \\d+ more are needed\\. Fetch them\\? `),
      );
      if (expected === 4) expect(filling.sandbox.log.length).toBe(price);
    }
  });

  it('a fill counts attempts that are made again among the agreed calls', async () => {
    await using filling = await startFilling();
    filling.sandbox.faults.set({ kind: 'status', status: 500, route: '/v1/data' });
    const { code, stdout } = await filling.fill({ ...FEW, json: true });
    const { price } = JSON.parse(stdout);
    expect([code, filling.sandbox.log.length]).toEqual([4, price.calls]);
  });

  it('a fill under a refused key ends with its first call', async () => {
    await using filling = await startFilling();
    const texts = ['KE', 'NG', 'GH'].map((code) => `{ country(code: "${code}") { profile { record } } }`);
    const { code, stdout } = await fillHere({
      sources: texts,
      options: { yes: true, key: 'nobody-knows-this-key' },
      env: filling.env,
      clock: filling.clock,
    });
    expect([code, filling.statuses()]).toEqual([1, [401]]);
    expect(stdout).toContain('The service does not accept this key.');
  });

  it('a fill under an issued key says that there is no such store, and sends nothing', async () => {
    await using filling = await startFilling();
    const filled = filling.fill({ ...FEW, key: 'cgk_page_0123456789abcdefghijklmnopqrstuv' });
    await expect(filled).rejects.toThrow('give the key of the service');
    expect(filling.statuses()).toEqual([]);
  });

  it.each([
    [{ countries: 'KE,KENYA' }, '--countries must be codes of two letters, such as KE,NG; this is "KENYA".'],
    [{ countries: ' ,' }, '--countries must be codes of two letters, such as KE,NG; this is "".'],
    [{ indicators: 'population total' }, '--indicators must be keys without blanks'],
    [{ years: '2010-2000' }, '--years 2010-2000 has none: the first is after the last.'],
  ])('a fill of %o, which can be nothing, sends nothing', async (wrong, words) => {
    await using filling = await startFilling();
    await expect(filling.fill({ ...FEW, ...wrong })).rejects.toThrow(words);
    expect(filling.sandbox.log.map(({ path }) => path)).toEqual([]);
  });

  it('a fill asks for no figures of names that the service has not told', async () => {
    await using filling = await startFilling();
    filling.sandbox.faults.set({ kind: 'status', status: 422, route: '/v1/indicators' });
    const { code, stdout } = await filling.fill({ countries: 'KE', latest: true, yes: true, json: true });
    expect([code, JSON.parse(stdout).bill.errors]).toEqual([1, { BAD_USER_INPUT: 1 }]);
    expect(filling.sandbox.log.map(({ path }) => path)).not.toContain('/v1/data');
  });

  it('a fill waits for the next minute after a 429 that it could not foresee', async () => {
    await using filling = await startFilling();
    const headers = { authorization: `Bearer ${filling.sandbox.keys.free}` };
    for (let i = 0; i < 5; i += 1) await fetch(`${filling.sandbox.url}/v1/countries`, { headers });
    const { code, stdout } = await filling.fill({ ...FEW, json: true });
    expect([code, JSON.parse(stdout).bill.errors]).toEqual([0, {}]);
    expect(filling.statuses().filter((status) => status === 429)).toHaveLength(1);
  });

  it('a daily fill renews what its sources have changed since, and nothing else', async () => {
    await using filling = await startFilling();
    const options: FillOptions = { indicators: 'population_total,idps_total', yes: true, json: true };
    const renew = async () => {
      filling.clock.nowMs += 86_400_000;
      filling.sandbox.log.clear();
      const { code, stdout } = await filling.fill({ ...options, every: 'day' });
      expect(code).toBe(0);
      return JSON.parse(stdout).bill;
    };
    const { bill } = JSON.parse((await filling.fill(options)).stdout);
    const [etlStatus, catalogue, data] = ['/v1/platform/etl-status', '/v1/indicators', '/v1/data'];
    expect((await renew()).byRoute).toEqual({ [etlStatus]: 1, [catalogue]: 1, '/v1/countries': 1 });
    filling.sandbox.refresh('world_bank_wdi');
    const changed = await renew();
    expect(changed.byRoute[data]).toBeLessThan(bill.byRoute[data]);
    const asked = filling.sandbox.log.filter(({ route }) => route === data);
    expect(new Set(asked.map(({ query }) => query.metric_keys))).toEqual(new Set(['population_total']));
    expect((await renew()).byRoute[data]).toBeUndefined();
  });

  it('a daily fill asks once how its sources are, though time passes meanwhile, and tells that price', async () => {
    let nowMs = START;
    // Each look at the clock takes a millisecond.
    const clock: SharedClock = {
      get nowMs() {
        nowMs += 1;
        return nowMs;
      },
      set nowMs(atMs) {
        nowMs = atMs;
      },
    };
    await using filling = await startFilling({ now: () => clock.nowMs });
    const fill = async (options: FillOptions) => {
      const all: FillOptions = { countries: 'KE', latest: true, yes: true, json: true, ...options };
      const { stdout } = await fillHere({ options: all, env: filling.env, clock });
      return JSON.parse(stdout);
    };
    await fill({});
    clock.nowMs += 86_400_000;
    filling.sandbox.log.clear();
    const { price, bill } = await fill({ every: 'day' });
    const lists = ['/v1/countries', '/v1/indicators', '/v1/platform/etl-status'];
    expect(filling.sandbox.log.map(({ route }) => route)).toEqual(lists);
    // Whatever may have changed is priced too: the figures of a country take one call.
    expect([bill.calls, price.calls]).toEqual([3, 4]);
    // Lists that another fill has cached tell nothing of what has changed since.
    clock.nowMs += 82_000_000;
    await fill({ countries: 'NG', every: 'day' });
    clock.nowMs += 10_000_000;
    filling.sandbox.log.clear();
    const later = await fill({ every: 'day' });
    expect(filling.sandbox.log.map(({ route }) => route)).toEqual([
      '/v1/countries',
      '/v1/platform/etl-status',
    ]);
    expect([later.bill.calls, later.price.calls]).toEqual([2, 3]);
  });

  it.each(['memory:', 'none', undefined])('a fill refuses CACHE_URL %s in words', async (url) => {
    await using filling = await startFilling();
    const { CACHE_URL: _, COUNTRY_DATA_KEY: __, ...env } = filling.env;
    const filled = fillHere({
      options: FEW,
      env: url === undefined ? env : { ...env, CACHE_URL: url },
      clock: filling.clock,
    });
    await expect(filled).rejects.toThrow('a fill needs a store that lasts');
  });
});
