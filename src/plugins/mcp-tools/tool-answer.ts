import type { CallToolResult } from '@modelcontextprotocol/server';
import { excerpt, Failure, isObject, type JsonObject, openBill } from '../../plugin/index.ts';

type Bill = ReturnType<typeof openBill>;

/*
 * Writes the answers of tools: as structure for programs, and as tables for models, which only read the text. An answer
 * that is longer than clients take comes in pages.
 */

/** Clients take 25,000 tokens of two to four bytes each. */
export const MAX_RESULT_BYTES = 60_000;

/** Bytes reserved for everything but data, warnings and errors. */
const FRAME_BYTES = 2_000;

/** Bytes of warnings that are shown, and of errors. */
const MAX_NOTES_BYTES = 5_000;

/** Pages are planned shorter than the room by this factor, since they differ from the average. */
const SLACK = 0.85;

/** Items with more columns are written as JSON. */
const MAX_COLUMNS = 60;

/** The argument by which a tool gives the rest of a long answer. */
export const PAGE_SCHEMA = {
  type: 'integer',
  minimum: 1,
  default: 1,
  description: `Page of an answer that is longer than ${MAX_RESULT_BYTES / 1000} KB.`,
};

export interface ToolAnswer {
  readonly data: unknown;
  readonly upstream: Bill;
  readonly warnings?: readonly unknown[];
  readonly errors?: readonly JsonObject[];
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** @param page counted from 1 */
export function resultOf(answer: ToolAnswer, page: number): CallToolResult {
  const warnings = answer.warnings && shownNotes(answer.warnings);
  const errors = answer.errors && shownNotes(answer.errors.map(shortened));
  const { upstream, _meta } = answer;
  const written = (data: unknown, number: number, of: number) => {
    const pages = of === 1 ? {} : { page: { number, of, ...(number < of ? { next: number + 1 } : {}) } };
    const content = {
      ...(errors === undefined ? {} : { errors }),
      data,
      ...(warnings === undefined ? {} : { warnings }),
      ...pages,
      upstream,
    };
    return {
      content: [{ type: 'text' as const, text: textOf(content) }],
      structuredContent: content,
      ...(errors === undefined ? {} : { isError: true }),
      ...(_meta === undefined ? {} : { _meta }),
    };
  };
  const whole = written(answer.data, 1, 1);
  const isShort = bytesOf(whole) <= MAX_RESULT_BYTES;
  const parts = isShort
    ? [answer.data]
    : split(answer.data, roomFor(answer.data, 2 * bytesOf([warnings, errors])));
  if (page > parts.length) {
    const message = `The answer has ${parts.length} page(s), and there is no page ${page}.`;
    return resultOf({ ...refusal('BAD_USER_INPUT', message), upstream }, 1);
  }
  const result = isShort ? whole : written(parts[page - 1], page, parts.length);
  if (bytesOf(result) <= MAX_RESULT_BYTES) return result;
  const message = `A single value of this answer is longer than the ${MAX_RESULT_BYTES} bytes that a tool may answer with. Ask for fewer fields.`;
  return resultOf(
    { ...refusal('OPERATION_TOO_EXPENSIVE', message, { limit: MAX_RESULT_BYTES }), upstream },
    1,
  );
}

export function refusal(...[code, message, fields]: ConstructorParameters<typeof Failure>): ToolAnswer {
  return refusalBy(new Failure(code, message, fields));
}

export function refusalBy({ code, message, fields, retryable }: Failure): ToolAnswer {
  return { data: null, upstream: openBill(), errors: [{ message, code, retryable, ...fields }] };
}

/** Bytes of data per page, as structure, that leave room for their table. */
function roomFor(data: unknown, notesBytes: number): number {
  const asTable = bytesOf(linesOf('', data).join('\n')) / bytesOf(data);
  return ((MAX_RESULT_BYTES - FRAME_BYTES - notesBytes) / (1 + asTable)) * SLACK;
}

/** Cuts a value into parts of at most `room` bytes as JSON; a single text stays whole. */
function split(value: unknown, room: number): readonly unknown[] {
  if (!isContainer(value) || Object.keys(value).length === 0 || bytesOf(value) <= room) return [value];
  if (Array.isArray(value)) {
    const items = value.map((item) => ['', item] as const);
    return packed(items, room).map((part) => part.map(([, item]) => item));
  }
  // The short members beside an object's lists tell whose they are, so every page repeats them.
  const members = Object.entries(value);
  const beside = members.filter(([, member]) => !Array.isArray(member) && bytesOf(member) <= room / 40);
  const isRepeated = beside.length < members.length && bytesOf(beside) <= room / 4;
  const repeated = isRepeated ? beside : [];
  const rest = members.filter((member) => !repeated.includes(member));
  const left = isRepeated ? room - bytesOf(beside) : room;
  return packed(rest, left).map((part) => {
    const chosen = new Map([...repeated, ...part]);
    const names = members.map(([name]) => name).filter((name) => chosen.has(name));
    return Object.fromEntries(names.map((name) => [name, chosen.get(name)]));
  });
}

type Member = readonly [name: string, value: unknown];

function packed(members: readonly Member[], room: number): readonly (readonly Member[])[] {
  const parts: Member[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const [name, value] of members) {
    const frame = Buffer.byteLength(name) + 4;
    for (const part of split(value, room - frame)) {
      const partBytes = bytesOf(part) + frame;
      if (bytes + partBytes > room || part !== value) {
        parts.push([]);
        bytes = 0;
      }
      parts.at(-1)?.push([name, part]);
      bytes += partBytes;
    }
  }
  return parts;
}

interface ToolPage extends Omit<ToolAnswer, '_meta'> {
  readonly page?: { readonly number: number; readonly of: number };
}

function textOf({ data, errors, warnings, page, upstream }: ToolPage): string {
  const { calls, cached, shared } = upstream;
  const notes = [
    `Cost: ${calls} call(s) to the metered service; ${cached} answer(s) were cached, ${shared} shared.`,
  ];
  if (page !== undefined) {
    const rest =
      page.number < page.of
        ? `For the rest ask again with "page": ${page.number + 1}, at no call for what is cached; or ask for fewer fields.`
        : 'This is the last.';
    notes.push(`Page ${page.number} of ${page.of}. ${rest}`);
  }
  for (const [name, list = []] of [
    ['Error', errors],
    ['Warning', warnings],
  ] as const)
    for (const note of list) notes.push(`${name}: ${noteOf(note)}`);
  return [...notes, ...(data === null ? [] : linesOf('', data))].join('\n');
}

function noteOf(note: unknown): string {
  if (!isObject(note)) return cellOf(note);
  const { message, ...rest } = note;
  const fields = Object.entries(rest).map(([name, value]) => `${name}=${cellOf(value)}`);
  return [...(message === undefined ? [] : [String(message)]), ...fields].join(' ');
}

/** Lists of objects become tables with a header line; everything else is a line with its path. */
function linesOf(path: string, value: unknown): readonly string[] {
  if (Array.isArray(value)) return tableOf(path, value);
  if (!isContainer(value)) return [`${path}: ${cellOf(value)}`];
  return Object.entries(value).flatMap(([name, member]) =>
    linesOf(path === '' ? name : `${path}.${name}`, member),
  );
}

function tableOf(path: string, items: readonly unknown[]): readonly string[] {
  if (!items.some(isContainer)) return [`${path}: ${items.map(cellOf).join(',')}`];
  const rows = items.map(rowOf);
  const columns = [...new Set(rows.flatMap(({ cells }) => [...cells.keys()]))];
  if (columns.length > MAX_COLUMNS) return [`${path}:`, ...items.map((item) => JSON.stringify(item))];
  const lines = [`${path}:`, columns.join(',')];
  for (const [i, { cells, lists }] of rows.entries()) {
    lines.push(columns.map((column) => cells.get(column) ?? '').join(','));
    for (const [name, list] of lists) lines.push(...tableOf(`${path}[${i}].${name}`, list));
  }
  return lines;
}

function rowOf(item: unknown) {
  const cells = new Map<string, string>();
  const lists: (readonly [string, readonly unknown[]])[] = [];
  const look = (path: string, value: unknown) => {
    if (Array.isArray(value)) lists.push([path, value]);
    else if (!isContainer(value)) cells.set(path, cellOf(value));
    else
      for (const [name, member] of Object.entries(value))
        look(path === '' ? name : `${path}.${name}`, member);
  };
  look('', item);
  return { cells, lists };
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  const isPlain = typeof value === 'string' && value !== '' && !/[",\n\r]/.test(value);
  return isPlain ? value : JSON.stringify(value);
}

/** Raw JSON is a number that is kept as written, and has no members. */
function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !JSON.isRawJSON(value);
}

function shownNotes<Note>(notes: readonly Note[]): readonly Note[] {
  let bytes = 0;
  return notes.filter((note, i) => {
    bytes += bytesOf(note);
    return i === 0 || bytes <= MAX_NOTES_BYTES;
  });
}

function shortened(error: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(error).map(([name, value]) => [name, typeof value === 'string' ? excerpt(value) : value]),
  );
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}
