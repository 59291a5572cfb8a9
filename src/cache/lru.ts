import { LRUCache } from 'lru-cache';

/** Makes a cache that grows: given `max`, lru-cache allocates for all entries at once. */
export function createLru<Value extends object | number | true>(maxEntries: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: maxEntries, sizeCalculation: () => 1 });
}

/** A cache that can give memory back. */
export interface Shrinkable {
  /** Drops the least recently used entries, until the rest takes no more than a share of the most that it may. */
  shrink(share: number): void;
}

/** A value that is cached of an object for as long as the object lives. */
export interface ObjectMemo<Value> {
  of(owner: object): Value | undefined;
  /** Returns the values of stored objects by their places; undefined for one that has none, or is no object. */
  ofValues(stored: readonly ({ readonly value: unknown } | undefined)[]): (Value | undefined)[];
  put(owner: object, value: Value): Value;
  putMany(owners: readonly object[], values: readonly Value[]): void;
}

/**
 * Caches on the object itself, out of sight of JSON and of copies. A WeakMap would do the same, but until the next
 * full collection the engine keeps all that a WeakMap leads to, even of objects that nobody holds any longer.
 */
export function createObjectMemo<Value>(what: string): ObjectMemo<Value> {
  const key = Symbol(what);
  type Owner = { [key]?: Value };
  function put(owner: object, value: Value): Value {
    if (key in owner) (owner as Owner)[key] = value;
    else Object.defineProperty(owner, key, { value, writable: true });
    return value;
  }
  return {
    of: (owner) => (owner as Owner)[key],
    ofValues: (stored) => stored.map((one) => (one?.value as Owner | null | undefined)?.[key]),
    put,
    putMany(owners, values) {
      for (let i = 0; i < owners.length; i += 1) put(owners[i] as object, values[i] as Value);
    },
  };
}

/** Lookups in a cache: found fresh, and not found. */
export interface Lookups {
  hits: number;
  misses: number;
}

/**
 * Opens the lookups by kind: figures, lists and other answers of the service, and whole answers to operations. They are
 * plain numbers, counted up on the way of every operation, and read when somebody asks.
 */
export function openLookups() {
  const none = (): Lookups => ({ hits: 0, misses: 0 });
  return { figures: none(), lists: none(), answers: none() };
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

/** Bytes that a cached entry takes beside its parts: its key, its place in the order of use. */
export const OVERHEAD_BYTES = 200;

/** Entries that are cached in this process, bounded by their bytes; the least recently used go first. */
export class BoundedCache<Entry extends object> extends LRUCache<string, Entry> implements Shrinkable {
  /** @param bytesOf returns the bytes of an entry and its key, roughly */
  constructor(maxBytes: number, bytesOf: (entry: Entry, key: string) => number) {
    super({ maxSize: Math.max(1, Math.round(maxBytes)), sizeCalculation: bytesOf });
  }

  shrink(share: number): void {
    while (this.calculatedSize > share * this.maxSize) this.pop();
  }

  /** Forgets the entries whose keys begin with the prefix. */
  forget(prefix: string): void {
    for (const key of [...this.keys()]) if (key.startsWith(prefix)) this.delete(key);
  }
}

/** A value and the instant up to which it is cached, in milliseconds since the epoch. */
interface ExpiringValue {
  readonly value: unknown;
  readonly expires: number;
}

/** Values that are cached in this process for a while. */
export class ValueCache extends BoundedCache<ExpiringValue> {
  constructor(maxBytes: number) {
    super(maxBytes, ({ value }, key) => OVERHEAD_BYTES + key.length + roughBytes(value));
  }

  /** Reads values by the places of their keys, as of an instant; undefined if none is cached. */
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

/** Bytes of a figure or a reference. */
const WORD_BYTES = 8;

/** Estimates the bytes of a value: of a list, the first row is taken to be like the others. */
export function roughBytes(value: unknown): number {
  if (typeof value === 'string') return 2 * WORD_BYTES + value.length;
  if (typeof value !== 'object' || value === null) return WORD_BYTES;
  if (Array.isArray(value)) return 2 * WORD_BYTES + value.length * roughBytes(value[0]);
  let bytes = 2 * WORD_BYTES;
  for (const part of Object.values(value)) bytes += WORD_BYTES + roughBytes(part);
  return bytes;
}
