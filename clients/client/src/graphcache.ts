/** Settings for urql's normalised cache, `cacheExchange` of `@urql/exchange-graphcache`. */
import { identityOf } from './keys.ts';
import { EXTRA_TYPES, NODE_TYPES, PART_TYPES } from './types-of-schema.ts';

export { withIds } from './documents.ts';

type Identify = (object: Readonly<Record<string, unknown>>) => string | null;

const all: Readonly<Record<string, Identify>> = {
  ...Object.fromEntries(
    NODE_TYPES.map((typename): [string, Identify] => [typename, (object) => identityOf(typename, object)]),
  ),
  ...Object.fromEntries(PART_TYPES.map((typename): [string, Identify] => [typename, () => null])),
};

/**
 * `keys` of `cacheExchange`. Objects are kept by their `id`, or by their key if that was selected alone;
 * others are part of the object that they stand in. Types that not every gateway has are found in it but not
 * listed, since `cacheExchange` warns of each type that is listed and not in its schema: `keysOf` lists them
 * if the schema has them.
 */
export const keys: Record<string, Identify> = Object.defineProperties(
  {},
  Object.fromEntries(
    Object.entries(all).map(([typename, value]) => [
      typename,
      { value, enumerable: !EXTRA_TYPES.includes(typename), writable: true, configurable: true },
    ]),
  ),
);

/** The keys of the types that a schema has, which is given as `cacheExchange` takes it: by its introspection. */
export function keysOf(schema: {
  readonly __schema: { readonly types?: readonly { readonly name: string }[] };
}): Record<string, Identify> {
  const names = new Set(schema.__schema.types?.map(({ name }) => name));
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)));
}
