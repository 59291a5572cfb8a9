/*
 * Parses bodies by the rows that they share with the last body from the same address.
 *
 * Most rows of an answer are those of the last one: a few figures are revised, others were retrieved anew, and `meta`
 * counts. To parse and to check all of them again takes most of the time of an operation. So the rows of a list are
 * compared, as bytes, with those in their places in the last body. Equal ones stay the same objects, with the records
 * that were made of them. All others are parsed together, and so is the rest of the body, without its rows.
 *
 * For that, rows are told apart unparsed. One that repeats ends where it ended before. Any other is mostly as long as
 * the row that it replaces, or else its end is found by its brackets, in half the time of the parser. That may be wrong
 * if a body is no JSON, or has changed in more than values, so the parser decides. It gets the rows with a mark between
 * them, a number that no body can know: if it finds rows and marks by turns, each row is an object by itself. In all
 * other cases nothing is returned, and the body is parsed whole.
 *
 * The first rows are a sample: if most of them differ, the others aren't compared. What is known of rows is kept with
 * their body.
 */

import { randomInt } from 'node:crypto';
import type { Steps } from '../shared/async/turns.ts';
import { isDeep, MAX_NESTING, parseExactly } from '../shared/exact-json.ts';
import { recordsOfRows } from './records/envelope.ts';

export interface Read {
  readonly bytes: Buffer;
  readonly body: unknown;
  /** The rows of its list, once they are needed; null if they can't be told apart. */
  rows?: ListRows | null;
}

/** The list that a body is, or that its first member is. */
interface ListStart {
  /** The member; null if the list is the body. */
  readonly name: string | null;
  /** Offset behind the bracket. */
  readonly at: number;
}

/** Rows of such a list. All of them are objects. */
interface ListRows extends ListStart {
  readonly items: readonly unknown[];
  /** Offsets of the beginning and the end of each row in the bytes, in pairs, as far as they were needed. */
  readonly places: number[];
  /** True if the items are proven to be those of this list, and not of a later member of the same name. */
  areProven: boolean;
}

export const [OPEN_LIST, OPEN_OBJECT] = [0x5b, 0x7b];
const [CLOSE_LIST, CLOSE_OBJECT, QUOTE, BACKSLASH, COMMA] = [0x5d, 0x7d, 0x22, 0x5c, 0x2c];

