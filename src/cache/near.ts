import { LRUCache } from 'lru-cache';
import type { HubLink } from './hub-link.ts';
import { type Shrinkable, shrinkTo } from './lru.ts';
import { roughBytes } from './memory.ts';
import type { StoreEntry } from './store-entry.ts';

/** A value, as it is held in this process. */
interface Near {
  /** Undefined if the store had none. */
  readonly value: unknown;
}

/**
 * Milliseconds for which it counts that the store had nothing under a name. A process that puts something there says so
 * at once; but a store that can't be reached has nothing either, and doesn't say when it can.
 */
const NOTHING_MS = 1_000;

/** The part of a store that is read and written. */
interface FarStore {
  getMany(keys: readonly string[]): Promise<readonly unknown[]>;
  setMany(entries: readonly StoreEntry[], ttlMs: number): Promise<void>;
  clear(prefix: string): Promise<void>;
}

/**
 * Holds the values that this process reads and writes of a hub's store here as well, as objects, so that they can be
 * read at once. It also holds that a name has no value, which operations look for again and again. A value that others
 * change is dropped here as soon as they do, and is the store's to tell from then on.
 */
export function near<Far extends FarStore>(
  store: Far,
  link: HubLink,
): Far & Shrinkable & { peek: (key: string) => unknown } {
  const held = new LRUCache<string, Near>({
    maxSize: Math.max(1, link.nearBytes),
    sizeCalculation: ({ value }, key) => key.length + roughBytes(value),
  });
  /** Grows with each change that others make, so that a value that was read before isn't taken for a later one. */
  let changes = 0;

  link.onChanged((keys) => {
    changes += 1;
    for (const key of keys) held.delete(key);
  });
  link.onCleared((prefix) => {
    changes += 1;
    forget(prefix);
  });

  function forget(prefix: string): void {
    for (const key of [...held.keys()]) if (key.startsWith(prefix)) held.delete(key);
  }

  return {
    ...store,
    shrink: (share) => shrinkTo(held, share),
    peek: (key: string) => held.get(key)?.value,
    async getMany(keys: readonly string[]) {
      const known = keys.map((key) => held.get(key));
      const missing = keys.filter((_, i) => known[i] === undefined);
      const before = changes;
      const read = missing.length === 0 ? [] : await store.getMany(missing);
      let next = 0;
      return keys.map((key, i) => {
        const at = known[i];
        if (at !== undefined) return at.value;
        const value = read[next];
        next += 1;
        // A value that others have changed since may be newer, and so may one that was written here.
        if (changes === before && !held.has(key))
          held.set(key, { value }, value === undefined ? { ttl: NOTHING_MS } : {});
        return value;
      });
    },
    async setMany(entries: readonly StoreEntry[], ttlMs: number) {
      for (const { key, value } of entries) held.set(key, { value });
      await store.setMany(entries, ttlMs);
    },
    async clear(prefix: string) {
      forget(prefix);
      await store.clear(prefix);
    },
  };
}
