import type { KeyvValue } from 'keyv';
import { LRUCache } from 'lru-cache';
import type { Adapter, Backing } from './backing.ts';
import { shrinkTo } from './lru.ts';

/** Bytes that one held entry takes beside its parts: its key, its place in the order of use. */
const OVERHEAD_BYTES = 200;

/** Bytes of a figure or a reference. */
const WORD_BYTES = 8;

/** Opens a store of values in this process, as they are; the least recently used go first. */
export function openMemory(maxBytes: number): Backing {
  const held = new LRUCache<string, KeyvValue<unknown>>({
    maxSize: maxBytes,
    sizeCalculation: ({ value }, key) => OVERHEAD_BYTES + key.length + roughBytes(value),
  });
  const adapter: Adapter = {
    async getMany(keys) {
      return keys.map((key) => held.get(key));
    },
    async setMany(entries) {
      for (const { key, value } of entries) held.set(key, value as KeyvValue<unknown>);
      return entries.map(() => true);
    },
  };
  return {
    adapter,
    // Calls that this process spends stand in its own ledger.
    sharedCounters: null,
    leases: null,
    holdsObjects: true,
    peek(key) {
      const envelope = held.get(key);
      const isExpired = envelope?.expires !== undefined && envelope.expires < Date.now();
      return isExpired ? undefined : envelope?.value;
    },
    async clear(prefix) {
      for (const key of [...held.keys()]) if (key.startsWith(prefix)) held.delete(key);
    },
    // Nobody shares this store, so the giver of a value holds the first one.
    first: async (_name, value) => value,
    async close() {
      held.clear();
    },
    shrink: (share) => shrinkTo(held, share),
  };
}

/** Estimates the bytes of a value: of a list, the first row is taken to be like the others. */
export function roughBytes(value: unknown): number {
  if (typeof value === 'string') return 2 * WORD_BYTES + value.length;
  if (typeof value !== 'object' || value === null) return WORD_BYTES;
  if (Array.isArray(value)) return 2 * WORD_BYTES + value.length * roughBytes(value[0]);
  let bytes = 2 * WORD_BYTES;
  for (const part of Object.values(value)) bytes += WORD_BYTES + roughBytes(part);
  return bytes;
}

/** Holds texts in this process; the least recently used go first. */
export function createTexts(maxBytes: number) {
  const held = new LRUCache<string, { readonly text: string; readonly expires: number | undefined }>({
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ text }, key) => OVERHEAD_BYTES + key.length + text.length,
  });
  return {
    /** Returns a text; undefined if there is none, or its time is over. */
    get(key: string): string | undefined {
      const entry = held.get(key);
      return entry?.expires !== undefined && entry.expires < Date.now() ? undefined : entry?.text;
    },
    /** @param expires in milliseconds since the epoch */
    set: (key: string, text: string, expires: number | undefined) => void held.set(key, { text, expires }),
    delete: (key: string) => held.delete(key),
    shrink: (share: number) => shrinkTo(held, share),
    clear(prefix: string) {
      for (const key of [...held.keys()]) if (key.startsWith(prefix)) held.delete(key);
    },
  };
}
