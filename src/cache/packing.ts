import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { parseExactly } from '../exact-json.ts';

/** Characters below which a text is not worth compressing: `npm run bench` prints the savings and the costs. */
const MIN_PACKED_CHARS = 1_000;

/** First character of compressed text; JSON never begins with it. */
const MARK = '~';

/** The entry for a text past reading: it holds nothing. */
const NOTHING = {};

/** Turns Keyv's envelopes into text: JSON, and compressed if that pays. Text that can't be read holds nothing. */
export const packing = {
  stringify(envelope: unknown): string {
    const text = JSON.stringify(envelope);
    if (text.length < MIN_PACKED_CHARS) return text;
    return MARK + zstdCompressSync(text).toString('base64');
  },
  parse<T>(text: string): T {
    try {
      const isPacked = text.startsWith(MARK);
      const json = isPacked ? zstdDecompressSync(Buffer.from(text.slice(1), 'base64')).toString() : text;
      return (parseExactly(json) ?? NOTHING) as T;
    } catch {
      return NOTHING as T;
    }
  },
};
