import { initGraphQLTada } from 'gql.tada';
import type { introspection } from './graphql-env.d.ts';

/** Documents whose results are typed by their text. */
export const graphql = initGraphQLTada<{
  introspection: introspection;
  scalars: { CountryCode: string; DateTime: string; JSON: unknown };
}>();
