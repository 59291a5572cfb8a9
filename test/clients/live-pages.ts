import { type DocumentNode, print } from 'graphql';
import { createClient, type Sink } from 'graphql-sse';
import * as apollo from '../../clients/client/src/apollo.ts';
import * as graphcache from '../../clients/client/src/graphcache.ts';
import type { Live } from '../live/live.ts';
import { type Any, compiledByRelay, headers, load } from './mounted-pages.ts';

/** A page that shows the answer of a query, over a client that is told of changes. */
export interface LivePage {
  /** Data that the page shows now; undefined while some are missing. */
  shown(): Any;
  /** Subscribes, with variables; `onEvent` is called with each event once the client has taken it. */
  subscribe(variables: object, onEvent: (event: Any) => void): { stop(): void };
  /** Has the page ask its query anew. */
  again(): Promise<unknown>;
  close(): void;
}

type MountLive = (program: Live, query: string, subscription: string) => Promise<LivePage>;

/** The subscriptions of a client, by server-sent events. */
function streams(program: Live) {
  const client = createClient({
    url: `${program.url}/stream`,
    headers: headers(program),
    retryAttempts: 0,
  });
  return {
    subscribe: (document: DocumentNode | string, variables: object, sink: Sink<Any>) =>
      client.subscribe(
        {
          query: typeof document === 'string' ? document : print(document),
          variables: variables as Record<string, unknown>,
        },
        sink,
      ),
    dispose: client.dispose,
  };
}

const apolloPage =
  (settings: (core: Any) => { readonly cache: object }): MountLive =>
  async (program, text, subscription) => {
    const [core, http] = await Promise.all([
      load('@apollo/client/core/index.js'),
      load('@apollo/client/link/http/index.js'),
    ]);
    const live = streams(program);
    const client = new core.ApolloClient({
      link: core.ApolloLink.split(
        ({ operationType }: Any) => operationType === 'subscription',
        new core.ApolloLink(
          ({ query, variables }: Any) =>
            new core.Observable((sink: Any) => live.subscribe(query, variables, sink)),
        ),
        new http.HttpLink({ uri: program.url, headers: headers(program) }),
      ),
      ...settings(core),
    });
    let shown: Any;
    const query = client.watchQuery({ query: core.gql(text) });
    query.subscribe(({ data, dataState }: Any) => {
      shown = dataState === 'complete' ? data : undefined;
    });
    return {
      shown: () => shown,
      subscribe(variables, onEvent) {
        const told = client
          .subscribe({ query: core.gql(subscription), variables })
          .subscribe(({ data }: Any) => onEvent(data.observationsChanged));
        return { stop: () => told.unsubscribe() };
      },
      again: () => query.refetch(),
      close() {
        client.stop();
        live.dispose();
      },
    };
  };

const urqlPage =
  (cacheOf: (core: Any, normalised: Any) => readonly unknown[]): MountLive =>
  async (program, text, subscription) => {
    const [core, normalised] = await Promise.all([
      load('@urql/core/dist/urql-core.mjs'),
      load('@urql/exchange-graphcache/dist/urql-exchange-graphcache.mjs'),
    ]);
    const live = streams(program);
    const client = new core.Client({
      url: program.url,
      fetchOptions: { headers: headers(program) },
      exchanges: [
        ...cacheOf(core, normalised),
        core.fetchExchange,
        core.subscriptionExchange({
          forwardSubscription: ({ query, variables }: Any) => ({
            subscribe: (sink: Any) => ({ unsubscribe: live.subscribe(query, variables, sink) }),
          }),
        }),
      ],
    });
    let shown: Any;
    const document = core.gql(text);
    const watching = client.query(document, {}).subscribe(({ data }: Any) => {
      shown = data ?? undefined;
    });
    return {
      shown: () => shown,
      subscribe(variables, onEvent) {
        const told = client
          .subscription(core.gql(subscription), variables)
          .subscribe(({ data, error }: Any) => onEvent(data?.observationsChanged ?? error));
        return { stop: () => told.unsubscribe() };
      },
      again: () => client.query(document, {}, { requestPolicy: 'network-only' }).toPromise(),
      close() {
        watching.unsubscribe();
        live.dispose();
      },
    };
  };

const withIdsInUrql = ({ mapExchange }: Any) =>
  mapExchange({
    onOperation: (operation: Any) => ({ ...operation, query: graphcache.withIds(operation.query) }),
  });

const relayPage: MountLive = async (program, text, subscription) => {
  const { default: runtime } = await load('relay-runtime/index.js');
  const live = streams(program);
  const { Environment, Network, Observable, RecordSource, Store, createOperationDescriptor } = runtime;
  const environment = new Environment({
    network: Network.create(
      async (request: Any, variables: Any) => {
        const { data, errors } = await program.ask(request.text, { variables });
        return { data, errors };
      },
      (request: Any, variables: Any) =>
        Observable.create((sink: Any) => live.subscribe(request.text, variables, sink)),
    ),
    store: new Store(new RecordSource()),
  });
  const [query, changed] = await compiledByRelay([text, subscription]);
  const operation = createOperationDescriptor(query, {});
  let shown: Any;
  const show = ({ data, isMissingData }: Any) => {
    shown = isMissingData ? undefined : data;
  };
  const kept = environment.retain(operation);
  await runtime.fetchQuery(environment, query, {}).toPromise();
  show(environment.lookup(operation.fragment));
  const watching = environment.subscribe(environment.lookup(operation.fragment), show);
  return {
    shown: () => shown,
    subscribe(variables, onEvent) {
      const told = runtime.requestSubscription(environment, {
        subscription: changed,
        variables,
        onNext: (data: Any) => onEvent(data.observationsChanged),
      });
      return { stop: () => told.dispose() };
    },
    again: () => runtime.fetchQuery(environment, query, {}).toPromise(),
    close() {
      kept.dispose();
      watching.dispose();
      live.dispose();
    },
  };
};

const policies = { typePolicies: apollo.typePolicies, possibleTypes: apollo.possibleTypes };

/** `byId` if the client shows a figure that is revised by itself, since it keeps it by the `id`. */
export const CLIENTS: readonly {
  readonly name: string;
  readonly mount: MountLive;
  /** Selections for which it does. */
  readonly byId: readonly ('id' | 'no id')[];
}[] = [
  {
    name: 'Apollo Client',
    byId: ['id', 'no id'],
    mount: apolloPage(({ InMemoryCache, DocumentTransform }) => ({
      cache: new InMemoryCache(policies),
      documentTransform: new DocumentTransform(apollo.withIds),
    })),
  },
  {
    name: 'Apollo Client by the policies alone',
    byId: ['id'],
    mount: apolloPage(({ InMemoryCache }) => ({ cache: new InMemoryCache(policies) })),
  },
  {
    name: 'Apollo Client without settings',
    byId: ['id'],
    mount: apolloPage(({ InMemoryCache }) => ({ cache: new InMemoryCache() })),
  },
  {
    name: 'graphcache',
    byId: ['id', 'no id'],
    mount: urqlPage((core, { cacheExchange }) => [
      withIdsInUrql(core),
      cacheExchange({ keys: graphcache.keys }),
    ]),
  },
  {
    name: 'graphcache without withIds',
    byId: ['id'],
    mount: urqlPage((_, { cacheExchange }) => [cacheExchange({ keys: graphcache.keys })]),
  },
  { name: 'Relay', byId: ['id', 'no id'], mount: relayPage },
  { name: 'urql', byId: [], mount: urqlPage(({ cacheExchange }) => [cacheExchange]) },
];
