import type { GraphQLFieldResolver, GraphQLResolveInfo } from 'graphql';
import { Failure } from '../../shared/errors.ts';
import { isPrefetched, markPrefetched } from './loading.ts';

/** A router's stand-in for an object: its type and the fields of one of its keys. */
export type Representation = Readonly<Record<string, unknown>>;

/** Finds an entity by a representation of its type, at once or by a promise; null if there is none. */
type ResolveReference = (representation: never, context: never, info: GraphQLResolveInfo) => object | null;

/** Resolvers of references that other subgraphs hold, by type. */
export type Entities = Readonly<Record<string, { readonly __resolveReference: ResolveReference }>>;

/**
 * Resolves `Query._entities`. Each representation has an outcome of its own, and none of them is a promise that is left
 * alone: an error thrown at once stands in the list, so that nothing interrupts the walk over the others.
 */
export function entitiesResolver(entities: Entities): GraphQLFieldResolver<unknown, unknown> {
  const find = (representation: unknown, context: unknown, info: GraphQLResolveInfo) => {
    const name = typeNameIn(representation, entities);
    const resolve = entities[name]?.__resolveReference as (...args: unknown[]) => object | null;
    // A copy, since other operations may share the entity. An entity found by an interface names its own type.
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

/** Characters of a caller's text that are repeated to them. */
const MAX_SHOWN = 100;
