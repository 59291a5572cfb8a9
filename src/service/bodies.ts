import { randomUUID } from 'node:crypto';
import { type Job, type Steps, taken, timeSliced, yieldToEventLoop } from '../shared/async/turns.ts';
import { Failure } from '../shared/errors.ts';
import { isDeep, isDeepJson, isObject, MAX_NESTING, parseExactly } from '../shared/exact-json.ts';
import type { Call } from './call.ts';
import { OPEN_LIST, OPEN_OBJECT, parsedByRows, type Read, STEP_BYTES } from './repeated-rows.ts';

/** An error of a body that can't be read; the message says why. */
export class Unreadable extends Error {}

/** Makes the failure of an answer that breaks the specification. */
export function unspecified(call: Call, detail: string, cause?: unknown): Failure {
  return new Failure(
    'UPSTREAM_INVALID_RESPONSE',
    'The service sent an answer that breaks its specification.',
    { route: call.route, detail },
    { cause },
  );
}

/** Bytes from which parsing takes milliseconds. */
const LONG_BODY = 200_000;

/** Copies the chunks of a body into one buffer: they are views of larger ones of the socket, which can be freed then. */
export async function wholeBody(chunks: readonly Buffer[], job: Job): Promise<Buffer> {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  // Copying takes milliseconds, and several bodies may have arrived in the same tick.
  if (length > LONG_BODY) await yieldToEventLoop(job);
  return Buffer.concat(chunks, length);
}

/**
 * Parses a body, a long one in turns. If its bytes equal those of `last`, the last body from the same target, returns that;
 * otherwise rows that are unchanged are taken from it.
 * @param mostRows rows that its list can have
 * @throws Unreadable if it is not JSON, or nested too deep, or has more rows
 */
export async function read(bytes: Buffer, job: Job, last?: Read, mostRows = MAX_ROWS): Promise<Read> {
  if (last?.bytes.equals(bytes)) return last;
  const isLong = bytes.length > LONG_BODY;
  const result = await readNew(bytes, isLong, job, mostRows, last);
  if (isLong) await yieldToEventLoop(job);
  return result;
}

async function readNew(
  bytes: Buffer,
  isLong: boolean,
  job: Job,
  mostRows: number,
  last?: Read,
): Promise<Read> {
  const byRows = last === undefined || last.rows === null ? null : parsedByRows(last, bytes);
  const again = byRows && (isLong ? await timeSliced(job, byRows) : taken(byRows));
  const result = again ?? (await readWhole(bytes, isLong, job, mostRows));
  checkRows(rowsIn(result.body), mostRows);
  if (again === undefined && isDeep(result.body)) throw tooDeep();
  return result;
}

async function readWhole(bytes: Buffer, isLong: boolean, job: Job, mostRows: number): Promise<Read> {
  try {
    const body = isLong
      ? await timeSliced(job, parsedInPieces(bytes, mostRows))
      : parseExactly(textOf(bytes));
    return { bytes, body };
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new Unreadable('the body is not JSON', { cause });
  }
}

function tooDeep(): Unreadable {
  return new Unreadable(`the body is nested more than ${MAX_NESTING} levels deep`);
}

const BYTE_ORDER_MARK = '\uFEFF';

/** Decodes UTF-8 without its byte order mark. Strings that undici decodes would stay alive until the next full collection. */
export function textOf(bytes: Buffer): string {
  const text = bytes.toString();
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/** No call has more, whatever it names: the service sends 1,000 rows at once, a catalogue has hundreds. */
const MAX_ROWS = 25_000;

/** Rows of the list that a body is, or that its first list is. */
function rowsIn(body: unknown): number {
  if (Array.isArray(body)) return body.length;
  const list = isObject(body) ? Object.values(body).find(Array.isArray) : undefined;
  return list?.length ?? 0;
}

/** @throws Unreadable */
function checkRows(count: number, mostRows: number): void {
  if (count <= mostRows && count <= MAX_ROWS) return;
  const reason =
    mostRows < MAX_ROWS
      ? `${mostRows} rows, the most that this call can have (any call: ${MAX_ROWS})`
      : `${MAX_ROWS} rows, the most that any call can have`;
  throw new Unreadable(`the list has more than ${reason}`);
}

/** Bytes of a body that is parsed at once, as it is no list of objects. */
const MAX_WHOLE_BYTES = 16 * 1024 * 1024;

/** Bytes within which an object of a list must end. */
const MAX_OBJECT_BYTES = 8 * STEP_BYTES;

/** What JSON writers put between two objects of a list. */
const BETWEEN_OBJECTS = ['},{', '}, {'];

/** Member name that no answer has, for the rest of a list that is parsed by itself. */
const REST = randomUUID();

/**
 * Parses a long body in steps, so that other work gets its turns. A long list of objects is parsed some objects at a time,
 * and never becomes one string: to make a string beyond 128 KB takes longer than to parse it.
 * @throws SyntaxError if it is not JSON
 * @throws Unreadable if it has more rows than these; if it is not such a list, and nested too deep
 */
export function* parsedInPieces(bytes: Buffer, mostRows = MAX_ROWS): Steps<unknown> {
  let parsed: unknown;
  try {
    parsed = yield* listInPieces(bytes, mostRows);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  if (parsed !== undefined) return parsed;
  if (bytes.length > MAX_WHOLE_BYTES) throw new Unreadable('the body is too large');
  const text = textOf(bytes);
  if (isDeepJson(text)) throw tooDeep();
  return parseExactly(text);
}

/**
 * Parses a list of objects, or an object whose first list holds objects. It cuts where objects of the list seem to meet;
 * a wrong cut shows as a piece that is not JSON.
 * @returns undefined if there is no such list
 * @throws SyntaxError
 */
function* listInPieces(bytes: Buffer, mostRows: number): Steps<unknown> {
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
    checkRows(items.length, mostRows);
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
