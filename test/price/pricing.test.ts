import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { draws } from '../support/draws.ts';
import { WHOLE_GRAPH } from '../support/golden-settings.ts';
import { heapBytes } from '../support/heap.ts';
import { movingClock } from '../support/moving-clock.ts';
import { openProgram } from '../support/program.ts';

const EXPLAIN = { headers: { 'x-explain': '1' } };

/** Calls that a plan cannot foresee: they depend on earlier answers, or complete a list that was cut. */
const UNFORESEEN = /place-newer-than-country|series-over-the-limit/;

/** Half of the suite's time. */
const LARGE = /all-indicators-of-all-countries/;

/**
 * Queries whose figures hang below records, which are not kept to plan by: their number is right all the
 * same.
 */
const BELOW_RECORDS = /below-offices|below-profile/;

describe('the plan of an operation', () => {
  it.each(
    globSync('bench/operations/*.graphql')
      .sort()
      .filter((file) => !UNFORESEEN.test(file) && (draws(1, 0) > 0 || !LARGE.test(file))),
  )('the plan of an operation of %s is what it then costs, and sends nothing', async (file) => {
    const query = readFileSync(file, 'utf8');
    await using program = await openProgram();
    // Asks once for the lists, which a cold plan can only assume.
    await program.ask(query);
    program.requests();
    const plan = await program.ask(query, EXPLAIN);
    expect(program.requests()).toEqual([]);
    expect(plan.data).toBeNull();
    expect(plan.errors).toEqual([]);
    expect(plan.upstream.calls).toBe(0);
    const explain = plan.extensions.explain as {
      least: number;
      calls: number;
      most: number;
      byRoute: object;
      plan: { target: string }[];
    };
    const run = await program.ask(query);
    expect(explain.least).toBeLessThanOrEqual(run.upstream.calls);
    expect(explain.most).toBeGreaterThanOrEqual(run.upstream.calls);
    expect(explain.byRoute).toEqual(run.upstream.byRoute);
    expect(explain.calls).toBe(run.upstream.calls);
    if (BELOW_RECORDS.test(file)) return;
    expect(explain.plan.map(({ target }) => `GET ${target}`).sort()).toEqual(program.requests().sort());
  });

  it('the plan of an operation counts no list as certain that is read of figures, or for want of them', async () => {
    await using program = await openProgram();
    program.sandbox.faults.set({
      kind: 'shape',
      route: '/v1/data',
      patch({ data, meta }) {
        const others = data.filter((row: { country_code: string }) => row.country_code !== 'sc');
        return { data: others, meta: { ...meta, total: others.length } };
      },
    });
    // The indicator has a figure, so that it exists, and the field that is read of the catalogue is below none.
    const query =
      '{ indicator(key: "population_total") { observation(countryCode: "SZ") { id } observations(countryCodes: ["SC"], latest: true) { indicator { hasData } } } }';
    const { explain } = (await program.ask(query, EXPLAIN)).extensions;
    const run = await program.ask(query);
    expect(run.upstream.byRoute).toEqual({ '/v1/data': 1 });
    expect(explain).toMatchObject({ least: 1, calls: 2 });
  });

  it('the plan of an operation counts no figure as certain whose name a list that is loaded again may lack', async () => {
    const { clock, pass } = movingClock(Date.parse('2026-11-10T12:00:30Z'));
    await using program = await openProgram({ env: { CACHE_URL: 'memory:' }, clock });
    program.sandbox.faults.set({
      kind: 'shape',
      route: '/v1/countries',
      patch: ({ data }) => ({ data: data.filter(({ id }: { id: string }) => id !== 'ly') }),
    });
    await program.ask('{ countries { name } }');
    pass(86_400);
    const query =
      'query ($some: [_Any!]!) { _entities(representations: $some) { ... on Indicator { observation(countryCode: "LY") { id } } } }';
    const some = [
      { __typename: 'Country', code: 'ZW' },
      { __typename: 'Indicator', key: 'stateless_total' },
    ];
    const { explain } = (await program.ask(query, { ...EXPLAIN, variables: { some } })).extensions;
    const run = await program.ask(query, { variables: { some } });
    expect(run.upstream.byRoute).toEqual({ '/v1/countries': 1 });
    expect(explain).toMatchObject({ least: 1, calls: 2 });
  });

  it('the plan of an operation counts no call as certain that operands of more figures may share', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:', BATCH_OVERFETCH_ROWS: '0' } });
    const gdp = (row: { metric_key: string }) => row.metric_key === 'gdp_current_usd';
    program.sandbox.faults.set({
      kind: 'shape',
      route: '/v1/data',
      patch: ({ data, meta }) => ({
        data: data.filter((row: { metric_key: string }) => !gdp(row)),
        meta: { ...meta, total: meta.total - data.filter(gdp).length },
      }),
    });
    const lives = (codes: string) => `observations(countryCodes: [${codes}], fromYear: 2019)`;
    await program.ask(
      `{ countries { capital } indicator(key: "life_expectancy") { ${lives('"MW"')} { value } } }`,
    );
    // The figures of Malawi are few, so that the series of its operands are asked for; those of all aren't.
    const query = `{ indicator(key: "life_expectancy") { ${lives('"KE", "UG", "MW", "GH"')} { country { observation(metricKey: "gdp_current_usd") { per(metricKey: "population_total") { value } } } } } }`;
    const { explain } = (await program.ask(query, EXPLAIN)).extensions;
    const run = await program.ask(query);
    expect(run.upstream.byRoute).toEqual({ '/v1/data': 2 });
    expect(explain).toMatchObject({ least: 2 });
  });

  it.each([
    ['countries(region: "East Africa") { observation(metricKey: "population_total") { value } }', 2],
    ['countries(region: "East Africa") { profile { record } }', 55],
    // As many countries as the operation may ask for.
    ['countries(region: "East Africa") { profile { record } signals { record } offices { name } }', 55],
    ['countries(codes: ["KE", "NG"], region: "East Africa") { profile { record } }', 3],
    ['countriesConnection(first: 3, subregion: "Eastern Africa") { nodes { profile { record } } }', 4],
    ['indicators(search: "population") { observation(countryCode: "KE") { value } }', 2],
    ['indicators(source: "world_bank_wdi") { observation(countryCode: "KE") { value } }', 2],
    ['indicators(keys: ["population_total"]) { name observation(countryCode: "KE") { value } }', 2],
    ['indicator(key: "population_total") { name observation(countryCode: "KE") { value } }', 2],
  ])(
    'the plan of an operation has what lies below a filter of a list that is unknown: %s',
    async (query, calls) => {
      await using program = await openProgram();
      const plan = await program.ask(`{ ${query} }`, EXPLAIN);
      expect(plan.extensions.explain).toMatchObject({ calls, most: 60 });
      const run = await program.ask(`{ ${query} }`);
      expect(run.errors).toEqual([]);
      expect(run.upstream.calls).toBeLessThanOrEqual(calls);
      expect(run.upstream.calls).toBeGreaterThan(1);
    },
  );

  it.each([
    ['{ health { record } }', '/health'],
    ['{ platformVersion { version record } }', '/v1/platform/version'],
  ])('the plan of an operation of %s tells of no answer that has not come', async (query, route) => {
    await using program = await openProgram();
    const plan = await program.ask(query, EXPLAIN);
    expect([plan.errors, program.requests()]).toEqual([[], []]);
    expect(plan.extensions.explain).toMatchObject({ least: 1, calls: 1, most: 1, byRoute: { [route]: 1 } });
  });

  it('the plan of an operation tells nothing of records that are only assumed', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
    await program.ask('{ sources { key } }');
    program.requests();
    const query = '{ country(code: "KE") { profile { indicators { source { record } } } } }';
    const plan = await program.ask(query, EXPLAIN);
    expect([plan.errors, program.requests()]).toEqual([[], []]);
    expect((await program.ask(query)).errors).toEqual([]);
  });

  it('the plan of an operation takes little memory to make', async () => {
    await using program = await openProgram();
    const bytesOf = async (headers: Record<string, string>) => {
      const samples: number[] = [];
      for (let i = 0; i < 11; i += 1) {
        const before = heapBytes();
        await program.ask(`query N${i} { __typename } # ${Object.keys(headers)}`, { headers });
        samples.push(process.memoryUsage().heapUsed - before);
      }
      return samples.sort((a, b) => a - b)[5] ?? 0;
    };
    const [plain, explained] = [await bytesOf({}), await bytesOf({ 'x-explain': '1' })];
    expect(explained - plain).toBeLessThan(300_000);
  });

  it('the plan of an operation counts what stands below figures', async () => {
    await using program = await openProgram();
    await program.ask('{ countries { code } }');
    program.requests();
    const query =
      '{ observations(metricKeys: ["population_total"], latest: true) { country { capital profile { record } } source { nextRun } } }';
    const plan = await program.ask(query, EXPLAIN);
    const run = await program.ask(query);
    expect(plan.extensions.explain).toMatchObject({ byRoute: run.upstream.byRoute });
    expect(run.upstream.calls).toBe(57);
  });

  it('the plan of an operation says between which numbers the truth lies', async () => {
    await using program = await openProgram();
    const rangeOf = async (query: string) => {
      const { least, calls, most } = (await program.ask(query, EXPLAIN)).extensions.explain as Record<
        string,
        number
      >;
      return [least, calls, most];
    };
    // A record of one country takes one call, for any of its fields.
    expect(await rangeOf('{ country(code: "KE") { profile { record } } }')).toEqual([1, 1, 1]);
    // Of a figure it is not known whether its latest row is national and has a value.
    expect(
      await rangeOf('{ country(code: "KE") { observation(metricKey: "population_total") { value } } }'),
    ).toEqual([1, 1, 60]);
    // Assumes no country, for without a list there may be none.
    expect(await rangeOf('{ countries { profile { record } } }')).toEqual([1, 55, 60]);
    await program.ask('{ countries { name } }');
    expect(await rangeOf('{ countries { profile { record } } }')).toEqual([55, 55, 55]);
  });

  it.each([
    'country(code: "KE") { signals { observations { change(since: 2019) } } }',
    'country(code: "KE") { profile { indicators { ...F } } } }\n fragment F on ProfileIndicator { indicator { observation(countryCode: "SN") { value } }',
  ])(
    'the plan of an operation bounds nothing by figures that are held of other indicators than a record has: %s',
    async (selection) => {
      await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
      await program.ask('{ observations(countryCodes: ["KE", "SN"]) { value } }');
      const query = `{ ${selection} }`;
      const { least, most } = (await program.ask(query, EXPLAIN)).extensions.explain as Record<
        string,
        number
      >;
      const { calls } = (await program.ask(query)).upstream;
      expect([least, most]).toEqual([1, 60]);
      expect(calls).toBeGreaterThanOrEqual(1);
    },
  );

  it('the plan of an operation counts no look at a list for what may be there', async () => {
    await using program = await openProgram();
    const query =
      '{ indicator(key: "rainfall_mm") { observation(countryCode: "GA") { id } observations { id } } }';
    const { extensions } = await program.ask(query, EXPLAIN);
    expect(extensions.explain).toMatchObject({ least: 2, byRoute: { '/v1/countries': 1, '/v1/data': 5 } });
    expect(program.requests()).toEqual([]);
  });

  it('the plan of an operation counts no figures as sure of a country that a list of its own may lack', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
    program.sandbox.faults.set({
      route: '/v1/countries',
      kind: 'shape',
      patch: (body) => ({ data: (body as { data: unknown[] }).data.slice(0, 1) }),
    });
    const query = `{ _entities(representations: [
      { __typename: "Indicator", key: "policy_rate_pct" }, { __typename: "Country", code: "NG" }
    ]) { ... on Indicator { observation(countryCode: "TZ") { value } } } }`;
    const { extensions } = await program.ask(query, EXPLAIN);
    expect(extensions.explain).toMatchObject({ least: 1, calls: 2 });
    await program.ask(query);
    expect(program.requests()).toEqual(['GET /v1/countries']);
  });

  it('the plan of an operation spares no call for a name that was refused where nothing is held', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'none' }, sandbox: { unknown: 'refuse' } });
    const query =
      '{ tickers(exchangeCode: "NSE") { country { observation(metricKey: "no_such_metric") { value } } } }';
    await program.ask(query);
    const { extensions } = await program.ask(query, EXPLAIN);
    expect(extensions.explain).toMatchObject({ cached: 0, byRoute: { '/v1/data': 1 } });
  });

  it('the plan of an operation goes by the lists that the key was given', async () => {
    await using program = await openProgram();
    program.sandbox.faults.set({
      route: '/v1/countries',
      kind: 'shape',
      patch: (body) => ({ data: (body as { data: unknown[] }).data.slice(0, 3) }),
    });
    await program.ask('{ countries { name } }');
    const query = '{ countries { profile { record } } }';
    const plan = await program.ask(query, EXPLAIN);
    expect(plan.extensions.explain).toMatchObject({ calls: 4, naive: 4 });
    const another = await program.ask(query, { ...EXPLAIN, key: program.sandbox.keys.analyst });
    expect(another.extensions.explain).toMatchObject({ calls: 55 });
  });

  it('the plan of an operation tells what the operation would be refused for', async () => {
    await using program = await openProgram();
    const plan = await program.ask(
      '{ observations(countryCodes: ["KE"], metricKeys: ["x"], fromYear: 2, toYear: 1) { value } }',
      EXPLAIN,
    );
    expect(plan.errors.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
    expect(program.requests()).toEqual([]);
  });
});

