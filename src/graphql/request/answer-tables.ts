import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  getOperationAST,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import type { ColumnKind, TableColumn } from '../../shared/arrow.ts';
import type { Steps } from '../../shared/async/turns.ts';
import { isObject, type JsonObject } from '../../shared/exact-json.ts';
import { type WideTable, widening } from '../../shared/wide-tables.ts';

/** By response name: fields of one name are one. */
interface AnswerField {
  readonly name: string;
  /** Null for a leaf. */
  readonly below: readonly AnswerField[] | null;
  readonly isList: boolean;
  readonly kind: ColumnKind;
}

/** Maximum columns: fragments can make very many of a short text. */
const MAX_FIELDS = 2_000;

/** Fragments of a short text may select fields again and again. */
const MAX_SELECTIONS = 20_000;

/** No operation that a gateway takes is as deep. */
const MAX_DEPTH = 200;

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

/**
 * Without a schema, fields look like single texts.
 * @throws TooManyFields
 */
function fieldsIn(
  { definitions }: DocumentNode,
  operation: OperationDefinitionNode,
  schema: GraphQLSchema | null,
): readonly AnswerField[] {
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  const byName = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  const parent = schema?.getRootType(operation.operation) ?? null;
  const collector = { fragments: byName, schema, count: 0, selections: 0 };
  return fieldsOf([{ set: operation.selectionSet, parent }], collector, 0);
}

function lookedUp(parent: GraphQLNamedType | null, name: string) {
  const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
  if (field === undefined) return { isList: false, kind: 'text', type: null } as const;
  const isList = isListType(getNullableType(field.type));
  const type = getNamedType(field.type);
  const kind = isList ? 'json' : (KINDS[type.name] ?? 'text');
  return { isList: isList && isCompositeType(type), kind, type };
}

function listsSeen(fields: readonly AnswerField[], items: readonly JsonObject[]): AnswerField[] {
  return fields.map((field) => {
    if (field.below === null) return field;
    const values = items.map((item) => item[field.name]);
    const isList = field.isList || values.some(Array.isArray);
    const inner = values.flatMap((value) => (Array.isArray(value) ? value.flat(MAX_DEPTH) : [value]));
    return { ...field, isList, below: listsSeen(field.below, inner.filter(isObject)) };
  });
}

interface SelectedSet {
  readonly set: SelectionSetNode;
  readonly parent: GraphQLNamedType | null;
}

interface Collector {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly schema: GraphQLSchema | null;
  count: number;
  selections: number;
}

function fieldsOf(selected: readonly SelectedSet[], collector: Collector, depth: number): AnswerField[] {
  if (depth > MAX_DEPTH) return [];
  const fields = new Map<string, ReturnType<typeof lookedUp> & { readonly sets: SelectedSet[] }>();
  const seen = new Set<string>();
  const typeOf = (name: string) => collector.schema?.getType(name) ?? null;
  const collect = ({ set, parent }: SelectedSet): void => {
    collector.selections += set.selections.length;
    if (collector.selections > MAX_SELECTIONS) throw new TooManyFields();
    for (const selection of set.selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const { typeCondition, selectionSet } = selection;
        const type = typeCondition === undefined ? parent : typeOf(typeCondition.name.value);
        collect({ set: selectionSet, parent: type });
      } else if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = collector.fragments.get(selection.name.value);
        if (fragment === undefined || seen.has(selection.name.value)) continue;
        seen.add(selection.name.value);
        const { selectionSet, typeCondition } = fragment;
        collect({ set: selectionSet, parent: typeOf(typeCondition.name.value) });
      } else {
        const name = (selection.alias ?? selection.name).value;
        const field = fields.get(name) ?? { ...lookedUp(parent, selection.name.value), sets: [] };
        if (selection.selectionSet !== undefined)
          field.sets.push({ set: selection.selectionSet, parent: field.type });
        fields.set(name, field);
      }
    }
  };
  for (const one of selected) collect(one);
  collector.count += fields.size;
  if (collector.count > MAX_FIELDS) throw new TooManyFields();
  return Array.from(fields, ([name, { sets, isList, kind }]) => ({
    name,
    isList,
    kind,
    below: sets.length === 0 ? null : fieldsOf(sets, collector, depth + 1),
  }));
}

/** A table that an answer makes. */
export interface AnswerTable {
  /** Response names down to the list, such as `countries.observations`; empty if the answer has no list. */
  readonly path: string;
  readonly columns: readonly TableColumn[];
  /**
   * Rows are made as they are asked for.
   * @param isTaken true if items of the outermost list may be dropped from the data once their rows are made
   */
  readonly rows: (data: JsonObject, isTaken?: boolean) => Iterable<readonly unknown[]>;
  /** The same with a column for each year, or other period; or why there can't be one. */
  readonly wide: string | ((data: JsonObject, isTaken?: boolean) => Steps<WideTable>);
}

function answerTable(path: string, columns: readonly TableColumn[], rows: AnswerTable['rows']): AnswerTable {
  const widen = widening(columns);
  const wide: AnswerTable['wide'] =
    typeof widen === 'string' ? widen : (data, isTaken) => widen(rows(data, isTaken));
  return { path, columns, rows, wide };
}

