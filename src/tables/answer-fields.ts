import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { isJsonObject, type JsonFields } from './json-fields.ts';

/** The type of a leaf's values, for formats that have types: `text` for enums and scalars of ours, too. */
export type ColumnKind = 'integer' | 'number' | 'boolean' | 'text' | 'json';

/** A field of the answer, by its response name; those of the same name are one. */
export interface AnswerField {
  readonly name: string;
  /** Null for a leaf. */
  readonly below: readonly AnswerField[] | null;
  /** True if it is a list of objects. */
  readonly isList: boolean;
  readonly kind: ColumnKind;
}

/** Fields that an answer may have to be made a table of: fragments can make very many of a short text. */
const MAX_FIELDS = 2_000;

/** Selections that are looked at for them: fields may be selected again and again by fragments of a short text. */
const MAX_SELECTIONS = 20_000;

/** Levels down to which fields are looked for: no operation that a gateway takes is as deep. */
const MAX_DEPTH = 200;

/** The operation has more fields than a table has columns. */
export class TooManyFields extends Error {
  constructor() {
    super(`The operation has more than ${MAX_FIELDS} fields, which no table has columns for.`);
  }
}

const KINDS: Readonly<Record<string, ColumnKind>> = {
  Int: 'integer',
  Float: 'number',
  Boolean: 'boolean',
  JSON: 'json',
};

/** Facts that are known of a field beside its name. */
type Looked = Pick<AnswerField, 'isList' | 'kind'> & { readonly type: GraphQLNamedType | null };

/**
 * Returns the fields of an answer, as the schema has them: it shows the lists among them before there is an answer.
 * @throws TooManyFields
 */
export function fieldsBySchema(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): readonly AnswerField[] {
  const looked = (parent: GraphQLNamedType | null, name: string): Looked => {
    const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
    if (field === undefined) return { isList: false, kind: 'text', type: null };
    const isList = isListType(getNullableType(field.type));
    const type = getNamedType(field.type);
    const kind = isList ? 'json' : (KINDS[type.name] ?? 'text');
    return { isList: isList && isCompositeType(type), kind, type };
  };
  const root = schema.getRootType(operation.operation) ?? null;
  const typeOf = (name: string) => schema.getType(name) ?? null;
  return fieldsOf([{ set: operation.selectionSet, parent: root }], collectorOf(document, looked, typeOf), 0);
}

/**
 * Returns the fields of an answer without a schema: the answer shows the lists among them.
 * @throws TooManyFields
 */
export function fieldsByAnswer(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  data: JsonFields,
): readonly AnswerField[] {
  const looked = (): Looked => ({ isList: false, kind: 'text', type: null });
  const collector = collectorOf(document, looked, () => null);
  return listsSeen(fieldsOf([{ set: operation.selectionSet, parent: null }], collector, 0), [data]);
}

function listsSeen(fields: readonly AnswerField[], items: readonly JsonFields[]): AnswerField[] {
  return fields.map((field) => {
    if (field.below === null) return field;
    const values = items.map((item) => item[field.name]);
    const isList = values.some(Array.isArray);
    const inner = values.flatMap((value) => (Array.isArray(value) ? value.flat(MAX_DEPTH) : [value]));
    return { ...field, isList, below: listsSeen(field.below, inner.filter(isJsonObject)) };
  });
}

interface SelectedSet {
  readonly set: SelectionSetNode;
  readonly parent: GraphQLNamedType | null;
}

interface Collector {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly looked: (parent: GraphQLNamedType | null, name: string) => Looked;
  readonly typeOf: (name: string) => GraphQLNamedType | null;
  /** Fields found, and selections looked at, so far. */
  count: number;
  selections: number;
}

function collectorOf(
  { definitions }: DocumentNode,
  looked: Collector['looked'],
  typeOf: Collector['typeOf'],
): Collector {
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  const byName = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  return { fragments: byName, looked, typeOf, count: 0, selections: 0 };
}

function fieldsOf(selected: readonly SelectedSet[], collector: Collector, depth: number): AnswerField[] {
  if (depth > MAX_DEPTH) return [];
  const found = new Map<string, Looked & { readonly sets: SelectedSet[] }>();
  const seen = new Set<string>();
  const collect = ({ set, parent }: SelectedSet): void => {
    collector.selections += set.selections.length;
    if (collector.selections > MAX_SELECTIONS) throw new TooManyFields();
    for (const selection of set.selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const { typeCondition, selectionSet } = selection;
        const type = typeCondition === undefined ? parent : collector.typeOf(typeCondition.name.value);
        collect({ set: selectionSet, parent: type });
      } else if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = collector.fragments.get(selection.name.value);
        if (fragment === undefined || seen.has(selection.name.value)) continue;
        seen.add(selection.name.value);
        const { selectionSet, typeCondition } = fragment;
        collect({ set: selectionSet, parent: collector.typeOf(typeCondition.name.value) });
      } else {
        const name = (selection.alias ?? selection.name).value;
        const field = found.get(name) ?? {
          ...collector.looked(parent, selection.name.value),
          sets: [],
        };
        if (selection.selectionSet !== undefined)
          field.sets.push({ set: selection.selectionSet, parent: field.type });
        found.set(name, field);
      }
    }
  };
  for (const one of selected) collect(one);
  collector.count += found.size;
  if (collector.count > MAX_FIELDS) throw new TooManyFields();
  return Array.from(found, ([name, { sets, isList, kind }]) => ({
    name,
    isList,
    kind,
    below: sets.length === 0 ? null : fieldsOf(sets, collector, depth + 1),
  }));
}
