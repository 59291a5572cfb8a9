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

/** A value that is remembered of an object for as long as the object lives. */
interface ObjectMemo<Value> {
  of(owner: object): Value | undefined;
  put(owner: object, value: Value): Value;
}

/**
 * Remembers on the object itself, out of sight of JSON and of copies. A WeakMap would do the same, but until the next
 * full collection the engine keeps all that a WeakMap leads to, even of objects that nobody holds any longer.
 */
export function createObjectMemo<Value>(what: string): ObjectMemo<Value> {
  const key = Symbol(what);
  type Owner = { [key]?: Value };
  return {
    of: (owner) => (owner as Owner)[key],
    put(owner, value) {
      if (key in owner) (owner as Owner)[key] = value;
      else Object.defineProperty(owner, key, { value, writable: true });
      return value;
    },
  };
}

/** Lookups in a cache: found fresh, and not found. */
export interface Lookups {
  hits: number;
  misses: number;
}

/** Lookups by kind: figures, lists and other answers of the service, and whole answers to operations. */
export interface CacheLookups {
  readonly figures: Lookups;
  readonly lists: Lookups;
  readonly answers: Lookups;
}

/** Opens plain numbers that are counted up on the way of every operation, and read when somebody asks. */
export function openLookups(): CacheLookups {
  return { figures: noLookups(), lists: noLookups(), answers: noLookups() };
}

function noLookups(): Lookups {
  return { hits: 0, misses: 0 };
}

/**
 * A map for entries that come and go while the map stays, such as all work that is under way.
 *
 * The engine makes the table behind a long-lived `Map` anew every few entries, and leaves the former one to the next
 * full collection: until then it keeps alive all that it had at that moment, and all that this leads to. Here that is a
 * box, which is emptied when its entry goes.
 */
export class TransientMap<Value> {
  readonly #boxes = new Map<string, { value: Value | undefined }>();

  get(name: string): Value | undefined {
    return this.#boxes.get(name)?.value;
  }

  set(name: string, value: Value): void {
    this.delete(name);
    this.#boxes.set(name, { value });
  }

  delete(name: string): void {
    const box = this.#boxes.get(name);
    if (box === undefined) return;
    box.value = undefined;
    this.#boxes.delete(name);
  }
}

/** Bytes that one held entry takes beside its parts: its key, its place in the order of use. */
export const OVERHEAD_BYTES = 200;

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
