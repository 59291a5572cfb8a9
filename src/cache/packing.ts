import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { parseExactly } from '../exact-json.ts';

/** Text shorter than this is not worth compressing: `npm run bench` prints what it saves and costs. */
const MIN_PACKED_CHARS = 1_000;

/** What compressed text begins with; JSON never does. */
const MARK = '~';

/** What is past reading is an entry that holds nothing. */
const NOTHING = {};

/** How Keyv's envelopes become text: JSON, and compressed where that pays. Text that can't be read holds nothing. */
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
