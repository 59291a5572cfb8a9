import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  parse,
  type SelectionSetNode,
} from 'graphql';

const SCALARS: Readonly<Record<string, string>> = {
  Int: 'number',
  Float: 'number',
  Boolean: 'boolean',
  JSON: 'unknown',
};

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** Levels and fields that are written out: a few fragments that spread each other stand for more than anybody can write. */
const MAX_DEPTH = 30;
const MAX_FIELDS = 5_000;

/**
 * The type of an operation's `data`, as TypeScript writes it: a field of some types only may be missing.
 * @throws GraphQLError if the text is no GraphQL
 */
export function dataTypeOf(schema: GraphQLSchema, query: string, operationName: string | undefined): string {
  const { definitions } = parse(query);
  const operations = definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  const operation = operations.find(({ name }) => name?.value === operationName) ?? operations[0];
  const root = schema.getQueryType();
  if (operation === undefined || root == null) return 'unknown';
  const fragments: Fragments = new Map(
    definitions.flatMap((one) =>
      one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one] as const] : [],
    ),
  );
  return objectType({ schema, fragments, fieldsLeft: MAX_FIELDS }, root.name, [operation.selectionSet], 1);
}

interface Scope {
  readonly schema: GraphQLSchema;
  readonly fragments: Fragments;
  fieldsLeft: number;
}

interface FoundField {
  readonly nodes: FieldNode[];
  readonly owner: string;
  isSure: boolean;
}

function objectType(
  scope: Scope,
  typeName: string,
  sets: readonly SelectionSetNode[],
  depth: number,
): string {
  if (depth > MAX_DEPTH) return 'unknown';
  const fields = new Map<string, FoundField>();
  const spread = new Set<string>();
  for (const set of sets) collect(scope, typeName, set, true, fields, spread);
  scope.fieldsLeft -= fields.size;
  if (scope.fieldsLeft < 0) return 'unknown';
  const indent = '  '.repeat(depth);
  const lines = Array.from(fields, ([key, { nodes, owner, isSure }]) => {
    const type = fieldType(scope, owner, nodes, depth);
    return `${indent}readonly ${key}${isSure ? '' : '?'}: ${type};\n`;
  });
  return `{\n${lines.join('')}${'  '.repeat(depth - 1)}}`;
}

function collect(
  scope: Scope,
  typeName: string,
  { selections }: SelectionSetNode,
  isSure: boolean,
  fields: Map<string, FoundField>,
  spread: Set<string>,
): void {
  for (const one of selections) {
    const always = isSure && (one.directives ?? []).length === 0;
    if (one.kind === Kind.FIELD) {
      const key = (one.alias ?? one.name).value;
      const field = fields.get(key) ?? { nodes: [], owner: typeName, isSure: false };
      field.nodes.push(one);
      field.isSure ||= always;
      fields.set(key, field);
      continue;
    }
    const below = one.kind === Kind.FRAGMENT_SPREAD ? scope.fragments.get(one.name.value) : one;
    if (below === undefined) continue;
    if (one.kind === Kind.FRAGMENT_SPREAD) {
      // Looks at a fragment twice, under a condition and without one, but no more often.
      const name = `${one.name.value} ${always}`;
      if (spread.has(name)) continue;
      spread.add(name);
    }
    const narrowed = below.typeCondition?.name.value ?? typeName;
    collect(scope, narrowed, below.selectionSet, always && narrowed === typeName, fields, spread);
  }
}

function fieldType(scope: Scope, owner: string, nodes: readonly FieldNode[], depth: number): string {
  const [node] = nodes;
  if (node === undefined || node.name.value === '__typename') return 'string';
  const parent = scope.schema.getType(owner);
  const field =
    isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[node.name.value] : undefined;
  if (field === undefined) return 'unknown';
  const named = getNamedType(field.type);
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const inner = isCompositeType(named)
    ? objectType(scope, named.name, sets, depth + 1)
    : isEnumType(named)
      ? named
          .getValues()
          .map(({ name }) => `'${name}'`)
          .join(' | ')
      : (SCALARS[named.name] ?? 'string');
  return wrapped(field.type, inner);
}

function wrapped(type: GraphQLOutputType, inner: string): string {
  if (isNonNullType(type)) return bare(type.ofType, inner);
  const text = bare(type, inner);
  return text === 'unknown' ? text : `${text} | null`;
}

function bare(type: GraphQLOutputType, inner: string): string {
  if (!isListType(type)) return inner;
  const item = wrapped(type.ofType, inner);
  return `readonly ${/ \| /.test(item.replace(/\{[\s\S]*\}/, '')) ? `(${item})` : item}[]`;
}
