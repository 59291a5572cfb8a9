import type { LeafKind } from './leaves.ts';

/** The values of an answer's column by slot, as they go into JSON. */
export interface Values {
  valueAt(slot: number): unknown;
}

/** Returns the outcome of a property's value that doesn't go into the answer as it is. */
export type Oddity = (field: number, slot: number, value: unknown) => unknown;

/** A field and the source of its value: it is always the same, a property of the object, or stands in a column. */
export type BuiltField = { readonly key: string } & (
  | { readonly always: string }
  | { readonly property: string; readonly leaf: LeafKind; readonly isNonNull: boolean }
  | { readonly column: true }
);

export interface ObjectBuilder {
  /**
   * Makes one object of the answer.
   * @param columns columns of the fields that have one, by their place in the selection
   */
  readonly build: (
    object: object,
    slot: number,
    columns: readonly (Values | undefined)[],
    odd: Oddity,
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
  const compile = (code: string) => new Function(`return ${code};`)();
  return {
    build: compile(
      `(object, slot, columns, odd) => { ${reads.join(' ')} return { ${members.join(', ')} }; }`,
    ),
    isPlain: compile(`(object) => { let v; return ${tests.join(' && ')}; }`),
  };
}
