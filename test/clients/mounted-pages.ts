import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as apollo from '../../clients/client/src/apollo.ts';
import * as graphcache from '../../clients/client/src/graphcache.ts';
import type { Program } from '../support/program.ts';

// biome-ignore lint/suspicious/noExplicitAny: libraries with dependencies of their own, which are installed apart
export type Any = any;

const RECIPES = fileURLToPath(new URL('../../clients/recipes/', import.meta.url));
export const isInstalled = process.env.CI === 'true' || existsSync(`${RECIPES}generated/schema.graphql`);
export const load = (path: string): Promise<Any> =>
  import(pathToFileURL(`${RECIPES}node_modules/${path}`).href);

export interface Page {
  /** An operation's data as they are held; null if some aren't. */
  held(operation: string): Promise<Any>;
  /** Data that the components show now. */
  shown(): readonly Any[];
  /** Has the first one ask anew. */
  again(): Promise<unknown>;
  close(): void;
}

/** Mounts a component for each operation, on a client of its own. */
type Mount = (program: Program, operations: readonly string[]) => Promise<Page>;

export const headers = ({ sandbox }: Program) => ({ authorization: `Bearer ${sandbox.keys.team}` });

const apolloPage =
  (settings: (core: Any) => object): Mount =>
  async (program, operations) => {
    const [core, http] = await Promise.all([
      load('@apollo/client/core/index.js'),
      load('@apollo/client/link/http/index.js'),
    ]);
    const { typePolicies, possibleTypes } = apollo;
    const client = new core.ApolloClient({
      link: new http.HttpLink({ uri: program.url, headers: headers(program) }),
      cache: new core.InMemoryCache({ typePolicies, possibleTypes }),
      ...settings(core),
    });
    const shown: Any[] = operations.map(() => undefined);
    const queries = operations.map((text) => client.watchQuery({ query: core.gql(text) }));
    queries.forEach((query, i) => {
      query.subscribe(({ data, dataState }: Any) => {
        shown[i] = dataState === 'complete' ? data : undefined;
      });
    });
    return {
      shown: () => shown,
      again: () => queries[0].refetch(),
      held: async (text) => {
        const query = core.gql(text);
        return (await client.query({ query, fetchPolicy: 'cache-only' })).data ?? null;
      },
      close: () => client.stop(),
    };
  };

const urqlPage: Mount = async (program, operations) => {
  const [{ Client, fetchExchange, mapExchange, gql }, { cacheExchange }] = await Promise.all([
    load('@urql/core/dist/urql-core.mjs'),
    load('@urql/exchange-graphcache/dist/urql-exchange-graphcache.mjs'),
  ]);
  const client = new Client({
    url: program.url,
    fetchOptions: { headers: headers(program) },
    exchanges: [
      mapExchange({
        onOperation: (operation: Any) => ({ ...operation, query: graphcache.withIds(operation.query) }),
      }),
      cacheExchange({ keys: graphcache.keys }),
      fetchExchange,
    ],
  });
  const shown: Any[] = operations.map(() => undefined);
  const documents = operations.map((text) => gql(text));
  const watching = documents.map((document, i) =>
    client.query(document, {}).subscribe(({ data }: Any) => {
      shown[i] = data;
    }),
  );
  return {
    shown: () => shown,
    again: () => client.query(documents[0], {}, { requestPolicy: 'network-only' }).toPromise(),
    held: async (text) =>
      (await client.query(gql(text), {}, { requestPolicy: 'cache-only' }).toPromise()).data ?? null,
    close: () => {
      for (const one of watching) one.unsubscribe();
    },
  };
};

const tanstackPage: Mount = async (program, operations) => {
  const [{ QueryClient, QueryObserver }, { GraphQLClient }] = await Promise.all([
    load('@tanstack/query-core/build/modern/index.js'),
    load('graphql-request/build/entrypoints/main.js'),
  ]);
  const gateway = new GraphQLClient(program.url, { headers: headers(program) });
  const client = new QueryClient();
  const shown: Any[] = operations.map(() => undefined);
  const observers = operations.map(
    (text) => new QueryObserver(client, { queryKey: [text], queryFn: () => gateway.request(text) }),
  );
  observers.forEach((one, i) => {
    one.subscribe(({ data }: Any) => {
      shown[i] = data;
    });
  });
  return {
    shown: () => shown,
    again: () => observers[0]?.refetch() ?? Promise.resolve(),
    held: async (text) => client.getQueryData([text]) ?? null,
    close: () => {
      for (const one of observers) one.destroy();
    },
  };
};

