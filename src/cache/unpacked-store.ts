import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { KeyvStorageEntry } from 'keyv';
import { parseExactly } from '../shared/exact-json.ts';
import type { Adapter } from './backing.ts';
import { BoundedCache, roughBytes, type Shrinkable } from './lru.ts';

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
export function unpackedStore<Texts extends Adapter>(store: Texts, cache: StandInCache): Texts & Shrinkable {
  function envelopeOf(key: string, text: unknown): unknown {
    if (typeof text !== 'string') return undefined;
    const last = cache.get(key);
    if (last?.text === text) return last.envelope;
    const envelope = packing.parse<unknown>(text);
    cache.set(key, { text, envelope });
    return envelope;
  }

  return {
    ...store,
    shrink: (share) => cache.shrink(share),
    async getMany(keys) {
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
    async setMany(entries) {
      const written = entries.map((entry) => ({ ...entry, value: packing.stringify(entry.value) }));
      for (const [i, { key, value: envelope }] of entries.entries())
        cache.set(key, { text: written[i]?.value ?? '', envelope });
      return store.setMany(written);
    },
  };
}
