import { composeServices } from '@apollo/composition';
import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import { parse } from 'graphql';
import { createClient } from 'graphql-sse';
import { describe, expect, it } from 'vitest';
import { LOOK, openLive, type Result, subscriptionsOf } from '../live/live.ts';
import { ADVICE_SDL, startAdvice } from './advice-subgraph.ts';

/** @param theirs fields of another subgraph, which the router asks for at each event */
const changed = (prefix: string, theirs: string) => `subscription {
  ${prefix}observationsChanged(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) {
    isWhole
    changes { __typename kind observation { value country { code ${theirs} } } }
  }
}`;

const STREAM = { kind: 'http', location: '/graphql/stream' } as const;

describe.each([
  { name: 'where it asks everything else', prefix: '', theirs: 'level', options: {} },
  { name: 'at the stream', prefix: '', theirs: 'level', options: { subscriptions: STREAM } },
  { name: 'by prefixed names', prefix: 'cg_', theirs: '', options: {} },
])('subscriptions through Hive Gateway, $name', ({ prefix, theirs, options }) => {
  async function open() {
    const opened = new AsyncDisposableStack();
    const program = opened.use(await openLive({ env: prefix === '' ? {} : { SUBGRAPH_PREFIX: prefix } }));
    const advice = opened.use(await startAdvice());
    const sdl = await (await fetch(new URL('/schema.graphql', program.url))).text();
    const ours = { name: 'country-graph', typeDefs: parse(sdl), url: program.url };
    // Leaves out the other subgraph under a prefix: its countries are none of ours then.
    const others = prefix === '' ? [{ name: 'advice', typeDefs: parse(ADVICE_SDL), url: advice.url }] : [];
    const { supergraphSdl } = composeServices([ours, ...others]);
    if (supergraphSdl === undefined) throw new Error('It does not compose.');
    const gateway = createGatewayRuntime({
      supergraph: supergraphSdl,
      logging: false,
      propagateHeaders: {
        fromClientToSubgraphs: ({ request }) => ({
          authorization: request.headers.get('authorization') ?? '',
        }),
      },
      transportEntries: { '*.http': { options } },
    });
    const router = opened.use(gateway);
    return { program, router, [Symbol.asyncDispose]: () => opened.disposeAsync() };
  }

  it('subscriptions through Hive Gateway tell of each change, with what other subgraphs know of it', async () => {
    await using scene = await open();
    const { program, router } = scene;
    const told: Result[] = [];
    const client = createClient({
      url: 'http://router/graphql',
      headers: { authorization: 'Bearer demo-team' },
      fetchFn: router.fetch,
      retryAttempts: 0,
    });
    client.subscribe(
      { query: changed(prefix, theirs) },
      { next: (result) => told.push(result), error: (error) => told.push(error), complete() {} },
    );
    await expect.poll(() => subscriptionsOf(program), { timeout: 10_000 }).toBe(1);
    for (const factor of [2, 3]) {
      program.revise('world_bank_wdi', 'population_total', factor);
      program.requests();
      await program.round();
      await expect.poll(() => told.length).toBe(factor - 1);
      expect(program.requests()).toEqual([LOOK, expect.stringMatching(/^GET \/v1\/data\?/)]);
    }
    const country = theirs === '' ? { code: 'KE' } : { code: 'KE', level: 3 };
    expect(told).toEqual(
      [115_000_000, 172_500_000].map((value) => ({
        data: {
          [`${prefix}observationsChanged`]: {
            isWhole: false,
            changes: [
              {
                __typename: prefix === '' ? 'ObservationChange' : 'Cg_ObservationChange',
                kind: 'REVISED',
                observation: { value, country },
              },
            ],
          },
        },
      })),
    );
    client.dispose();
  });
});
