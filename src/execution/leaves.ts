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

/** JavaScript over a variable `v` that writes most values of a type without asking the type. */
export interface Shortcut {
  /** An expression that is true for values which the other may write. */
  readonly test: string;
  /** Their JSON, as a text or a number; `quoted` is at hand. */
  readonly json: string;
}

declare module 'graphql' {
  interface GraphQLScalarTypeExtensions {
    /** Has to agree with `serialize`. */
    shortcut?: Shortcut;
  }
}

/** How values of one scalar or enum are written. */
export interface LeafKind extends Shortcut {
  /**
   * The JSON of any value but null.
   * @throws where the type refuses the value
   */
  readonly text: (value: unknown) => string;
}

const TEXT: Shortcut = { test: "typeof v === 'string'", json: 'quoted(v)' };

const NONE: Shortcut = { test: 'false', json: "''" };

const SHORTCUTS: ReadonlyMap<GraphQLLeafType, Shortcut> = new Map<GraphQLLeafType, Shortcut>([
  [GraphQLString, TEXT],
  [GraphQLID, TEXT],
  [GraphQLInt, { test: "typeof v === 'number' && (v | 0) === v", json: 'v' }],
  [GraphQLFloat, { test: "typeof v === 'number' && v - v === 0", json: 'v' }],
  [GraphQLBoolean, { test: "typeof v === 'boolean'", json: 'v' }],
]);

export function leafKind(type: GraphQLLeafType): LeafKind {
  const own = isScalarType(type) ? type.extensions.shortcut : undefined;
  const { test, json } = own ?? SHORTCUTS.get(type) ?? NONE;
  const code = `return (v) => (${test}) ? '' + (${json}) : serialized(v);`;
  const serialized = (value: unknown): string => {
    const result = type.serialize(value);
    if (typeof result === 'string') return quoted(result);
    // A function or a symbol has no JSON; graphql-js answers without the field.
    if (result != null) return JSON.stringify(result) ?? 'null';
    const given = `${String(type)}.serialize(${inspect(value)})`;
    throw new Error(`Expected \`${given}\` to return non-nullable value, returned: ${inspect(result)}`);
  };
  return { test, json, text: new Function('quoted', 'serialized', code)(quoted, serialized) };
}

/** Longer texts are left to the engine: its own loop is faster, once it is under way. */
const MAX_SCANNED = 48;

/** A text as JSON. Most are short and need no escapes, which is sooner found out than escaped. */
export function quoted(text: string): string {
  if (text.length > MAX_SCANNED) return JSON.stringify(text);
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    // Control characters, the quote, the backslash, and halves of surrogate pairs.
    if (code < 32 || code === 34 || code === 92 || (code >= 0xd800 && code <= 0xdfff)) {
      return JSON.stringify(text);
    }
  }
  return `"${text}"`;
}
