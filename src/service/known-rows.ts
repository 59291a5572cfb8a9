import { isDeep, MAX_NESTING, parseExactly } from '../shared/exact-json.ts';
import { recordsOfRows } from './records/envelope.ts';

/** A body that was read. */
export interface Read {
  readonly bytes: Buffer;
  readonly body: unknown;
  /** The rows of its list; null if they can't be told apart, or are mostly others each time. Found when first wanted. */
  rows?: ListRows | null;
}

/** Rows of the list that a body is, or that its first member is. All of them are objects. */
interface ListRows {
  /** The member; null if the list is the body. */
  readonly name: string | null;
  readonly items: readonly unknown[];
  /** Offsets at which each begins and ends in the bytes, one pair after the other. */
  readonly places: readonly number[];
}

export const [QUOTE, BACKSLASH] = [0x22, 0x5c];
export const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

const COMMA = 0x2c;

/** The beginning of such a body, and bytes in which it is looked for. */
const BEFORE_ROWS = /^\s*(?:\{\s*"([\w-]*)"\s*:\s*)?\[$/;
const MAX_BEFORE_ROWS = 200;

/** Bytes below which a body is parsed sooner than its rows are told apart. */
const FEW_BYTES = 2_000;

/** Rows that may be others than in the last body before half of those so far must be the same. */
const CHANGED_FIRST = 8;

/**
 * Parses the list of countries, of which a service changes few rows at a time: those that have the bytes that they had in the
 * last one are not parsed again. Of figures more rows change, and to parse them all at once is quicker by then. Each other row is, by itself, and so is all that stands around the list.
 * @returns undefined if that can't be done, or wouldn't pay; nothing is said about the body then
 */
export function parsedByRows(last: Read, bytes: Buffer): Read | undefined {
  try {
    if (bytes.length >= FEW_BYTES) return byRows(last, bytes);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return undefined;
}

/** @throws SyntaxError */
function byRows(last: Read, bytes: Buffer): Read | undefined {
  if (last.rows === undefined) last.rows = rowsOf(last);
  const lastRows = last.rows;
  const start = lastRows === null ? null : listStart(bytes);
  if (lastRows === null || start === null || start.name !== lastRows.name) return undefined;
  const items: unknown[] = [];
  const records = recordsOfRows(items);
  const before = recordsOfRows(lastRows.items);
  const places: number[] = [];
  let changed = 0;
  let at = afterSpace(bytes, start.at);
  for (let row = 0; bytes[at] === OPEN_OBJECT; row += 1) {
    const { [2 * row]: from = 0, [2 * row + 1]: to = 0 } = lastRows.places;
    let end = at + to - from;
    if (to > 0 && end < bytes.length && bytes.compare(last.bytes, from, to, at, end) === 0) {
      items.push(lastRows.items[row]);
      records.push(before[row]);
    } else {
      changed += 1;
      if (changed > CHANGED_FIRST + row / 2) return undefined;
      // Mostly it is as long as it was. If that isn't so, it is no JSON up to there.
      let item = isEndOfRow(bytes, end) ? parsedRow(bytes, at, end) : undefined;
      if (item === undefined) {
        end = endOfObject(bytes, at);
        item = end < 0 ? undefined : parsedRow(bytes, at, end);
      }
      if (item === undefined) return undefined;
      items.push(item);
      records.push(undefined);
    }
    places.push(at, end);
    at = afterSpace(bytes, end);
    if (bytes[at] !== COMMA) break;
    at = afterSpace(bytes, at + 1);
    if (bytes[at] !== OPEN_OBJECT) return undefined;
  }
  if (bytes[at] !== CLOSE_LIST) return undefined;
  const body = bodyAround(bytes, start, at, items);
  return body === undefined ? undefined : { bytes, body, rows: { name: start.name, items, places } };
}

function rowsOf({ bytes, body }: Read): ListRows | null {
  const start = listStart(bytes);
  const items = start === null || start.name === null ? body : (body as Record<string, unknown>)[start.name];
  if (start === null || !Array.isArray(items)) return null;
  const places: number[] = [];
  let at = start.at;
  for (let row = 0; row < items.length; row += 1) {
    at = afterSpace(bytes, at);
    const end = bytes[at] === OPEN_OBJECT ? endOfObject(bytes, at) : -1;
    if (end < 0) return null;
    places.push(at, end);
    at = afterSpace(bytes, end) + 1;
  }
  return { name: start.name, items, places };
}

/** Finds the list that a body is, or that its first member is: its name, and the place behind its bracket. */
function listStart(bytes: Buffer): { readonly name: string | null; readonly at: number } | null {
  const at = bytes.indexOf(OPEN_LIST) + 1;
  if (at === 0 || at > MAX_BEFORE_ROWS) return null;
  const match = BEFORE_ROWS.exec(bytes.toString('latin1', 0, at));
  return match === null ? null : { name: match[1] ?? null, at };
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

/** Returns the end of an object by its brackets; -1 if it has none. */
function endOfObject(bytes: Buffer, from: number): number {
  let depth = 0;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      for (at += 1; at < bytes.length && bytes[at] !== QUOTE; at += 1) if (bytes[at] === BACKSLASH) at += 1;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

/** Parses an object; undefined if it is no JSON, or too deep for a row. */
function parsedRow(bytes: Buffer, from: number, to: number): unknown {
  try {
    const row = parseExactly(bytes.toString('utf8', from, to));
    return isDeep(row, MAX_NESTING - 2) ? undefined : row;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** Parses all but the rows; throws SyntaxError. */
function bodyAround(
  bytes: Buffer,
  { name, at: from }: { readonly name: string | null; readonly at: number },
  to: number,
  items: readonly unknown[],
): unknown {
  const after = bytes.toString('utf8', to);
  const body = parseExactly(bytes.toString('latin1', 0, from) + after);
  if (name === null) return items;
  // The last member of a name counts.
  if (after.includes(`"${name}"`) || after.includes('\\') || isDeep(body)) return undefined;
  (body as Record<string, unknown>)[name] = items;
  return body;
}
