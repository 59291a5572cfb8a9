import { LRUCache } from 'lru-cache';

/** Bounds by `maxSize`, since lru-cache allocates for all of `max` entries at once. */
export function createLru<Value extends object>(maxEntries: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: maxEntries, sizeCalculation: () => 1 });
}
