import { describe, expect, it } from 'vitest';
import type { ProgramOptions } from '../support/program.ts';
import { openTimedProgram } from '../support/timed-program.ts';

const START = Date.parse('2026-03-10T12:00:30Z');

const open = (env: ProgramOptions['env'] = {}) => openTimedProgram({ startMs: START, env });

const latest = (codes: readonly string[], keys: readonly string[], further = '') =>
  `{ observations(countryCodes: ${JSON.stringify(codes)}, metricKeys: ${JSON.stringify(keys)}, latest: true${further}) {
    value year country { code } indicator { key } freshness { fetchedAt stale reason } } }`;
const series = (code: string, key: string, further = '') =>
  `{ observations(countryCodes: ["${code}"], metricKeys: ["${key}"]${further}) { value year } }`;

describe('a partly held demand', () => {
  it('a partly held demand fetches the missing figures alone', async () => {
    await using program = await open();
    await program.ask(latest(['KE', 'NG'], ['population_total']));
    program.requests();
    const { data, upstream } = await program.ask(latest(['NG', 'GH'], ['population_total']));
    expect(data.observations).toHaveLength(2);
    expect(program.requests()).toEqual([
      'GET /v1/data?country_codes=GH&latest=true&metric_keys=population_total',
    ]);
    expect(upstream).toMatchObject({ calls: 1, cached: 1, naive: 1 });
  });

  it('a partly held demand is explained as what it will cost', async () => {
    await using program = await open();
    await program.ask(`{ countries { name } ${latest(['KE', 'NG'], ['population_total']).slice(1)}`);
    program.requests();
    const query = `{ countries { name } ${latest(['NG', 'GH'], ['population_total']).slice(1)}`;
    const { extensions } = await program.ask(query, { headers: { 'x-explain': '1' } });
    expect(program.requests()).toEqual([]);
    expect(extensions.explain).toMatchObject({ calls: 1, byRoute: { '/v1/data': 1 }, cached: 2 });
    const { plan } = extensions.explain as { plan: { route: string; cached: boolean; target: string }[] };
    expect(plan.map(({ cached, target }) => [cached, target]).sort()).toEqual([
      [false, '/v1/data?country_codes=GH&latest=true&metric_keys=population_total'],
      [true, '/v1/countries'],
      [true, '/v1/data?country_codes=NG&latest=true&metric_keys=population_total'],
    ]);
  });

  it('a partly held demand refreshes what its calls bring anew, wanted or not', async () => {
    await using program = await open({ BATCH_OVERFETCH_ROWS: '0' });
    await program.ask(latest(['KE', 'NG'], ['population_total', 'life_expectancy']));
    program.pass(200);
    program.requests();
    // Two missing corners are fetched by one rectangle, which holds figures that are there already.
    await program.ask(latest(['KE', 'GH'], ['population_total', 'fertility_rate_births_per_woman']));
    expect(program.requests()).toHaveLength(1);
    program.pass(200);
    const { data, upstream } = await program.ask(latest(['KE', 'NG'], ['population_total']));
    const asked = program.requests();
    const fetchedAt = Object.fromEntries(
      data.observations.map((row: { country: { code: string }; freshness: { fetchedAt: string } }) => [
        row.country.code,
        (Date.parse(row.freshness.fetchedAt) - START) / 1000,
      ]),
    );
    // Kenya's was brought again after 200 seconds, Nigeria's is past its time.
    expect(asked).toEqual(['GET /v1/data?country_codes=NG&latest=true&metric_keys=population_total']);
    expect(fetchedAt).toEqual({ KE: 200, NG: 400 });
    expect(upstream).toMatchObject({ calls: 1, cached: 1 });
  });
});

