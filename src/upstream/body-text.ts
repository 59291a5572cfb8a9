import { StringDecoder } from 'node:string_decoder';

const BYTE_ORDER_MARK = '\uFEFF';

/**
 * The text of a body. Decoded here, since texts that undici decodes stay alive until the next full collection. A byte order
 * mark is none of the text.
 */
export function textOf(bytes: Buffer): string {
  return withoutMark(bytes.toString());
}

/** The same in pieces of so many bytes, each made when it is asked for. */
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
