import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { z } from 'zod';
import { excerpt, messageOf } from './errors.ts';
import { isDeepJson, MAX_NESTING, parseExactly } from './exact-json.ts';

/** Each line of the message names the file, and where and what is wrong there: the user needs no stack. */
export class FileError extends Error {
  override readonly name = 'FileError';
}

export const fileErrorAt = (file: string, problem: string, line: number, detail: string) =>
  new FileError(`${file} is ${problem} in line ${line}: ${detail}`);

/** Characters of a line that are repeated. */
const SHOWN_LENGTH = 80;

const MAX_PROBLEMS = 10;

/** @throws FileError */
export async function readText(file: string): Promise<string> {
  return textIn(await readFile(file).catch((error: unknown) => unreadable(file, error)), file);
}

/** @throws FileError */
export function readTextSync(file: string): string {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    return unreadable(file, error);
  }
  return textIn(bytes, file);
}

function unreadable(file: string, error: unknown): never {
  const reason = error instanceof Error && 'code' in error ? error.code : messageOf(error);
  throw new FileError(`${file} can't be read: ${reason}`, { cause: error });
}

/**
 * Decodes UTF-8 and UTF-16, which PowerShell writes, and drops the byte order mark.
 * @returns the text, with lines that end in `\n`
 * @throws FileError
 */
export function textIn(bytes: Uint8Array, file: string): string {
  const encoding = encodingOf(bytes);
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes).replaceAll('\r\n', '\n');
  } catch {
    const [before = ''] = new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes).split('\ufffd', 1);
    const offset = Buffer.byteLength(before, encoding === 'utf-8' ? 'utf8' : 'utf16le');
    const byte = bytes[offset]?.toString(16).padStart(2, '0').toUpperCase();
    const detail = `the byte ${byte} stands there. Save the file as UTF-8.`;
    throw fileErrorAt(file, `no ${encoding.toUpperCase()}`, linesOf(before).length, detail);
  }
}

/** Without a mark, UTF-16 shows by the first byte of its first character: no other text begins with zeros. */
function encodingOf([first, second]: Uint8Array): string {
  if ((first === 0xff && second === 0xfe) || second === 0) return 'utf-16le';
  return (first === 0xfe && second === 0xff) || first === 0 ? 'utf-16be' : 'utf-8';
}

/** Readers find the former text or the new one, whoever else writes the file at the same time. */
export async function replaceFile(file: string, text: string | Uint8Array): Promise<void> {
  const part = `${file}.${randomUUID()}`;
  try {
    await writeFile(part, text, { flush: true });
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/**
 * @param firstLine number of the first line of the text in the file
 * @throws FileError
 */
export function jsonIn(text: string, file: string, firstLine = 1): unknown {
  if (isDeepJson(text)) {
    const number = badLineIn(text, isDeepJson);
    const problem = `nested more than ${MAX_NESTING} levels deep`;
    throw fileErrorAt(file, problem, firstLine + number - 1, shownLine(text, number));
  }
  try {
    return parseExactly(text);
  } catch (error) {
    const number = badLineIn(text, isNoBeginning);
    throw fileErrorAt(file, 'no JSON', firstLine + number - 1, syntaxProblem(messageOf(error), text, number));
  }
}

/** @throws FileError */
export function checkedJson<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
  file: string,
  firstLine = 1,
): z.output<Schema> {
  return checked(schema, jsonIn(text, file, firstLine), text, file, firstLine);
}

/**
 * Checks the value of a text of JSON.
 * @throws FileError naming all that is wrong
 */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  text: string,
  file: string,
  firstLine = 1,
): z.output<Schema> {
  const { data, error } = schema.safeParse(value);
  if (error === undefined) return data;
  // A value of the wrong type breaks further rules.
  const issues = new Map(error.issues.toReversed().map((issue) => [issue.path.join('\n'), issue]));
  const problems = [...issues.values()]
    .reverse()
    .slice(0, MAX_PROBLEMS)
    .map(({ path, message }) => {
      const { line, wrongValue } = placeOf(path, value, text);
      const got = wrongValue === undefined ? '' : ` (got ${shown(JSON.stringify(wrongValue))})`;
      return `${[`${file}, line ${firstLine + line - 1}`, ...path.map(String), message].join(': ')}${got}`;
    });
  throw new FileError(problems.join('\n'));
}

/** The line of a value of an object; within lists, that of the list. */
function placeOf(path: readonly PropertyKey[], value: unknown, text: string) {
  let at = 0;
  let wrongValue = value;
  let isFollowed = true;
  for (const key of path) {
    wrongValue = (wrongValue as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[key];
    isFollowed &&= typeof key === 'string' && wrongValue !== undefined;
    if (isFollowed) at = Math.max(at, text.indexOf(JSON.stringify(key), at));
  }
  return { line: linesOf(text.slice(0, at)).length, wrongValue };
}

/** The number of the first line that makes a text bad, whatever follows. */
function badLineIn(text: string, isBad: (beginning: string) => boolean): number {
  const lines = linesOf(text);
  let [least, most] = [1, lines.length];
  while (least < most) {
    const middle = (least + most) >> 1;
    if (isBad(`${lines.slice(0, middle).join('\n')}\n`)) most = middle;
    else least = middle + 1;
  }
  return least;
}

/** True if no text that begins so is JSON. */
function isNoBeginning(text: string): boolean {
  try {
    parseExactly(text);
    return false;
  } catch (error) {
    const [, position] = / at position (\d+)/.exec(messageOf(error)) ?? [];
    return !/end of JSON/.test(messageOf(error)) && !(Number(position) >= text.length);
  }
}

/** The engine's words with what stands there; for some problems it shows that itself. */
function syntaxProblem(message: string, text: string, number: number): string {
  const [, words = message] =
    /^(.*?)(?: in JSON| after JSON|, (?:\.{3})?".*" ?(?:\.{3})? is not valid JSON)/s.exec(message) ?? [];
  if ((linesOf(text)[number - 1] ?? '').trim().length <= SHOWN_LENGTH)
    return `${words}, at ${shownLine(text, number)}`;
  const [, position] = / at position (\d+)/.exec(message) ?? [];
  if (position === undefined) return message;
  const start = Math.max(0, Number(position) - SHOWN_LENGTH / 2);
  return `${words}, at ${shown(text.slice(start, start + SHOWN_LENGTH))}`;
}

const linesOf = (text: string) => text.split('\n');

export const shownLine = (text: string, number: number) => shown(linesOf(text)[number - 1] ?? '');

/** Without control characters, which a terminal would obey. */
function shown(text: string): string {
  const plain = text.replace(/\p{Cc}+/gu, ' ').trim();
  return plain === '' ? 'its end' : excerpt(plain, SHOWN_LENGTH);
}