interface Leaf extends TableColumn {
  /** From the item of its list. */
  readonly path: readonly string[];
}

/** A list on the way to the rows. */
interface Step {
  readonly objects: readonly string[];
  readonly name: string;
  readonly leaves: readonly Leaf[];
}

/**
 * Nested lists make one table: each row repeats the outer item's cells, and an outer item with nothing in it keeps a
 * row. Columns are those that the operation selects.
 */
function tablesOf(fields: readonly AnswerField[]): readonly AnswerTable[] {
  const tables = listsIn(fields, { path: [], prefix: '', objects: [], steps: [] });
  if (tables.length > 0) return tables;
  const leaves = leavesOf(fields, '', []);
  return [answerTable('', leaves, (data) => [cellsOf(leaves, data)])];
}

/**
 * Before there is an answer; null if the document has no such operation.
 * @throws TooManyFields
 */
export function tablesBySchema(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | undefined,
): readonly AnswerTable[] | null {
  const operation = getOperationAST(document, operationName);
  return operation ? tablesOf(fieldsIn(document, operation, schema)) : null;
}

/**
 * Lists are those of the schema, or that are lists in the answer: its gateway may know fields that the schema doesn't.
 * @throws TooManyFields
 */
export function tablesSeen(
  document: DocumentNode,
  operationName: string | undefined,
  data: unknown,
  schema: GraphQLSchema | null,
): readonly AnswerTable[] {
  const operation = getOperationAST(document, operationName);
  if (operation == null || !isObject(data)) return [];
  return tablesOf(listsSeen(fieldsIn(document, operation, schema), [data]));
}

/** Tables with the names of their columns, and all their rows. */
export function listed(tables: readonly AnswerTable[], data: unknown) {
  return tables.map(({ path, columns, rows }) => ({
    path,
    columns: columns.map(({ name }) => name),
    rows: Array.from(rows(data as JsonObject), (row) => [...row]),
  }));
}

interface ListPlace {
  readonly path: readonly string[];
  readonly prefix: string;
  readonly objects: readonly string[];
  readonly steps: readonly Step[];
}

function listsIn(fields: readonly AnswerField[], place: ListPlace): AnswerTable[] {
  return fields.flatMap(({ name, below, isList }) => {
    if (below === null) return [];
    const { objects, steps } = place;
    const path = [...place.path, name];
    const isInList = steps.length > 0;
    const prefix = isInList ? `${place.prefix}${name}.` : '';
    if (!isList) return listsIn(below, { path, prefix, objects: [...objects, name], steps });
    const step = { objects, name, leaves: leavesOf(below, prefix, []) };
    const here = { path, prefix, objects: [], steps: [...steps, step] };
    const inner = listsIn(below, here);
    return inner.length > 0 ? inner : [tableOf(path.join('.'), here.steps)];
  });
}

function tableOf(path: string, steps: readonly Step[]): AnswerTable {
  const columns = steps.flatMap(({ leaves }) => leaves);
  return answerTable(path, columns, (data, isTaken = false) => rowsOf(steps, 0, data, [], isTaken));
}

function* rowsOf(
  steps: readonly Step[],
  depth: number,
  around: JsonObject,
  cells: readonly unknown[],
  isTaken: boolean,
): Generator<readonly unknown[]> {
  const step = steps[depth];
  if (step === undefined) {
    yield cells;
    return;
  }
  let isEmpty = true;
  for (const item of itemsOf(valueAt(around, [...step.objects, step.name]), isTaken)) {
    isEmpty = false;
    yield* rowsOf(steps, depth + 1, item, [...cells, ...cellsOf(step.leaves, item)], false);
  }
  // An item with an empty list in it keeps its row.
  if (isEmpty && depth > 0)
    yield* rowsOf(steps, depth + 1, {}, [...cells, ...cellsOf(step.leaves, {})], false);
}

/** Through objects, but not through lists. */
function leavesOf(fields: readonly AnswerField[], prefix: string, path: readonly string[]): Leaf[] {
  return fields.flatMap(({ name, below, isList, kind }) => {
    if (below === null) return [{ name: `${prefix}${name}`, kind, path: [...path, name] }];
    return isList ? [] : leavesOf(below, `${prefix}${name}.`, [...path, name]);
  });
}

function cellsOf(leaves: readonly Leaf[], item: JsonObject): unknown[] {
  return leaves.map(({ path }) => valueAt(item, path) ?? null);
}

function valueAt(item: JsonObject, path: readonly string[]): unknown {
  let value: unknown = item;
  for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : null;
  return value;
}

/** Flattens lists in lists. */
function* itemsOf(value: unknown, isTaken: boolean): Generator<JsonObject> {
  if (!Array.isArray(value)) return;
  for (const [i, item] of value.entries()) {
    if (isTaken) value[i] = null;
    if (isObject(item)) yield item;
    else yield* itemsOf(item, isTaken);
  }
}
