import type { GraphQLFormattedError } from 'graphql';
import { lengthOf, type StringPieces } from '../execution/json-pieces.ts';

/** Above this, a body is assembled as bytes: joining long strings takes longer than encoding them. */
const LONG_DATA = 16_384;

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

/** For characters of several bytes: writing a long string is faster than measuring it. */
const SPARE_BYTES = 1_024;

/** With less room left than the longest character takes, the string may have been cut. */
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
