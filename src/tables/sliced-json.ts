import type { Steps } from '../async/steps.ts';
import { parseExactly } from '../exact-json.ts';

/** Characters that are parsed in one step: a fraction of a millisecond. */
const STEP_LENGTH = 32_768;

interface Cursor {
  at: number;
}

/**
 * Parses the value of a JSON text without blanks in steps, so that others have their turns.
 * @throws SyntaxError if it is none
 */
export function* parsedInSteps(text: string): Steps<unknown> {
  const cursor = { at: 0 };
  const value = yield* valueAt(text, cursor);
  if (cursor.at < text.length) throw new SyntaxError('There is more than one value.');
  return value;
}

function* valueAt(text: string, cursor: Cursor): Steps<unknown> {
  const end = endOf(text, cursor.at, cursor.at + STEP_LENGTH);
  if (end === null) return yield* text[cursor.at] === '[' ? itemsAt(text, cursor) : fieldsAt(text, cursor);
  const value = parseExactly(text.slice(cursor.at, end));
  cursor.at = end;
  yield;
  return value;
}

/** Parses a long list: as many items at once as make a step, a longer one by itself. */
function* itemsAt(text: string, cursor: Cursor): Steps<unknown[]> {
  const items: unknown[] = [];
  do {
    const start = cursor.at + 1;
    const limit = start + STEP_LENGTH;
    let end = endOf(text, start, limit);
    if (end === null) {
      cursor.at = start;
      items.push(yield* valueAt(text, cursor));
      continue;
    }
    while (text[end] === ',') {
      const next = endOf(text, end + 1, limit);
      if (next === null || next > limit) break;
      end = next;
    }
    const parsed = parseExactly(`[${text.slice(start, end)}]`);
    if (Array.isArray(parsed)) for (const item of parsed) items.push(item);
    cursor.at = end;
    yield;
  } while (text[cursor.at] === ',');
  close(text, cursor, ']');
  return items;
}

function* fieldsAt(text: string, cursor: Cursor): Steps<Record<string, unknown>> {
  const fields: [string, unknown][] = [];
  do {
    const start = cursor.at + 1;
    cursor.at = stringEnd(text, start);
    const name = String(JSON.parse(text.slice(start, cursor.at)));
    close(text, cursor, ':');
    fields.push([name, yield* valueAt(text, cursor)]);
  } while (text[cursor.at] === ',');
  close(text, cursor, '}');
  return Object.fromEntries(fields);
}

function close(text: string, cursor: Cursor, expected: string): void {
  if (text[cursor.at] !== expected) throw new SyntaxError(`Expected ${expected} at ${cursor.at}.`);
  cursor.at += 1;
}

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPENING: ReadonlySet<number> = new Set([91, 123]);
const CLOSING: ReadonlySet<number> = new Set([93, 125]);

/** Returns the end of a value; null if a list or an object goes beyond the limit. */
function endOf(text: string, from: number, limit: number): number | null {
  if (text.charCodeAt(from) === QUOTE) return stringEnd(text, from);
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    if (at > limit && depth > 0) return null;
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at) - 1;
    else if (OPENING.has(code)) depth += 1;
    else if (CLOSING.has(code)) {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (code === COMMA && depth === 0) return at;
  }
  if (depth > 0) throw new SyntaxError('The text ends within a value.');
  return text.length;
}

/** @param from index of its first quote */
function stringEnd(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
  throw new SyntaxError('The text ends within a string.');
}
