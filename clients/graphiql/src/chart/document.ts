import {
  type DefinitionNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type OperationTypeNode,
  parse,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql';

/** An operation as it was written, and the fragments beside it. */
export interface ParsedOperation {
  readonly definitions: readonly DefinitionNode[];
  /** The one of that name, otherwise the first; undefined if there is none. */
  readonly operation: OperationDefinitionNode | undefined;
  readonly fieldsOf: FieldsOf;
}

/** The fields of a selection, those of its fragments among them, for all types. */
export type FieldsOf = (set: SelectionSetNode) => readonly FieldNode[];

/** @throws if the text is no GraphQL */
export function parsedOperation(query: string, operationName: string | undefined): ParsedOperation {
  const { definitions } = parse(query);
  const operations = definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  return {
    definitions,
    operation: operations.find(({ name }) => name?.value === operationName) ?? operations[0],
    fieldsOf: fieldsWith(definitions),
  };
}

/** Kind of the operation of a text; null if it has none, or is no GraphQL as yet. */
export function operationTypeIn(query: string, operationName: string | undefined): OperationTypeNode | null {
  try {
    return parsedOperation(query, operationName).operation?.operation ?? null;
  } catch {
    return null;
  }
}

function fieldsWith(definitions: readonly DefinitionNode[]): FieldsOf {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const one of definitions)
    if (one.kind === Kind.FRAGMENT_DEFINITION) fragments.set(one.name.value, one);
  const cache = new Map<SelectionSetNode, readonly FieldNode[]>();
  const fieldsOf = (set: SelectionSetNode): readonly FieldNode[] => {
    let fields = cache.get(set);
    if (fields === undefined) {
      fields = set.selections.flatMap((selection) => {
        if (selection.kind === Kind.FIELD) return [selection];
        const inner =
          selection.kind === Kind.INLINE_FRAGMENT
            ? selection.selectionSet
            : fragments.get(selection.name.value)?.selectionSet;
        return inner === undefined ? [] : fieldsOf(inner);
      });
      cache.set(set, fields);
    }
    return fields;
  };
  return fieldsOf;
}

/** Values that the variables of an operation have unless others are given. */
export function defaultsOf(operation: OperationDefinitionNode | undefined): Record<string, unknown> {
  return Object.fromEntries(
    (operation?.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
      defaultValue === undefined ? [] : [[variable.name.value, valueFromASTUntyped(defaultValue)]],
    ),
  );
}

export function responseKey({ alias, name }: FieldNode): string {
  return alias?.value ?? name.value;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
