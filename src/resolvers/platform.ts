import type { Resolvers } from '../graph/generated.ts';

export const platformResolvers: Resolvers = {
  Query: {
    health: (_, __, { loaders }) => loaders.health(),
    platformVersion: (_, __, { loaders }) => loaders.platformVersion(),
    quota: (_, __, { quota }) => quota(),
  },
};
