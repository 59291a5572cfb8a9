/**
 * Settings for Apollo Client's cache: `new InMemoryCache({ typePolicies, possibleTypes })`, and
 * `documentTransform: new DocumentTransform(withIds)` for the client. They are plain, so that this package depends on no version of it.
 */
import type { Selection } from './documents.ts';
import { identityOf, nodeTypes } from './keys.ts';
import { type Slot, slotOf, storeNameOf } from './slots.ts';
import { NODE_TYPES, OBJECT_FIELDS, PART_TYPES } from './types-of-schema.ts';

export { withIds } from './documents.ts';

export const possibleTypes = { Node: [...NODE_TYPES] };

const parts: ReadonlySet<string> = new Set(PART_TYPES);

type Objects = Readonly<Record<string, unknown>>;

/** Part of Apollo's `TypePolicy`. */
interface Policy {
  readonly keyFields?: (object: Objects, context: { readonly storeObject?: Objects }) => string | false;
  readonly merge?: boolean;
  readonly fields?: Record<string, FieldPolicy>;
}

interface FieldPolicy {
  readonly keyArgs: (
    args: Objects | null,
    context: { readonly fieldName: string; readonly field: Selection | null; readonly variables?: Objects },
  ) => string;
  readonly read: (
    existing: unknown,
    options: {
      readonly args: Objects | null;
      readonly fieldName: string;
      readonly field: Selection | null;
      readonly readField: (of: { fieldName: string; args: never }) => unknown;
    },
  ) => unknown;
}

/**
 * Objects are kept by their `id`, or by their key if that was selected alone; so operations that select
 * either of an object share it, and all that they select of it is merged. An object that an operation doesn't
 * identify may be another one the next time, such as the latest figure: it is kept apart for each selection,
 * so that it is neither lost to another operation nor mixed with the object that this one belonged to.
 */
export const typePolicies: Record<string, Policy> = Object.fromEntries(
  [...new Set([...NODE_TYPES, ...PART_TYPES, ...Object.keys(OBJECT_FIELDS)])].map((typename) => [
    typename,
    { ...identityPolicy(typename), fields: fieldPolicies(typename) },
  ]),
);

function identityPolicy(typename: string): Policy {
  if (parts.has(typename)) return { merge: true };
  if (!nodeTypes.has(typename)) return {};
  return {
    keyFields: (object, { storeObject = object }) => {
      // Fields count by their own names: an operation may call another one `id`.
      const identity = identityOf(typename, storeObject);
      return identity === null ? false : `${typename}:${identity}`;
    },
  };
}

function fieldPolicies(typename: string): Record<string, FieldPolicy> {
  return Object.fromEntries(
    Object.entries(OBJECT_FIELDS[typename] ?? {}).map(([name, type]) => [name, fieldPolicy(type)]),
  );
}

function fieldPolicy(type: string): FieldPolicy {
  const slots = new WeakMap<Selection, Slot | null>();
  const slotIn = (field: Selection | null): Slot | null => {
    if (field?.selectionSet === undefined) return null;
    let slot = slots.get(field);
    if (slot === undefined) {
      slot = slotOf(field, type);
      slots.set(field, slot);
    }
    return slot;
  };
  return {
    keyArgs: (args, { fieldName, field, variables }) =>
      storeNameOf(fieldName, args, slotIn(field), variables),
    // An object that another operation identifies serves those that don't, too.
    read: (existing, { args, fieldName, field, readField }) =>
      existing === undefined && nodeTypes.has(type) && slotIn(field) !== null
        ? readField({ fieldName, args: args as never })
        : existing,
  };
}
