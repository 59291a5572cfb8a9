import { type DocumentNode, Kind, type OperationDefinitionNode } from 'graphql';
import { type AnswerField, type ColumnKind, fieldsByAnswer } from './answer-fields.ts';
import { isJsonObject, type JsonFields } from './json-fields.ts';

/** A list of an answer, with the fields around it, as rows of the same columns. */
export interface AnswerTable {
  /** Response names down to the list, such as `countries.observations`; empty if the answer has no list. */
  readonly path: string;
  readonly columns: readonly TableColumn[];
  /**
   * Returns values by column, made as they are asked for.
   * @param isTaken true if items of the outermost list may go from the data once their rows are made
   */
  readonly rows: (data: JsonFields, isTaken?: boolean) => Iterable<readonly unknown[]>;
}

export interface TableColumn {
  /** Response names below the outermost list, such as `capital` or `observations.value`. */
  readonly name: string;
  readonly kind: ColumnKind;
}

interface Leaf extends TableColumn {
  /** Response names from the item of its list. */
  readonly path: readonly string[];
}

/** A list on the way to the rows: its path from the item around it, and the leaves of its items that become cells. */
interface Step {
  readonly objects: readonly string[];
  readonly name: string;
  readonly leaves: readonly Leaf[];
}

/**
 * Makes tables of the lists of an answer. A list within a list makes one table of both: each of its rows has the outer
 * item's cells, and an outer item with nothing in it still has a row. Columns are those that the operation selects.
 */
export function tablesOf(fields: readonly AnswerField[]): readonly AnswerTable[] {
  const tables = listsIn(fields, { path: [], prefix: '', objects: [], steps: [] });
  if (tables.length > 0) return tables;
  const leaves = leavesOf(fields, '', []);
  return [
    {
      path: '',
      columns: leaves,
      rows: (data) => [cellsOf(leaves, data)],
    },
  ];
}

/**
 * Returns the tables of an answer whose schema isn't known, with their rows.
 * @throws TooManyFields
 */
export function tablesInAnswer(
  document: DocumentNode,
  operationName: string | undefined,
  data: unknown,
): { readonly path: string; readonly columns: readonly string[]; readonly rows: readonly unknown[][] }[] {
  const operation = operationIn(document, operationName);
  if (operation === null || !isJsonObject(data)) return [];
  return tablesOf(fieldsByAnswer(document, operation, data)).map(({ path, columns, rows }) => ({
    path,
    columns: columns.map(({ name }) => name),
    rows: Array.from(rows(data), (row) => [...row]),
  }));
}

export function operationIn(
  { definitions }: DocumentNode,
  name: string | undefined,
): OperationDefinitionNode | null {
  const operations = definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  if (name === undefined) return operations[0] ?? null;
  return operations.find((operation) => operation.name?.value === name) ?? null;
}

/** Place of fields, on the way down. */
interface ListPlace {
  readonly path: readonly string[];
  /** Prefix of the columns of these fields. */
  readonly prefix: string;
  /** Objects passed since the last list. */
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
  return {
    path,
    columns: steps.flatMap(({ leaves }) => leaves),
    rows: (data, isTaken = false) => rowsOf(steps, 0, data, [], isTaken),
  };
}

function* rowsOf(
  steps: readonly Step[],
  depth: number,
  around: JsonFields,
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

/** Returns the leaves of objects, through objects in them but not through lists. */
function leavesOf(fields: readonly AnswerField[], prefix: string, path: readonly string[]): Leaf[] {
  return fields.flatMap(({ name, below, isList, kind }) => {
    if (below === null) return [{ name: `${prefix}${name}`, kind, path: [...path, name] }];
    return isList ? [] : leavesOf(below, `${prefix}${name}.`, [...path, name]);
  });
}

function cellsOf(leaves: readonly Leaf[], item: JsonFields): unknown[] {
  return leaves.map(({ path }) => valueAt(item, path) ?? null);
}

function valueAt(item: JsonFields, path: readonly string[]): unknown {
  let value: unknown = item;
  for (const name of path) value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : null;
  return value;
}

/** Gives the objects of a list, those of lists in it too. */
function* itemsOf(value: unknown, isTaken: boolean): Generator<JsonFields> {
  if (!Array.isArray(value)) return;
  for (const [i, item] of value.entries()) {
    if (isTaken) value[i] = null;
    if (isJsonObject(item)) yield item;
    else yield* itemsOf(item, isTaken);
  }
}
