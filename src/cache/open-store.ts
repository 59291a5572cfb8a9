import { ValueCache } from './lru.ts';
import type { Store, StoreOptions } from './store.ts';

/** Returns null if nothing is to be cached or shared. */
export async function openStore(options: StoreOptions): Promise<Store | null> {
  const { url, maxBytes } = options;
  if (url === 'none') return null;
  if (url === 'memory:') return openMemory(maxBytes);
  const { openElsewhere } = await import('./elsewhere.ts');
  return openElsewhere(options);
}

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
    // Nobody shares this store.
    first: async (_name, value) => value,
    sharedCounters: null,
    leases: null,
    shrink: (share) => cache.shrink(share),
    close: async () => cache.clear(),
  };
}
