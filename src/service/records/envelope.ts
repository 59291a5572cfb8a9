import { createObjectMemo } from '../../cache/lru.ts';
import { Failure } from '../../shared/errors.ts';
import { asNumber, isObject, type JsonObject, numberOf } from '../../shared/exact-json.ts';

/** A place in a body: `data[3].value` of the answer of a route. */
export interface Place {
  readonly route: string;
  /** Empty for the body itself. */
  readonly path: string;
}

/** A place below another: of an item, or of a field. */
export function inside(place: Place, step: string | number): Place {
  const { route, path } = place;
  if (typeof step === 'number') return { route, path: `${path}[${step}]` };
  return { route, path: path === '' ? step : `${path}.${step}` };
}

/** The failure names the place, such as `data[3].value: expected number, received string`. */
export function invalid(place: Place, problem: string): Failure {
  const detail = `${place.path === '' ? 'body' : place.path}: ${problem}`;
  return new Failure(
    'UPSTREAM_INVALID_RESPONSE',
    `The service sent an answer that breaks its specification (${detail}).`,
    { route: place.route, detail },
  );
}

/** The kind of a value of JSON, in words. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof asNumber(value);
}

/** @throws Failure if the value is no object */
export function objectAt(value: unknown, place: Place): JsonObject {
  if (isObject(value)) return value;
  throw invalid(place, `expected object, received ${kindOf(value)}`);
}

/*
 * Readers of fields that the specification doesn't show: they return the first value of the right type under any of the
 * names, or null. Values that they pass over are still in the record as sent.
 */

/** The first text under one of the names. */
export function stringIn(row: JsonObject, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = row[name];
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  return null;
}

/** A number is read as its digits, and anything else as JSON, which is no time. */
export function timeStringIn(row: JsonObject, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = asNumber(row[name]);
    const text = typeof value === 'string' || value == null ? stringIn(row, name) : JSON.stringify(value);
    if (text !== null) return text.slice(0, MAX_TIME);
  }
  return null;
}

/** Longer texts are no times, and neither is their beginning. */
const MAX_TIME = 200;

/** Finite numbers, also those that are spelt as text. */
export function numberIn(row: JsonObject, ...names: readonly string[]): number | null {
  for (const name of names) {
    const sent = row[name];
    const number =
      typeof sent === 'string' ? numberOf(sent) : typeof sent === 'object' ? asNumber(sent) : sent;
    if (typeof number === 'number' && Number.isFinite(number)) return number;
  }
  return null;
}

/** Whole numbers in the range of GraphQL's `Int`. */
export function integerIn(row: JsonObject, name: string): number | null {
  const number = numberIn(row, name);
  return number !== null && (number | 0) === number ? number : null;
}

/** A text, or the name or key of a block: `source: 'who'` and `source: {key: 'who'}` are the same. */
export function labelIn(
  row: JsonObject,
  inner: readonly string[],
  ...names: readonly string[]
): string | null {
  for (const name of names) {
    const value = row[name];
    const label = isObject(value) ? stringIn(value, ...inner) : stringIn(row, name);
    if (label !== null) return label;
  }
  return null;
}

/** @throws Failure naming the field, if there is no text under any of the names */
export function keyIn(row: JsonObject, place: Place, ...names: readonly [string, ...string[]]): string {
  return stringIn(row, ...names) ?? missing(row, place, names);
}

/** @throws Failure always, naming the first of the names that is there, otherwise the first of all */
export function missing(row: JsonObject, place: Place, names: readonly [string, ...string[]]): never {
  const name = names.find((candidate) => row[candidate] != null) ?? names[0];
  const value = row[name];
  const received = typeof value === 'string' ? 'empty string' : kindOf(value);
  throw invalid(inside(place, name), `expected string, received ${received}`);
}

export interface Located<T> {
  readonly value: T;
  readonly place: Place;
}

/** A list that may have been cut, with the service's counts if there are any. */
export interface RowList<Row> extends ReturnType<typeof metaIn> {
  readonly rows: readonly Row[];
  readonly received: number;
}

/**
 * Reads an answer that is a list.
 * @throws Failure if it is none
 */
