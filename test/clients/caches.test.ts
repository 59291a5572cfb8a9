import { getIntrospectionQuery, parse, print } from 'graphql';
import { afterEach, describe, expect, it, vi } from 'vitest';
import * as apollo from '../../clients/client/src/apollo.ts';
import * as graphcache from '../../clients/client/src/graphcache.ts';
import { goldenNames, goldenOperation, openGolden, readGolden } from '../support/golden-queries.ts';
import { openProgram } from '../support/program.ts';
import { type Any, headers, isInstalled, LIBRARIES, load } from './mounted-pages.ts';

const kenya = (fields: string) => `country(code: "KE") { ${fields} }`;
const latest = (fields: string) => kenya(`code observation(metricKey: "life_expectancy") { ${fields} }`);
const series = (fields: string) =>
  `observations(countryCodes: ["KE", "NG"], metricKeys: ["life_expectancy"], fromYear: 2020) { ${fields} }`;

/** Fields that two components of a page select, each in an operation of its own. */
const PAIRS = [
  { of: 'a figure without its id', one: latest('value'), two: latest('year unit') },
  { of: 'a figure with its id and without', one: latest('id value'), two: latest('year value') },
  { of: 'a country without its code', one: kenya('name'), two: kenya('capital region') },
  { of: 'a country by its code and without', one: kenya('code name'), two: kenya('name capital') },
  { of: 'a list of figures', one: series('value country { name }'), two: series('year country { code }') },
  {
    of: 'a page of figures',
    one: `observationsConnection(countryCodes: ["KE"], metricKeys: ["life_expectancy"], first: 3) { nodes { value } pageInfo { hasNextPage } }`,
    two: `observationsConnection(countryCodes: ["KE"], metricKeys: ["life_expectancy"], first: 3) { edges { cursor node { year } } totalCount }`,
  },
  {
    of: 'a list of parts',
    one: kenya('code profile { indicators { name } }'),
    two: kenya('code profile { indicators { value unit } }'),
  },
  {
    of: 'what is derived of a figure',
    one: latest('id rank(among: ["KE", "NG", "GH"]) { position }'),
    two: latest('value rank(among: ["KE", "NG", "GH"]) { of year }'),
  },
  {
    of: 'fragments',
    one: `${kenya('code observation(metricKey: "life_expectancy") { ...Value }')}`,
    two: `${kenya('code observation(metricKey: "life_expectancy") { ...Year ... on Observation { source { key } } }')}`,
    fragments: ['fragment Value on Observation { value unit }', 'fragment Year on Observation { year }'],
  },
] as const;

/** The part of an answer that was selected, without additions of libraries. */
const selected = (wanted: Any, shown: Any): Any => {
  if (Array.isArray(wanted)) return wanted.map((one, i) => selected(one, shown?.[i]));
  if (typeof wanted !== 'object' || wanted === null) return shown;
  return Object.fromEntries(
    Object.entries(wanted).map(([name, one]) => [name, selected(one, shown?.[name])]),
  );
};

const settled = () => new Promise((resolve) => setTimeout(resolve, 150));

const MERGED = [
  { of: 'a figure', one: latest('value'), two: latest('year unit'), both: latest('value year unit') },
  {
    of: 'figures of a list',
    one: series('value'),
    two: series('year unit'),
    both: series('value unit year'),
  },
  { of: 'a country', one: kenya('name'), two: kenya('capital'), both: kenya('capital name') },
];

afterEach(() => {
  vi.restoreAllMocks();
});

/** Looks at the messages on the console since the last look. */
function listening(): () => readonly unknown[] {
  const spies = (['warn', 'error', 'info'] as const).map((level) =>
    vi.spyOn(console, level).mockImplementation(() => {}),
  );
  return () => spies.flatMap(({ mock }) => mock.calls);
}

