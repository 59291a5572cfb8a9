import { serveApollo } from './apollo.ts';
import { createContext, resolvers } from './plain-graph.ts';

await serveApollo(resolvers, (authorization) => ({ ...createContext(authorization) }));
