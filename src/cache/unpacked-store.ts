import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { parseExactly } from '../shared/exact-json.ts';
import type { TextEntry, Texts } from './backing.ts';
import { BoundedCache, roughBytes } from './lru.ts';

/** Characters below which a string is not worth compressing. */
const MIN_PACKED_CHARS = 1_000;

/** First character of compressed text; JSON never begins with it. */
const MARK = '~';

/** A value as it is written, and the instant at which it expires, in milliseconds since the epoch. */
interface Envelope {
  readonly value?: unknown;
  readonly expires?: unknown;
}

/** The envelope for a text past reading: it holds nothing. */
const NOTHING: Envelope = {};

/** Turns envelopes into text: JSON, and compressed if that pays. Text that can't be read holds nothing. */
export const packing = {
  stringify(envelope: Envelope): string {
    const text = JSON.stringify(envelope);
    if (text.length < MIN_PACKED_CHARS) return text;
    return MARK + zstdCompressSync(text).toString('base64');
  },
  parse(text: string): Envelope {
    try {
      const isPacked = text.startsWith(MARK);
      const json = isPacked ? zstdDecompressSync(Buffer.from(text.slice(1), 'base64')).toString() : text;
      const envelope = parseExactly(json);
      return isObject(envelope) ? envelope : NOTHING;
    } catch {
      return NOTHING;
    }
  },
};

/** A text with the envelope that it was read as, or written from. */
interface CachedString {
  readonly text: string;
  readonly envelope: Envelope;
  /** The entry, if the store couldn't take it; undefined if it has. */
  readonly unwritten?: TextEntry | undefined;
}

/** The last texts of a store in another process, and their envelopes. While the store fails, they stand in for it. */
export class StandInCache extends BoundedCache<CachedString> {
  /** @param maxBytes bytes that may be cached, roughly */
  constructor(maxBytes: number) {
    super(maxBytes, ({ text, envelope }, key) => key.length + text.length + roughBytes(envelope));
  }

  /** Notes if the store has taken texts, as far as there are no later ones. */
  note(entries: readonly TextEntry[], isWritten: boolean): void {
    for (const entry of entries) {
      const cachedEntry = this.get(entry.key);
      if (cachedEntry?.text !== entry.text || (isWritten && !cachedEntry.unwritten)) continue;
      this.set(entry.key, { ...cachedEntry, unwritten: isWritten ? undefined : entry });
    }
  }
}

/** Returns the instant at which a value was sent, or at which the service last judged a key. */
function instantOf(envelope: Envelope): number {
  const value = isObject(envelope.value) ? envelope.value : {};
  const instants = [value.atMs, value.acceptedAtMs, value.refusedAtMs];
  return Math.max(0, ...instants.map((instant) => (typeof instant === 'number' ? instant : 0)));
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null;
}

/**
 * Keeps values as texts in a store of another process. The last envelope of each key's text is cached in this process, so
 * that a text which is still the same is not parsed, decompressed and decoded again. Its value is shared: its readers leave
 * it as it is. What the store couldn't take is read here, until it has taken it or has something later.
 */
export function createUnpackedStore<Result>(
  store: Pick<Texts, 'getMany'> & { setMany(entries: readonly TextEntry[]): Promise<Result> },
  cache: StandInCache,
) {
  function envelopeOf(key: string, text: unknown): Envelope {
    if (typeof text !== 'string') return NOTHING;
    const last = cache.get(key);
    if (last?.text === text) return last.envelope;
    const envelope = packing.parse(text);
    cache.set(key, { text, envelope });
    return envelope;
  }

  return {
    /** Reads values by the places of their keys; undefined for one that has none, or is past its time. */
    async getMany(keys: readonly string[]): Promise<readonly unknown[]> {
      const texts = await store.getMany(keys);
      const nowMs = Date.now();
      const late: TextEntry[] = [];
      const values = keys.map((key, i) => {
        const cachedEntry = cache.get(key);
        const envelope = envelopeOf(key, texts[i]);
        if (cachedEntry?.unwritten === undefined || instantOf(cachedEntry.envelope) <= instantOf(envelope))
          return valueIn(envelope, nowMs);
        cache.set(key, cachedEntry);
        if (texts[i] !== cachedEntry.text) late.push(cachedEntry.unwritten);
        return valueIn(cachedEntry.envelope, nowMs);
      });
      if (late.length > 0) void store.setMany(late);
      return values;
    },
    setMany(entries: readonly { readonly key: string; readonly value: unknown }[], expires: number) {
      const written = entries.map(({ key, value }) => {
        const envelope = { value, expires };
        const text = packing.stringify(envelope);
        cache.set(key, { text, envelope });
        return { key, text, expires };
      });
      return store.setMany(written);
    },
  };
}

function valueIn({ value, expires }: Envelope, nowMs: number): unknown {
  return typeof expires === 'number' && expires < nowMs ? undefined : value;
}
