import { LRUCache } from 'lru-cache';
import type { Adapter } from './backing.ts';
import { type Shrinkable, shrinkTo } from './lru.ts';
import { roughBytes } from './memory.ts';
import { packing } from './packing.ts';

/** A text with the envelope that it was read as, or written from. */
interface KnownText {
  readonly text: string;
  readonly envelope: unknown;
}

/**
 * Keeps envelopes as texts in a store of another process. The last envelope of each key's text is kept at hand, so that
 * a text which is still the same is not parsed, decompressed and decoded again. It is shared: its readers leave it as
 * it is.
 * @param maxBytes bytes that may be kept at hand, roughly
 */
export function unpacked<Texts extends Adapter>(store: Texts, maxBytes: number): Texts & Shrinkable {
  const known = new LRUCache<string, KnownText>({
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ text, envelope }, key) => key.length + text.length + roughBytes(envelope),
  });

  function envelopeOf(key: string, text: unknown): unknown {
    if (typeof text !== 'string') return undefined;
    const last = known.get(key);
    if (last?.text === text) return last.envelope;
    const envelope = packing.parse<unknown>(text);
    known.set(key, { text, envelope });
    return envelope;
  }

  return {
    ...store,
    shrink: (share) => shrinkTo(known, share),
    async getMany(keys) {
      const found = await store.getMany(keys);
      return keys.map((key, i) => envelopeOf(key, found[i]));
    },
    async setMany(entries) {
      const written = entries.map((entry) => ({ ...entry, value: packing.stringify(entry.value) }));
      for (const [i, { key, value: envelope }] of entries.entries())
        known.set(key, { text: written[i]?.value ?? '', envelope });
      return store.setMany(written);
    },
  };
}
