/**
 * TypeScript types of our scalars, by the names that generators know them by: `config.scalars` of GraphQL
 * Code Generator, whose client preset takes scalars that it isn't told of for `unknown`, and
 * `customScalarTypes` of Relay's compiler.
 */
export const scalars = {
  CountryCode: 'string',
  DateTime: 'string',
  JSON: 'unknown',
} as const satisfies Record<keyof ScalarTypes, string>;

/** The same as types, for gql.tada: `initGraphQLTada<{ introspection: introspection; scalars: ScalarTypes }>()`. */
export interface ScalarTypes {
  readonly CountryCode: string;
  readonly DateTime: string;
  readonly JSON: unknown;
}
