import { Failure } from '../../errors.ts';
import { asNumber, numberOf } from '../../exact-json.ts';
import { UnreadItem } from '../lenient-json.ts';

/** An object of the service's JSON, before we trust it. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A place in a body: `data[3].value` of the answer of a route. */
export interface Place {
  readonly route: string;
  /** Empty for the body itself. */
  readonly path: string;
}

export function inside(place: Place, step: string | number): Place {
  const { route, path } = place;
  if (typeof step === 'number') return { route, path: `${path}[${step}]` };
  return { route, path: path === '' ? step : `${path}.${step}` };
}

/** Makes the failure that names a place and its fault, such as `data[3].value: expected number, received string`. */
export function invalid(place: Place, problem: string): Failure {
  const detail = `${place.path === '' ? 'body' : place.path}: ${problem}`;
  return new Failure(
    'UPSTREAM_INVALID_RESPONSE',
    `The service sent an answer that breaks its specification (${detail}).`,
    {
      route: place.route,
      detail,
    },
  );
}

export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value instanceof UnreadItem) return `what is no JSON: ${value.problem}`;
  return Array.isArray(value) ? 'array' : typeof asNumber(value);
}

export function isObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !JSON.isRawJSON(value) &&
    !(value instanceof UnreadItem)
  );
}

/** @throws Failure if the value is no object */
export function objectAt(value: unknown, place: Place): JsonObject {
  if (isObject(value)) return value;
  throw invalid(place, `expected object, received ${kindOf(value)}`);
}

/*
 * Reads a field that the specification doesn't show, as do the readers below: the first of the names that holds a value
 * of the right type, or null. Values that they pass over are still in the record as sent.
 */

export function textIn(row: JsonObject, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = row[name];
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  return null;
}

/**
 * Reads a time as {@link textIn} does: a number as its digits, and anything else as JSON, which nobody reads as a time.
 */
export function timeTextIn(row: JsonObject, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = asNumber(row[name]);
    const text = typeof value === 'string' || value == null ? textIn(row, name) : JSON.stringify(value);
    if (text !== null) return text.slice(0, MAX_TIME);
  }
  return null;
}

/** Characters of a time; a longer text is none, and neither are so many of them. */
const MAX_TIME = 200;

/** Reads finite numbers, also those that are spelt as text. */
export function numberIn(row: JsonObject, ...names: readonly string[]): number | null {
  for (const name of names) {
    const value = asNumber(row[name]);
    const number = typeof value === 'string' ? numberOf(value) : value;
    if (typeof number === 'number' && Number.isFinite(number)) return number;
  }
  return null;
}

/** Reads whole numbers that GraphQL's `Int` holds, as {@link numberIn} does. */
export function integerIn(row: JsonObject, name: string): number | null {
  const number = numberIn(row, name);
  return number !== null && (number | 0) === number ? number : null;
}

export function booleanIn(row: JsonObject, name: string): boolean | null {
  const value = row[name];
  return typeof value === 'boolean' ? value : null;
}

/** Reads a text, or the name or key of a block: `source: 'who'` and `source: {key: 'who'}` read alike. */
export function labelIn(
  row: JsonObject,
  inner: readonly string[],
  ...names: readonly string[]
): string | null {
  for (const name of names) {
    const value = row[name];
    const label = isObject(value) ? textIn(value, ...inner) : textIn(row, name);
    if (label !== null) return label;
  }
  return null;
}

/**
 * Reads the text that a record is known by.
 * @throws Failure naming the field if none of the names holds any
 */
export function keyIn(row: JsonObject, place: Place, ...names: readonly [string, ...string[]]): string {
  return textIn(row, ...names) ?? missing(row, place, names);
}

/** @throws always, naming the first of the names that is there, else the first of all */
export function missing(row: JsonObject, place: Place, names: readonly [string, ...string[]]): never {
  const name = names.find((candidate) => row[candidate] != null) ?? names[0];
  const value = row[name];
  const received = typeof value === 'string' ? 'empty string' : kindOf(value);
  throw invalid(inside(place, name), `expected string, received ${received}`);
}