describe.runIf(isInstalled).for(LIBRARIES)('two components over $name', ({ mount, merges = false }) => {
  it.for(PAIRS)('two components ask once each and both keep $of', async ({ one, two, ...more }) => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
    const fragments: readonly string[] = 'fragments' in more ? more.fragments : [];
    const operations = [one, two].map((fields, i) => {
      const used = fragments.filter((text) => fields.includes(`...${text.split(' ')[1]}`));
      return [`query Page${i} { ${fields} }`, ...used].join('\n');
    });
    const wanted = await Promise.all(operations.map(async (text) => (await program.ask(text)).data));
    program.operations.length = 0;
    program.requests();
    const said = listening();
    const page = await mount(program, operations);
    const both = () => wanted.map((data, i) => selected(data, page.shown()[i]));
    await expect.poll(both, { timeout: 3000 }).toEqual(wanted);
    await settled();
    expect(both()).toEqual(wanted);
    expect(program.operations).toHaveLength(2);
    await page.again();
    await settled();
    expect(both()).toEqual(wanted);
    expect(program.operations).toHaveLength(3);
    expect(program.requests()).toEqual([]);
    expect(said()).toEqual([]);
    page.close();
  });

  it.runIf(merges).for(MERGED)(
    'two components have a third one take nothing that selects what both have of $of',
    async ({ one, two, both }) => {
      await using program = await openProgram();
      const page = await mount(program, [`query Page0 { ${one} }`, `query Page1 { ${two} }`]);
      await expect.poll(() => page.shown().filter(Boolean).length).toBe(2);
      expect(await page.held(`query page0Query { ${both} }`)).not.toBeNull();
      expect(program.operations).toHaveLength(2);
      page.close();
    },
  );

  it('two components make no figure of one and the next', async () => {
    await using program = await openProgram();
    const page = await mount(program, [
      `query Page0 { ${latest('value')} }`,
      `query Page1 { ${latest('year')} }`,
    ]);
    await expect.poll(() => page.shown().filter(Boolean).length).toBe(2);
    program.sandbox.faults.set({
      kind: 'shape',
      route: '/v1/data',
      patch: ({ data, ...rest }: Any) => ({
        ...rest,
        data: data.map((row: Any) => ({ ...row, value: 1, year: 2031, period: '2031' })),
      }),
    });
    await page.again();
    await settled();
    const next = { code: 'KE', observation: { value: 1, year: 2031 } };
    expect(selected({ country: next }, page.shown()[0])).toMatchObject({
      country: { observation: { value: 1 } },
    });
    const held = await page.held(`query page0Query { ${latest('value year')} }`);
    if (held !== null) expect(selected({ country: next }, held)).toEqual({ country: next });
    page.close();
  });
});

describe.runIf(isInstalled)('the policies of Apollo Client', () => {
  const { typePolicies, possibleTypes } = apollo;
  const opened = async () => {
    const { InMemoryCache, gql } = await load('@apollo/client/core/index.js');
    return { cache: new InMemoryCache({ typePolicies, possibleTypes }), gql };
  };
  const told = (observation: object) => ({
    country: {
      __typename: 'Country',
      code: 'KE',
      observation: { __typename: 'Observation', ...observation },
    },
  });

  it('the policies of Apollo Client never make one figure of two that are not identified', async () => {
    const { cache, gql } = await opened();
    const query = (fields: string) => gql(`{ ${latest(fields)} }`);
    cache.writeQuery({ query: query('value'), data: told({ value: 61 }) });
    cache.writeQuery({ query: query('year'), data: told({ year: 2025 }) });
    expect(cache.readQuery({ query: query('value year') })).toBeNull();
    cache.writeQuery({ query: query('id value year'), data: told({ id: 'x', value: 62, year: 2025 }) });
    expect(cache.readQuery({ query: query('year value') })).toEqual(told({ value: 62, year: 2025 }));
  });

  it('the policies of Apollo Client go by the names of fields, not by those that an operation gives them', async () => {
    const { cache, gql } = await opened();
    const query = gql('{ countries { id: region name } }');
    const countries = ['Kenya', 'Uganda'].map((name) => ({ __typename: 'Country', id: 'East Africa', name }));
    cache.writeQuery({ query, data: { countries } });
    expect(cache.readQuery({ query })).toEqual({ countries });
  });

  it('the policies of Apollo Client tell variables apart, also those of fragments', async () => {
    const { cache, gql } = await opened();
    const fragment = 'fragment Figure on Country { observation(metricKey: $of) { value } }';
    const inPlace = 'observation(metricKey: $of) { value }';
    for (const text of [
      `query Q($of: String!) { country(code: "KE") { ...Figure } } ${fragment}`,
      `query Q($of: String!) { country(code: "KE") { ${inPlace} } }`,
    ]) {
      const query = gql(text);
      const figure = (value: number) => ({
        country: { __typename: 'Country', observation: { __typename: 'Observation', value } },
      });
      cache.writeQuery({ query, variables: { of: 'a' }, data: figure(1) });
      cache.writeQuery({ query, variables: { of: 'b' }, data: figure(2) });
      expect(cache.readQuery({ query, variables: { of: 'a' } })).toEqual(figure(1));
    }
  });
});

