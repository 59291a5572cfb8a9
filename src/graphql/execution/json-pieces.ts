import type { Steps } from '../../shared/async/turns.ts';

/**
 * A string in consecutive pieces. V8 gives strings beyond 128 KB pages of their own, which are slow to obtain:
 * joining finished rows would take longer than writing them.
 */
export type StringPieces = readonly string[];

/** Characters after which a piece ends. */
const PIECE_LENGTH = 32_768;

/** Longer strings are pieces by themselves: copying them again wouldn't pay. */
const LONG_STRING = 4_096;

export function lengthOf(text: StringPieces): number {
  return text.reduce((sum, { length }) => sum + length, 0);
}

export function byteLengthOf(text: StringPieces): number {
  return text.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
}

class PieceWriter {
  readonly #pieces: string[] = [];
  #strings: string[] = [];
  #length = 0;

  add(string: string): void {
    if (string.length >= LONG_STRING) {
      this.#end();
      this.#pieces.push(string);
      return;
    }
    this.#strings.push(string);
    this.#length += string.length;
    if (this.#length >= PIECE_LENGTH) this.#end();
  }

  pieces(): StringPieces {
    this.#end();
    return this.#pieces;
  }

  #end(): void {
    if (this.#strings.length === 0) return;
    this.#pieces.push(this.#strings.join(''));
    this.#strings = [];
    this.#length = 0;
  }
}

/** Items written in one step, nested ones included. */
const STEP_ITEMS = 64;

/** Values of more items are written in steps. */
const MAX_ITEMS = 4 * STEP_ITEMS;

/** JSON of plain data, in pieces if it is long. */
export function* written(value: unknown): Steps<StringPieces> {
  if (!isLong(value)) return [JSON.stringify(value)];
  const writer = new PieceWriter();
  yield* writeJson(value, writer);
  return writer.pieces();
}

/** Writes nothing for a value without JSON. */
function* writeJson(value: unknown, writer: PieceWriter): Steps<void> {
  if (!isLong(value)) {
    const short: string | undefined = JSON.stringify(value);
    if (short !== undefined) writer.add(short);
  } else if (Array.isArray(value)) {
    const itemsOfFirst = itemsIn(value[0]);
    writer.add('[');
    for (let start = 0, end = 0; start < value.length; start = end) {
      if (start > 0) writer.add(',');
      end = Math.min(value.length, start + Math.ceil(STEP_ITEMS / (1 + itemsOfFirst)));
      if (end - start > 1) writer.add(JSON.stringify(value.slice(start, end)).slice(1, -1));
      else if (hasJson(value[start])) yield* writeJson(value[start], writer);
      else writer.add('null');
      yield;
    }
    writer.add(']');
  } else {
    let before = '{';
    for (const [key, member] of Object.entries(value as object)) {
      if (!hasJson(member)) continue;
      writer.add(`${before}${JSON.stringify(key)}:`);
      yield* writeJson(member, writer);
      before = ',';
    }
    writer.add('}');
  }
}

function hasJson(value: unknown): boolean {
  return value !== undefined && typeof value !== 'symbol' && typeof value !== 'function';
}

function isLong(value: unknown): boolean {
  return itemsIn(value) > MAX_ITEMS;
}

/** A rough count: each item of a list is assumed to hold as many as the first. */
function itemsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return value.length * (1 + itemsIn(value[0]));
  let items = 0;
  for (const key in value) items += itemsIn((value as Record<string, unknown>)[key]);
  return items;
}
