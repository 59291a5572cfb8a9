import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openFixedService } from '../../support/fixed-service.ts';
import { goldenNames, goldenOperation, openGolden } from '../../support/golden-queries.ts';
import { WHOLE_GRAPH } from '../../support/golden-settings.ts';
import { openProgram } from '../../support/program.ts';
import { SENT_ROW } from '../../support/sent-row.ts';
import { openTimedProgram } from '../../support/timed-program.ts';

const OFFLINE = { 'x-offline': '1' };
const NONE = { calls: 0, byRoute: {}, shared: 0 };
const POPULATION = '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }';

/** Golden queries of what is never cached: news, the health of the service, calls that are left, the time of day, what is cached by now. */
const NOT_CACHED = /^live\/|^availability\/|^platform\/(public|quota)$|^observations\/freshness$/;

const folder = await mkdtemp(join(tmpdir(), 'country-graph-offline-'));
afterAll(() => rm(folder, { recursive: true }));

describe('x-offline', () => {
  it('an operation with x-offline takes figures and lists of any age, tells their times, and asks nothing', async () => {
    await using program = await openTimedProgram();
    const query =
      '{ countries { name } country(code: "KE") { observation(metricKey: "population_total") { value } } }';
    const { data } = await program.ask(query);
    program.pass(20_000);
    program.requests();
    const reply = await program.ask(query, { headers: OFFLINE });
    expect(reply).toMatchObject({ data, errors: [], upstream: NONE });
    const fetched = {
      oldestFetchedAt: '2026-03-10T12:00:30.000Z',
      newestFetchedAt: '2026-03-10T12:00:30.000Z',
    };
    expect(reply.extensions.freshness).toEqual({
      offline: true,
      ...fetched,
      byRoute: { '/v1/countries': fetched, '/v1/data': fetched },
    });
    expect(reply.headers.get('cache-control')).toBe('private');
    expect(program.requests()).toEqual([]);
    const { upstream, extensions } = await program.ask(query);
    expect([upstream.calls, extensions.freshness]).toEqual([2, undefined]);
  });

  it('a missing figure is an error with the command that would fetch it, and takes no sibling with it', async () => {
    await using program = await openTimedProgram();
    await program.ask(POPULATION);
    program.requests();
    const reply = await program.ask(
      `{ country(code: "KE") {
        observation(metricKey: "population_total") { value }
        missing: observation(metricKey: "gdp_current_usd") { value }
        observations(metricKeys: ["life_expectancy"], fromYear: 2001, toYear: 2004) { value }
        profile { record }
      } tickers(exchangeCode: "NGX") { symbol } health { status } }`,
      { headers: OFFLINE },
    );
    expect(reply.data.country).toMatchObject({
      observation: { value: expect.any(Number) },
      missing: null,
      observations: null,
    });
    const told = reply.errors.map(({ path, extensions }) => [
      path?.join('.'),
      extensions.code,
      extensions.command,
    ]);
    expect(Object.fromEntries(told.map(([path, ...rest]) => [path, rest]))).toEqual({
      'country.missing': ['NOT_HELD', expect.stringContaining('--indicators gdp_current_usd')],
      'country.observations': ['NOT_HELD', expect.stringContaining('life_expectancy')],
      'country.profile': ['NOT_HELD', `country-graph fill '{ country(code: "KE") { profile { record } } }'`],
      tickers: ['NOT_HELD', `country-graph fill '{ tickers { symbol } }'`],
      health: ['NOT_HELD', undefined],
    });
    expect(reply.errors.every(({ extensions }) => extensions.retryable === false)).toBe(true);
    expect([reply.status, reply.upstream.calls, program.requests()]).toEqual([200, 0, []]);
  });

  it('a catalogue by a filter that its rows say nothing of is missing with the command for just that', async () => {
    await using service = await openFixedService({ rows: [SENT_ROW] });
    await using program = await openProgram({ upstreamUrl: service.url, env: { CACHE_URL: 'memory:' } });
    await program.ask('{ indicators { key } }');
    const { errors, upstream } = await program.ask(
      '{ all: indicators { key } some: indicators(category: "economy", hasData: true) { key } }',
      { headers: OFFLINE },
    );
    expect(errors.map(({ path, extensions }) => [path, extensions.command])).toEqual([
      [['some'], `country-graph fill '{ indicators(category: "economy", hasData: true) { key } }'`],
    ]);
    expect([upstream.calls, service.requests]).toEqual([0, ['/v1/indicators']]);
  });

  it('the figures of one key answer no other key, and none that the service has refused since', async () => {
    await using program = await openTimedProgram();
    const { keys, faults } = program.sandbox;
    await program.ask(POPULATION);
    const codes = async (key: string) =>
      (await program.ask(POPULATION, { key, headers: OFFLINE })).errors.map(
        ({ extensions }) => extensions.code,
      );
    expect(await codes(keys.team)).toEqual([]);
    expect(await codes(keys.analyst)).toEqual(['NOT_HELD']);
    expect(await codes('nobody')).toEqual(['NOT_HELD']);
    faults.set({ route: '/v1/indicators', kind: 'status', status: 401 });
    await program.ask('{ indicators { key } }');
    expect(await codes(keys.team)).not.toEqual([]);
    program.pass(3_600);
    expect(await codes(keys.team)).toEqual(['NOT_HELD']);
    const { errors } = await program.ask(POPULATION, { key: null, headers: OFFLINE });
    expect(errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
  });

  it('figures older than maxAge are missing offline', async () => {
    await using program = await openTimedProgram();
    await program.ask(POPULATION);
    program.pass(90);
    const within = (maxAge: number) =>
      program.ask(POPULATION.replace('total")', `total", maxAge: ${maxAge})`), { headers: OFFLINE });
    expect((await within(120)).errors).toEqual([]);
    const { errors, upstream } = await within(60);
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(['NOT_HELD']);
    expect(upstream.calls).toBe(0);
  });

  it('x-explain offline tells what of an operation is there, and the calls that a fill would take', async () => {
    await using program = await openTimedProgram();
    await program.ask(POPULATION);
    program.pass(20_000);
    program.requests();
    const explain = async (query: string) =>
      (await program.ask(query, { headers: { ...OFFLINE, 'x-explain': '1' } })).extensions.explain;
    expect(await explain(POPULATION)).toMatchObject({ calls: 0, least: 0, most: 0, cached: 1 });
    expect(await explain(POPULATION.replace('population_total', 'gdp_current_usd'))).toMatchObject({
      calls: 1,
      byRoute: { '/v1/data': 1 },
    });
    expect(program.requests()).toEqual([]);
  });

  it('an operation offline joins none that asks for the same, and neither waits for the other', async () => {
    await using program = await openTimedProgram({ sandbox: { latencyMs: 50 } });
    const [online, offline] = await Promise.all([
      program.ask(POPULATION),
      program.ask(POPULATION, { headers: OFFLINE }),
    ]);
    expect([online.errors, online.upstream.calls]).toEqual([[], 1]);
    expect(offline.errors.map(({ extensions }) => extensions.code)).toEqual(['NOT_HELD']);
    expect(offline.upstream).toMatchObject(NONE);
    expect(program.requests()).toHaveLength(1);
  });
});

describe('OFFLINE=on', () => {
  it('with OFFLINE=on every golden query is answered from a file as it was online, while the service is down', async () => {
    const env = {
      CACHE_URL: `sqlite:${join(folder, 'golden.db')}`,
      BATCH_WINDOW_MS: '0',
      JOURNAL_FILE: join(folder, 'journal.sqlite'),
    };
    const answers = new Map<string, unknown>();
    const names = goldenNames.filter((name) => !NOT_CACHED.test(name));
    {
      await using program = await openGolden(env);
      for (const name of names) {
        const { query, variables } = goldenOperation(name);
        await program.ask(query, { variables });
        const { data, errors } = await program.ask(query, { variables });
        answers.set(name, { data, codes: codesOf(errors) });
      }
    }
    const nowMs = Date.parse('2026-03-10T18:00:00Z');
    await using program = await openProgram({
      upstreamUrl: 'http://127.0.0.1:9',
      clock: { now: () => nowMs, sleep: async () => {} },
      env: { ...WHOLE_GRAPH, ...env, OFFLINE: 'on' },
    });
    const different: string[] = [];
    let calls = 0;
    for (const name of names) {
      const { query, variables } = goldenOperation(name);
      const { data, errors, upstream } = await program.ask(query, { variables });
      calls += upstream.calls;
      const answer = { data, codes: codesOf(errors) };
      if (JSON.stringify(answer) !== JSON.stringify(answers.get(name))) different.push(name);
    }
    expect(calls).toBe(0);
    expect(different).toEqual([]);
    expect(program.problems).toEqual([]);
  });

  it('a latest figure that was chosen among several tells of the others offline too, where its newest row was blank', async () => {
    const row = (year: number, source: string, value: number | null) => ({
      ...SENT_ROW,
      year,
      period: `${year}`,
      as_of_period: null,
      source,
      value,
    });
    const rows = [row(2012, 'one', null), row(2011, 'one', 1), row(2011, 'two', 2)];
    await using service = await openFixedService({ rows });
    const query = `{ observations(countryCodes: ["KE"], metricKeys: ["${SENT_ROW.metric_key}"], latest: true) { value } }`;
    const env = { CACHE_URL: `sqlite:${join(folder, 'several.db')}` };
    const asked = async (further: Record<string, string>) => {
      await using program = await openProgram({ upstreamUrl: service.url, env: { ...env, ...further } });
      const { data, errors, extensions, upstream } = await program.ask(query);
      return { data, errors, warnings: extensions.warnings, calls: upstream.calls };
    };
    const online = await asked({});
    expect(online).toMatchObject({
      data: { observations: [{ value: 1 }] },
      warnings: [{ code: 'SEVERAL_FIGURES', sources: ['one', 'two'] }],
      calls: 2,
    });
    expect(await asked({ OFFLINE: 'on' })).toEqual({ ...online, calls: 0 });
  });

  it('with OFFLINE=on over memory the program starts, says that nothing can be answered, and asks nothing', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:', OFFLINE: 'on' } });
    const { errors, upstream } = await program.ask(POPULATION);
    expect(errors.map(({ extensions }) => extensions)).toEqual([
      {
        code: 'NOT_HELD',
        retryable: false,
        route: '/v1/data',
        command: 'country-graph fill --indicators population_total --countries KE --latest',
      },
    ]);
    expect([upstream.calls, program.requests()]).toEqual([0, []]);
  });
});

function codesOf(errors: readonly { readonly extensions: { readonly code: string } }[]): readonly string[] {
  return errors.map(({ extensions }) => extensions.code).sort();
}
