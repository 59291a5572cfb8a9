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

/**
 * The lists of objects in an answer, the one of most rows first; an answer without any is a list of one row.
 * Empty if the operation can't be read, or there is no data.
 */
export function listsIn(query: string, operationName: string | undefined, data: unknown): AnswerList[] {
  try {
    const { operation, fieldsOf } = parsedOperation(query, operationName);
    if (operation === undefined || !isObject(data)) return [];
    const lists = new Map<string, FoundList>();
    const row = collect([operation.selectionSet], data, '', new Map(), lists, fieldsOf);
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

/** Notes the lists below an object, and gives its other fields, objects within it taken apart. */
function collect(
  sets: readonly SelectionSetNode[],
  on: JsonObject,
  path: string,
  inherited: Row,
  lists: Map<string, FoundList>,
  fieldsOf: FieldsOf,
): Row {
  const cells = new Map(inherited);
  const below: [path: string, selected: Selected, items: readonly unknown[]][] = [];
  flatten(sets, on, path, cells, below, fieldsOf);
  for (const [listPath, { below: selections }, items] of below) {
    const list = lists.get(listPath) ?? { columns: new Set<string>(), rows: [] };
    lists.set(listPath, list);
    for (const item of items.flat()) {
      if (!isObject(item)) continue;
      const row = collect(selections, item, listPath, cells, lists, fieldsOf);
      for (const name of row.keys()) list.columns.add(name);
      list.rows.push(row);
    }
  }
  return cells;
}

function flatten(
  sets: readonly SelectionSetNode[],
  on: JsonObject,
  path: string,
  cells: Map<string, Cell>,
  below: [path: string, selected: Selected, items: readonly unknown[]][],
  fieldsOf: FieldsOf,
): void {
  for (const selected of selectedIn(sets, fieldsOf)) {
    const value = on[selected.key];
    const name = path === '' ? selected.key : `${path}.${selected.key}`;
    if (selected.below.length === 0) {
      if (value !== undefined) cells.set(name, cellOf(value));
    } else if (Array.isArray(value)) below.push([name, selected, value]);
    else if (isObject(value)) flatten(selected.below, value, name, cells, below, fieldsOf);
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

/** Names of columns without the beginning that all share. */
export function shortNames(columns: readonly string[], path: string): string[] {
  const prefix = path === '' ? '' : `${path}.`;
  const short = columns.map((name) => (name.startsWith(prefix) ? name.slice(prefix.length) : name));
  return short.map((name, i) =>
    short.indexOf(name) === short.lastIndexOf(name) ? name : (columns[i] ?? name),
  );
}
