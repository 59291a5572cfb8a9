import type { ScalarTypes } from '@country-graph/client/codegen';
import { initGraphQLTada } from 'gql.tada';
import type { introspection } from './graphql-env.d.ts';

/** Documents whose results are typed by their text. */
export const graphql = initGraphQLTada<{
  introspection: introspection;
  scalars: ScalarTypes;
}>();
