import { describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { drawn } from '../support/draws.ts';
import { openProgram } from '../support/program.ts';
import { checkService } from './service.ts';

/**
 * Operations whose answers may not depend on the shapes that a service chose on points that its specification
 * leaves open.
 */
const OPERATIONS = {
  figures: `{ countries { code name a: observation(metricKey: "population_total") { value year period unit source { key } }
    b: observation(metricKey: "life_expectancy") { value } c: observation(metricKey: "gdp_current_usd") { value } } }`,
  series:
    '{ observations(countryCodes: ["ke", "NG"], metricKeys: ["population_total"]) { year value country { code } } }',
  long: '{ observations(metricKeys: ["population_total"], fromYear: 2020) { year value country { code } } }',
  catalogue: '{ indicators(category: "health", hasData: true) { key name unit category sources { key } } }',
  country: `{ country(code: "KE") { name iso3 capital region profile { indicators { key value } }
    signals { observations { value indicator { key } } fxRates { rate countries { code } } } offices { name roleType terms { holder status } } } }`,
  platform: '{ health { status } platformVersion { version } sources { key lastSuccessfulRefresh nextRun } }',
  absent: '{ country(code: "ZZ") { name } indicator(key: "median_income_usd") { name } }',
  unknown: `{ country(code: "KE") { good: observation(metricKey: "population_total") { value }
    bad: observation(metricKey: "median_income_usd") { value } } }`,
};

/** Costs of them over a service that keeps its knowledge beyond the specification to itself. */
async function answersOver(options: SandboxOptions) {
  await using program = await openProgram({ sandbox: options });
  const answers: Record<string, unknown> = {};
  for (const [name, query] of Object.entries(OPERATIONS)) {
    const reply = await program.ask(query);
    expect(reply.errors, name).toEqual([]);
    expect(reply.upstream.calls, name).toBe(program.requests().length);
    answers[name] = reply.data;
  }
  return answers;
}

const SHAPES: SandboxOptions[] = (['data', 'bare', 'other'] as const).flatMap((wrap) =>
  (['lower', 'upper'] as const).flatMap((codeCase) =>
    (['honour', 'ignore', 'refuse'] as const).map((extras) => ({ wrap, codeCase, extras })),
  ),
);

describe('the gateway answers alike over every shape of the service', async () => {
  const expected = await answersOver({});

  // A bare list that was cut can't be told from a whole one, so services without a word on it are not cut here.
  it.each(drawn(SHAPES))('the gateway answers alike over every shape of the service: %o', async (shape) => {
    expect(
      await answersOver({ ...shape, ...(shape.extras === 'honour' ? {} : { defaultRows: 1000 }) }),
    ).toEqual(expected);
  });

  it.each([
    { unknown: 'refuse' },
    { unknown: 'refuse', wrap: 'bare', extras: 'refuse', defaultRows: 1000 },
  ] as SandboxOptions[])('the gateway answers alike over every shape of the service: %o', async (shape) => {
    expect(await answersOver(shape)).toEqual(expected);
  });

  it('the gateway answers alike whether offices come nested or as a list of terms', async () => {
    const answers = await answersOver({ government: 'terms' });
    expect(answers.country).toEqual(expected.country);
  });
});

describe('a service that refuses `limit`', () => {
  it('a service that refuses `limit` is asked once with it, and from then on without', async () => {
    await using program = await openProgram({ sandbox: { extras: 'refuse', defaultRows: 1000 } });
    const first = await program.ask(OPERATIONS.figures);
    expect(first.upstream.byRoute).toEqual({ '/v1/countries': 1, '/v1/data': 2 });
    const second = await program.ask(OPERATIONS.figures);
    expect(second.upstream.byRoute).toEqual({ '/v1/countries': 1, '/v1/data': 1 });
  });
});

describe('a service that cuts at its default and heeds no `limit`', () => {
  it.each([
    ['ignore', 2],
    ['refuse', 3],
  ] as const)(
    'a service that cuts at its default and heeds no `limit` is asked in pieces (%s)',
    async (extras, calls) => {
      await using program = await openProgram({ sandbox: { extras } });
      await using whole = await openProgram();
      const reply = await program.ask(OPERATIONS.figures);
      expect(reply.errors).toEqual([]);
      expect(reply.data).toEqual((await whole.ask(OPERATIONS.figures)).data);
      expect(reply.upstream.byRoute['/v1/data']).toBe(calls);
    },
  );
});

describe('a service that cuts its listings at 100 and heeds no `limit`, but filters', () => {
  const listings = `{ tickers(exchangeCode: "NGX") { symbol } sent: ticker(exchangeCode: "NGX", symbol: "syn005") { symbol }
    unsent: ticker(exchangeCode: "NGX", symbol: "SYN150") { symbol } whole: tickers(exchangeCode: "RSE") { symbol }
    none: ticker(exchangeCode: "RSE", symbol: "SYN150") { symbol } }`;

  it('a service that cuts its listings at 100 and heeds filters alone is never taken to have sent all of them', async () => {
    await using program = await openProgram();
    const route = '/v1/markets/tickers';
    program.sandbox.faults.set({
      route,
      kind: 'shape',
      when: ({ limit }) => limit === '1',
      patch: ({ data: [row] }) => ({ data: Array.from({ length: 100 }, () => row) }),
    });
    program.sandbox.faults.set({ route, kind: 'shape', patch: ({ data }) => ({ data: data.slice(0, 100) }) });
    const reply = await program.ask(listings);
    expect(reply.data).toMatchObject({ tickers: null, sent: { symbol: 'SYN005' }, unsent: null, none: null });
    expect(reply.data.whole).toHaveLength(5);
    const extensions = { code: 'UPSTREAM_INCOMPLETE', retryable: false, route, received: 100, total: null };
    // Sorts errors, for nobody cares in which order they are found.
    const failed = reply.errors.toSorted((a, b) => String(a.path).localeCompare(String(b.path)));
    expect(failed.map((error) => [error.path, error.extensions])).toEqual([
      [['tickers'], extensions],
      [['unsent'], extensions],
    ]);
    expect(program.requests().sort()).toEqual([
      'GET /v1/markets/tickers',
      'GET /v1/markets/tickers?exchange_code=NGX',
      'GET /v1/markets/tickers?exchange_code=RSE',
      'GET /v1/markets/tickers?limit=1',
      'GET /v1/markets/tickers?limit=500',
    ]);
    expect(reply.upstream.calls).toBe(5);
  });
});

describe('a list that is said to have more rows than were sent', () => {
  it.each([
    ['/v1/countries', 'countries { code }', 1],
    ['/v1/indicators', 'indicators { key }', 1],
    ['/v1/platform/etl-status', 'sources { key }', 1],
    // A higher limit is tried.
    ['/v1/markets/tickers', 'tickers { symbol }', 2],
  ])(
    'a list that is said to have more rows than were sent of %s is an error',
    async (route, field, calls) => {
      await using program = await openProgram();
      program.sandbox.faults.set({
        route,
        kind: 'shape',
        patch: ({ data }) => ({ data, meta: { total: data.length + 1, limit: 1000 } }),
      });
      const reply = await program.ask(`{ ${field} }`);
      const [failure] = reply.errors;
      expect(failure?.extensions).toMatchObject({ code: 'UPSTREAM_INCOMPLETE', route });
      expect(failure?.extensions.total).toBe((failure?.extensions.received as number) + 1);
      expect(Object.values(reply.data)).toEqual([null]);
      expect([reply.upstream.calls, program.requests().length]).toEqual([calls, calls]);
    },
  );
});

describe('counts that count nothing', () => {
  it.each([{ total: 0, limit: 0 }, { total: -1, limit: -1 }, { limit: 1e300 }])(
    'counts that count nothing are taken for none: %j',
    async (meta) => {
      const query = `{ latest: observations(metricKeys: ["population_total", "life_expectancy"], latest: true) { value }
      series: country(code: "KE") { observations(metricKeys: ["population_total"]) { value } } }`;
      const replies = [];
      for (const sent of [meta, {}]) {
        await using program = await openProgram();
        program.sandbox.faults.set({ kind: 'shape', patch: ({ data }) => ({ data, meta: sent }) });
        for (const _ of ['unknown', 'learned']) {
          const { data, errors, upstream } = await program.ask(query);
          replies.push([data, errors, upstream.calls]);
        }
      }
      expect(replies.slice(0, 2)).toEqual(replies.slice(2));
      for (const [data, , calls] of replies) expect([data.latest.length, calls]).toEqual([108, 3]);
    },
  );

  it('counts that count nothing do not prove a list whole that was cut', async () => {
    await using program = await openProgram({ sandbox: { extras: 'refuse', defaultRows: 100 } });
    program.sandbox.faults.set({ kind: 'shape', patch: ({ data }) => ({ data, meta: { total: -1 } }) });
    const { data, errors } = await program.ask('{ tickers { symbol } }');
    expect([data, errors[0]?.extensions.code]).toEqual([{ tickers: null }, 'UPSTREAM_INCOMPLETE']);
  });
});

describe('the row limit', () => {
  const codes = 'KE NG GH ZA EG MA TN UG TZ RW SN ML NE TD CM GA CG CD AO ZM ZW MZ MW BW NA LS SZ MG'.split(
    ' ',
  );
  const series = `query ($codes: [CountryCode!]) { observations(countryCodes: $codes, metricKeys: ["population_total"]) { year country { code } } }`;

  it('the row limit is met by as few calls as the rows allow, once it is known', async () => {
    await using program = await openProgram();
    await program.ask('{ countries { observation(metricKey: "life_expectancy") { value } } }');
    const reply = await program.ask(series, { variables: { codes } });
    const rows = reply.data.observations.length;
    expect(rows).toBeGreaterThan(2000);
    expect(reply.upstream.byRoute['/v1/data']).toBe(Math.ceil(rows / 1000));
    expect(
      new Set(reply.data.observations.map((row: { country: { code: string } }) => row.country.code)).size,
    ).toBe(codes.length);
  });

  it('the row limit is met right the first time, once the lengths of the series are known too', async () => {
    await using program = await openProgram();
    const first = await program.ask(series, { variables: { codes } });
    const again = await program.ask(series, { variables: { codes } });
    expect(again.data).toEqual(first.data);
    expect(again.upstream.calls).toBeLessThanOrEqual(first.upstream.calls);
  });

  it('the row limit splits a single series by years', async () => {
    await using program = await openProgram();
    const reply = await program.ask(
      '{ country(code: "KE") { observations(metricKeys: ["rainfall_monthly_mm"]) { year } } }',
    );
    const rows = reply.data.country.observations.length;
    expect(rows).toBeGreaterThan(2000);
    expect(reply.upstream.byRoute['/v1/data']).toBe(Math.ceil(rows / 1000));
  });

  it('the row limit splits 54 × 19 latest figures into two calls, and loses none', async () => {
    await using program = await openProgram();
    const { data } = await program.ask('{ indicators(hasData: true) { key } }');
    const keys = data.indicators.slice(0, 19).map(({ key }: { key: string }) => key);
    const fields = keys
      .map((key: string, i: number) => `f${i}: observation(metricKey: "${key}") { value }`)
      .join(' ');
    const merged = await program.ask(`{ countries { ${fields} } }`);
    const listed = await program.ask(
      `query ($keys: [String!]) { observations(metricKeys: $keys, latest: true) { locationName } }`,
      { variables: { keys } },
    );
    expect(merged.errors).toEqual([]);
    expect(listed.upstream.byRoute['/v1/data']).toBe(2);
    const figures = merged.data.countries
      .flatMap((country: object) => Object.values(country))
      .filter(Boolean);
    expect(figures.length).toBeGreaterThanOrEqual(
      listed.data.observations.filter((row: { locationName: unknown }) => row.locationName === null).length,
    );
  });
});

checkService('the sandbox', async () => {
  const program = await openProgram();
  return {
    baseUrl: program.service.url,
    key: program.sandbox.keys.team,
    close: () => program[Symbol.asyncDispose](),
  };
});

const { CONTRACT_URL, CONTRACT_KEY } = process.env;
describe.runIf(CONTRACT_URL && CONTRACT_KEY)('on request', () => {
  checkService('a live service (CONTRACT_URL, CONTRACT_KEY)', async () => ({
    baseUrl: CONTRACT_URL ?? '',
    key: CONTRACT_KEY ?? '',
    close: async () => {},
  }));
});
