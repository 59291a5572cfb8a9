import { LRUCache } from 'lru-cache';

/**
 * A cache of so many entries that takes the memory of those that it has: where it is told their number as `max`,
 * lru-cache allocates for all of them at once, some 20 ms and 3 MB for 100,000.
 */
export function createLru<Value extends object | number | true>(maxEntries: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: maxEntries, sizeCalculation: () => 1 });
}

/** What can give memory back. */
export interface Shrinkable {
  /** Drops what was used the longest ago, until the rest takes no more than a share of the most that it may. */
  shrink(share: number): void;
}

/** See {@link Shrinkable}: of a cache that is bounded by bytes. */
export function shrinkTo<Value extends object | string>(cache: LRUCache<string, Value>, share: number): void {
  while (cache.calculatedSize > share * cache.maxSize) cache.pop();
}
