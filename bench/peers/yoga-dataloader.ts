import { createServer } from 'node:http';
import { createSchema, createYoga } from 'graphql-yoga';
import { createContext, type PlainContext, resolvers, typeDefs } from './plain-graph.ts';
import { logReady, port } from './ready.ts';

const yoga = createYoga({
  schema: createSchema<PlainContext>({ typeDefs, resolvers }),
  context: ({ request }) => createContext(request.headers.get('authorization') ?? ''),
  logging: false,
  graphiql: false,
  landingPage: false,
});
const server = createServer(yoga);
server.listen(port, '127.0.0.1', () => logReady(server.address()));
