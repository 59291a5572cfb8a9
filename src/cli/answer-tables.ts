import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';

/** A list of an answer, with what stands around it, as rows of the same columns. */
export interface AnswerTable {
  /** Response names down to the list, such as `countries.observations`; empty where the answer has no list. */
  readonly path: string;
  /** Response names below the outermost list, such as `capital` or `observations.value`. */
  readonly columns: readonly string[];
  readonly rows: readonly ReadonlyMap<string, unknown>[];
}

/** A field of the answer, by its response name; those of the same name are one. */
interface Field {
  readonly name: string;
  /** Null for a leaf. */
  readonly below: Fields | null;
}
type Fields = readonly Field[];
type Row = ReadonlyMap<string, unknown>;
type Json = Readonly<Record<string, unknown>>;

/** How deep lists are looked for: no operation that a gateway takes is as deep. */
const MAX_DEPTH = 200;

/**
 * The lists of an answer as tables. A list within a list makes one table of both: each of its rows has what the outer
 * item says, and an outer item with nothing in it still has a row. Columns are those that the operation selects.
 */
export function tablesOf(
  document: DocumentNode,
  operationName: string | undefined,
  data: unknown,
): AnswerTable[] {
  const operation = operationIn(document, operationName);
  if (operation === null || !isObject(data)) return [];
  const fragments = new Map(
    document.definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  const fields = fieldsOf([operation.selectionSet], fragments, 0);
  const tables = listsIn(fields, [{ item: data, row: new Map() }], '', '', []);
  if (tables.length > 0) return tables;
  const columns = leavesOf(fields, '', [data]);
  return [{ path: '', columns, rows: [leafValues(fields, data, '')] }];
}

function operationIn(
  { definitions }: DocumentNode,
  name: string | undefined,
): OperationDefinitionNode | null {
  const operations = definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  if (name === undefined) return operations[0] ?? null;
  return operations.find((operation) => operation.name?.value === name) ?? null;
}

function fieldsOf(
  sets: readonly SelectionSetNode[],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  depth: number,
): Fields {
  if (depth > MAX_DEPTH) return [];
  const below = new Map<string, SelectionSetNode[]>();
  const seen = new Set<string>();
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet);
      else if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = fragments.get(selection.name.value);
        if (fragment === undefined || seen.has(selection.name.value)) continue;
        seen.add(selection.name.value);
        collect(fragment.selectionSet);
      } else {
        const name = (selection.alias ?? selection.name).value;
        const sets = below.get(name) ?? [];
        if (selection.selectionSet !== undefined) sets.push(selection.selectionSet);
        below.set(name, sets);
      }
    }
  };
  for (const set of sets) collect(set);
  return Array.from(below, ([name, sets]) => ({
    name,
    below: sets.length === 0 ? null : fieldsOf(sets, fragments, depth + 1),
  }));
}

/** An object of the answer, and the columns that it has from around it. */
interface Placed {
  readonly item: Json;
  readonly row: Row;
}

/**
 * @param prefix of the columns of these objects
 * @param around columns that stand around them
 */
function listsIn(
  fields: Fields,
  placed: readonly Placed[],
  path: string,
  prefix: string,
  around: readonly string[],
): AnswerTable[] {
  return fields.flatMap(({ name, below }) => {
    if (below === null) return [];
    const here = path === '' ? name : `${path}.${name}`;
    if (!placed.some(({ item }) => Array.isArray(item[name]))) {
      const inner = placed.flatMap(({ item, row }) =>
        objectOf(item[name]).map((object) => ({ item: object, row })),
      );
      return listsIn(
        below,
        inner,
        here,
        prefix === '' && around.length === 0 ? '' : `${prefix}${name}.`,
        around,
      );
    }
    const isOutermost = around.length === 0;
    const ownPrefix = isOutermost ? '' : `${prefix}${name}.`;
    const items = placed.flatMap(({ item, row }) => {
      const all = itemsOf(item[name]);
      // An item with an empty list in it keeps its row.
      return all.length === 0 && !isOutermost ? [{ item: {}, row }] : all.map((one) => ({ item: one, row }));
    });
    const columns = [
      ...around,
      ...leavesOf(
        below,
        ownPrefix,
        items.map(({ item }) => item),
      ),
    ];
    const rows = items.map(({ item, row }) => ({
      item,
      row: new Map([...row, ...leafValues(below, item, ownPrefix)]),
    }));
    const inner = listsIn(below, rows, here, ownPrefix, columns);
    if (inner.length > 0) return inner;
    return [{ path: here, columns, rows: rows.map(({ row }) => row) }];
  });
}

/** Names of the leaves of objects, through objects in them but not through lists. */
function leavesOf(fields: Fields, prefix: string, items: readonly Json[]): string[] {
  return fields.flatMap(({ name, below }) => {
    if (below === null) return [`${prefix}${name}`];
    const values = items.map((item) => item[name]);
    if (values.some(Array.isArray)) return [];
    return leavesOf(below, `${prefix}${name}.`, values.filter(isObject));
  });
}

function leafValues(fields: Fields, item: Json, prefix: string): Map<string, unknown> {
  const values = new Map<string, unknown>();
  for (const { name, below } of fields) {
    const value = item[name];
    if (below === null) values.set(`${prefix}${name}`, value ?? null);
    else if (isObject(value)) {
      for (const [column, leaf] of leafValues(below, value, `${prefix}${name}.`)) values.set(column, leaf);
    }
  }
  return values;
}

/** The objects of a list, those of lists in it too. */
function itemsOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.flat(Number.POSITIVE_INFINITY).filter(isObject) : [];
}

function objectOf(value: unknown): Json[] {
  return isObject(value) ? [value] : [];
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
