import {
  defaultFieldResolver,
  defaultTypeResolver,
  type FieldNode,
  type GraphQLError,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  getArgumentValues,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  locatedError,
  type ResponsePath,
  responsePathAsArray,
} from 'graphql';
import { collectFields, collectSubfields } from 'graphql/execution/collectFields.js';
import { getFieldDef } from 'graphql/execution/execute.js';
import { inspect } from 'graphql/jsutils/inspect.js';
import type { ErrorBehavior } from '../../src/graphql/execution/field-errors.ts';
import { type Case, coercedVariables } from './cases.ts';
import type { Outcome } from './outcomes.ts';

type Fields = ReadonlyMap<string, readonly FieldNode[]>;

/** Place of a value: its path, and the field that it is of. */
interface Place {
  readonly path: ResponsePath;
  readonly info: GraphQLResolveInfo;
}

/** Thrown at the first error of an operation that halts. */
class Halted extends Error {}

/**
 * Executes an operation by the letter of the specification, depth first and one value after the other: slow, and short
 * enough to be seen to be right.
 */
export async function runByTheLetter(drawn: Case, behavior: ErrorBehavior): Promise<Outcome> {
  const { schema, document, operation, draws } = drawn;
  const errors: GraphQLError[] = [];
  const variables = coercedVariables(drawn) as { [name: string]: unknown };
  const context = { ...draws, mayDrop: true };
  const fragments = Object.fromEntries(
    document.definitions.flatMap((one) =>
      one.kind === 'FragmentDefinition' ? [[one.name.value, one] as const] : [],
    ),
  );

  async function objectOf(
    type: GraphQLObjectType,
    source: unknown,
    fields: Fields,
    prev?: ResponsePath,
  ): Promise<object> {
    const object: Record<string, unknown> = Object.create(null);
    for (const [key, nodes] of fields) {
      const node = nodes[0] as FieldNode;
      const field = getFieldDef(schema, type, node);
      if (field == null) continue;
      const path = { prev, key, typename: type.name };
      const info = { fieldName: field.name, fieldNodes: nodes, parentType: type, path, schema } as never;
      object[key] = await valueAt({ path, info }, field.type, () => {
        const args = getArgumentValues(field, node, variables);
        return (field.resolve ?? defaultFieldResolver)(source, args, context, info);
      });
    }
    return object;
  }

  async function valueAt(place: Place, type: GraphQLOutputType, give: () => unknown): Promise<unknown> {
    try {
      return await completed(place, type, await give());
    } catch (thrown) {
      if (thrown instanceof Halted) throw thrown;
      const error = locatedError(thrown, place.info.fieldNodes, responsePathAsArray(place.path));
      if (behavior === 'PROPAGATE' && isNonNullType(type)) throw error;
      errors.push(error);
      if (behavior === 'HALT') throw new Halted();
      return null;
    }
  }

  async function completed(place: Place, type: GraphQLOutputType, value: unknown): Promise<unknown> {
    const { info, path } = place;
    const name = `${info.parentType.name}.${info.fieldName}`;
    if (value instanceof Error) throw value;
    if (isNonNullType(type)) {
      const inner = await completed(place, type.ofType, value);
      if (inner === null) throw new Error(`Cannot return null for non-nullable field ${name}.`);
      return inner;
    }
    if (value == null) return null;
    if (isListType(type)) {
      if (typeof value !== 'object' || !(Symbol.iterator in value))
        throw new Error(`Expected Iterable, but did not find one for field "${name}".`);
      const items: unknown[] = [];
      for (const item of value as Iterable<unknown>) {
        const at = { ...place, path: { prev: path, key: items.length, typename: undefined } };
        items.push(await valueAt(at, type.ofType, () => item));
      }
      return items;
    }
    if (isLeafType(type)) {
      const serialized = type.serialize(value);
      if (serialized != null) return serialized;
      const call = `${type}.serialize(${inspect(value)})`;
      throw new Error(`Expected \`${call}\` to return non-nullable value, returned: ${inspect(serialized)}`);
    }
    const concrete = isObjectType(type)
      ? type
      : schema.getType(String(await (type.resolveType ?? defaultTypeResolver)(value, context, info, type)));
    if (!isObjectType(concrete)) throw new Error(`${name} has no type.`);
    const fields = collectSubfields(schema, fragments, variables, concrete, info.fieldNodes);
    return objectOf(concrete, value, fields, path);
  }

  try {
    const type = schema.getQueryType() as GraphQLObjectType;
    const fields = collectFields(schema, fragments, variables, type, operation.selectionSet);
    return { data: JSON.stringify(await objectOf(type, undefined, fields)), errors };
  } catch (thrown) {
    return { data: 'null', errors: thrown instanceof Halted ? errors : [...errors, thrown as GraphQLError] };
  }
}
