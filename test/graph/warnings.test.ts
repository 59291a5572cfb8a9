import { describe, expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';

const QUERY = '{ some: countries(codes: ["KE", "ZZ"]) { name } }';

const OF_ZZ = {
  code: 'UNKNOWN_COUNTRY',
  message: 'The service covers no country of the code ZZ.',
  path: ['some'],
  name: 'ZZ',
};

describe('warnings', () => {
  it('warnings stand beside the bill, and the answer stays what it is', async () => {
    await using program = await openProgram();
    const reply = await program.ask(QUERY);
    expect(reply.status).toBe(200);
    expect(reply.errors).toEqual([]);
    expect(reply.data).toEqual({ some: [{ name: 'Kenya' }] });
    expect(reply.extensions.warnings).toEqual([OF_ZZ]);
    expect(reply.upstream.byRoute).toEqual({ '/v1/countries': 1 });
  });

  it('warnings are not there where there is nothing to warn of', async () => {
    await using program = await openProgram();
    const { extensions } = await program.ask('{ countries(codes: ["KE"]) { name } }');
    expect(Object.keys(extensions)).toEqual(['upstream']);
  });

  it('warnings come again from what is held, and from the bytes of an answer', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
    for (const [calls, repeated] of [
      [1, false],
      [0, false],
      [0, true],
    ]) {
      const reply = await program.ask(QUERY);
      expect(reply.extensions.warnings).toEqual([OF_ZZ]);
      expect(reply.upstream.calls).toBe(calls);
      expect(program.operations.at(-1)?.repeated).toBe(repeated);
    }
  });

  it('warnings leave the tag of an answer the same, whichever way it comes', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
    const url = new URL(program.url);
    url.searchParams.set('query', QUERY);
    const headers = {
      authorization: `Bearer ${program.sandbox.keys.team}`,
      'apollo-require-preflight': '1',
      accept: 'application/graphql-response+json',
    };
    const tags = new Set<string | null>();
    for (let time = 0; time < 3; time += 1) {
      const response = await fetch(url, { headers });
      expect(await response.json()).toMatchObject({ extensions: { warnings: [OF_ZZ] } });
      tags.add(response.headers.get('etag'));
    }
    expect([...tags]).toEqual([expect.stringMatching(/^W\//)]);
    expect(program.operations.at(-1)?.repeated).toBe(true);
  });

  it('warnings are told beside what the schema says of itself', async () => {
    await using program = await openProgram();
    const reply = await program.ask(`{ __schema { queryType { name } } ${QUERY.slice(1)}`);
    expect(reply.extensions.warnings).toEqual([OF_ZZ]);
  });

  it('warnings are told in place of the answer, as far as what is held tells', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
    const headers = { 'x-explain': '1' };
    expect((await program.ask(QUERY, { headers })).extensions).not.toHaveProperty('warnings');
    await program.ask('{ countries { name } }');
    const { extensions, upstream } = await program.ask(QUERY, { headers });
    expect(extensions.warnings).toEqual([OF_ZZ]);
    expect(upstream.calls).toBe(0);
  });

  it('warnings tell the same thing once, and no more than an answer can bear', async () => {
    await using program = await openProgram();
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
    const codes = letters.flatMap((letter) => [...'JQXY'].map((first) => `${first}${letter}`)).slice(0, 104);
    const { extensions } = await program.ask(
      'query ($codes: [CountryCode!]) { a: countries(codes: $codes) { name } b: countries(codes: $codes) { name } }',
      { variables: { codes: ['KE', ...codes] } },
    );
    const warnings = extensions.warnings as { path: unknown; count?: number }[];
    expect(warnings).toHaveLength(101);
    expect(new Set(warnings.slice(0, -1).map(({ path }) => String(path)))).toEqual(new Set(['a']));
    expect(warnings.at(-1)).toEqual({
      code: 'UNKNOWN_COUNTRY',
      message: 'Warnings that are not listed here: 4.',
      path: [],
      count: 4,
    });
  });
});

describe('a name that nothing is known of', () => {
  const typo = {
    code: 'UNKNOWN_INDICATOR',
    message: 'The catalogue has no indicator of the key life_expectanci. Did you mean "life_expectancy"?',
    path: ['indicators'],
    name: 'life_expectanci',
    didYouMean: ['life_expectancy'],
  };

  it('a name that nothing is known of is warned of in the catalogue, with names that are spelt alike', async () => {
    await using program = await openProgram();
    const reply = await program.ask(
      '{ indicators(keys: ["life_expectanci", "population_total", "x"]) { key } }',
    );
    expect(reply.data).toEqual({ indicators: [{ key: 'population_total' }] });
    expect(reply.extensions.warnings).toEqual([
      typo,
      {
        code: 'UNKNOWN_INDICATOR',
        message: 'The catalogue has no indicator of the key x.',
        path: ['indicators'],
        name: 'x',
        didYouMean: [],
      },
    ]);
    expect(reply.upstream.byRoute).toEqual({ '/v1/indicators': 1 });
  });

  it('a name that nothing is known of is not one that another filter leaves out', async () => {
    await using program = await openProgram();
    const reply = await program.ask(
      '{ indicators(category: "economy", keys: ["life_expectanci", "life_expectancy"]) { key } }',
    );
    expect(reply.data).toEqual({ indicators: [] });
    expect(reply.extensions.warnings).toEqual([typo]);
    expect(reply.upstream.calls).toBe(1);
  });

  it('a name that nothing is known of is warned of among figures once the list has gone by, and costs no call before', async () => {
    await using program = await openProgram();
    const text =
      '{ observations(countryCodes: ["KE", "ZZ"], metricKeys: ["population_total"], latest: true) { value } }';
    const before = await program.ask(text);
    expect(before.extensions).not.toHaveProperty('warnings');
    await program.ask('{ countries { name } }');
    const after = await program.ask(text);
    expect(after.data).toEqual(before.data);
    expect(after.extensions.warnings).toEqual([{ ...OF_ZZ, path: ['observations'] }]);
    expect(after.upstream.byRoute).toEqual({ '/v1/data': 1 });
  });
});

describe('a country that there is not', () => {
  const path = ['country'];

  it.for([
    '{ country(code: "zz") { name } }',
    '{ country(code: "ZZ") { code observation(metricKey: "gdp_current_usd") { value } } }',
  ])(
    'an unknown country by its code is null without an error, and warned of as in a list: %s',
    async (text) => {
      for (const cache of ['memory:', 'none']) {
        await using program = await openProgram({ env: { CACHE_URL: cache } });
        for (const calls of [1, cache === 'none' ? 1 : 0]) {
          const { data, errors, extensions, upstream } = await program.ask(text);
          expect([data, errors]).toEqual([{ country: null }, []]);
          expect(extensions.warnings).toEqual([{ ...OF_ZZ, path }]);
          expect(upstream.byRoute).toEqual(calls === 0 ? {} : { '/v1/countries': 1 });
        }
      }
    },
  );

  it('an unknown country is warned of at each alias that names it', async () => {
    await using program = await openProgram();
    const { data, extensions } = await program.ask(
      '{ a: country(code: "ZZ") { name } b: country(code: "KE") { name } c: country(code: "YY") { name } }',
    );
    expect(data).toEqual({ a: null, b: { name: 'Kenya' }, c: null });
    expect(
      (extensions.warnings as { name: string; path: string[] }[]).map(({ name, path }) => [name, path]),
    ).toEqual([
      ['ZZ', ['a']],
      ['YY', ['c']],
    ]);
  });

  it('a country that another subgraph references and the service doesn’t cover is no reason to warn', async () => {
    await using program = await openProgram();
    const { data, extensions } = await program.ask(
      '{ _entities(representations: [{ __typename: "Country", code: "FR" }]) { ... on Country { name } } }',
    );
    expect([data, extensions.warnings]).toEqual([{ _entities: [null] }, undefined]);
  });
});

describe('an indicator that there is not', () => {
  const figures = '{ indicator(key: "no_such") { key observation(countryCode: "KE") { value } } }';

  it.each([
    ['one figure', figures],
    [
      'series',
      '{ indicator(key: "no_such") { a: observations(countryCodes: ["KE"]) { value } ...F } } fragment F on Indicator { b: observations(countryCodes: ["NG"]) { year } }',
    ],
  ])(
    'an unknown indicator is null below %s alone: where no figure shows it, the catalogue is asked',
    async (_, text) => {
      await using program = await openProgram({ env: { CACHE_URL: 'memory:', BATCH_HOLD_MS: '60000' } });
      for (const byRoute of [{ '/v1/data': 1, '/v1/indicators': 1 }, {}, {}]) {
        const { data, errors, upstream } = await program.ask(text);
        expect([Object.values(data).flat(), errors]).toEqual([[null], []]);
        expect(upstream.byRoute).toEqual(byRoute);
      }
    },
  );

  it.each(['empty', 'refuse'] as const)(
    'an unknown indicator is null where the service has %s for unknown names',
    async (unknown) => {
      await using program = await openProgram({ sandbox: { unknown } });
      const { data, errors } = await program.ask(figures);
      expect([data, errors]).toEqual([{ indicator: null }, []]);
    },
  );

  it('an unknown indicator is not one whose figures show that it exists', async () => {
    await using program = await openProgram({ env: { BATCH_HOLD_MS: '60000' } });
    const text = `{ indicator(key: "population_total") { key observation(countryCode: "KE") { value } observations(countryCodes: ["NG"]) { value } }
      countries { name observation(metricKey: "life_expectancy") { value } } }`;
    const cold = await program.ask(text);
    expect(cold.errors).toEqual([]);
    expect(cold.data.indicator.observation.value).toBeGreaterThan(0);
    expect(cold.upstream.byRoute).toEqual({ '/v1/countries': 1, '/v1/data': cold.upstream.calls - 1 });
    const usual = await program.ask(text);
    expect(cold.upstream).toEqual(usual.upstream);
  });

  it('an unknown indicator is asked of the catalogue, which may have it by now', async () => {
    await using program = await openProgram();
    await program.ask('{ indicators { key } }');
    const reply = await program.ask(figures);
    expect(reply.data).toEqual({ indicator: null });
    expect(reply.upstream.byRoute).toEqual({ '/v1/indicators': 1 });
    const known = await program.ask(figures.replace('no_such', 'population_total'));
    expect(known.upstream.byRoute).toEqual({ '/v1/data': 1 });
  });
});
