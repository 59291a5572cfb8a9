import { type GraphQLObjectType, type GraphQLSchema, isObjectType } from 'graphql';

/** The object types of a schema, but for those by which GraphQL describes it. */
export function objectTypesOf(schema: GraphQLSchema): readonly GraphQLObjectType[] {
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  return types.filter(({ name }) => !name.startsWith('__'));
}
