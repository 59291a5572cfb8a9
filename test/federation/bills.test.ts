import { composeServices } from '@apollo/composition';
import { ApolloGateway, RemoteGraphQLDataSource } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { parse } from 'graphql';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { billSupergraph, SupergraphBudget } from '../../clients/client/src/supergraph.ts';
import { openProgram, type Program } from '../support/program.ts';
import { type RouterAnswer, startHive } from './routers.ts';

/** Two gateways of one service: the second with names of its own. */
const SUBGRAPHS = { figures: {}, again: { SUBGRAPH_PREFIX: 'Again_' } };
const METERED = Object.keys(SUBGRAPHS);

const programs: Record<string, Program> = {};
let supergraphSdl: string;
beforeAll(async () => {
  const services = [];
  for (const [name, env] of Object.entries(SUBGRAPHS)) {
    const program = await openProgram({ env: { SUBGRAPH: 'on', ...env } });
    programs[name] = program;
    const sdl = await (await fetch(new URL('/schema.graphql', program.url))).text();
    services.push({ name, typeDefs: parse(sdl), url: program.url });
  }
  const composed = composeServices(services);
  expect(composed.errors).toBeUndefined();
  supergraphSdl = composed.supergraphSdl ?? '';
});
const sent = () => Object.values(programs).map((program) => program.requests().length);
afterEach(() => void sent());
afterAll(async () => {
  for (const program of Object.values(programs)) await program[Symbol.asyncDispose]();
});

const startBilling = () =>
  startHive(supergraphSdl, { batching: true, plugins: () => [billSupergraph({ metered: METERED })] });

/** As docs/upstream-bill.md has it. */
async function startApollo() {
  interface Context {
    readonly authorization: string;
    readonly budget: SupergraphBudget;
  }
  const gateway = new ApolloGateway({
    supergraphSdl,
    buildService: ({ name, url = '' }) =>
      new RemoteGraphQLDataSource<Context>({
        url,
        willSendRequest({ request, context: { authorization } }) {
          request.http?.headers.set('authorization', authorization);
        },
        didReceiveResponse({ response, context }) {
          context.budget.add(name, response.extensions);
          return response;
        },
      }),
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  const server = new ApolloServer<Context>({
    gateway,
    plugins: [
      {
        requestDidStart: async () => ({
          async willSendResponse({ contextValue: { budget }, response: { body } }) {
            if (body.kind !== 'single') return;
            body.singleResult.extensions = { ...body.singleResult.extensions, ...budget.extensions };
          },
        }),
      },
    ],
  });
  const { url } = await startStandaloneServer(server, {
    listen: { port: 0, host: '127.0.0.1' },
    context: async ({ req }) => ({
      authorization: req.headers.authorization ?? '',
      budget: new SupergraphBudget(null),
    }),
  });
  return { send: (init: RequestInit) => fetch(url, init), [Symbol.asyncDispose]: () => server.stop() };
}

const FIGURE = 'observation(metricKey: "population_total") { value }';
const BOTH = `{ country(code: "KE") { name ${FIGURE} } again_country(code: "KE") { ${FIGURE} } }`;

const headersWith = (more: Readonly<Record<string, string>>) => ({
  'content-type': 'application/json',
  authorization: 'Bearer demo-team',
  ...more,
});

async function answerOf(
  router: { send(init: RequestInit): Promise<Response> },
  body: object,
  headers: Readonly<Record<string, string>> = {},
) {
  const response = await router.send({
    method: 'POST',
    headers: headersWith(headers),
    body: JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: an answer, or a list of them
  return (await response.json()) as any;
}

describe('the bill of a supergraph', () => {
  it.each([
    ['Hive Gateway', startBilling],
    ['Apollo Gateway', startApollo],
  ] as const)('%s sums the bills of two gateways, and names each', async (_, start) => {
    await using router = await start();
    const { data, errors, extensions }: RouterAnswer = await answerOf(router, { query: BOTH });
    expect(errors).toBeUndefined();
    expect(data.country.observation).toEqual(data.again_country.observation);
    expect(sent()).toEqual([2, 1]);
    expect(extensions.upstream).toMatchObject({
      calls: 3,
      byRoute: { '/v1/data': 2, '/v1/countries': 1 },
      supergraph: { figures: { calls: 2 }, again: { calls: 1 } },
    });
  });
});

describe('Hive Gateway, for clients that say what an operation may cost', () => {
  it('sends what is within it, and refuses what is beyond before it is sent', async () => {
    await using router = await startBilling();
    const enough = await answerOf(router, { query: BOTH }, { 'x-max-calls': '3' });
    expect([enough.errors, enough.extensions.upstream.calls, sent()]).toEqual([undefined, 3, [2, 1]]);

    const { errors, extensions } = await answerOf(router, { query: BOTH }, { 'x-max-calls': '2' });
    expect(errors).toEqual([
      expect.objectContaining({
        message: expect.stringContaining('the client allows 2 (`x-max-calls`)'),
        extensions: expect.objectContaining({ code: 'OPERATION_TOO_EXPENSIVE', limit: 2, planned: 3 }),
      }),
    ]);
    const calls = sent();
    expect(extensions.upstream.calls).toBe((calls[0] ?? 0) + (calls[1] ?? 0));
    expect(extensions.upstream.calls).toBeLessThanOrEqual(2);

    const none = await answerOf(router, { query: BOTH }, { 'x-max-calls': '0' });
    expect(none.data).toEqual({ country: null, again_country: null });
    expect([none.extensions.upstream.calls, sent()]).toEqual([0, [0, 0]]);
  });

  it('refuses a limit that is no number of calls', async () => {
    await using router = await startBilling();
    for (const limit of ['', '-1', '1.5', 'few', '1e3', '9999999999']) {
      const { errors } = await answerOf(router, { query: BOTH }, { 'x-max-calls': limit });
      expect(errors[0].extensions.code).toBe('BAD_USER_INPUT');
      expect(sent()).toEqual([0, 0]);
    }
  });

  it('bills each operation of a list for itself', async () => {
    await using router = await startBilling();
    const list = await answerOf(router, [
      { query: `{ country(code: "KE") { ${FIGURE} } }` },
      { query: '{ again_sources { key } indicators { key } }' },
    ]);
    expect(list.map(({ extensions }: RouterAnswer) => extensions.upstream.calls)).toEqual([1, 2]);
    expect(sent()).toEqual([2, 1]);
  });
});

describe('a metered subgraph without a bill', () => {
  it('is named, and the sum is that of the others', () => {
    const budget = new SupergraphBudget(null);
    const bill = { calls: 2, byRoute: { '/v1/data': 2 }, shared: 1, cached: 0, naive: 3 };
    budget.add('a', { upstream: bill });
    budget.add('b', undefined);
    budget.add('a', { upstream: bill });
    budget.add('b', { upstream: bill });
    expect(budget.extensions.upstream).toEqual({
      ...{ calls: 4, byRoute: { '/v1/data': 4 }, shared: 2, cached: 0, naive: 6 },
      supergraph: { a: { calls: 4, byRoute: { '/v1/data': 4 }, shared: 2, cached: 0, naive: 6 }, b: null },
    });
  });
});
