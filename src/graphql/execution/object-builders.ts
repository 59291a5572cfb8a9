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
interface Shortcut {
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

const STRING: Shortcut = { test: "typeof v === 'string'", value: 'v' };

const NONE: Shortcut = { test: 'false', value: 'v' };

const SHORTCUTS: ReadonlyMap<GraphQLLeafType, Shortcut> = new Map<GraphQLLeafType, Shortcut>([
  [GraphQLString, STRING],
  [GraphQLID, STRING],
  [GraphQLInt, { test: "typeof v === 'number' && (v | 0) === v", value: 'v' }],
  [GraphQLFloat, { test: "typeof v === 'number' && v - v === 0", value: 'v' }],
  [GraphQLBoolean, { test: "typeof v === 'boolean'", value: 'v' }],
]);

/** By type: schemas, and so their types, live as long as the program. */
const leafKinds = new WeakMap<GraphQLLeafType, LeafKind>();

export function leafKind(type: GraphQLLeafType): LeafKind {
  const cachedKind = leafKinds.get(type);
  if (cachedKind !== undefined) return cachedKind;
  const kind = createLeafKind(type);
  leafKinds.set(type, kind);
  return kind;
}

function createLeafKind(type: GraphQLLeafType): LeafKind {
  const shortcut = isScalarType(type) ? type.extensions.shortcut : undefined;
  const { test, value } = shortcut ?? SHORTCUTS.get(type) ?? NONE;
  const ask = (given: unknown): unknown => {
    const serialized = type.serialize(given);
    if (serialized != null) return serialized;
    const call = `${String(type)}.serialize(${inspect(given)})`;
    throw new Error(`Expected \`${call}\` to return non-nullable value, returned: ${inspect(serialized)}`);
  };
  return { test, value, serialize: new Function('ask', `return (v) => (${test}) ? ${value} : ask(v);`)(ask) };
}

/** A field and the source of its value: it is always the same, a property of the object, or stands in a column. */
export type BuiltField = { readonly key: string } & (
  | { readonly always: string }
  | { readonly property: string; readonly leaf: LeafKind; readonly isNonNull: boolean }
  | { readonly column: true }
);

export interface ObjectBuilder {
  /**
   * Makes one object of the answer.
   * @param odd returns the outcome of a property's value that doesn't go into the answer as it is
   * @param columns values by slot, as they go into JSON, of the fields that have a column, by their place in the selection
   */
  readonly build: (
    object: object,
    slot: number,
    columns: readonly ({ valueAt(slot: number): unknown } | undefined)[],
    odd: (field: number, slot: number, value: unknown) => unknown,
  ) => object;
  /** True if all properties that may not be null go into the answer as they are. */
  readonly isPlain: (object: object) => boolean;
}

/**
 * Compiles the maker of the objects of one selection: an object literal that reads properties by name, so that the
 * engine knows their places, and `JSON.stringify` takes its fast way. (Writing JSON from the properties at once is
 * slower than both together, since Node 24.) Names come from a document that was parsed, and go into the code as JSON.
 */
export function compileObject(fields: readonly BuiltField[]): ObjectBuilder {
  const reads: string[] = [];
  const tests = ['true'];
  const members = fields.map((field, index) => {
    // In brackets, `__proto__` is a name like any other.
    const name = field.key === '__proto__' ? '["__proto__"]' : JSON.stringify(field.key);
    if ('always' in field) return `${name}: ${JSON.stringify(field.always)}`;
    if ('column' in field) return `${name}: columns[${index}].valueAt(slot)`;
    const read = `object[${JSON.stringify(field.property)}]`;
    const about = (code: string) => code.replace(/\bv\b/g, `v${index}`);
    reads.push(`const v${index} = ${read};`);
    if (field.isNonNull) tests.push(`(v = ${read}, ${field.leaf.test})`);
    const { test, value } = field.leaf;
    return `${name}: (${about(test)}) ? ${about(value)} : odd(${index}, slot, v${index})`;
  });
  return new Function(`return {
    build: (object, slot, columns, odd) => { ${reads.join(' ')} return { ${members.join(', ')} }; },
    isPlain: (object) => { let v; return ${tests.join(' && ')}; },
  };`)();
}
