import { ValueCache } from './lru.ts';
import type { Store, StoreOptions } from './store.ts';

/**
 * Opens the store, which may be out of reach as yet; null if nothing is to be cached or shared. With `none` and a link,
 * it is there for counters and leases alone. Stores outside this process are loaded where one is asked for.
 */
export async function openStore(options: StoreOptions): Promise<Store | null> {
  const { url, link, maxBytes } = options;
  if (link === undefined && url === 'none') return null;
  if (link === undefined && url === 'memory:') return openMemory(maxBytes);
  const { openElsewhere } = await import('./elsewhere.ts');
  return openElsewhere(options);
}

/** Opens a store of values in this process, as they are; the least recently used go first. */
function openMemory(maxBytes: number): Store {
  const cache = new ValueCache(maxBytes);
  const peekMany = (keys: readonly string[]) => cache.getMany(keys, Date.now());
  return {
    peekMany,
    isAllHere: true,
    getMany: async (keys) => peekMany(keys),
    async setMany(entries, ttlMs) {
      cache.setMany(entries, Date.now() + ttlMs);
      return true;
    },
    clear: async (prefix) => cache.forget(prefix),
    // Nobody shares this store, so the giver of a value holds the first one, and calls stand in this process's ledger.
    first: async (_name, value) => value,
    onReturn() {},
    sharedCounters: null,
    leases: null,
    news: null,
    shrink: (share) => cache.shrink(share),
    close: async () => cache.clear(),
  };
}