export function rowListIn<Row>(
  body: unknown,
  route: string,
  decode: (list: Located<readonly unknown[]>) => readonly Row[],
): RowList<Row> {
  const list = listIn(body, route);
  return { rows: decode(list), received: list.value.length, ...metaIn(body) };
}

/**
 * Finds the rows of a body. No envelope is specified, so it may be the bare list, `{data: […]}`, or an object with
 * exactly one list under another name, which may itself stand under `data`.
 *
 * @throws Failure if there is no list, or several to choose from
 */
export function listIn(body: unknown, route: string): Located<readonly unknown[]> {
  const place: Place = { route, path: '' };
  if (isObject(body) && 'data' in body) return soleListOf(body.data, inside(place, 'data'));
  return soleListOf(body, place);
}

const records = createObjectMemo<unknown[]>('records of rows');

/**
 * Returns the records of the rows of a list, by their places. Those of rows that repeat from the last body are there
 * already.
 * @param initial the records to begin with
 */
export function recordsOfRows(rows: readonly unknown[], initial: unknown[] = []): unknown[] {
  return records.of(rows) ?? records.put(rows, initial);
}

/** A list, or the one list of an object; throws Failure if there is none, or several. */
export function soleListOf(value: unknown, place: Place): Located<readonly unknown[]> {
  if (Array.isArray(value)) return { value, place };
  if (!isObject(value)) throw invalid(place, `expected array, received ${kindOf(value)}`);
  const lists = membersOf(value, Array.isArray);
  const [only] = lists;
  if (only === undefined || lists.length > 1) {
    throw invalid(place, `expected array, received object with ${lists.length} arrays`);
  }
  return { value: only[1] as readonly unknown[], place: inside(place, only[0]) };
}

/**
 * Finds the one object of a body: under `data`, bare, or the only object under another name; null if there is none. Of
 * several objects, it is the only one that has a known field.
 *
 * @param fieldNames fields of the object; a body that has one of them is no wrapper
 */
export function findObject(
  body: unknown,
  route: string,
  fieldNames: readonly string[],
): Located<JsonObject> | null {
  const place: Place = { route, path: '' };
  if (!isObject(body)) return null;
  if ('data' in body) return isObject(body.data) ? { value: body.data, place: inside(place, 'data') } : null;
  const isKnown = (value: unknown) => isObject(value) && fieldNames.some((name) => name in value);
  if (isKnown(body)) return { value: body, place };
  const members = membersOf(body, isObject);
  const [only, ...rest] = members.length > 1 ? members.filter(([, value]) => isKnown(value)) : members;
  if (only === undefined || rest.length > 0) return null;
  return { value: only[1] as JsonObject, place: inside(place, only[0]) };
}

/** The object that {@link findObject} finds, otherwise the body; throws Failure if that is no object. */
export function objectIn(body: unknown, route: string, fieldNames: readonly string[]): Located<JsonObject> {
  const object = findObject(body, route, fieldNames);
  if (object !== null) return object;
  const place: Place = { route, path: '' };
  if (!isObject(body)) throw invalid(place, `expected object, received ${kindOf(body)}`);
  if ('data' in body) throw invalid(inside(place, 'data'), `expected object, received ${kindOf(body.data)}`);
  return { value: body, place };
}

function membersOf(body: JsonObject, is: (value: unknown) => boolean): [string, unknown][] {
  return Object.entries(body).filter(([name, value]) => name !== 'meta' && is(value));
}

/**
 * Reads the counts, in `meta` or beside the rows: `total` of the rows that match, sent or not, and `limit` of one
 * answer. Null if there is none, or a number that makes no sense, such as a limit of 0.
 */
export function metaIn(body: unknown) {
  const meta = !isObject(body) ? {} : isObject(body.meta) ? body.meta : body;
  return { total: countIn(meta, 0, 'total'), limit: countIn(meta, 1, 'limit', 'per_page') };
}

function countIn(meta: JsonObject, least: number, ...names: readonly string[]): number | null {
  const counts = names.map((name) => numberIn(meta, name) ?? -1);
  return counts.find((count) => Number.isSafeInteger(count) && count >= least) ?? null;
}