describe('figures that will soon be past their time', () => {
  const card = (code: string) => latest([code], ['population_total', 'life_expectancy']);

  it('figures that will soon be past their time go along with whatever call leaves next, and theirs is saved', async () => {
    await using program = await open();
    for (const code of ['KE', 'NG', 'GH']) await program.ask(card(code));
    program.pass(200);
    program.requests();
    const { data, upstream } = await program.ask(card('ZA'));
    expect([data.observations.length, upstream.calls, upstream.cached]).toEqual([2, 1, 0]);
    expect(program.requests()).toEqual([
      'GET /v1/data?country_codes=GH,KE,NG,ZA&latest=true&metric_keys=life_expectancy,population_total',
    ]);
    program.pass(200);
    for (const code of ['KE', 'NG', 'GH']) expect((await program.ask(card(code))).upstream.calls).toBe(0);
  });

  it.for<[string, Record<string, string>]>([
    ['rows that nobody asked for are not allowed', { BATCH_OVERFETCH_ROWS: '0' }],
    ['one call could not name them all', { CODES_PER_CALL: '2' }],
  ])('figures that will soon be past their time stay behind where %s', async ([, env]) => {
    await using program = await open(env);
    for (const code of ['KE', 'NG', 'GH']) await program.ask(card(code));
    program.pass(200);
    const { upstream } = await program.ask(card('ZA'));
    expect(upstream.calls).toBe(1);
    program.pass(200);
    const later = [];
    for (const code of ['KE', 'NG', 'GH']) later.push((await program.ask(card(code))).upstream.calls);
    expect(later).toContain(1);
  });

  it('figures that will soon be past their time stay behind where nobody has asked for them for a while', async () => {
    await using program = await open();
    await program.ask(card('KE'));
    program.pass(301);
    program.requests();
    await program.ask(card('ZA'));
    expect(program.requests()).toEqual([
      'GET /v1/data?country_codes=ZA&latest=true&metric_keys=life_expectancy,population_total',
    ]);
  });

  it('figures that will soon be past their time do not make an answer longer than the service is known to give', async () => {
    await using program = await open();
    const wide = `{ countries { code ${['population_total', 'life_expectancy']
      .map((key, i) => `f${i}: observation(metricKey: "${key}") { value }`)
      .join(' ')} } }`;
    const codes = (await program.ask(wide)).data.countries.map(({ code }: { code: string }) => code);
    expect(codes).toHaveLength(54);
    program.pass(200);
    program.requests();
    for (const key of ['forest_area_pct', 'gini_index']) await program.ask(latest(codes, [key]));
    // Each brings 54 rows of its own and leaves room for some, which is not taken beyond the limit.
    for (const request of program.requests()) {
      const { searchParams } = new URL(request.slice(4), 'http://service');
      const rows =
        Number(searchParams.get('country_codes')?.split(',').length) *
        Number(searchParams.get('metric_keys')?.split(',').length);
      expect(rows).toBeLessThanOrEqual(Number(searchParams.get('limit') ?? 100));
    }
  });
});

describe('a series', () => {
  it('a series answers for its latest figure and for every range of years', async () => {
    await using program = await open();
    const whole = await program.ask(series('KE', 'life_expectancy'));
    program.requests();
    const few = await program.ask(series('KE', 'life_expectancy', ', fromYear: 2001, toYear: 2003'));
    const newest = await program.ask(latest(['ke'], ['life_expectancy']));
    expect(program.requests()).toEqual([]);
    expect(few.data.observations.map(({ year }: { year: number }) => year)).toEqual([2001, 2002, 2003]);
    expect(newest.data.observations[0]).toMatchObject(whole.data.observations.at(-1));
    expect(few.upstream).toMatchObject({ calls: 0, cached: 1 });
  });
});

describe('a figure that the service does not hold', () => {
  it('a figure that the service does not hold is not asked for again', async () => {
    await using program = await open();
    const first = await program.ask(latest(['KE'], ['median_income_usd']));
    program.requests();
    const again = await program.ask(latest(['KE'], ['median_income_usd']));
    expect([first.data, again.data]).toEqual([{ observations: [] }, { observations: [] }]);
    expect(program.requests()).toEqual([]);
  });
});

