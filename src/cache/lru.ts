import { LRUCache } from 'lru-cache';

/**
 * Makes a cache of so many entries that takes the memory of the entries that it has: if it is told their number as
 * `max`, lru-cache allocates for all of them at once, some 20 ms and 3 MB for 100,000.
 */
export function createLru<Value extends object | number | true>(maxEntries: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: maxEntries, sizeCalculation: () => 1 });
}

/** A cache that can give memory back. */
export interface Shrinkable {
  /** Drops the least recently used entries, until the rest takes no more than a share of the most that it may. */
  shrink(share: number): void;
}

/** Shrinks a cache that is bounded by bytes: see {@link Shrinkable}. */
export function shrinkTo<Value extends object | string>(cache: LRUCache<string, Value>, share: number): void {
  while (cache.calculatedSize > share * cache.maxSize) cache.pop();
}
