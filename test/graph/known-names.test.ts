import { describe, expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';

const MEMORY = { env: { CACHE_URL: 'memory:' } };
const CATALOGUE = '{ indicators { key } }';
const COUNTRIES = '{ countries { name } }';

const OF_KEY = {
  code: 'UNKNOWN_INDICATOR',
  message:
    'The catalogue has no indicator of the key populaton_total. Did you mean "population_total" or "urban_population_total"?',
  name: 'populaton_total',
  didYouMean: ['population_total', 'urban_population_total'],
};

/** Ways to name the key of an indicator, each with its answer. */
const MISSPELT: readonly (readonly [string, unknown, readonly (string | number)[]])[] = [
  [
    '{ country(code: "KE") { observation(metricKey: "populaton_total") { value } } }',
    { country: { observation: null } },
    ['country', 'observation'],
  ],
  [
    '{ countries(codes: ["KE", "NG"]) { observation(metricKey: "populaton_total") { value } } }',
    { countries: [{ observation: null }, { observation: null }] },
    ['countries', 0, 'observation'],
  ],
  [
    '{ country(code: "KE") { observations(metricKeys: ["populaton_total"]) { value } } }',
    { country: { observations: [] } },
    ['country', 'observations'],
  ],
  [
    '{ observations(metricKeys: ["populaton_total"], countryCodes: ["KE"]) { value } }',
    { observations: [] },
    ['observations'],
  ],
  [
    '{ indicator(key: "populaton_total") { observation(countryCode: "KE") { value } } }',
    { indicator: null },
    ['indicator'],
  ],
  ['{ indicator(key: "populaton_total") { name } }', { indicator: null }, ['indicator']],
];

describe('a key that is misspelt', () => {
  it.for(MISSPELT)(
    'a key that is misspelt is warned of where the catalogue is held, and costs no call: %s',
    async ([query, data, path]) => {
      await using program = await openProgram(MEMORY);
      await program.ask(CATALOGUE);
      program.requests();
      for (const repeated of [false, false, true]) {
        const reply = await program.ask(query);
        expect([reply.data, reply.errors]).toEqual([data, []]);
        expect(reply.extensions.warnings).toEqual([{ ...OF_KEY, path }]);
        expect(reply.upstream.calls).toBe(0);
        expect(program.operations.at(-1)?.repeated).toBe(repeated);
      }
      expect(program.requests()).toEqual([]);
    },
  );

  it('a key that is misspelt has its price say so', async () => {
    await using program = await openProgram(MEMORY);
    const [[query]] = MISSPELT as [(typeof MISSPELT)[0]];
    const headers = { 'x-explain': '1' };
    expect((await program.ask(query, { headers })).extensions.explain).toMatchObject({ calls: 1 });
    await program.ask(CATALOGUE);
    const { extensions } = await program.ask(query, { headers });
    expect(extensions.explain).toMatchObject({ calls: 0, least: 0, most: 0 });
    expect(extensions.warnings).toMatchObject([OF_KEY]);
  });

  it('a key that is misspelt leaves the other keys of the field what they are', async () => {
    await using program = await openProgram(MEMORY);
    await program.ask(CATALOGUE);
    program.requests();
    const reply = await program.ask(
      '{ observations(metricKeys: ["populaton_total", "population_total"], countryCodes: ["KE"], latest: true) { indicator { key } } }',
    );
    expect(reply.data).toEqual({ observations: [{ indicator: { key: 'population_total' } }] });
    expect(reply.extensions.warnings).toMatchObject([OF_KEY]);
    expect(program.requests()).toEqual([expect.stringMatching(/metric_keys=population_total$/)]);
  });

  it.for<[string, Parameters<typeof openProgram>[0], string | null]>([
    ['before the catalogue has come', MEMORY, null],
    ['where nothing is held', {}, CATALOGUE],
  ])('a key that is misspelt is asked of the service %s', async ([, options, first]) => {
    await using program = await openProgram(options);
    if (first !== null) await program.ask(first);
    const { data, upstream } = await program.ask(String(MISSPELT[0]?.[0]));
    expect([data, upstream.byRoute]).toEqual([{ country: { observation: null } }, { '/v1/data': 1 }]);
  });

  it('a key that is misspelt is asked of the service under a key that has not been given the catalogue', async () => {
    await using program = await openProgram(MEMORY);
    await program.ask(CATALOGUE);
    const { upstream } = await program.ask(String(MISSPELT[0]?.[0]), { key: program.sandbox.keys.analyst });
    expect(upstream.byRoute).toEqual({ '/v1/data': 1 });
  });
});

describe('a key of which no figure comes, where no catalogue is held', () => {
  const MESSAGE =
    'No figure of populaton_total has come for any country that was asked for: there is none, or no such indicator.';
  const doubted = (path: readonly (string | number)[], didYouMean: readonly string[] = []) => ({
    code: 'UNKNOWN_INDICATOR',
    message: didYouMean.length === 0 ? MESSAGE : `${MESSAGE} Did you mean "${didYouMean.join('" or "')}"?`,
    path,
    name: 'populaton_total',
    didYouMean,
  });
  const KENYA = '{ country(code: "KE") { observation(metricKey: "populaton_total") { value } } }';
  const REPRESENTATION = { representations: [{ __typename: 'Indicator', key: 'populaton_total' }] };

  it.for<[string, readonly (string | number)[], Readonly<Record<string, unknown>>?]>([
    ...MISSPELT.slice(0, 4).map(([query, , path]) => [query, path] as [string, typeof path]),
    [
      '{ observationsConnection(metricKeys: ["populaton_total"], countryCodes: ["KE", "NG"]) { totalCount } }',
      ['observationsConnection'],
    ],
    [
      '{ country(code: "KE") { observationsConnection(metricKeys: ["populaton_total"], first: 5) { totalCount } } }',
      ['country', 'observationsConnection'],
    ],
    [
      '{ observations(metricKeys: ["population_total", "populaton_total"], countryCodes: ["KE"], latest: true) { value } }',
      ['observations'],
    ],
    [
      '{ country(code: "KE") { observation(metricKey: "gdp_current_usd") { per(metricKey: "populaton_total") { value } } } }',
      ['country', 'observation', 'per'],
    ],
    [
      'query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on Indicator { observation(countryCode: "KE") { value } } } }',
      ['_entities'],
      REPRESENTATION,
    ],
    [
      '{ countries { name observation(metricKey: "populaton_total") { value } } }',
      ['countries', 0, 'observation'],
    ],
  ])(
    'a key of which no figure comes, where no catalogue is held is warned of once, at no call: %s',
    async ([query, path, variables = {}]) => {
      for (const [CACHE_URL, isWarm] of [
        ['memory:', false],
        ['memory:', true],
        ['none', false],
      ] as const) {
        await using program = await openProgram({ env: { CACHE_URL } });
        if (isWarm) await program.ask(COUNTRIES);
        const { upstream: unwarned } = await program.ask(
          query.replaceAll('populaton_total', 'life_expectancy'),
          {
            variables: JSON.parse(JSON.stringify(variables).replace('populaton_total', 'life_expectancy')),
          },
        );
        program.requests();
        const reply = await program.ask(query, { variables });
        expect(reply.errors).toEqual([]);
        expect(reply.extensions.warnings).toEqual([
          { ...doubted(path), message: expect.stringContaining(MESSAGE), didYouMean: expect.any(Array) },
        ]);
        expect(reply.upstream.calls).toBeLessThanOrEqual(unwarned.calls);
        expect(program.requests().filter((target) => target.includes('/v1/indicators'))).toEqual([]);
        const again = await program.ask(query, { variables });
        expect(again.extensions.warnings).toEqual(reply.extensions.warnings);
      }
    },
  );

  it('a key of which no figure comes, where no catalogue is held is suggested what figures have come of, in the spelling of the service', async () => {
    await using program = await openProgram(MEMORY);
    expect((await program.ask(KENYA)).extensions.warnings).toEqual([doubted(['country', 'observation'])]);
    await program.ask(KENYA.replace('populaton', 'population'), { key: program.sandbox.keys.analyst });
    expect((await program.ask(KENYA.replace('KE', 'NG'))).extensions.warnings).toEqual([
      doubted(['country', 'observation'], ['population_total']),
    ]);
  });

  it.for([
    [
      'has figures of another country',
      '{ a: country(code: "KE") { observation(metricKey: "KEY") { value } } b: country(code: "NG") { observation(metricKey: "KEY") { value } } }',
    ],
    [
      'has figures of other years',
      '{ country(code: "KE") { observations(metricKeys: ["KEY"], fromYear: 2200) { value } } countries { observation(metricKey: "KEY") { value } } }',
    ],
  ] as const)(
    'a key of which no figure comes, where no catalogue is held is not warned of where it %s',
    async ([, query]) => {
      await using program = await openProgram(MEMORY);
      program.sandbox.faults.set({
        kind: 'shape',
        route: '/v1/data',
        patch: (body) => ({
          ...body,
          data: body.data.filter((row: { country_code: string }) => row.country_code !== 'KE'),
        }),
      });
      const { extensions } = await program.ask(query.replaceAll('KEY', 'population_total'));
      expect(extensions).not.toHaveProperty('warnings');
    },
  );

  it('a key of which no figure comes, where no catalogue is held is not warned of where it fails, where its indicator is known, or where nothing is asked of it', async () => {
    await using refusing = await openProgram(MEMORY);
    refusing.sandbox.faults.set({ kind: 'status', route: '/v1/data', status: 403 });
    const refused = await refusing.ask(KENYA);
    expect(refused.errors).toHaveLength(1);
    expect(refused.extensions).not.toHaveProperty('warnings');
    await using program = await openProgram(MEMORY);
    for (const query of [
      '{ countries(codes: ["ZZ"]) { observation(metricKey: "populaton_total") { value } } }',
      '{ indicators(keys: ["population_total"]) { observation(countryCode: "ZZ") { value } } }',
    ])
      for (const { code } of ((await program.ask(query)).extensions.warnings ?? []) as { code: string }[])
        expect(code).toBe('UNKNOWN_COUNTRY');
  });
});

/** Changes the catalogue as it is sent. */
const rewriting = (
  program: Awaited<ReturnType<typeof openProgram>>,
  patch: (rows: { metric_key?: string }[]) => unknown,
) =>
  program.sandbox.faults.set({
    kind: 'shape',
    route: '/v1/indicators',
    patch: (body) => (Array.isArray(body) ? patch(body) : { ...body, data: patch(body.data) }),
  });

describe('a key that the catalogue lacks though the service has figures of it', () => {
  const query = '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }';
  const isTotal = ({ metric_key }: { metric_key?: string }) => metric_key === 'population_total';

  it('a key that the catalogue lacks though the service has figures of it is asked for once figures have come of anything that the catalogue lacks', async () => {
    await using program = await openProgram(MEMORY);
    const figure = (await program.ask(query)).data;
    rewriting(program, (rows) => rows.filter((row) => !isTotal(row)));
    await program.ask(CATALOGUE);
    const other = await program.ask(query.replace('KE', 'NG'));
    expect(other.data.country.observation.value).toBeGreaterThan(0);
    expect(other.extensions).not.toHaveProperty('warnings');
    expect((await program.ask(query)).data).toEqual(figure);
  });

  it("a key that the catalogue lacks though the service has figures of it is asked for where the catalogue has a row that can't be read, or the length of a page", async () => {
    for (const patch of [
      (rows: { metric_key?: string }[]) => rows.map((row) => (isTotal(row) ? {} : row)),
      (rows: { metric_key?: string }[]) => rows.filter((row) => !isTotal(row)).slice(0, 100),
    ]) {
      await using program = await openProgram(MEMORY);
      rewriting(program, patch);
      await program.ask(CATALOGUE);
      const { data } = await program.ask(query);
      expect(data.country.observation.value).toBeGreaterThan(0);
    }
  });

  it('a key that the catalogue lacks though the service has figures of it is warned of where nothing speaks for it, never passed over', async () => {
    await using program = await openProgram(MEMORY);
    rewriting(program, (rows) => rows.filter((row) => !isTotal(row)));
    await program.ask(CATALOGUE);
    const { data, extensions } = await program.ask(query);
    expect(data).toEqual({ country: { observation: null } });
    expect(extensions.warnings).toMatchObject([{ code: 'UNKNOWN_INDICATOR', name: 'population_total' }]);
  });

  it('a key that the catalogue lacks though the service has figures of it is asked for where it differs from one of the catalogue in case alone', async () => {
    await using program = await openProgram(MEMORY);
    await program.ask(CATALOGUE);
    const { upstream, extensions } = await program.ask(query.replace('population', 'Population'));
    expect(upstream.byRoute).toEqual({ '/v1/data': 1 });
    expect(extensions).not.toHaveProperty('warnings');
  });
});

describe('a code that names no country', () => {
  it.for([
    [
      '{ observations(countryCodes: ["ZZ"], metricKeys: ["population_total"]) { value } }',
      { observations: [] },
    ],
    [
      '{ indicator(key: "population_total") { observation(countryCode: "ZZ") { value } } }',
      { indicator: { observation: null } },
    ],
  ] as const)(
    'a code that names no country is warned of where the list is held, and costs no call: %s',
    async ([query, data]) => {
      await using program = await openProgram(MEMORY);
      await program.ask(COUNTRIES);
      await program.ask(CATALOGUE);
      program.requests();
      for (let i = 0; i < 3; i += 1) {
        const reply = await program.ask(query);
        expect([reply.data, reply.errors]).toEqual([data, []]);
        expect(reply.extensions.warnings).toMatchObject([{ code: 'UNKNOWN_COUNTRY', name: 'ZZ' }]);
      }
      expect(program.requests()).toEqual([]);
    },
  );
});
