import type { GraphQLFieldResolver, GraphQLResolveInfo } from 'graphql';
import { Failure } from '../../shared/errors.ts';
import { isPrefetched, markPrefetched } from './loading.ts';

/** A type, and the fields of one of its keys. */
export type Representation = Readonly<Record<string, unknown>>;

/** Null, or a promise of it, if there is none. */
type ResolveReference = (representation: never, context: never, info: GraphQLResolveInfo) => object | null;

/** By type. */
export type Entities = Readonly<Record<string, { readonly __resolveReference: ResolveReference }>>;

/**
 * Each representation has its own outcome: an error thrown synchronously stands in the list, so that the walk over
 * the others goes on and no promise is left unhandled.
 */
export function entitiesResolver(entities: Entities): GraphQLFieldResolver<unknown, unknown> {
  const find = (representation: unknown, context: unknown, info: GraphQLResolveInfo) => {
    const name = typeNameIn(representation, entities);
    const resolve = entities[name]?.__resolveReference as (...args: unknown[]) => object | null;
    // A copy: operations may share the entity. One found by an interface names its own type.
    const copy = (entity: object | null) => (entity === null ? null : { __typename: name, ...entity });
    const entity = resolve(representation, context, info);
    if (!(entity instanceof Promise)) return copy(entity);
    const copied = entity.then(copy);
    return isPrefetched(entity) ? markPrefetched(copied) : copied;
  };
  return (_, { representations }, context, info) =>
    (representations as readonly unknown[]).map((representation) => {
      try {
        return find(representation, context, info);
      } catch (error) {
        return error;
      }
    });
}

/** @throws Failure BAD_USER_INPUT if it names no type that others may refer to */
function typeNameIn(representation: unknown, entities: Entities): string {
  if (typeof representation !== 'object' || representation === null || Array.isArray(representation)) {
    throw new Failure('BAD_USER_INPUT', 'A representation is an object with `__typename` and a key.');
  }
  const { __typename: name } = representation as Representation;
  if (typeof name !== 'string') {
    throw new Failure('BAD_USER_INPUT', 'A representation needs `__typename` as a string.');
  }
  if (!Object.hasOwn(entities, name)) {
    const typeNames = Object.keys(entities).join(', ');
    throw new Failure(
      'BAD_USER_INPUT',
      `There is no entity type ${JSON.stringify(name.slice(0, MAX_SHOWN))}; there are ${typeNames}.`,
    );
  }
  return name;
}

const MAX_SHOWN = 100;