/**
 * Reads a list whose rest can't be asked for. A total above its rows is enough to refuse it: either a limit cut it, or
 * the total counts rows that were not asked for. These can't be told apart, and a short list must not pass for a whole
 * one.
 *
 * @throws Failure UPSTREAM_INCOMPLETE if the service says that it holds more rows than it sent
 */
export function wholeListIn(body: unknown, route: string): Located<readonly unknown[]> {
  const list = listIn(body, route);
  const { total } = metaIn(body);
  const received = list.value.length;
  if (total === null || total <= received) return list;
  throw new Failure('UPSTREAM_INCOMPLETE', `The service sent ${received} of ${total} rows.`, {
    route,
    received,
    total,
  });
}

/*
 * Rows left out of a list. If the specification shows no fields, a row that can't be read is left out. The list keeps a
 * note of it, so that an operation can warn, however long the list was cached.
 */

interface LeftOut {
  /** Of rows; 1 for a block that is no list. */
  readonly count: number;
  /** The error of the first of them. */
  readonly first: Failure;
}

/** The same in all copies of this module, since a plugin decodes with its own. */
const LEFT_OUT: unique symbol = Symbol.for('country-graph.leftOut') as never;

/** Null if the list is whole. */
export function leftOutOf(list: object & { readonly [LEFT_OUT]?: LeftOut }): LeftOut | null {
  return list[LEFT_OUT] ?? null;
}

/** The note is out of sight of readers of the rows. */
export function withLeftOut<List extends object>(list: List, leftOut: LeftOut | null): List {
  return leftOut === null ? list : Object.defineProperty(list, LEFT_OUT, { value: leftOut });
}

/** What was left out of several lists; null if each is whole. */
export function sumOf(all: readonly (LeftOut | null)[]): LeftOut | null {
  const [first, ...rest] = all.filter((leftOut) => leftOut !== null);
  if (first === undefined) return null;
  return { ...first, count: rest.reduce((sum, { count }) => sum + count, first.count) };
}

/** Rows that the decoder refuses are left out. */
export function eachIn<T>(
  rows: readonly unknown[],
  place: Place,
  decode: (row: JsonObject, place: Place, index: number) => T,
): T[] {
  return eachOf(rows, place, (row, here, index) => decode(objectAt(row, here), here, index));
}

/** The same for rows that may be anything. */
export function eachOf<T>(
  rows: readonly unknown[],
  place: Place,
  decode: (row: unknown, place: Place, index: number) => T,
): T[] {
  const sound: T[] = [];
  let first: Failure | null = null;
  for (let index = 0; index < rows.length; index += 1) {
    try {
      sound.push(decode(rows[index], inside(place, index), index));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      first ??= error;
    }
  }
  return withLeftOut(sound, first && { count: rows.length - sound.length, first });
}

/** For a list that is the whole answer: throws Failure of the first row if none can be read. */
export function eachLocated<T>(
  { value, place }: Located<readonly unknown[]>,
  decode: (row: JsonObject, place: Place, index: number) => T,
): T[] {
  const list = eachIn(value, place, decode);
  const leftOut = leftOutOf(list);
  if (leftOut !== null && list.length === 0) throw leftOut.first;
  return list;
}

/** For a list in a record. Only an empty list says that there are no rows: any other value is left out. */
export function blockIn<T>(
  row: JsonObject,
  place: Place,
  name: string,
  decode: (row: JsonObject, place: Place) => T,
): T[] {
  const value = row[name];
  const here = inside(place, name);
  return Array.isArray(value) ? eachIn(value, here, decode) : noList(value, here, 'array');
}

/** An empty list that lacks what should be in its place. */
export function noList(value: unknown, place: Place, expected: string): never[] {
  const first = invalid(place, `expected ${expected}, received ${kindOf(value)}`);
  return withLeftOut([], { count: 1, first });
}

/** Null for an item that is not in a list; throws Failure if it may be among the rows that were left out. */
export function notFoundIn(list: object): null {
  const leftOut = leftOutOf(list);
  if (leftOut !== null) throw leftOut.first;
  return null;
}
