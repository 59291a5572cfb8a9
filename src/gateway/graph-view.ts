import { type GraphQLSchema, isObjectType } from 'graphql';
import type { GraphField } from '../plugin/graph.ts';

/** The fields of all object types: what a plugin may know of the graph, whose types are those of our copy of graphql. */
export const fieldsOf = (schema: GraphQLSchema): readonly GraphField[] =>
  Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap((parent) =>
      Object.values(parent.getFields()).map(({ name, args, type, description }) => ({
        parent: parent.name,
        name,
        args: args.map((arg) => ({ name: arg.name, type: String(arg.type) })),
        type: String(type),
        description: description ?? '',
      })),
    );
