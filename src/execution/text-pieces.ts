/**
 * A text in pieces that follow one another. The engine gives a text beyond 128 KB pages of its own, which the system
 * has to find and to clear: to join rows that are written already would take longer than to write them.
 */
export type TextPieces = readonly string[];

/** Characters beyond which a piece is ended. */
const PIECE_LENGTH = 32_768;

/** Characters from which a text is a piece by itself: to copy it once more would not pay. */
const LONG_TEXT = 4_096;

export function lengthOf(text: TextPieces): number {
  return text.reduce((sum, { length }) => sum + length, 0);
}

export function byteLengthOf(text: TextPieces): number {
  return text.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
}

/** Puts short texts together to pieces. */
export class PieceWriter {
  readonly #pieces: string[] = [];
  #texts: string[] = [];
  #length = 0;

  add(text: string): void {
    if (text.length >= LONG_TEXT) {
      this.#end();
      this.#pieces.push(text);
      return;
    }
    this.#texts.push(text);
    this.#length += text.length;
    if (this.#length >= PIECE_LENGTH) this.#end();
  }

  /** All that was added. */
  pieces(): TextPieces {
    this.#end();
    return this.#pieces;
  }

  #end(): void {
    if (this.#texts.length === 0) return;
    this.#pieces.push(this.#texts.join(''));
    this.#texts = [];
    this.#length = 0;
  }
}
