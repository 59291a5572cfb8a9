import type { SelectionSetNode } from 'graphql';
import type { Cell, Table } from './csv.ts';
import { type FieldsOf, isObject, type JsonObject, parsedOperation, responseKey } from './document.ts';

/** A list somewhere in an answer; lists of the same field in several objects are one. */
export interface AnswerList {
  /** Response keys from the root, joined by dots: `countries.observations`. */
  readonly path: string;
  readonly length: number;
  /** Its items row by row, each led by the fields of the objects that it stands in. */
  table(): Table;
}

type Row = ReadonlyMap<string, Cell>;

interface FoundList {
  readonly columns: Set<string>;
  readonly rows: Row[];
}

/** Fields of one response key, and their selections. */
interface Selected {
  readonly key: string;
  readonly below: readonly SelectionSetNode[];
}

/** A place in an answer: its path from the root, and the beginning of its columns, which are named from the outermost list. */
interface Place {
  readonly path: string;
  readonly prefix: string;
}

interface BelowPlace extends Place {
  readonly selected: Selected;
  readonly items: readonly unknown[];
}

/**
 * The lists of objects in an answer, the one of most rows first; an answer without any is a list of one row. Columns
 * are those of `/graphql` as CSV.
 * @returns none if the operation can't be read, or there is no data
 */
export function listsIn(query: string, operationName: string | undefined, data: unknown): AnswerList[] {
  try {
    const { operation, fieldsOf } = parsedOperation(query, operationName);
    if (operation === undefined || !isObject(data)) return [];
    const lists = new Map<string, FoundList>();
    noteLists([operation.selectionSet], [data], '', lists, fieldsOf);
    const row = collect([operation.selectionSet], data, ROOT, new Map(), lists, fieldsOf);
    if (lists.size === 0 && row.size > 0) lists.set('', { columns: new Set(row.keys()), rows: [row] });
    return [...lists]
      .map(([path, { columns, rows }]) => ({
        path,
        length: rows.length,
        table: () => {
          const names = [...columns];
          return { columns: names, rows: rows.map((row) => names.map((name) => row.get(name) ?? null)) };
        },
      }))
      .sort((a, b) => b.length - a.length);
  } catch {
    return [];
  }
}

const ROOT: Place = { path: '', prefix: '' };

/** Notes where an answer has lists: elsewhere in it, null may stand for one. */
function noteLists(
  sets: readonly SelectionSetNode[],
  objects: readonly JsonObject[],
  path: string,
  lists: Map<string, FoundList>,
  fieldsOf: FieldsOf,
): void {
  for (const { key, below } of selectedIn(sets, fieldsOf)) {
    if (below.length === 0) continue;
    const inner = path === '' ? key : `${path}.${key}`;
    const values = objects.map((object) => object[key]);
    if (values.some(Array.isArray)) lists.set(inner, { columns: new Set(), rows: [] });
    noteLists(below, values.flat(Number.POSITIVE_INFINITY).filter(isObject), inner, lists, fieldsOf);
  }
}

/** Gives their rows to the lists below an object; returns its other fields, objects within it taken apart. */
function collect(
  sets: readonly SelectionSetNode[],
  on: JsonObject,
  place: Place,
  around: Row,
  lists: Map<string, FoundList>,
  fieldsOf: FieldsOf,
): Row {
  const cells = new Map(around);
  const below: BelowPlace[] = [];
  const isList = (path: string) => lists.has(path);
  flatten(sets, on, place, cells, below, isList, fieldsOf);
  // What stands beside an outermost list is no part of its rows.
  const isOutermost = place === ROOT;
  for (const { selected, items, path, prefix } of below) {
    const add = (row: Row) => {
      const { columns, rows } = lists.get(path) as FoundList;
      for (const name of row.keys()) columns.add(name);
      rows.push(row);
    };
    const objects = items.flat(Number.POSITIVE_INFINITY).filter(isObject);
    const inner = { path, prefix: isOutermost ? '' : prefix };
    for (const item of objects)
      add(collect(selected.below, item, inner, isOutermost ? new Map() : cells, lists, fieldsOf));
    // An item with an empty list in it keeps its row.
    if (objects.length === 0 && !isOutermost) add(cells);
  }
  return cells;
}

function flatten(
  sets: readonly SelectionSetNode[],
  on: JsonObject,
  { path, prefix }: Place,
  cells: Map<string, Cell>,
  below: BelowPlace[],
  isList: (path: string) => boolean,
  fieldsOf: FieldsOf,
): void {
  for (const selected of selectedIn(sets, fieldsOf)) {
    const { key } = selected;
    const value = on[key];
    const inner = { path: path === '' ? key : `${path}.${key}`, prefix: `${prefix}${key}.` };
    if (selected.below.length === 0) cells.set(`${prefix}${key}`, cellOf(value ?? null));
    else if (isList(inner.path)) below.push({ ...inner, selected, items: Array.isArray(value) ? value : [] });
    else flatten(selected.below, isObject(value) ? value : {}, inner, cells, below, isList, fieldsOf);
  }
}

function cellOf(value: unknown): Cell {
  if (value === null || typeof value !== 'object') return value as Cell;
  const isPlainList =
    Array.isArray(value) && value.every((item) => item === null || typeof item !== 'object');
  return isPlainList ? value.join(', ') : JSON.stringify(value);
}

const selections = new WeakMap<SelectionSetNode, readonly Selected[]>();

function selectedIn(sets: readonly SelectionSetNode[], fieldsOf: FieldsOf): readonly Selected[] {
  const [only] = sets;
  const selected = only === undefined || sets.length > 1 ? undefined : selections.get(only);
  if (selected !== undefined) return selected;
  const byKey = Map.groupBy(sets.flatMap(fieldsOf), responseKey);
  const all = [...byKey].map(([key, fields]) => ({
    key,
    below: fields.flatMap(({ selectionSet }) => selectionSet ?? []),
  }));
  if (only !== undefined && sets.length === 1) selections.set(only, all);
  return all;
}
