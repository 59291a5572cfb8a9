import { LRUCache } from 'lru-cache';
import type { FieldPlan, LeafSerializer, ObjectBuilder, ObjectPlan } from './plan.ts';

type BuiltField = { readonly key: string } & (
  | { readonly always: string }
  | { readonly property: string; readonly leaf: LeafSerializer; readonly isNonNull: boolean }
  | { readonly column: true }
);

/** By code: equal selections share a builder, and with it the code that V8 has optimized. */
const builders = new LRUCache<string, ObjectBuilder>({ max: 500 });

/**
 * Compiles an object literal that reads properties by name, so that V8 knows their offsets and `JSON.stringify` takes
 * its fast path. (Writing JSON directly is slower since Node 24.) Names come from a parsed document, and are quoted
 * as JSON.
 */
function compileObject(fields: readonly BuiltField[]): ObjectBuilder {
  const reads: string[] = [];
  const tests = ['true'];
  const members = fields.map((field, index) => {
    // A computed `__proto__` is an ordinary property; a literal one would set the prototype.
    const name = field.key === '__proto__' ? '["__proto__"]' : JSON.stringify(field.key);
    if ('always' in field) return `${name}: ${JSON.stringify(field.always)}`;
    if ('column' in field) return `${name}: columns[${index}].valueAt(slot)`;
    const read = `object[${JSON.stringify(field.property)}]`;
    const withOwnVariable = (code: string) => code.replace(/\bv\b/g, `v${index}`);
    reads.push(`const v${index} = ${read};`);
    if (field.isNonNull) tests.push(`(v = ${read}, ${field.leaf.test})`);
    const { test, value } = field.leaf;
    return `${name}: (${withOwnVariable(test)}) ? ${withOwnVariable(value)} : fallback(${index}, slot, v${index})`;
  });
  const code = `return {
    build: (object, slot, columns, fallback) => { ${reads.join(' ')} return { ${members.join(', ')} }; },
    isPlain: (object) => { let v; return ${tests.join(' && ')}; },
  };`;
  const existing = builders.get(code);
  if (existing !== undefined) return existing;
  const builder = new Function(code)();
  builders.set(code, builder);
  return builder;
}

export function compiled(plan: ObjectPlan): ObjectBuilder {
  plan.builder = compileObject(plan.fields.map(builtField));
  return plan.builder;
}

function builtField({ key, name, by, parentType, shape }: FieldPlan): BuiltField {
  if (by === 'typename') return { key, always: parentType.name };
  if (by === 'leaf property' && shape.kind === 'leaf') {
    return { key, property: name, leaf: shape.leaf, isNonNull: shape.isNonNull };
  }
  return { key, column: true };
}