describe('an operation over the limit', () => {
  it('an operation over the limit is refused with its price, and one at the limit is not', async () => {
    const query = '{ countries(codes: ["KE", "NG"]) { name profile { record } signals { record } } }';
    await using program = await openProgram({ env: { MAX_UPSTREAM_CALLS: '5' } });
    expect((await program.ask(query)).upstream.calls).toBe(5);
    await using strict = await openProgram({ env: { MAX_UPSTREAM_CALLS: '4' } });
    const refused = await strict.ask(query);
    expect(refused.errors[0]?.extensions).toMatchObject({
      code: 'OPERATION_TOO_EXPENSIVE',
      planned: 5,
      limit: 4,
    });
    expect(strict.requests()).toEqual([]);
  });

  it.for([
    'indicators(category: "X") { key }',
    'tradeFlows(reporterCode: "KE", productCode: "X") { year }',
    'policies(search: "X") { title }',
  ])(
    'an operation over the limit is refused unsent where its lists are filtered in so many ways: %s',
    async (field) => {
      await using program = await openProgram({ env: { ...WHOLE_GRAPH, MAX_UPSTREAM_CALLS: '10' } });
      const fields = Array.from({ length: 14 }, (_, at) => `a${at}: ${field.replace('X', `x${at}`)}`);
      const { errors } = await program.ask(`{ ${fields.join(' ')} }`);
      expect(errors.map(({ extensions }) => extensions.code)).toEqual(['OPERATION_TOO_EXPENSIVE']);
      expect(program.requests()).toEqual([]);
    },
  );
});
