import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { KeyvStorageEntry } from 'keyv';
import { isObject, parseExactly } from '../shared/exact-json.ts';
import type { Peek } from './backing.ts';
import type { GuardedAdapter } from './guarded-backing.ts';
import { BoundedCache, roughBytes } from './lru.ts';

/** Characters below which a string is not worth compressing. */
const MIN_PACKED_CHARS = 1_000;

/** First character of compressed text; JSON never begins with it. */
const MARK = '~';

/** The entry of a text that can't be read: it holds nothing. */
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

/** A text, and the envelope that it was read as or written from. */
interface CachedString {
  readonly text: string;
  readonly envelope: unknown;
  /** The entry until the store has taken it; `hasFailed` once it could not. */
  unwritten?: KeyvStorageEntry | undefined;
  hasFailed?: boolean;
  /** The version of the store that has the text; left out if that isn't known. */
  asOf?: number;
}

/** The instant at which a value was sent, or at which the service last judged a key. */
function instantOf(envelope: unknown): number {
  const value = isObject(envelope) && isObject(envelope.value) ? envelope.value : {};
  const instants = [value.atMs, value.acceptedAtMs, value.refusedAtMs];
  return Math.max(0, ...instants.map((instant) => (typeof instant === 'number' ? instant : 0)));
}

/**
 * Keeps envelopes as texts in a store of another process, as Keyv's adapter. The last envelope of each key is cached in
 * this process, so that a text that hasn't changed is not decompressed, parsed and decoded again; while the store fails,
 * they stand in for it. Envelopes are shared: readers must not change them. What the store has not taken is served from
 * here until it has taken it, or has something later.
 */
export function unpackedStore(store: GuardedAdapter, maxBytes: number, peek?: Peek) {
  const cache = new BoundedCache<CachedString>(
    maxBytes,
    ({ text, envelope }, key) => key.length + text.length + roughBytes(envelope),
  );

  function envelopeOf(key: string, text: unknown, asOf?: number): unknown {
    if (typeof text !== 'string') return undefined;
    let cachedString = cache.get(key);
    if (cachedString?.text !== text) {
      cachedString = { text, envelope: packing.parse<unknown>(text) };
      cache.set(key, cachedString);
    }
    if (asOf !== undefined) cachedString.asOf = asOf;
    return cachedString.envelope;
  }

  /** Reads again only what has been read before the last change by others. */
  function peekMany(look: Peek, keys: readonly string[]): readonly unknown[] {
    const { version, read } = look();
    const unknown: string[] = [];
    const known = keys.map((key) => {
      const cachedString = cache.get(key);
      if (cachedString?.unwritten !== undefined || cachedString?.asOf === version)
        return cachedString?.envelope;
      unknown.push(key);
      return undefined;
    });
    if (unknown.length === 0) return known;
    const texts = read(unknown);
    const byKey = new Map(unknown.map((key, i) => [key, envelopeOf(key, texts[i], version)]));
    return keys.map((key, i) => known[i] ?? byKey.get(key));
  }

  async function write(entries: KeyvStorageEntry[]): Promise<boolean> {
    const isWritten = await store.setMany(entries);
    for (const entry of entries) {
      const cachedString = cache.get(entry.key);
      // There may be a later one by now.
      if (cachedString?.unwritten !== entry) continue;
      cachedString.hasFailed = !isWritten;
      if (isWritten) cachedString.unwritten = undefined;
    }
    return isWritten;
  }

  return {
    // Keyv hands such adapters the instant at which a value expires, not a duration.
    capabilities: { expires: true },
    // Expired values are swept by the store itself.
    deleteMany: async (keys: string[]) => keys.map(() => true),
    /** At once; null if the store can't be read without waiting. */
    peekMany: peek === undefined ? null : (keys: readonly string[]) => peekMany(peek, keys),
    shrink: (share: number) => cache.shrink(share),
    forget: (prefix: string) => cache.forget(prefix),
    async getMany(keys: string[]) {
      const texts = await store.getMany(keys);
      if (texts === null) return keys.map((key) => cache.get(key)?.envelope);
      const late: KeyvStorageEntry[] = [];
      const envelopes = keys.map((key, i) => {
        const cachedString = cache.get(key);
        const envelope = envelopeOf(key, texts[i]);
        if (cachedString?.unwritten === undefined || instantOf(cachedString.envelope) <= instantOf(envelope))
          return envelope;
        cache.set(key, cachedString);
        if (cachedString.hasFailed && texts[i] !== cachedString.text) late.push(cachedString.unwritten);
        return cachedString.envelope;
      });
      if (late.length > 0) void write(late);
      return envelopes;
    },
    async setMany(entries: KeyvStorageEntry[]) {
      const written = entries.map((entry) => ({ ...entry, value: packing.stringify(entry.value) }));
      for (const [i, { key, value: envelope }] of entries.entries()) {
        const unwritten = written[i];
        cache.set(key, { text: unwritten?.value ?? '', envelope, unwritten });
      }
      const isWritten = await write(written);
      return entries.map(() => isWritten);
    },
  };
}
