import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  type GraphQLLeafType,
  GraphQLString,
  isScalarType,
} from 'graphql';
import { inspect } from 'graphql/jsutils/inspect.js';

/** JavaScript over a variable `v` that serializes most values of a type without asking the type. */
export interface Shortcut {
  /** An expression that is true for the values that `value` takes. */
  readonly test: string;
  /** An expression for their form in the answer. */
  readonly value: string;
}

declare module 'graphql' {
  interface GraphQLScalarTypeExtensions {
    /** Has to agree with `serialize`. */
    shortcut?: Shortcut;
  }
}

/** The serialization of one scalar or enum. */
export interface LeafKind extends Shortcut {
  /**
   * Serializes any value but null.
   * @throws if the type refuses the value
   */
  readonly serialize: (value: unknown) => unknown;
}

const TEXT: Shortcut = { test: "typeof v === 'string'", value: 'v' };

const NONE: Shortcut = { test: 'false', value: 'v' };

const SHORTCUTS: ReadonlyMap<GraphQLLeafType, Shortcut> = new Map<GraphQLLeafType, Shortcut>([
  [GraphQLString, TEXT],
  [GraphQLID, TEXT],
  [GraphQLInt, { test: "typeof v === 'number' && (v | 0) === v", value: 'v' }],
  [GraphQLFloat, { test: "typeof v === 'number' && v - v === 0", value: 'v' }],
  [GraphQLBoolean, { test: "typeof v === 'boolean'", value: 'v' }],
]);

export function leafKind(type: GraphQLLeafType): LeafKind {
  const own = isScalarType(type) ? type.extensions.shortcut : undefined;
  const { test, value } = own ?? SHORTCUTS.get(type) ?? NONE;
  const ask = (given: unknown): unknown => {
    const serialized = type.serialize(given);
    if (serialized != null) return serialized;
    const call = `${String(type)}.serialize(${inspect(given)})`;
    throw new Error(`Expected \`${call}\` to return non-nullable value, returned: ${inspect(serialized)}`);
  };
  return { test, value, serialize: new Function('ask', `return (v) => (${test}) ? ${value} : ask(v);`)(ask) };
}
