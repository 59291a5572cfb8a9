import type { GraphQLSchema } from 'graphql';
import { readConfig } from '../../src/config/config.ts';
import { startedOf } from '../../src/gateway/adapted-plugin.ts';
import type { ComposedGateway } from '../../src/gateway/plugin.ts';

/** What a plugin may use of a gateway that has no more than what is given. */
export const servicesWith = (schema: GraphQLSchema, given: object) =>
  startedOf({ config: readConfig({}), schema, ...given } as unknown as ComposedGateway);