/** The beginning of such a body, and its longest length. */
const BEFORE_ROWS = /^\s*(?:\{\s*"([\w-]*)"\s*:\s*)?\[$/;
const MAX_BEFORE_ROWS = 200;

/** A smaller body is parsed sooner than its rows are told apart. */
const FEW_BYTES = 2_000;

/** Bytes in one step, a fraction of a millisecond; here also the bound of a row, and of what follows the list. */
export const STEP_BYTES = 32_768;

/** Rows that may differ at first, and the share of all rows so far: beyond it, one parse of all is quicker. */
const DIFFERENT_FIRST = 3;
const DIFFERENT_SHARE = 0.75;

const MARK = randomInt(2 ** 30);
const BETWEEN_ROWS = Buffer.from(`,${MARK},`);

/** Room for the parsed rows of one step: hardly any row is shorter than a mark. */
const PARSED = Buffer.allocUnsafeSlow(4 * STEP_BYTES);

/** @returns undefined if it can't be done, or wouldn't pay: that says nothing of the body */
export function* parsedByRows(last: Read, bytes: Buffer): Steps<Read | undefined> {
  try {
    if (bytes.length >= FEW_BYTES) return yield* byRows(last, bytes);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return undefined;
}

/** @throws SyntaxError */
function* byRows(last: Read, bytes: Buffer): Steps<Read | undefined> {
  if (last.rows === undefined) last.rows = listRowsOf(last);
  const lastRows = last.rows;
  const start = lastRows === null ? null : listStart(bytes);
  if (lastRows === null || start === null || start.name !== lastRows.name) return undefined;
  // Most of it stays as it is.
  const items = lastRows.items.slice();
  const places = lastRows.places.slice();
  const records = recordsOfRows(items, recordsOfRows(lastRows.items).slice());
  const rows = { ...start, items, places, areProven: true };
  /** Indices of rows. */
  const toParse: number[] = [];
  let differ = 0;
  let stepEnd = STEP_BYTES;
  let at = afterSpace(bytes, start.at);
  let row = 0;
  while (bytes[at] === OPEN_OBJECT) {
    if (2 * row === lastRows.places.length && !locate(last.bytes, lastRows, row)) {
      last.rows = null;
      return undefined;
    }
    // Both 0 if the last body had no such row.
    const { [2 * row]: from = 0, [2 * row + 1]: to = 0 } = lastRows.places;
    let end = at + to - from;
    if (to === 0 || end >= bytes.length || bytes.compare(last.bytes, from, to, at, end) !== 0) {
      differ += 1;
      if (differ > DIFFERENT_FIRST + row * DIFFERENT_SHARE) return undefined;
      if (!isEndOfRow(bytes, end)) end = endOfObject(bytes, at);
      if (end < 0) return undefined;
      toParse.push(row);
      records[row] = undefined;
    }
    places[2 * row] = at;
    places[2 * row + 1] = end;
    row += 1;
    at = bytes[end] === COMMA && bytes[end + 1] === OPEN_OBJECT ? end + 1 : afterRow(bytes, end);
    if (at < stepEnd) continue;
    stepEnd = at + STEP_BYTES;
    if (!parseRows(bytes, rows, toParse.splice(0))) return undefined;
    yield;
  }
  if (bytes[at] !== CLOSE_LIST || !parseRows(bytes, rows, toParse)) return undefined;
  items.length = row;
  places.length = 2 * row;
  const body = isProven(last.bytes, lastRows) ? bodyAround(bytes, rows, at) : undefined;
  return body === undefined ? undefined : { bytes, body, rows };
}

/** False if the rows aren't an object each. Throws SyntaxError. */
function parseRows(
  bytes: Buffer,
  { items, places }: { readonly items: unknown[]; readonly places: readonly number[] },
  rows: readonly number[],
): boolean {
  if (rows.length === 0) return true;
  PARSED[0] = OPEN_LIST;
  let length = 1;
  for (const row of rows) {
    const { [2 * row]: from = 0, [2 * row + 1]: to = 0 } = places;
    if (length + to - from + BETWEEN_ROWS.length >= PARSED.length) return false;
    if (length > 1) length += BETWEEN_ROWS.copy(PARSED, length);
    length += bytes.copy(PARSED, length, from, to);
  }
  PARSED[length] = CLOSE_LIST;
  const parsed = parseExactly(PARSED.toString('utf8', 0, length + 1)) as unknown[];
  if (parsed.length !== 2 * rows.length - 1 || isDeep(parsed, MAX_NESTING - 1)) return false;
  for (let i = 0; i < rows.length; i += 1) {
    if (i > 0 && parsed[2 * i - 1] !== MARK) return false;
    items[rows[i] as number] = parsed[2 * i];
  }
  return true;
}

function listRowsOf({ bytes, body }: Read): ListRows | null {
  const start = listStart(bytes);
  if (start === null) return null;
  const items = start.name === null ? body : (body as Record<string, unknown>)[start.name];
  return Array.isArray(items) ? { ...start, items, places: [], areProven: false } : null;
}

/** Locates the first row without a place; false if it is no object. A row beyond the last has none. */
function locate(bytes: Buffer, { items, places, at: startsAt }: ListRows, row: number): boolean {
  if (row >= items.length) return true;
  const before = places[2 * row - 1];
  const at = afterSpace(bytes, before === undefined ? startsAt : afterSpace(bytes, before) + 1);
  const end = bytes[at] === OPEN_OBJECT ? endOfObject(bytes, at) : -1;
  if (end > 0) places.push(at, end);
  return end > 0;
}

/** True if the items are those of the list whose rows are located. */
function isProven(bytes: Buffer, rows: ListRows): boolean {
  if (rows.areProven) return true;
  const { items, places, name, at } = rows;
  for (let row = places.length / 2; row < items.length; row += 1) if (!locate(bytes, rows, row)) return false;
  const end = afterSpace(bytes, places.at(-1) ?? at);
  rows.areProven = bytes[end] === CLOSE_LIST && textBehind(bytes, name, end) !== null;
  return rows.areProven;
}

/** The text from the end of a list on; null if it is long, or a further member may have the list's name. */
function textBehind(bytes: Buffer, name: string | null, end: number): string | null {
  if (bytes.length - end > STEP_BYTES) return null;
  const text = bytes.toString('utf8', end);
  // The last member of a name counts.
  return name !== null && (text.includes(`"${name}"`) || text.includes('\\')) ? null : text;
}

function listStart(bytes: Buffer): ListStart | null {
  const at = bytes.indexOf(OPEN_LIST) + 1;
  if (at === 0 || at > MAX_BEFORE_ROWS) return null;
  const match = BEFORE_ROWS.exec(bytes.toString('latin1', 0, at));
  return match === null ? null : { name: match[1] ?? null, at };
}

/** The place of the next row, or of the end of the list; -1 if what follows is neither. */
function afterRow(bytes: Buffer, end: number): number {
  const at = afterSpace(bytes, end);
  if (bytes[at] === CLOSE_LIST) return at;
  const next = afterSpace(bytes, at + 1);
  return bytes[at] === COMMA && bytes[next] === OPEN_OBJECT ? next : -1;
}

function afterSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (isSpace(bytes[at] ?? 0)) at += 1;
  return at;
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

function isEndOfRow(bytes: Buffer, at: number): boolean {
  return bytes[at - 1] === CLOSE_OBJECT && (bytes[at] === COMMA || bytes[at] === CLOSE_LIST);
}

/** -1 if the object has no end, or is too long for a row. */
function endOfObject(bytes: Buffer, from: number): number {
  let depth = 0;
  const most = Math.min(bytes.length, from + STEP_BYTES);
  for (let at = from; at < most; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      for (at += 1; at < most && bytes[at] !== QUOTE; at += 1) if (bytes[at] === BACKSLASH) at += 1;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

/** Undefined if it can't be done. Throws SyntaxError. */
function bodyAround(bytes: Buffer, { name, at, items }: ListRows, end: number): unknown {
  const behind = textBehind(bytes, name, end);
  if (behind === null) return undefined;
  const body = parseExactly(bytes.toString('latin1', 0, at) + behind);
  if (name === null) return items;
  if (isDeep(body)) return undefined;
  (body as Record<string, unknown>)[name] = items;
  return body;
}
