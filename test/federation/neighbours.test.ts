import { composeServices as composeByApollo } from '@apollo/composition';
import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginInlineTraceDisabled } from '@apollo/server/plugin/disabled';
import { startStandaloneServer } from '@apollo/server/standalone';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { composeServices as composeByGuild } from '@theguild/federation-composition';
import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';
import { ROUTERS } from './routers.ts';

const LINK = `extend schema @link(
  url: "https://specs.apollo.dev/federation/v2.9"
  import: ["@key", "@shareable", "@interfaceObject"]
)`;

const OURS = 'http://ours.test';
const THEIRS = 'http://theirs.test';

/** Complaints of each library against a supergraph of ours and another subgraph. */
async function faultsOf(theirs: string, env: Readonly<Record<string, string>> = {}) {
  await using program = await openProgram({ env });
  const { data } = await program.ask('{ _service { sdl } }', { key: null });
  const published = await (await fetch(new URL('/schema.graphql', program.url))).text();
  const servicesOf = (sdl: string) => [
    { name: 'country-graph', typeDefs: parse(sdl), url: OURS },
    { name: 'theirs', typeDefs: parse(`${LINK} ${theirs}`), url: THEIRS },
  ];
  const byApollo = composeByApollo(servicesOf(data._service.sdl));
  const results = [byApollo, composeByApollo(servicesOf(published)), composeByGuild(servicesOf(published))];
  return {
    supergraphSdl: byApollo.supergraphSdl ?? '',
    faults: results.map(({ errors = [] }) => errors.map(({ message }) => message)),
  };
}

/** Ours and another subgraph behind a router. */
async function routed(
  name: string,
  theirs: string,
  resolvers: object,
  env: Readonly<Record<string, string>> = {},
) {
  const program = await openProgram({ env });
  const { supergraphSdl } = await faultsOf(theirs, env);
  const schema = buildSubgraphSchema([
    { typeDefs: parse(`${LINK} ${theirs}`), resolvers: resolvers as never },
  ]);
  const server = new ApolloServer({ schema, plugins: [ApolloServerPluginInlineTraceDisabled()] });
  const { url } = await startStandaloneServer(server, { listen: { port: 0, host: '127.0.0.1' } });
  const placed = supergraphSdl.replace(THEIRS, url).replace(OURS, program.url);
  const router = await (ROUTERS[name] as (typeof ROUTERS)[string])(placed);
  return {
    ask: (query: string) => router.ask(query, 'Bearer demo-team'),
    /** Routes of the service that were asked. */
    requests: () => program.requests().map((request) => request.replace(/^GET |\?.*$/g, '')),
    async [Symbol.asyncDispose]() {
      await router[Symbol.asyncDispose]();
      await server.stop();
      await program[Symbol.asyncDispose]();
    },
  };
}

const VISAS = `type Query { visas: [Country!] } type Country @key(fields: "iso3") { iso3: String! visa: String }`;

const NOTES =
  'type Query { noted: [Node!] } type Node @key(fields: "id") @interfaceObject { id: ID! note: String }';

/** Names that other teams use as well, `health` in another sense. */
const COMMON = `
  type Query { node(id: ID!): Node health: Health! quota: Int platformVersion: String nodes: [Node!] }
  interface Node { id: ID! }
  type Visit implements Node { id: ID! }
  type Health { isWell: Boolean! }
`;

