import { LRUCache } from 'lru-cache';

/** Bounds by `maxSize`, since lru-cache allocates for all of `max` entries at once. */
export function createLru<Value extends object | number | true>(maxEntries: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: maxEntries, sizeCalculation: () => 1 });
}

/** A cache that can give memory back. */
export interface Shrinkable {
  /** Drops the least recently used entries until the rest takes no more than a share of the bound. */
  shrink(share: number): void;
}

/**
 * Caches a value on the object that it was made of, out of sight of JSON and of copies. A WeakMap would do the same,
 * but until the next full collection the engine keeps all that a WeakMap leads to, even of objects that nobody holds.
 */
export function createObjectMemo<Value>(what: string) {
  const key = Symbol(what);
  type Owner = { [key]?: Value };
  function put(owner: object, value: Value): Value {
    if (key in owner) (owner as Owner)[key] = value;
    else Object.defineProperty(owner, key, { value, writable: true });
    return value;
  }
  return {
    of: (owner: object) => (owner as Owner)[key],
    /** Undefined for a stored value that is no object, or has none. */
    ofValues: (stored: readonly ({ readonly value: unknown } | undefined)[]) =>
      stored.map((one) => (one?.value as Owner | null | undefined)?.[key]),
    put,
    putMany(owners: readonly object[], values: readonly Value[]): void {
      for (let i = 0; i < owners.length; i += 1) put(owners[i] as object, values[i] as Value);
    },
  };
}

export interface Lookups {
  hits: number;
  misses: number;
}

/** `lists` are all answers of the service but figures, `answers` whole answers to operations. */
export function openLookups() {
  const none = (): Lookups => ({ hits: 0, misses: 0 });
  return { figures: none(), lists: none(), answers: none() };
}

/**
 * A map for entries that come and go while the map stays, such as work under way.
 *
 * V8 rebuilds the table of a long-lived `Map` every few entries, and the former table stays alive until the next full
 * collection, with all that its entries refer to. Here an entry refers to a box, which is emptied when the entry goes.
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

/** Bytes of a cached entry beside its parts: its key, its place in the order of use. */
export const OVERHEAD_BYTES = 200;

/** A cache in this process, bounded by the bytes of its entries. */
export class BoundedCache<Entry extends object> extends LRUCache<string, Entry> implements Shrinkable {
  /** @param bytesOf estimates the bytes of an entry and its key */
  constructor(maxBytes: number, bytesOf: (entry: Entry, key: string) => number) {
    super({ maxSize: Math.max(1, Math.round(maxBytes)), sizeCalculation: bytesOf });
  }

  shrink(share: number): void {
    while (this.calculatedSize > share * this.maxSize) this.pop();
  }

  forget(prefix: string): void {
    for (const key of [...this.keys()]) if (key.startsWith(prefix)) this.delete(key);
  }
}

/** `expires` in milliseconds since the epoch. */
export class ValueCache extends BoundedCache<{ readonly value: unknown; readonly expires: number }> {
  constructor(maxBytes: number) {
    super(maxBytes, ({ value }, key) => OVERHEAD_BYTES + key.length + roughBytes(value));
  }

  getMany(keys: readonly string[], nowMs: number): unknown[] {
    return keys.map((key) => {
      const entry = this.get(key);
      return entry === undefined || entry.expires < nowMs ? undefined : entry.value;
    });
  }

  setMany(entries: readonly { readonly key: string; readonly value: unknown }[], expires: number): void {
    for (const { key, value } of entries) this.set(key, { value, expires });
  }
}

/** Bytes of a number or a reference. */
const WORD_BYTES = 8;

/** Takes the rows of a list to be like the first. */
export function roughBytes(value: unknown): number {
  if (typeof value === 'string') return 2 * WORD_BYTES + value.length;
  if (typeof value !== 'object' || value === null) return WORD_BYTES;
  if (Array.isArray(value)) return 2 * WORD_BYTES + value.length * roughBytes(value[0]);
  let bytes = 2 * WORD_BYTES;
  for (const part of Object.values(value)) bytes += WORD_BYTES + roughBytes(part);
  return bytes;
}