describe.runIf(isInstalled)('the keys of urql', () => {
  it.for([
    { routes: '', keysOf: () => graphcache.keys },
    { routes: 'trade,policy', keysOf: () => graphcache.keys },
    { routes: '', keysOf: graphcache.keysOf },
    { routes: 'trade,policy', keysOf: graphcache.keysOf },
  ])('the keys of urql have nothing to warn of, with the routes "$routes"', async ({ routes, keysOf }) => {
    const [{ cacheExchange }, { Client, fetchExchange, gql }] = await Promise.all([
      load('@urql/exchange-graphcache/dist/urql-exchange-graphcache.mjs'),
      load('@urql/core/dist/urql-core.mjs'),
    ]);
    await using program = await openProgram({ env: { EXTRA_ROUTES: routes } });
    const { data: schema } = await program.ask(getIntrospectionQuery());
    const said = listening();
    const keys = keysOf(schema);
    const client = new Client({
      url: program.url,
      fetchOptions: { headers: headers(program) },
      exchanges: [cacheExchange({ keys, schema }), fetchExchange],
    });
    const fields =
      routes === '' ? 'profile { indicators { name } }' : 'policies { title } tradeProducts { productCode }';
    const { data, error } = await client.query(gql(`{ ${kenya(`code ${fields}`)} }`), {}).toPromise();
    expect(error).toBeUndefined();
    expect(data.country.code).toBe('KE');
    expect(said()).toEqual([]);
    expect(Object.keys(graphcache.keysOf(schema)).includes('Policy')).toBe(routes !== '');
  });
});

describe('documents with ids', () => {
  it.for(goldenNames)('documents with ids take the same calls: %s', async (name) => {
    const { query, variables } = goldenOperation(name);
    const document = graphcache.withIds(parse(query));
    await using program = await openGolden();
    const { errors } = await program.ask(print(document), { variables });
    const bare = readGolden(`${name}.calls.txt`).split('\n\n')[1] ?? '';
    expect(errors.filter(({ extensions }) => extensions.code === 'GRAPHQL_VALIDATION_FAILED')).toEqual([]);
    expect(program.requests().sort().join('\n')).toBe(bare.trim());
  });

  it.for<readonly [string, string, string]>([
    ['an object', '{ sources { key } }', '{ sources { key id } }'],
    ['those of fragments', 'fragment F on Country { name }', 'fragment F on Country { name id }'],
    [
      'nodes',
      '{ node(id: "x") { ... on Source { key } } }',
      '{ node(id: "x") { ... on Source { key } id } }',
    ],
    [
      'what is there on a condition',
      '{ sources { id @skip(if: true) } }',
      '{ sources { id @skip(if: true) id } }',
    ],
    ['nothing, where another field is called so', '{ sources { id: key } }', '{ sources { id: key } }'],
    ['nothing twice', '{ sources { id } }', '{ sources { id } }'],
    ['no part', '{ health { status } }', '{ health { status } }'],
    [
      'what other subgraphs refer to',
      '{ advice { ... on Country { name } } }',
      '{ advice { ... on Country { name id } } }',
    ],
  ])('documents with ids have that of %s', ([, text, wanted]) => {
    expect(print(graphcache.withIds(parse(text)))).toBe(print(parse(wanted)));
  });

  it('documents with ids are those of a document each time, and leave stored ones as they are', () => {
    const document = parse('{ sources { key } }');
    const made = graphcache.withIds(document);
    expect(graphcache.withIds(document)).toBe(made);
    expect(graphcache.withIds(made)).toBe(made);
    const stored = { ...document, __meta__: { hash: 'x' } };
    expect(graphcache.withIds(stored)).toBe(stored);
  });
});
