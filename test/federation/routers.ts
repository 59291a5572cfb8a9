import { ApolloGateway, RemoteGraphQLDataSource } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';

export interface Router {
  /** Answers a client's request, as JSON. */
  ask(query: string, authorization: string | undefined): Promise<RouterAnswer>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface RouterAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly data: any;
  readonly errors?: readonly { readonly message: string; readonly extensions: Record<string, unknown> }[];
}

interface RouterContext {
  readonly authorization: string | undefined;
}

async function startApollo(supergraphSdl: string): Promise<Router> {
  const gateway = new ApolloGateway({
    supergraphSdl,
    buildService: ({ url = '' }) =>
      new RemoteGraphQLDataSource<RouterContext>({
        url,
        // Passes the caller's key on to every subgraph.
        willSendRequest({ request, context: { authorization } }) {
          if (authorization !== undefined) request.http?.headers.set('authorization', authorization);
        },
      }),
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  const server = new ApolloServer<RouterContext>({ gateway });
  const { url } = await startStandaloneServer(server, {
    listen: { port: 0, host: '127.0.0.1' },
    context: async ({ req }) => ({ authorization: req.headers.authorization }),
  });
  return {
    async ask(query, authorization) {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(authorization === undefined ? {} : { authorization }),
        },
        body: JSON.stringify({ query }),
      });
      return (await response.json()) as RouterAnswer;
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

async function startHive(supergraph: string): Promise<Router> {
  const gateway = createGatewayRuntime({
    supergraph,
    logging: false,
    propagateHeaders: {
      fromClientToSubgraphs: ({ request }) => {
        const authorization = request.headers.get('authorization');
        return authorization === null ? {} : { authorization };
      },
    },
  });
  return {
    async ask(query, authorization) {
      const response = await gateway.fetch('http://router/graphql', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(authorization === undefined ? {} : { authorization }),
        },
        body: JSON.stringify({ query }),
      });
      return (await response.json()) as RouterAnswer;
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
    },
  };
}

export const ROUTERS: Readonly<Record<string, (supergraphSdl: string) => Promise<Router>>> = {
  'Apollo Gateway': startApollo,
  'Hive Gateway': startHive,
};
