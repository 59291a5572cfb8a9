import fastifyStatic from '@fastify/static';
import fastify from 'fastify';
import { buildSchema, getOperationAST, parse } from 'graphql';
import { createHandler } from 'graphql-http/lib/use/fastify';
import { folder, type Settings } from '../../clients/graphiql/index.js';

const SCHEMA = buildSchema(`type Query {
  "Greets somebody."
  hello(name: String!): String
  country(code: String!): Place
}
type Place { name: String }
type Mutation { forget: Boolean }`);

const ROOT = {
  hello: ({ name }: { readonly name: string }) => `Hello, ${name}`,
  country: ({ code }: { readonly code: string }) => ({ name: `Country ${code}` }),
  forget: () => true,
};

/**
 * A server that knows nothing of us: an endpoint of another schema, and GraphiQL's package beside it, as that says.
 * @param settings undefined for those that the package brings
 */
export async function openForeign(settings?: Settings) {
  const app = fastify();
  const ran: string[] = [];
  const failed: string[] = [];
  app.addHook('onResponse', async ({ url }, { statusCode }) => {
    if (statusCode >= 400) failed.push(`${statusCode} ${url}`);
  });
  app.register(fastifyStatic, { root: folder, prefix: '/explore/' });
  if (settings !== undefined) app.get('/explore/settings.json', () => settings);
  app.all(
    '/graphql',
    createHandler({
      schema: SCHEMA,
      rootValue: ROOT,
      onSubscribe({ headers }, { query }) {
        if (settings?.explains && 'x-explain' in headers)
          return { data: null, extensions: { explain: { calls: 3 } } };
        ran.push(getOperationAST(parse(query))?.name?.value ?? query);
      },
      onOperation: (_request, _args, result) =>
        settings?.explains ? { ...result, extensions: { upstream: { calls: 2 } } } : result,
    }),
  );
  return {
    url: `${await app.listen({ port: 0, host: '127.0.0.1' })}/explore/`,
    /** Names of the operations that have run, or their texts. */
    ran,
    /** Requests that were refused. */
    failed,
    [Symbol.asyncDispose]: () => app.close(),
  };
}
