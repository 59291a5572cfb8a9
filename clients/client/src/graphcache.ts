/** Settings for urql's normalised cache: `cacheExchange({ keys })` of `@urql/exchange-graphcache`. */
import { identityOf } from './keys.ts';
import { NODE_TYPES, PART_TYPES } from './types-of-schema.ts';

export { withIds } from './documents.ts';

type Identify = (object: Readonly<Record<string, unknown>>) => string | null;

/** Objects with an `id` are kept by it, or by their key where that was selected alone; others are part of what they stand in. */
export const keys: Record<string, Identify> = {
  ...Object.fromEntries(
    NODE_TYPES.map((typename) => [
      typename,
      (object: Readonly<Record<string, unknown>>) => identityOf(typename, object),
    ]),
  ),
  ...Object.fromEntries(PART_TYPES.map((typename) => [typename, () => null])),
};
