import { Failure } from '../../errors.ts';
import type { Found } from './envelope.ts';
import { inside, invalid, type JsonObject, kindOf, objectAt, type Place } from './fields.ts';

/*
 * Rows left out of a list. If the specification shows no fields, a row that can't be read is left out and the others
 * stand. The list says so of itself, so that an operation that answers with it can warn, however long it was held.
 */

/** The rows that a list lacks. */
export interface LeftOut {
  /** Rows, or the one block that is no list. */
  readonly count: number;
  /** The fault of the first of them. */
  readonly first: Failure;
}

const LEFT_OUT = Symbol('left out');

/** Returns the rows that a list lacks; null if it is whole. */
export function leftOutOf(list: object & { readonly [LEFT_OUT]?: LeftOut }): LeftOut | null {
  return list[LEFT_OUT] ?? null;
}

/** Has a list say which rows it lacks, out of sight of the readers of its rows. */
export function withLeftOut<List extends object>(list: List, leftOut: LeftOut | null): List {
  return leftOut === null ? list : Object.defineProperty(list, LEFT_OUT, { value: leftOut });
}

/** Sums up the rows that several lists lack together. */
export function sumOf(all: readonly (LeftOut | null)[]): LeftOut | null {
  const [first, ...others] = all.filter((leftOut) => leftOut !== null);
  if (first === undefined) return null;
  return { ...first, count: others.reduce((sum, { count }) => sum + count, first.count) };
}

/** Decodes each row of a list. Rows that the decoder refuses are left out. */
export function eachIn<T>(
  rows: readonly unknown[],
  place: Place,
  decode: (row: JsonObject, place: Place) => T,
): T[] {
  return eachOf(rows, place, (row, here) => decode(objectAt(row, here), here));
}

/** Decodes rows as {@link eachIn} does, if they may be anything. */
export function eachOf<T>(
  rows: readonly unknown[],
  place: Place,
  decode: (row: unknown, place: Place) => T,
): T[] {
  const sound: T[] = [];
  let first: Failure | null = null;
  for (let index = 0; index < rows.length; index += 1) {
    try {
      sound.push(decode(rows[index], inside(place, index)));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      first ??= error;
    }
  }
  return withLeftOut(sound, first && { count: rows.length - sound.length, first });
}

/**
 * Decodes rows as {@link eachIn} does, of a list that is the whole answer.
 * @throws Failure of the first row if none can be read: that is no list of such things
 */
export function eachFound<T>(
  { value, place }: Found<readonly unknown[]>,
  decode: (row: JsonObject, place: Place) => T,
): T[] {
  const list = eachIn(value, place, decode);
  const leftOut = leftOutOf(list);
  if (leftOut !== null && list.length === 0) throw leftOut.first;
  return list;
}

/**
 * Decodes a block of a record, a list of rows. Only an empty list says that there are none: any other value is left
 * out.
 */
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

/** Makes an empty list that lacks the value, if any, in its place. */
export function noList<T>(value: unknown, place: Place, expected: string): T[] {
  const first = invalid(place, `expected ${expected}, received ${kindOf(value)}`);
  return withLeftOut([], { count: 1, first });
}

/**
 * Returns null for an item that was looked for in a list by its key and not found.
 * @throws Failure if it may be among the rows that the list lacks
 */
export function notFoundIn(list: object): null {
  const leftOut = leftOutOf(list);
  if (leftOut !== null) throw leftOut.first;
  return null;
}
