import { StringDecoder } from 'node:string_decoder';

const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Decodes the text of a body. It is decoded here, since texts that undici decodes stay alive until the next full
 * collection. A byte order mark is none of the text.
 */
export function textOf(bytes: Buffer): string {
  return withoutMark(bytes.toString());
}

/** Decodes the same in pieces of so many bytes, each made on demand. */
export function* textsOf(bytes: Buffer, pieceBytes: number): Generator<string, void> {
  const decoder = new StringDecoder();
  for (let from = 0; from < bytes.length; from += pieceBytes) {
    const text = decoder.write(bytes.subarray(from, from + pieceBytes));
    yield from === 0 ? withoutMark(text) : text;
  }
  yield decoder.end();
}

function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}