describe('how old an answer may be', () => {
  const query = latest(['KE'], ['population_total']);

  it('how old an answer may be is CACHE_TTL_SECONDS, and told', async () => {
    await using program = await open({ CACHE_TTL_SECONDS: '100' });
    const freshnessOf = async () => (await program.ask(query)).data.observations[0].freshness;
    expect(await freshnessOf()).toEqual({
      fetchedAt: '2026-03-10T12:00:30.000Z',
      stale: false,
      reason: null,
    });
    program.requests();
    program.pass(99);
    expect((await freshnessOf()).fetchedAt).toBe('2026-03-10T12:00:30.000Z');
    expect(program.requests()).toEqual([]);
    program.pass(1);
    expect((await freshnessOf()).fetchedAt).toBe('2026-03-10T12:02:10.000Z');
    expect(program.requests()).toHaveLength(1);
  });

  it('how old an answer may be is less where a field insists', async () => {
    await using program = await open();
    await program.ask(query);
    program.pass(50);
    program.requests();
    const patient = await program.ask(latest(['KE'], ['population_total'], ', maxAge: 60'));
    expect(program.requests()).toEqual([]);
    const strict = await program.ask(latest(['KE'], ['population_total'], ', maxAge: 40'));
    expect(program.requests()).toHaveLength(1);
    expect([patient, strict].map(({ data }) => data.observations[0].freshness.fetchedAt)).toEqual([
      '2026-03-10T12:00:30.000Z',
      '2026-03-10T12:01:20.000Z',
    ]);
  });

  it('how old an answer may be is refused below nothing, before anything is asked', async () => {
    await using program = await open();
    const { errors, upstream } = await program.ask(latest(['KE'], ['population_total'], ', maxAge: -1'));
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
    expect(upstream.calls).toBe(0);
  });

  it('how old an answer may be is nothing at all with CACHE_TTL_SECONDS=0, and nothing is held with CACHE_URL=none', async () => {
    for (const env of [{ CACHE_TTL_SECONDS: '0' }, { CACHE_URL: 'none' }]) {
      await using program = await open(env);
      await program.ask(query);
      const { upstream } = await program.ask(query);
      expect(upstream).toMatchObject({ calls: 1, cached: 0 });
    }
  });
});

describe('lists', () => {
  it('lists are held for CACHE_TTL_SECONDS, each by its address', async () => {
    await using program = await open();
    const query =
      '{ indicators { key } sources { key } tickers { symbol } country(code: "KE") { profile { record } signals { record } offices { name } } country2: country(code: "ZZ") { code } }';
    await program.ask(query);
    program.requests();
    program.pass(299);
    expect((await program.ask(query)).upstream).toMatchObject({ calls: 0, cached: 7 });
    expect(program.requests()).toEqual([]);
    program.pass(1);
    await program.ask(query);
    expect(program.requests().length).toBeGreaterThanOrEqual(7);
  });

  it('lists with an entity tag are asked for by it, and a 304 keeps what is held', async () => {
    await using program = await open();
    const first = await program.ask('{ countries { code name } }');
    program.pass(300);
    const again = await program.ask('{ countries { code name } }');
    expect(again.data).toEqual(first.data);
    expect(program.sandbox.log.map(({ status, conditional }) => [status, conditional])).toEqual([
      [200, false],
      [304, true],
    ]);
    program.pass(299);
    const third = await program.ask('{ countries { code name } }');
    expect(third.data).toEqual(first.data);
    expect(third.upstream).toMatchObject({ calls: 0, cached: 1 });
  });

  it('lists of what does not exist are not asked for again', async () => {
    await using program = await open();
    program.sandbox.faults.set({
      kind: 'status',
      status: 404,
      body: { detail: 'profile not found: ke' },
      route: '/v1/countries/{code}/profile',
    });
    const query = '{ country(code: "KE") { profile { record } } }';
    await program.ask(query);
    expect(program.requests()).toHaveLength(1);
    const again = await program.ask(query);
    expect(again).toMatchObject({ data: { country: { profile: null } }, errors: [] });
    expect(program.requests()).toEqual([]);
  });

  it('lists that cannot be read are not held', async () => {
    await using program = await open();
    const broken = program.sandbox.faults.set({
      kind: 'shape',
      patch: () => ({ data: 'none' }),
      route: '/v1/indicators',
    });
    const failed = await program.ask('{ indicators { key } }');
    broken();
    const mended = await program.ask('{ indicators { key } }');
    expect(failed.errors.map(({ extensions }) => extensions.code)).toEqual(['UPSTREAM_INVALID_RESPONSE']);
    expect([mended.errors, mended.data.indicators.length]).toEqual([[], 207]);
  });
});

describe('one thing', () => {
  it('one thing is loaded once, however many operations want it at once', async () => {
    await using program = await open();
    const query = `{ countries { name } indicators { key } ${latest(['KE'], ['population_total']).slice(1)}`;
    const replies = await Promise.all(Array.from({ length: 20 }, () => program.ask(query)));
    expect(program.requests()).toHaveLength(3);
    for (const { data } of replies) expect(data).toEqual(replies[0]?.data);
    expect(replies.reduce((sum, { upstream }) => sum + upstream.calls, 0)).toBe(3);
  });
});