const relayPage: Mount = async (program, operations) => {
  const { default: runtime } = await load('relay-runtime/index.js');
  const { Environment, Network, RecordSource, Store, createOperationDescriptor } = runtime;
  const environment = new Environment({
    network: Network.create(async ({ text }: Any, variables: Any) => {
      const { data, errors } = await program.ask(text, { variables });
      return { data, errors };
    }),
    store: new Store(new RecordSource()),
  });
  const compiled = await compiledByRelay(operations);
  const shown: Any[] = operations.map(() => undefined);
  const watching = compiled.map((request: Any, i) => {
    const operation = createOperationDescriptor(request, {});
    const show = ({ data, isMissingData }: Any) => {
      shown[i] = isMissingData ? undefined : data;
    };
    const kept = environment.retain(operation);
    const fetched = runtime.fetchQuery(environment, request, {}).subscribe({
      complete() {
        show(environment.lookup(operation.fragment));
        environment.subscribe(environment.lookup(operation.fragment), show);
      },
    });
    return [kept, { dispose: () => fetched.unsubscribe() }];
  });
  return {
    shown: () => shown,
    again: () => runtime.fetchQuery(environment, compiled[0], {}).toPromise(),
    held: async (text) => {
      const [request] = await compiledByRelay([text]);
      const { data, isMissingData } = environment.lookup(createOperationDescriptor(request, {}).fragment);
      return isMissingData ? null : data;
    },
    close: () => {
      for (const one of watching.flat()) one.dispose();
    },
  };
};

/** Operations as Relay's compiler makes them. Fragments stand in them, whose data components would read apart. */
export async function compiledByRelay(operations: readonly string[]): Promise<readonly Any[]> {
  const folder = mkdtempSync(`${RECIPES}generated/pair-`);
  try {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    mkdirSync(join(folder, 'made'));
    const named = operations.map((text, i) =>
      text
        .replace(/^query \w+/, `query page${i}Query`)
        .replace(/^subscription \w+/, `subscription page${i}Subscription`)
        .replaceAll(/fragment (\w+)/g, `fragment page${i}_$1`)
        .replaceAll(/\.\.\.([A-Z]\w+)/g, `...page${i}_$1 @relay(mask: false)`),
    );
    named.forEach((text, i) => {
      const parts = text.split(/(?=fragment )/).map((part) => `graphql\`${part}\`;`);
      writeFileSync(join(folder, `page${i}.js`), parts.join('\n'));
    });
    writeFileSync(
      join(folder, 'relay.config.json'),
      JSON.stringify({
        src: '.',
        schema: '../schema.graphql',
        artifactDirectory: './made',
        language: 'javascript',
        eagerEsModules: true,
        excludes: ['**/made/**'],
      }),
    );
    execFileSync(`${RECIPES}node_modules/.bin/relay-compiler`, ['relay.config.json'], { cwd: folder });
    return await Promise.all(
      operations.map(async (_, i) => {
        const [file = ''] = globSync(join(folder, `made/page${i}{Query,Subscription}.graphql.js`));
        return (await import(pathToFileURL(file).href)).default;
      }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const LIBRARIES: readonly { readonly name: string; readonly mount: Mount; readonly merges?: true }[] =
  [
    {
      name: 'Apollo Client',
      merges: true,
      mount: apolloPage(({ DocumentTransform }) => ({
        documentTransform: new DocumentTransform(apollo.withIds),
      })),
    },
    { name: 'Apollo Client, by the policies alone', mount: apolloPage(() => ({})) },
    { name: 'urql', mount: urqlPage, merges: true },
    { name: 'Relay', mount: relayPage, merges: true },
    { name: 'TanStack Query', mount: tanstackPage },
  ];
