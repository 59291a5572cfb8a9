import { Failure } from '../../errors.ts';
import { inside, invalid, isObject, type JsonObject, kindOf, numberIn, type Place } from './fields.ts';

/** A part of a body, and its place. */
export interface Found<T> {
  readonly value: T;
  readonly place: Place;
}

/** The service's counts of a list, beside its rows; null if it gives none. */
export interface Meta {
  /** Rows that match, whether sent or not. */
  readonly total: number | null;
  /** Rows that one answer may hold. */
  readonly limit: number | null;
}

/** A list, with counts if there are any: if none are promised, a full page is suspect. */
export interface RowList<Row> extends Meta {
  readonly rows: readonly Row[];
  /** Rows in the body. */
  readonly received: number;
}

/** Reads a list that may have been cut, with the service's counts of it. */
export function rowListIn<Row>(
  body: unknown,
  route: string,
  decode: (list: Found<readonly unknown[]>) => readonly Row[],
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
export function listIn(body: unknown, route: string): Found<readonly unknown[]> {
  const place: Place = { route, path: '' };
  if (isObject(body) && 'data' in body) return soleListOf(body.data, inside(place, 'data'));
  return soleListOf(body, place);
}

/**
 * Returns a list, or the one list of an object.
 *
 * @throws Failure if there is no list, or several to choose from
 */
export function soleListOf(value: unknown, place: Place): Found<readonly unknown[]> {
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
 * Finds the one object of a body: under `data`, bare, or the only object under another name; null if it is none of
 * these. Of several objects it is the only one that has a known field.
 *
 * @param known fields of the object; a body that has one of them is the object itself and no wrapper
 */
export function findObject(body: unknown, route: string, known: readonly string[]): Found<JsonObject> | null {
  const place: Place = { route, path: '' };
  if (!isObject(body)) return null;
  if ('data' in body) return isObject(body.data) ? { value: body.data, place: inside(place, 'data') } : null;
  const isKnown = (value: unknown) => isObject(value) && known.some((name) => name in value);
  if (isKnown(body)) return { value: body, place };
  const members = membersOf(body, isObject);
  const [only, ...others] = members.length > 1 ? members.filter(([, value]) => isKnown(value)) : members;
  if (only === undefined || others.length > 0) return null;
  return { value: only[1] as JsonObject, place: inside(place, only[0]) };
}

/**
 * Returns the one object of a body, as {@link findObject} finds it; else all of the body.
 *
 * @throws Failure if there is no object
 */
export function objectIn(body: unknown, route: string, known: readonly string[]): Found<JsonObject> {
  const found = findObject(body, route, known);
  if (found !== null) return found;
  const place: Place = { route, path: '' };
  if (!isObject(body)) throw invalid(place, `expected object, received ${kindOf(body)}`);
  if ('data' in body) throw invalid(inside(place, 'data'), `expected object, received ${kindOf(body.data)}`);
  return { value: body, place };
}

function membersOf(body: JsonObject, is: (value: unknown) => boolean): [string, unknown][] {
  return Object.entries(body).filter(([name, value]) => name !== 'meta' && is(value));
}

/** Reads the counts: in `meta`, or beside the rows if there is no `meta`. */
export function metaIn(body: unknown): Meta {
  if (!isObject(body)) return { total: null, limit: null };
  const meta = isObject(body.meta) ? body.meta : body;
  return { total: numberIn(meta, 'total'), limit: numberIn(meta, 'limit', 'per_page') };
}

/**
 * Returns the rows of a list whose rest can't be asked for. A total above them is enough to refuse it: either a limit
 * cut it, or the total counts rows that were not asked for. These can't be told apart, and a short list must not pass
 * for a whole one.
 *
 * @throws Failure UPSTREAM_INCOMPLETE if the service says that it holds more rows than it sent
 */
export function wholeListIn(body: unknown, route: string): Found<readonly unknown[]> {
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
