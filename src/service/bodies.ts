import { randomUUID } from 'node:crypto';
import { type Job, type Steps, taken, timeSliced, yieldToEventLoop } from '../shared/async/turns.ts';
import { Failure } from '../shared/errors.ts';
import { isDeep, MAX_NESTING, parseExactly } from '../shared/exact-json.ts';
import type { Call } from './call.ts';
import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  OPEN_LIST,
  OPEN_OBJECT,
  parsedByRows,
  QUOTE,
  type Read,
} from './repeated-rows.ts';

/** An error of a body that can't be read; the message says why. */
export class Unreadable extends Error {}

/** The cause of a call that failed since something on the way to the service answered in its place. */
export class PageInstead extends Error {}

/** Makes the failure of an answer that the specification doesn't have. */
export function unspecified(call: Call, detail: string, cause?: unknown): Failure {
  return new Failure(
    'UPSTREAM_INVALID_RESPONSE',
    'The service sent an answer that breaks its specification.',
    { route: call.route, detail },
    { cause },
  );
}

/** A body, unpacked, in the pieces in which it came. They are part of all that was read from the connection at once. */
export class ReceivedBody {
  readonly #chunks: readonly Buffer[];
  /** Bytes of all pieces. */
  readonly length: number;

  constructor(chunks: readonly Buffer[]) {
    this.#chunks = chunks;
    this.length = chunks.reduce((sum, { length }) => sum + length, 0);
  }

  /** Makes a copy in one piece, which keeps nothing else alive. */
  copy(): Buffer {
    return Buffer.concat(this.#chunks, this.length);
  }

  equals(bytes: Buffer): boolean {
    if (bytes.length !== this.length) return false;
    let at = 0;
    return this.#chunks.every((chunk) => {
      const from = at;
      at += chunk.length;
      return bytes.compare(chunk, 0, chunk.length, from, at) === 0;
    });
  }
}

/** Bytes of a body that takes milliseconds to parse, and to look through. */
const LONG_BODY = 200_000;

/**
 * Reads a body, a long one in turns. It is the last one from the same address if it has the same bytes; otherwise its rows
 * are taken from that as far as they are the same.
 * @throws Unreadable if it is no JSON, or nested too deep
 */
export async function read(body: ReceivedBody, job: Job, last?: Read): Promise<Read> {
  const isLong = body.length > LONG_BODY;
  const isSame = last !== undefined && body.equals(last.bytes);
  // Several may have come whole at the same time, and to copy one takes milliseconds.
  if (isLong) await yieldToEventLoop(job);
  if (isSame) return last;
  const result = await readNew(body.copy(), isLong, job, last);
  if (isLong) await yieldToEventLoop(job);
  return result;
}

async function readNew(bytes: Buffer, isLong: boolean, job: Job, last?: Read): Promise<Read> {
  const byRows = last === undefined || last.rows === null ? null : parsedByRows(last, bytes);
  const again = byRows && (isLong ? await timeSliced(job, byRows) : taken(byRows));
  if (again) return again;
  const whole = await readWhole(bytes, isLong, job);
  if (isDeep(whole.body)) throw tooDeep();
  return whole;
}

async function readWhole(bytes: Buffer, isLong: boolean, job: Job): Promise<Read> {
  try {
    const body = isLong ? await timeSliced(job, parsedInPieces(bytes)) : parseExactly(textOf(bytes));
    return { bytes, body };
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    const { parsedLeniently } = await import('./lenient-json.ts');
    try {
      const body = await timeSliced(job, parsedLeniently(textOf(bytes), parsedInPieces));
      return { bytes, body, rows: null };
    } catch (second) {
      if (!(second instanceof SyntaxError)) throw second;
      throw new Unreadable('the body is not JSON', { cause });
    }
  }
}

function tooDeep(): Unreadable {
  return new Unreadable(`the body is nested more than ${MAX_NESTING} levels deep`);
}

/** Decodes a body that is read as a text. */
export async function readText(body: ReceivedBody, job: Job): Promise<string> {
  const text = textOf(body.copy());
  if (text.length > LONG_BODY) await yieldToEventLoop(job);
  return text;
}

const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Decodes the text of a body. It is decoded here, since texts that undici decodes stay alive until the next full
 * collection. A byte order mark is none of the text.
 */
function textOf(bytes: Buffer): string {
  return withoutMark(bytes.toString());
}

function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/** Bytes that are read in one step: a fraction of a millisecond. */
const STEP_BYTES = 32_768;

/** Bytes in which the end of an object is looked for. */
const MAX_OBJECT_BYTES = 8 * STEP_BYTES;

/** The texts between two objects of a list, by its writers. */
const BETWEEN_OBJECTS = ['},{', '}, {'];

/** Placeholder for the name of a list whose end is parsed by itself: no answer has a member of this name. */
const REST = randomUUID();

/**
 * Parses a long body, in steps, so that others have their turns. A long list of objects is parsed some objects at a
 * time, and so is never one text: one beyond 128 KB takes longer to be made than all the rest.
 * @throws SyntaxError if it is no JSON
 * @throws Unreadable if it isn't such a list, and nests too deep
 */
export function* parsedInPieces(bytes: Buffer): Steps<unknown> {
  let parsed: unknown;
  try {
    parsed = yield* listInPieces(bytes);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  if (parsed !== undefined) return parsed;
  if (yield* isDeepBody(bytes)) throw tooDeep();
  return parseExactly(textOf(bytes));
}

/** True if a body nests too deep, before all of it is parsed at once: a parser takes seconds for a long one that does. */
function* isDeepBody(bytes: Buffer): Steps<boolean> {
  let levels = 0;
  let isInText = false;
  let stepEnd = STEP_BYTES;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) isInText = !isInText;
    else if (!isInText && (byte === OPEN_LIST || byte === OPEN_OBJECT)) levels += 1;
    else if (!isInText && (byte === CLOSE_LIST || byte === CLOSE_OBJECT)) levels -= 1;
    if (levels > MAX_NESTING) return true;
    if (at < stepEnd) continue;
    stepEnd = at + STEP_BYTES;
    yield;
  }
  return false;
}

/**
 * Parses a list of objects, or an object whose first list holds objects. It cuts between objects that are taken to be
 * those of the list; if one of the pieces is no JSON, they weren't.
 * @returns undefined if there is no such list
 * @throws SyntaxError
 */
function* listInPieces(bytes: Buffer): Steps<unknown> {
  const items: unknown[] = [];
  const start = bytes.indexOf(OPEN_LIST);
  let from = start + 1;
  for (let length = STEP_BYTES; start >= 0 && from + length < bytes.length; ) {
    const piece = bytes.subarray(from, from + length);
    const end = Math.max(...BETWEEN_OBJECTS.map((between) => piece.lastIndexOf(between)));
    if (end < 0) {
      length += STEP_BYTES;
      if (length > MAX_OBJECT_BYTES) return undefined;
      continue;
    }
    const text = piece.toString('utf8', 0, end + 1);
    for (const item of parseExactly(`[${text}]`) as unknown[]) items.push(item);
    from = bytes.indexOf(OPEN_OBJECT, from + end + 1);
    length = STEP_BYTES;
    yield;
  }
  if (items.length === 0) return undefined;
  const [before, rest] = [textOf(bytes.subarray(0, start)), textOf(bytes.subarray(from))];
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
