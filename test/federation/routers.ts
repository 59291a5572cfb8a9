import { ApolloGateway, RemoteGraphQLDataSource } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { createGatewayRuntime, type GatewayConfigSupergraph } from '@graphql-hive/gateway-runtime';

export interface Router {
  /** Answers a client's request, as JSON. */
  ask(query: string, authorization: string | undefined): Promise<RouterAnswer>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface RouterAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly data: any;
  readonly errors?: readonly RouterError[];
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly extensions?: any;
}

export interface RouterError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: Record<string, unknown>;
}

/** Settings of a router besides the supergraph, for tests that look into them. */
export interface RouterOptions {
  /** The `Accept` header that it asks subgraphs with, in place of its own. */
  readonly accept?: string;
  /** True if it names operations by their hash, and sends their text only if that isn't known. */
  readonly apq?: boolean;
}

interface RouterContext {
  readonly authorization: string | undefined;
}

async function startApollo(
  supergraphSdl: string,
  { accept, apq = false }: RouterOptions = {},
): Promise<Router> {
  const gateway = new ApolloGateway({
    supergraphSdl,
    buildService: ({ name, url = '' }) =>
      new RemoteGraphQLDataSource<RouterContext>({
        url,
        apq,
        // As docs/federation.md has it: other subgraphs get no key.
        willSendRequest({ request, context: { authorization } }) {
          if (name === 'country-graph' && authorization !== undefined)
            request.http?.headers.set('authorization', authorization);
          if (accept !== undefined) request.http?.headers.set('accept', accept);
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
    ask: (query, authorization) => answerOf(fetch(url, postOf(query, authorization))),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/** Expression of Hive Gateway for the header. */
const KEY_PASSED_ON: [string, string] = ['authorization', '{context.headers.authorization}'];

interface HiveRouter extends Router {
  /** Answers a request with headers of its own, or with a list of operations. */
  send(init: RequestInit): Promise<Response>;
}

export async function startHive(
  supergraph: string,
  { accept, apq, ...config }: RouterOptions & Partial<GatewayConfigSupergraph> = {},
): Promise<HiveRouter> {
  const gateway = createGatewayRuntime({
    supergraph,
    logging: false,
    propagateHeaders: {
      fromClientToSubgraphs: ({ request }) => {
        const authorization = request.headers.get('authorization');
        return {
          ...(authorization === null ? {} : { authorization }),
          ...(accept === undefined ? {} : { accept }),
        };
      },
    },
    // Passes on the headers of each request, since it sends an operation again without those above.
    ...(apq === undefined
      ? {}
      : { transportEntries: { '*.http': { headers: [KEY_PASSED_ON], options: { apq } } } }),
    ...config,
  });
  const send = async (init: RequestInit) => gateway.fetch('http://router/graphql', init);
  return {
    send,
    ask: (query, authorization) => answerOf(send(postOf(query, authorization))),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
    },
  };
}

export function postOf(query: string, authorization: string | undefined) {
  const headers = {
    'content-type': 'application/json',
    ...(authorization === undefined ? {} : { authorization }),
  };
  return { method: 'POST', headers, body: JSON.stringify({ query }) };
}

export async function answerOf(response: Promise<Response> | Response): Promise<RouterAnswer> {
  return (await (await response).json()) as RouterAnswer;
}

export const ROUTERS: Readonly<
  Record<string, (supergraphSdl: string, options?: RouterOptions) => Promise<Router>>
> = {
  'Apollo Gateway': startApollo,
  'Hive Gateway': startHive,
};
