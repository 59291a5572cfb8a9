import { BoundedCache, roughBytes, type Shrinkable } from './lru.ts';
import type { HubLink, Store } from './store.ts';

/**
 * Milliseconds for which the absence of a value is cached. A process that writes one tells the others at once; but a
 * store that can't be reached has nothing either, and doesn't tell when it can.
 */
const NOTHING_MS = 1_000;

/**
 * Caches values of a hub's store in this process as objects, so that they can be read at once, and the absence of
 * values that operations look for again and again. A value that others change is dropped here as soon as they do.
 */
export function createNearCache<Far extends Pick<Store, 'getMany' | 'setMany' | 'clear'>>(
  store: Far,
  link: HubLink,
): Far & Shrinkable & Pick<Store, 'peekMany'> {
  /** A value is undefined if the store had none. */
  const cache = new BoundedCache<{ readonly value: unknown }>(
    link.nearCacheBytes,
    ({ value }, key) => key.length + roughBytes(value),
  );
  /** Counts changes by others: a value that was read before one of them may be old. */
  let changes = 0;

  link.onChanged((keys) => {
    changes += 1;
    for (const key of keys) cache.delete(key);
  });
  link.onCleared((prefix) => {
    changes += 1;
    cache.forget(prefix);
  });

  return {
    ...store,
    shrink: (share) => cache.shrink(share),
    peekMany: (keys: readonly string[]) => keys.map((key) => cache.get(key)?.value),
    async getMany(keys: readonly string[]) {
      const cachedValues = keys.map((key) => cache.get(key));
      const missing = keys.filter((_, i) => cachedValues[i] === undefined);
      const before = changes;
      const read = missing.length === 0 ? [] : await store.getMany(missing);
      let next = 0;
      return keys.map((key, i) => {
        const at = cachedValues[i];
        if (at !== undefined) return at.value;
        const value = read[next];
        next += 1;
        // A value that others have changed since may be newer, and so may one that was written here.
        if (changes === before && !cache.has(key))
          cache.set(key, { value }, value === undefined ? { ttl: NOTHING_MS } : {});
        return value;
      });
    },
    async setMany(entries: Parameters<Store['setMany']>[0], ttlMs: number) {
      for (const { key, value } of entries) cache.set(key, { value });
      return store.setMany(entries, ttlMs);
    },
    async clear(prefix: string) {
      cache.forget(prefix);
      await store.clear(prefix);
    },
  };
}
