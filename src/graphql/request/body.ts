import type { GraphQLFormattedError } from 'graphql';
import { lengthOf, type StringPieces } from '../execution/json-pieces.ts';

/** Characters of data beyond which a body is put together as bytes: to join long texts takes longer than to encode them. */
const LONG_DATA = 16_384;

/** Writes an answer's body around the data of a plan. */
export function writeBody(
  data: StringPieces,
  errors: readonly GraphQLFormattedError[],
  extensions: object,
): string | Buffer {
  const errorsMember = errors.length === 0 ? '' : `"errors":${JSON.stringify(errors)},`;
  const start = `{${errorsMember}"data":`;
  const end = `,"extensions":${JSON.stringify(extensions)}}`;
  return lengthOf(data) > LONG_DATA ? bytesOf([start, ...data, end]) : start + data.join('') + end;
}

/** Spare bytes for characters that take more than one: a long text is written in less time than measured. */
const SPARE_BYTES = 1_024;

/** Bytes that the longest character takes: a text that ends further from the end of its room was written whole. */
const LONGEST_CHARACTER = 4;

function bytesOf(texts: readonly string[]): Buffer {
  const bytes = Buffer.allocUnsafe(texts.reduce((sum, { length }) => sum + length, SPARE_BYTES));
  let at = 0;
  for (const text of texts) {
    at += bytes.write(text, at);
    if (bytes.length - at < LONGEST_CHARACTER) return Buffer.from(texts.join(''));
  }
  return bytes.subarray(0, at);
}
