import {
  defaultFieldResolver,
  type GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  isObjectType,
  locatedError,
  responsePathAsArray,
} from 'graphql';
import { createObjectMemo } from '../../cache/lru.ts';
import type { GraphContext } from '../../graphql/schema/context.ts';
import type { Failure } from '../../shared/errors.ts';

/** Cost of an item under graphql-js, and of an error for one too many, as a multiple of the cost in our executor. */
const TIMES_DEARER = 10;
/** Cost of any other error under graphql-js, as a multiple of the same. */
const ERRORS_TIMES_DEARER = 4;

/**
 * Counts the objects of every list before anything is resolved for them, and errors, where graphql-js executes an
 * operation, as it does the events of subscriptions. Lists within each other multiply, so that a few words can ask
 * for more than there is memory for. Our own executor counts them itself.
 */
export function countWork(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      if (field.resolve === undefined || field.resolve === defaultFieldResolver) continue;
      const isList = isListType(getNullableType(field.type)) && isCompositeType(getNamedType(field.type));
      field.resolve = counting(field.resolve, isList);
    }
  }
}

type Resolve = GraphQLFieldResolver<unknown, GraphContext>;

/** Wraps a resolver. It captures nothing: under our executor, its whole cost is one function more. */
function counting(resolve: Resolve, isList: boolean): Resolve {
  return (source, args, context, info) =>
    context.isByGraphqlJs
      ? resolveCounted({ resolve, isList }, [source, args, context, info])
      : resolve(source, args, context, info);
}

/** Resolves and counts. Execution goes on after any error, so nothing more is done for a refused operation. */
function resolveCounted(
  { resolve, isList }: { readonly resolve: Resolve; readonly isList: boolean },
  given: Parameters<Resolve>,
): unknown {
  const [, , { effort }, info] = given;
  if (effort.refusal !== null) throw refused(effort.refusal, info);
  const count = (resolved: unknown) => {
    if (isList && Array.isArray(resolved)) effort.list(resolved.length * TIMES_DEARER);
    return resolved;
  };
  const fail = (error: unknown) => {
    if (effort.refusal === null) effort.fail(ERRORS_TIMES_DEARER);
    throw error;
  };
  try {
    const resolved = resolve(...given);
    return resolved instanceof Promise ? resolved.then(count).catch(fail) : count(resolved);
  } catch (error) {
    return fail(error);
  }
}

/** Errors with their field located, by failure: they serve all other fields, too. */
const located = createObjectMemo<GraphQLError>('located');

function refused(failure: Failure, { fieldNodes, path }: GraphQLResolveInfo): GraphQLError {
  const known = located.of(failure);
  if (known !== undefined) return known;
  const error = locatedError(failure, fieldNodes, responsePathAsArray(path));
  located.put(failure, error);
  return error;
}
