import { Kind, type SelectionSetNode } from 'graphql';
import { type FieldsOf, parsedOperation, responseKey } from './document.ts';

/**
 * An operation with the further fields that a picture needs, and a way to take them out of an answer again.
 */
export interface NeededFields {
  /** The text to send: as written, but for fields that are added before closing braces. */
  readonly query: string;
  /** The data of an answer as the operation that was written asks for it. */
  asWritten(data: unknown): unknown;
}

/** Fields that a picture tells of each figure. All of them are free below an observation. */
const OF_FIGURE: Readonly<Record<string, readonly string[]>> = {
  year: [],
  period: [],
  unit: [],
  locationName: [],
  isModelled: [],
  source: ['key'],
  datasetVersion: [],
  retrievedAt: [],
  indicator: ['key', 'name'],
};
const OF_COUNTRY: Readonly<Record<string, readonly string[]>> = { code: [] };
const OF_FIGURE_ALONE: Readonly<Record<string, readonly string[]>> = {
  ...OF_FIGURE,
  country: ['code', 'name'],
};

/** Fields that tell by all changes so far which figures there are, besides. */
const OF_CHANGED_FIGURE: Readonly<Record<string, readonly string[]>> = { ...OF_FIGURE_ALONE, id: [] };
const OF_EVENT: Readonly<Record<string, readonly string[]>> = { isWhole: [] };
const OF_CHANGE: Readonly<Record<string, readonly string[]>> = { kind: [], formerId: [] };

export const FIGURE_FIELDS: ReadonlySet<string> = new Set(['observation', 'observations']);
export const COUNTRY_FIELDS: ReadonlySet<string> = new Set(['country', 'countries']);

/**
 * Adds to each selection of figures the fields that a picture of them needs: country, indicator, time, place
 * and source. Its author doesn't see them: lines stay in their places, and `asWritten` takes them out of the
 * answer. Null if the operation asks for no figures, or can't be read.
 */
export function withNeededFields(query: string, operationName: string | undefined): NeededFields | null {
  try {
    const { definitions, operation, fieldsOf } = parsedOperation(query, operationName);
    const insertions = new Map<number, string>();
    for (const one of definitions) {
      if (one.kind === Kind.OPERATION_DEFINITION || one.kind === Kind.FRAGMENT_DEFINITION)
        note(one.selectionSet, false, fieldsOf, insertions);
    }
    if (insertions.size === 0 || operation === undefined) return null;
    return {
      query: inserted(query, insertions),
      asWritten: projection([operation.selectionSet], fieldsOf),
    };
  } catch {
    return null;
  }
}

/** @param isCountry whether the objects of this selection are countries, that say their code */
function note(
  set: SelectionSetNode,
  isCountry: boolean,
  fieldsOf: FieldsOf,
  insertions: Map<number, string>,
): void {
  for (const selection of set.selections) {
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const isOfCountry = selection.typeCondition === undefined && isCountry;
      note(selection.selectionSet, isOfCountry, fieldsOf, insertions);
    }
    if (selection.kind !== Kind.FIELD || selection.selectionSet === undefined) continue;
    const below = selection.selectionSet;
    if (selection.name.value === 'observationsChanged') {
      add(below, OF_EVENT, fieldsOf, insertions);
      noteChanges(below, fieldsOf, insertions);
    } else if (FIGURE_FIELDS.has(selection.name.value)) {
      add(below, isCountry ? OF_FIGURE : OF_FIGURE_ALONE, fieldsOf, insertions);
    } else if (COUNTRY_FIELDS.has(selection.name.value) && hasFigures(below)) {
      note(below, add(below, OF_COUNTRY, fieldsOf, insertions), fieldsOf, insertions);
    } else {
      // Notes the code of a country: it says whose the figures of its signals are.
      note(below, isCountry, fieldsOf, insertions);
    }
  }
}

/** @param set of an event of a subscription */
function noteChanges(set: SelectionSetNode, fieldsOf: FieldsOf, insertions: Map<number, string>): void {
  for (const { name, selectionSet: changes } of fieldsOf(set)) {
    if (name.value !== 'changes' || changes === undefined) continue;
    add(changes, OF_CHANGE, fieldsOf, insertions);
    for (const { name: inner, selectionSet: figure } of fieldsOf(changes))
      if (inner.value === 'observation' && figure !== undefined)
        add(figure, OF_CHANGED_FIGURE, fieldsOf, insertions);
  }
}

function hasFigures(set: SelectionSetNode): boolean {
  return set.selections.some(
    (one) =>
      one.kind !== Kind.FRAGMENT_SPREAD &&
      one.selectionSet !== undefined &&
      ((one.kind === Kind.FIELD && FIGURE_FIELDS.has(one.name.value)) || hasFigures(one.selectionSet)),
  );
}

/** @returns true if the answer will have all that is needed */
function add(
  set: SelectionSetNode,
  needed: Readonly<Record<string, readonly string[]>>,
  fieldsOf: FieldsOf,
  insertions: Map<number, string>,
): boolean {
  const fields = fieldsOf(set);
  const missing: string[] = [];
  let isWhole = true;
  for (const [name, below] of Object.entries(needed)) {
    if (isSelected(set, name, below)) continue;
    // The same name for something else, or for the same thing under a condition: a second field of it would be another answer.
    const isTaken = fields.some(
      (field) =>
        responseKey(field) === name && (field.name.value !== name || (field.directives ?? []).length > 0),
    );
    if (isTaken) isWhole = false;
    else missing.push(below.length === 0 ? name : `${name} { ${below.join(' ')} }`);
  }
  if (missing.length > 0 && set.loc !== undefined) insertions.set(set.loc.end - 1, ` ${missing.join(' ')} `);
  return isWhole;
}

function isSelected(set: SelectionSetNode, name: string, below: readonly string[]): boolean {
  return set.selections.some(
    (one) =>
      one.kind === Kind.FIELD &&
      one.name.value === name &&
      (one.directives ?? []).length === 0 &&
      below.every((inner) => one.selectionSet !== undefined && isSelected(one.selectionSet, inner, [])),
  );
}

function inserted(text: string, insertions: ReadonlyMap<number, string>): string {
  let at = 0;
  let all = '';
  for (const [offset, what] of [...insertions].sort(([a], [b]) => a - b)) {
    all += text.slice(at, offset) + what;
    at = offset;
  }
  return all + text.slice(at);
}

/** Takes data to the response keys alone that the selections name. */
function projection(sets: readonly SelectionSetNode[], fieldsOf: FieldsOf): (value: unknown) => unknown {
  const below = new Map<string, ((value: unknown) => unknown) | null>();
  for (const [key, fields] of Map.groupBy(sets.flatMap(fieldsOf), responseKey)) {
    const inner = fields.flatMap(({ selectionSet }) => selectionSet ?? []);
    below.set(key, inner.length === 0 ? null : projection(inner, fieldsOf));
  }
  const project = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(project);
    if (typeof value !== 'object' || value === null) return value;
    const result: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      const projected = below.get(key);
      if (projected !== undefined) result[key] = projected === null ? item : projected(item);
    }
    return result;
  };
  return project;
}
