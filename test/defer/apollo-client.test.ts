import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';
import { canonical, type Json } from './parts.ts';

const PACKAGE = new URL('../../clients/recipes/node_modules/@apollo/client/', import.meta.url);
const isInstalled = process.env.CI === 'true' || existsSync(PACKAGE);

const HANDLERS = ['Defer20220824Handler', 'GraphQL17Alpha9Handler'] as const;

interface Showing {
  readonly url: string;
  readonly key: string;
  readonly query: string;
  readonly onState: (dataState: string) => void;
}

/** States of a query as Apollo Client shows them, from the first to the last. */
async function statesOf(
  handler: (typeof HANDLERS)[number],
  { url, key, query, onState }: Showing,
): Promise<readonly { readonly data: Json; readonly dataState: string; readonly extensions?: Json }[]> {
  const load = (path: string): Promise<Json> => import(new URL(path, PACKAGE).href);
  const [core, http, incremental] = await Promise.all(
    ['core/index.js', 'link/http/index.js', 'incremental/index.js'].map(load),
  );
  const bills: Json[] = [];
  const billed = new core.ApolloLink((operation: Json, forward: Json) => {
    const results = forward(operation);
    return new results.constructor((observer: Json) =>
      results.subscribe({
        next(result: Json) {
          bills.push(result.extensions?.upstream);
          observer.next(result);
        },
        error: (error: unknown) => observer.error(error),
        complete: () => observer.complete(),
      }),
    );
  });
  const client = new core.ApolloClient({
    cache: new core.InMemoryCache(),
    link: billed.concat(new http.HttpLink({ uri: url, headers: { authorization: `Bearer ${key}` } })),
    incrementalHandler: new incremental[handler](),
  });
  const states: Json[] = [];
  await new Promise<void>((resolve, reject) => {
    client.watchQuery({ query: core.gql(query) }).subscribe({
      next({ data, dataState, loading, error }: Json) {
        if (error) reject(error);
        if (data !== undefined) {
          states.push({ data: structuredClone(data), dataState });
          onState(dataState);
        }
        if (!loading && dataState === 'complete') resolve();
      },
      error: reject,
    });
  });
  client.stop();
  states.push({ data: states.at(-1).data, dataState: 'bill', extensions: bills.findLast(Boolean) });
  return states;
}

const without = (value: Json): Json =>
  JSON.parse(JSON.stringify(value, (key, member) => (key === '__typename' ? undefined : member)));

describe.runIf(isInstalled).for(HANDLERS)('Apollo Client, by its %s', (handler) => {
  it('Apollo Client shows what is there before a profile that is late, and then all of it', async () => {
    await using program = await openProgram();
    const card = (directive: string) =>
      `{ country(code: "KE") { id code name observation(metricKey: "population_total") { id value } ... ${directive} { profile { indicators { name value } } } } }`;
    const plain = await program.ask(card(''));
    program.requests();
    // The service answers the profile once the client shows what came before it.
    const shown = Promise.withResolvers<void>();
    program.sandbox.faults.set({
      kind: 'paused',
      until: shown.promise,
      route: '/v1/countries/{code}/profile',
    });
    const states = await statesOf(handler, {
      url: program.url,
      key: program.sandbox.keys.team,
      query: card('@defer'),
      onState: (dataState) => dataState === 'streaming' && shown.resolve(),
    });
    const [first] = states;
    const last = states.at(-1);
    expect(first?.dataState).toBe('streaming');
    expect(first?.data.country.name).toBe('Kenya');
    expect(first?.data.country).not.toHaveProperty('profile');
    expect(canonical(without(last?.data))).toBe(canonical(plain.data));
    expect(last?.extensions).toEqual(plain.upstream);
    expect(program.requests()).toHaveLength(3);
  });
});
