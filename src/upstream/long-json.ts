import { randomUUID } from 'node:crypto';
import type { Steps } from '../async/steps.ts';
import { parseExactly } from '../exact-json.ts';
import { textOf, textsOf } from './body-text.ts';

/** Bytes that are read in one step: a fraction of a millisecond. */
const STEP_BYTES = 32_768;

/** Characters in which the end of an object is looked for, again with each step. */
const MOST_KEPT = 8 * STEP_BYTES;

/** The texts between two objects of a list, by its writers. */
const BETWEEN_OBJECTS = ['},{', '}, {'];

/** Placeholder for the name of a list whose end is parsed by itself: no answer has a member of this name. */
const REST = randomUUID();

/**
 * Parses a long body, in steps, so that others have their turns. A long list of objects is parsed some objects at a
 * time, and so is never one text: one beyond 128 KB takes longer to be made than all the rest.
 * @throws SyntaxError if it is no JSON
 */
export function* parsedInPieces(bytes: Buffer): Steps<unknown> {
  let parsed: unknown;
  try {
    parsed = yield* listInPieces(textsOf(bytes, STEP_BYTES));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return parsed ?? parseExactly(textOf(bytes));
}

/**
 * Parses a list of objects, or an object whose first list holds objects. It cuts between objects that are taken to be
 * those of the list; if one of the pieces is no JSON, they weren't.
 * @returns undefined if there is no such list
 * @throws SyntaxError
 */
function* listInPieces(texts: Iterable<string>): Steps<unknown> {
  const items: unknown[] = [];
  let before: string | undefined;
  let rest = '';
  for (const text of texts) {
    rest += text;
    if (before === undefined) {
      const start = rest.indexOf('[');
      if (start < 0) return undefined;
      before = rest.slice(0, start);
      rest = rest.slice(start + 1);
    }
    const end = Math.max(...BETWEEN_OBJECTS.map((between) => rest.lastIndexOf(between)));
    if (end < 0 && rest.length > MOST_KEPT) return undefined;
    if (end < 0) continue;
    for (const item of parseExactly(`[${rest.slice(0, end + 1)}]`) as unknown[]) items.push(item);
    rest = rest.slice(rest.indexOf('{', end));
    yield;
  }
  if (before === undefined || items.length === 0) return undefined;
  if (before.trim() === '') return items.concat(parseExactly(`[${rest}`));
  return objectAround(before, items, rest);
}

/** @throws SyntaxError */
function objectAround(before: string, items: unknown[], rest: string): unknown {
  const name = /("(?:[^"\\]|\\.)*")\s*:\s*$/.exec(before)?.[1];
  if (name === undefined) return undefined;
  const members = parseExactly(`${before}null}`) as object;
  const { [REST]: last, ...after } = parseExactly(`{"${REST}":[${rest}`) as Record<string, unknown>;
  return { ...members, [JSON.parse(name)]: items.concat(last), ...after };
}
