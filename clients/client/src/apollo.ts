/**
 * Settings for Apollo Client's cache: `new InMemoryCache({ typePolicies, possibleTypes })`. They are plain objects, so that this
 * package depends on no version of it.
 */
import { identityOf } from './keys.ts';
import { NODE_TYPES, PART_TYPES } from './types-of-schema.ts';

export const possibleTypes = { Node: [...NODE_TYPES] };

/** As Apollo's `TypePolicy` has it. */
interface Policy {
  readonly keyFields?: (object: Readonly<Record<string, unknown>>) => string | false;
  readonly merge?: boolean;
}

/**
 * Objects with an `id` are kept by it, or by their key where that was selected alone. Objects without one are merged with what
 * the same field gave before.
 */
export const typePolicies: Record<string, Policy> = {
  ...Object.fromEntries(
    NODE_TYPES.map((typename) => [
      typename,
      {
        keyFields: (object: Readonly<Record<string, unknown>>) => {
          const identity = identityOf(typename, object);
          return identity === null ? false : `${typename}:${identity}`;
        },
      },
    ]),
  ),
  ...Object.fromEntries(PART_TYPES.map((typename) => [typename, { merge: true }])),
};
