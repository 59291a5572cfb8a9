import {
  defaultFieldResolver,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  isObjectType,
} from 'graphql';
import { mapValue } from '../async/promise-or-value.ts';
import type { GraphContext } from './context.ts';

/** What an item takes by graphql-js, and an error where it is too many, as a multiple of what our executor takes. */
const TIMES_DEARER = 10;

/**
 * Counts the objects of every list before anything is resolved for them, where graphql-js executes an operation: lists
 * that stand in each other multiply, so that a few words can ask for more than there is memory for. Our own executor
 * counts them itself.
 */
export function countItems(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      if (field.resolve === undefined || field.resolve === defaultFieldResolver) continue;
      const isList = isListType(getNullableType(field.type));
      if (isList && isCompositeType(getNamedType(field.type))) field.resolve = counting(field.resolve);
    }
  }
}

function counting(
  resolve: GraphQLFieldResolver<unknown, GraphContext>,
): GraphQLFieldResolver<unknown, GraphContext> {
  return (source, args, context, info) => {
    const resolved = resolve(source, args, context, info);
    if (!context.isByGraphqlJs) return resolved;
    return mapValue(resolved, (list) => {
      if (Array.isArray(list)) context.effort.list(list.length * TIMES_DEARER);
      return list;
    });
  };
}
