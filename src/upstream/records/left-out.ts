import { Failure } from '../../errors.ts';
import type { Found } from './envelope.ts';
import { inside, invalid, type JsonObject, kindOf, objectAt, type Place } from './fields.ts';

/*
 * Where the specification shows no fields, a row that can't be read is left out and the others stand. The list says so
 * of itself, so that whoever answers with it can warn, however long it was held.
 */

/** What a list lacks of what was sent. */
export interface LeftOut {
  /** Rows, or the one block that is no list. */
  readonly count: number;
  /** What is wrong with the first of them. */
  readonly first: Failure;
}

const LEFT_OUT = Symbol('left out');

/** What a list lacks; null where it is whole. */
export function leftOutOf(list: object & { readonly [LEFT_OUT]?: LeftOut }): LeftOut | null {
  return list[LEFT_OUT] ?? null;
}

/** Has a list say what it lacks, out of sight of whoever reads its rows. */
export function withLeftOut<List extends object>(list: List, leftOut: LeftOut | null): List {
  return leftOut === null ? list : Object.defineProperty(list, LEFT_OUT, { value: leftOut });
}

/** What several lists lack together. */
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

/** As {@link eachIn}, for rows that may be anything. */
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
 * As {@link eachIn}, for a list that is the whole answer.
 * @throws Failure of the first row where none can be read: that is no list of such things
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

/** Decodes a block of a record, a list of rows. Only an empty list says that there are none: what is no list is left out. */
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

/** An empty list that lacks what stands, or doesn't stand, in its place. */
export function noList<T>(value: unknown, place: Place, expected: string): T[] {
  const first = invalid(place, `expected ${expected}, received ${kindOf(value)}`);
  return withLeftOut([], { count: 1, first });
}

/**
 * Nothing, where something was looked for in a list by its key and not found.
 * @throws Failure where it may be among what the list lacks
 */
export function notFoundIn(list: object): null {
  const leftOut = leftOutOf(list);
  if (leftOut !== null) throw leftOut.first;
  return null;
}
