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
  /** An expression that is true for values which the other takes. */
  readonly test: string;
  /** An expression for what goes into the answer in their place. */
  readonly value: string;
}

declare module 'graphql' {
  interface GraphQLScalarTypeExtensions {
    /** Has to agree with `serialize`. */
    shortcut?: Shortcut;
  }
}

/** How values of one scalar or enum go into the answer. */
export interface LeafKind extends Shortcut {
  /**
   * What goes into the answer for any value but null.
   * @throws where the type refuses the value
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
