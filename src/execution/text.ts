import { type LeafKind, quoted } from './leaves.ts';

/** What a column of an answer says at one slot, as JSON. */
export interface Texts {
  text(slot: number): string;
}

/** Says what becomes of a property's value that can't be written as it is. */
export type Oddity = (field: number, slot: number, value: unknown) => string;

/** Where the text of a field comes from: it is always the same, a property of the object, or stands in a column. */
export type WrittenField = { readonly key: string } & (
  | { readonly always: string }
  | { readonly property: string; readonly leaf: LeafKind; readonly isNonNull: boolean }
  | { readonly column: true }
);

export interface ObjectText {
  /**
   * Writes one object as JSON.
   * @param columns of the fields that have one, by their place in the selection
   */
  readonly write: (
    object: object,
    slot: number,
    columns: readonly (Texts | undefined)[],
    odd: Oddity,
  ) => string;
  /** Whether all properties that may not be null can be written as they are. */
  readonly isPlain: (object: object) => boolean;
}

/**
 * Compiles the writer of one selection: straight-line code that reads properties by name, so that the engine knows
 * where they stand. Names come from a document that was parsed, and go into the code as JSON.
 */
export function compileText(fields: readonly WrittenField[]): ObjectText {
  const reads: string[] = [];
  const tests = ['true'];
  const parts = fields.map((field, index) => {
    const label = `${index === 0 ? '{' : ','}${JSON.stringify(field.key)}:`;
    if ('always' in field) return JSON.stringify(label + field.always);
    if ('column' in field) return `${JSON.stringify(label)} + columns[${index}].text(slot)`;
    const read = `object[${JSON.stringify(field.property)}]`;
    const value = `v${index}`;
    const about = (code: string, name: string) => code.replace(/\bv\b/g, name);
    reads.push(`const ${value} = ${read};`);
    if (field.isNonNull) tests.push(`(v = ${read}, ${field.leaf.test})`);
    const { test, json } = field.leaf;
    return `${JSON.stringify(label)} + (${about(test, value)} ? ${about(json, value)} : odd(${index}, slot, ${value}))`;
  });
  const text = parts.length === 0 ? "'{}'" : `${parts.join(' + ')} + '}'`;
  const compile = (code: string) => new Function('quoted', `return ${code};`)(quoted);
  return {
    write: compile(`(object, slot, columns, odd) => { ${reads.join(' ')} return ${text}; }`),
    isPlain: compile(`(object) => { let v; return ${tests.join(' && ')}; }`),
  };
}