describe('another subgraph', () => {
  it('another subgraph may know countries by their alpha-3 code', async () => {
    expect((await faultsOf(VISAS, { SUBGRAPH_ISO3: 'on' })).faults).toEqual([[], [], []]);
  });

  it('another subgraph needs our scalar where it knows them by their alpha-2 code', async () => {
    const theirs = (type: string) =>
      `type Query { x: Int } type Country @key(fields: "code") { code: ${type}! visa: String }`;
    for (const type of ['ID', 'String']) {
      for (const [message = ''] of (await faultsOf(theirs(type))).faults)
        expect(message).toMatch(/Type of field "Country.code" is incompatible across subgraphs/);
    }
    expect((await faultsOf(`scalar CountryCode ${theirs('CountryCode')}`)).faults).toEqual([[], [], []]);
  });

  it('another subgraph may have root fields of common names where ours are left out', async () => {
    for (const messages of (await faultsOf(COMMON)).faults) {
      for (const name of ['node', 'health', 'quota', 'platformVersion'])
        expect(messages.join('\n')).toContain(`"Query.${name}"`);
    }
    const env = { SUBGRAPH_OMIT: 'node,nodes,health,quota,platformVersion' };
    const { faults, supergraphSdl } = await faultsOf(COMMON, env);
    expect(faults).toEqual([[], [], []]);
    expect(supergraphSdl).not.toMatch(/type (Quota|PlatformVersion)\b/);
    expect(supergraphSdl).toMatch(/type Freshness\b/);
  });

  it('another subgraph may add a field to all our nodes at once where our interface has a key, and has then no nodes of its own', async () => {
    for (const messages of (await faultsOf(NOTES)).faults)
      expect(messages.join('\n')).toMatch(/"Country\.id"|"\w+\.note"|INTERFACE_OBJECT|Node/);
    expect((await faultsOf(NOTES, { SUBGRAPH_NODE: 'on' })).faults).toEqual([[], [], []]);
    const others =
      'type Query { visits: [Visit] } interface Node { id: ID! } type Visit implements Node { id: ID! }';
    expect((await faultsOf(others)).faults).toEqual([[], [], []]);
    // The Guild's library composes it all the same.
    const [byApollo = [], published = []] = (await faultsOf(others, { SUBGRAPH_NODE: 'on' })).faults;
    for (const messages of [byApollo, published]) expect(messages.join('\n')).toContain('Visit');
  });

  it('another subgraph may refer to our figures and offices by their identifiers', async () => {
    const theirs = `type Query { x: Int } type Observation @key(fields: "id") { id: ID! comment: String }
      type Office @key(fields: "id") { id: ID! address: String }`;
    expect((await faultsOf(theirs)).faults).toEqual([[], [], []]);
  });

  /** Figures of two countries, as another subgraph knows them. */
  const FIGURES = ['KE', 'UG'].map((code) => {
    const key = [code, 'population_total', '2019', '2019', '2019-07-01', '', 'world_bank_wdi'];
    return { id: Buffer.from(JSON.stringify(['Observation', ...key])).toString('base64url') };
  });
  const itself = { __resolveReference: (reference: object) => reference };

  it.each(Object.keys(ROUTERS))(
    'another subgraph comments on our figures through %s, at one data call',
    async (name) => {
      const theirs =
        'type Query { commented: [Observation!] } type Observation @key(fields: "id") { id: ID! comment: String }';
      await using both = await routed(name, theirs, {
        Query: { commented: () => FIGURES },
        Observation: { ...itself, comment: () => 'revised' },
      });
      const { data, errors } = await both.ask('{ commented { comment value country { code } } }');
      expect(errors).toBeUndefined();
      const value = expect.any(Number);
      expect(data.commented).toEqual([
        { comment: 'revised', value, country: { code: 'KE' } },
        { comment: 'revised', value, country: { code: 'UG' } },
      ]);
      expect(both.requests()).toEqual(['/v1/data']);
    },
  );

  it.each(Object.keys(ROUTERS))('another subgraph notes on all our nodes through %s', async (name) => {
    const resolvers = { Query: { noted: () => FIGURES }, Node: { ...itself, note: () => 'seen' } };
    await using both = await routed(name, NOTES, resolvers, { SUBGRAPH_NODE: 'on' });
    const { data, errors } = await both.ask(
      '{ country(code: "KE") { id note } noted { note ... on Observation { value } } }',
    );
    expect(errors).toBeUndefined();
    const noted = { note: 'seen', value: expect.any(Number) };
    // Hive Gateway knows the field only on objects that it reaches by the interface.
    const note = name === 'Hive Gateway' ? null : 'seen';
    expect(data).toEqual({ country: { id: KENYA, note }, noted: [noted, noted] });
    expect(both.requests().filter((route) => route === '/v1/data')).toHaveLength(1);
  });

  it.each(Object.keys(ROUTERS))(
    'another subgraph is joined by alpha-3 codes in both directions through %s',
    async (name) => {
      const resolvers = {
        Query: { visas: () => ['KEN', 'UGA'].map((iso3) => ({ iso3 })) },
        Country: { ...itself, visa: ({ iso3 }: { iso3: string }) => `${iso3}: on arrival` },
      };
      await using both = await routed(name, VISAS, resolvers, { SUBGRAPH_ISO3: 'on' });
      const figure = 'observation(metricKey: "population_total") { value }';
      const outward = await both.ask(`{ visas { visa code ${figure} } }`);
      const inward = await both.ask('{ country(code: "KE") { code visa } }');
      expect([outward.errors, inward.errors]).toEqual([undefined, undefined]);
      expect(outward.data.visas).toEqual([
        { visa: 'KEN: on arrival', code: 'KE', observation: { value: expect.any(Number) } },
        { visa: 'UGA: on arrival', code: 'UG', observation: { value: expect.any(Number) } },
      ]);
      expect(inward.data.country).toEqual({ code: 'KE', visa: 'KEN: on arrival' });
      expect(both.requests()).toEqual(['/v1/data', '/v1/countries']);
    },
  );
});

const KENYA = Buffer.from('["Country","KE"]').toString('base64url');

/** Types and root fields that have our names, and mean something else. */
const NAMESAKES = `
  type Query { countries: [Country!] health: Health sources: [Source!] node(id: ID!): Node trips: [Trip!] }
  interface Node { id: ID! }
  type Country { flag: String! }
  type Health implements Node { id: ID! isWell: Boolean! }
  type Source { spring: String! }
  type Office { street: String! }
  type Term { weeks: Int! offices: [Office!] }
  type Trip { term: Term! to: CG_Country }
  scalar CountryCode
  type CG_Country @key(fields: "code") { code: CountryCode! motto: String }
`;

