import { type GraphQLObjectType, type GraphQLSchema, isObjectType } from 'graphql';

/** Without those of introspection. */
export function objectTypesOf(schema: GraphQLSchema): readonly GraphQLObjectType[] {
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  return types.filter(({ name }) => !name.startsWith('__'));
}
