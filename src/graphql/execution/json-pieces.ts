import type { Steps } from '../../shared/async/turns.ts';

/**
 * A text in pieces that follow one another. The engine gives a text beyond 128 KB pages of its own, which the system
 * has to find and to clear: to join rows that are written already would take longer than to write them.
 */
export type StringPieces = readonly string[];

/** Characters beyond which a piece is ended. */
const PIECE_LENGTH = 32_768;

/** Characters from which a text is a piece by itself: to copy it once more would not pay. */
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

  add(text: string): void {
    if (text.length >= LONG_STRING) {
      this.#end();
      this.#pieces.push(text);
      return;
    }
    this.#strings.push(text);
    this.#length += text.length;
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

/** Items that are written in one step, with those of the lists in them. */
const STEP_ITEMS = 64;

/** Items beyond which a value is written in steps. */
const MAX_ITEMS = 4 * STEP_ITEMS;

/** JSON of plain data; of long data, in pieces. */
export function* written(value: unknown): Steps<StringPieces> {
  if (!isLong(value)) return [JSON.stringify(value)];
  const text = new PieceWriter();
  yield* writeJson(value, text);
  return text.pieces();
}

/** Writes JSON, in steps if there are many items; nothing if a value has none. */
function* writeJson(value: unknown, text: PieceWriter): Steps<void> {
  if (!isLong(value)) {
    const short: string | undefined = JSON.stringify(value);
    if (short !== undefined) text.add(short);
  } else if (Array.isArray(value)) {
    const ofFirst = itemsIn(value[0]);
    text.add('[');
    for (let start = 0, end = 0; start < value.length; start = end) {
      if (start > 0) text.add(',');
      end = Math.min(value.length, start + Math.ceil(STEP_ITEMS / (1 + ofFirst)));
      if (end - start > 1) text.add(JSON.stringify(value.slice(start, end)).slice(1, -1));
      else if (hasJson(value[start])) yield* writeJson(value[start], text);
      else text.add('null');
      yield;
    }
    text.add(']');
  } else {
    let before = '{';
    for (const [key, member] of Object.entries(value as object)) {
      if (!hasJson(member)) continue;
      text.add(`${before}${JSON.stringify(key)}:`);
      yield* writeJson(member, text);
      before = ',';
    }
    text.add('}');
  }
}

function hasJson(value: unknown): boolean {
  return value !== undefined && typeof value !== 'symbol' && typeof value !== 'function';
}

function isLong(value: unknown): boolean {
  return itemsIn(value) > MAX_ITEMS;
}

/** Items of the lists in a value, roughly: each item of a list is taken to have as many in it as the first one. */
function itemsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return value.length * (1 + itemsIn(value[0]));
  let items = 0;
  for (const key in value) items += itemsIn((value as Record<string, unknown>)[key]);
  return items;
}