describe('the setting SUBGRAPH_PREFIX', () => {
  const PREFIXED = { SUBGRAPH_PREFIX: 'CG_' };

  it('the setting SUBGRAPH_PREFIX lets another subgraph have our names', async () => {
    const unprefixed = await faultsOf(NAMESAKES);
    for (const messages of unprefixed.faults) expect(messages.join('\n')).toMatch(/Country|Query\./);
    const { faults, supergraphSdl } = await faultsOf(NAMESAKES, PREFIXED);
    expect(faults).toEqual([[], [], []]);
    expect(supergraphSdl).toMatch(/type CG_Source\b/);
    expect(supergraphSdl).toMatch(/ cg_countries\(/);
    expect((await faultsOf(NAMESAKES, { ...PREFIXED, SUBGRAPH_OMIT: 'health' })).supergraphSdl).not.toContain(
      'cg_health',
    );
  });

  it.each(Object.keys(ROUTERS))(
    'the setting SUBGRAPH_PREFIX is answered beside its namesakes through %s',
    async (name) => {
      await using program = await openProgram({ env: { ...PREFIXED, CACHE_URL: 'memory:' } });
      const { supergraphSdl } = await faultsOf(NAMESAKES, PREFIXED);
      const countries = () => [{ flag: 'striped' }];
      const resolvers = {
        Query: {
          countries,
          health: () => ({ __typename: 'Health', id: '1', isWell: true }),
          trips: () =>
            ['KE', 'UG'].map((code) => ({ term: { weeks: 2, offices: [{ street: 'A' }] }, to: { code } })),
        },
        CG_Country: {
          __resolveReference: (one: object) => one,
          motto: ({ code }: { code: string }) => `of ${code}`,
        },
      };
      const schema = buildSubgraphSchema([
        { typeDefs: parse(`${LINK} ${NAMESAKES}`), resolvers: resolvers as never },
      ]);
      const theirs = new ApolloServer({ schema, plugins: [ApolloServerPluginInlineTraceDisabled()] });
      const { url } = await startStandaloneServer(theirs, { listen: { port: 0, host: '127.0.0.1' } });
      const placed = supergraphSdl.replace(THEIRS, url).replace(OURS, program.url);
      await using router = await (ROUTERS[name] as (typeof ROUTERS)[string])(placed);
      const { data, errors } = await router.ask(
        `{
        countries { flag __typename }
        health { __typename isWell }
        mine: cg_health { kind: __typename status }
        cg_country(code: "KE") {
          __typename name motto
          observation(metricKey: "population_total") { __typename value }
        }
        cg_nodes(ids: ["${KENYA}"]) { __typename ... on CG_Country { code motto } }
        trips { term { weeks offices { street } } to { __typename code name motto } }
      }`,
        'Bearer demo-team',
      );
      await theirs.stop();
      expect(errors).toBeUndefined();
      expect(data).toMatchObject({
        countries: [{ flag: 'striped', __typename: 'Country' }],
        health: { __typename: 'Health', isWell: true },
        mine: { kind: 'CG_Health', status: 'ok' },
        cg_nodes: [{ __typename: 'CG_Country', code: 'KE', motto: 'of KE' }],
        cg_country: {
          __typename: 'CG_Country',
          name: 'Kenya',
          motto: 'of KE',
          observation: { __typename: 'CG_Observation', value: expect.any(Number) },
        },
        trips: [
          {
            term: { weeks: 2, offices: [{ street: 'A' }] },
            to: { __typename: 'CG_Country', code: 'KE', name: 'Kenya', motto: 'of KE' },
          },
          { to: { __typename: 'CG_Country', code: 'UG', name: 'Uganda', motto: 'of UG' } },
        ],
      });
      expect(
        program
          .requests()
          .map((request) => request.replace(/^GET |\?.*$/g, ''))
          .toSorted(),
      ).toEqual(['/health', '/v1/countries', '/v1/data']);
    },
  );

  it("the setting SUBGRAPH_PREFIX leaves our names to this gateway's own clients", async () => {
    await using program = await openProgram({ env: PREFIXED });
    const { data, errors } = await program.ask(
      '{ country(code: "KE") { __typename code } __type(name: "Country") { name } }',
    );
    expect([errors, data]).toEqual([
      [],
      { country: { __typename: 'Country', code: 'KE' }, __type: { name: 'Country' } },
    ]);
    expect(program.requests()).toEqual(['GET /v1/countries']);
  });
});

describe('the setting SUBGRAPH_OMIT', () => {
  it.each([
    ['nod', /SUBGRAPH_OMIT: there is no root field nod; there are .*\bnode\b/],
    ['_service', /there is no root field _service/],
  ])('the setting SUBGRAPH_OMIT refuses %s', async (omitted, message) => {
    await expect(openProgram({ env: { SUBGRAPH_OMIT: omitted } })).rejects.toThrow(message);
  });

  it('the setting SUBGRAPH_OMIT leaves what clients of this gateway have', async () => {
    await using program = await openProgram({ env: { SUBGRAPH_OMIT: 'health,quota' } });
    const { data, errors } = await program.ask('{ quota { state } health { status } }');
    expect([data.quota.state, errors]).toEqual(['OK', []]);
    expect(program.requests()).toEqual(['GET /health']);
  });
});
