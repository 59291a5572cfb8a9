import { ApolloServer, type BaseContext } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled';
import { fastifyApolloDrainPlugin, fastifyApolloHandler } from '@as-integrations/fastify';
import Fastify from 'fastify';
import { typeDefs } from './plain-graph.ts';
import { logReady, port } from './ready.ts';

/** Apollo Server on Fastify, as the documentation of the integration shows. */
export async function serveApollo<Context extends BaseContext>(
  resolvers: object,
  contextOf: (authorization: string) => Context,
): Promise<void> {
  const app = Fastify({ logger: false });
  const apollo = new ApolloServer<Context>({
    typeDefs,
    resolvers: resolvers as never,
    plugins: [
      fastifyApolloDrainPlugin(app),
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
    ],
  });
  await apollo.start();
  app.route({
    url: '/graphql',
    method: ['GET', 'POST'],
    handler: fastifyApolloHandler(apollo, {
      context: async ({ headers }) => contextOf(headers.authorization ?? ''),
    }),
  });
  await app.listen({ host: '127.0.0.1', port });
  logReady(app.addresses()[0] ?? null);
}
