import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { KeyvStorageEntry } from 'keyv';
import { parseExactly } from '../shared/exact-json.ts';
import type { Adapter, Peek } from './backing.ts';
import { BoundedCache, roughBytes, TransientMap } from './lru.ts';

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
  /** The entry, if the store could not take it. */
  readonly unwritten?: KeyvStorageEntry | undefined;
  /** The version of the store that has the text; left out if that isn't known. */
  asOf?: number;
}

/** The last texts of a store in another process, and their envelopes. While the store fails, they stand in for it. */
export class StandInCache extends BoundedCache<CachedString> {
  constructor(maxBytes: number) {
    super(maxBytes, ({ text, envelope }, key) => key.length + text.length + roughBytes(envelope));
  }

  /** Notes if the store has taken texts, unless there are later ones by now. */
  note(entries: readonly KeyvStorageEntry[], isWritten: boolean): void {
    for (const entry of entries) {
      const cachedEntry = this.get(entry.key);
      if (
        cachedEntry === undefined ||
        cachedEntry.text !== entry.value ||
        (isWritten && !cachedEntry.unwritten)
      )
        continue;
      this.set(entry.key, { ...cachedEntry, unwritten: isWritten ? undefined : entry });
    }
  }
}

/** The instant at which a value was sent, or at which the service last judged a key. */
function instantOf(envelope: unknown): number {
  const value = isObject(envelope) && isObject(envelope.value) ? envelope.value : {};
  const instants = [value.atMs, value.acceptedAtMs, value.refusedAtMs];
  return Math.max(0, ...instants.map((instant) => (typeof instant === 'number' ? instant : 0)));
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null;
}

/**
 * Keeps envelopes as texts in a store of another process. The last envelope of each key is cached in this process, so
 * that a text that hasn't changed is not decompressed, parsed and decoded again. Envelopes are shared: readers must not
 * change them. What the store could not take is served from here until it has taken it, or has something later.
 */
export function unpackedStore<Texts extends Adapter>(store: Texts, cache: StandInCache, peek?: Peek) {
  /** Texts on their way to the store, by their keys: until they are there, it has older ones. */
  const writing = new TransientMap<string>();

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
      const isNewest = cachedString?.unwritten !== undefined || writing.get(key) !== undefined;
      if (isNewest || cachedString?.asOf === version) return cachedString?.envelope;
      unknown.push(key);
      return undefined;
    });
    if (unknown.length === 0) return known;
    const texts = read(unknown);
    const byKey = new Map(unknown.map((key, i) => [key, envelopeOf(key, texts[i], version)]));
    return keys.map((key, i) => known[i] ?? byKey.get(key));
  }

  return {
    ...store,
    /** At once; null if the store can't be read without waiting. */
    peekMany: peek === undefined ? null : (keys: readonly string[]) => peekMany(peek, keys),
    shrink: (share: number) => cache.shrink(share),
    async getMany(keys: string[]) {
      const strings = await store.getMany(keys);
      const late: KeyvStorageEntry[] = [];
      const envelopes = keys.map((key, i) => {
        const cachedEntry = cache.get(key);
        const envelope = envelopeOf(key, strings[i]);
        if (cachedEntry?.unwritten === undefined || instantOf(cachedEntry.envelope) <= instantOf(envelope))
          return envelope;
        cache.set(key, cachedEntry);
        if (strings[i] !== cachedEntry.text) late.push(cachedEntry.unwritten);
        return cachedEntry.envelope;
      });
      if (late.length > 0) void store.setMany(late);
      return envelopes;
    },
    async setMany(entries: KeyvStorageEntry[]) {
      const written = entries.map((entry) => ({ ...entry, value: packing.stringify(entry.value) }));
      for (const [i, { key, value: envelope }] of entries.entries()) {
        const text = written[i]?.value ?? '';
        cache.set(key, { text, envelope });
        writing.set(key, text);
      }
      const result = await store.setMany(written);
      for (const { key, value } of written) if (writing.get(key) === value) writing.delete(key);
      return result;
    },
  };
}
