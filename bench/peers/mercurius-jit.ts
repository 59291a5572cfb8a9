import Fastify from 'fastify';
import mercurius from 'mercurius';
import { createContext, resolvers, typeDefs } from './plain-graph.ts';
import { logReady, port } from './ready.ts';

const app = Fastify({ logger: false });
app.register(mercurius, {
  schema: typeDefs,
  resolvers: resolvers as never,
  context: ({ headers }) => createContext(headers.authorization ?? ''),
  jit: 1,
  graphiql: false,
});
await app.listen({ host: '127.0.0.1', port });
logReady(app.addresses()[0] ?? null);
