import type { HubLink } from '../wings/stores/hub.ts';
import { BoundedCache, OVERHEAD_BYTES, roughBytes, type Shrinkable } from './lru.ts';
import type { Leases, SharedCounters } from './shared.ts';

/** One value to hold: anything that JSON can say. */
export interface StoreEntry {
  readonly key: string;
  readonly value: unknown;
}

/**
 * A store of values between operations. It never fails and never takes longer than its bound: a store that can't be
 * reached, hangs or holds garbage holds nothing.
 */
export interface Store extends Shrinkable {
  /** Reads values by their place among the keys, in one round trip; undefined if nothing is held. */
  getMany(keys: readonly string[]): Promise<readonly unknown[]>;
  /** Reads a value that is held in this process; null if values are held elsewhere. */
  readonly peek: ((key: string) => unknown) | null;
  /** True if this process holds all there is: else `getMany` may find more. */
  readonly isAllHere: boolean;
  /** Holds values, in one round trip. */
  setMany(entries: readonly StoreEntry[], ttlMs: number): Promise<void>;
  /** Forgets every entry whose key begins with the prefix. */
  clear(prefix: string): Promise<void>;
  /**
   * Returns the value that was first given under a name by any of those who share the store; null if that can't be
   * told. Such values stay until somebody deletes them by hand.
   */
  first(name: string, value: string): Promise<string | null>;
  /** Has the listener called each time that the store can be used again after it could not, or may have lost everything. */
  onReturn(listener: () => void): void;
  /** Calls that all who share the store have spent; null if nobody shares it. */
  readonly sharedCounters: SharedCounters | null;
  /** Leases of all who share the store: the names that each is fetching; null if nobody shares it. */
  readonly leases: Leases | null;
  /** News that those who share the store tell each other; null if nobody holds any of its values besides. */
  readonly news: StoreNews | null;
  close(): Promise<void>;
}

export interface StoreNews {
  /** Settles once all others have heard of the value, or too much time has passed. */
  tell(entry: StoreEntry): Promise<void>;
  onTold(listener: (entry: StoreEntry) => void): void;
  /** Has the listener called with the keys of values that others have changed. */
  onChanged(listener: (keys: readonly string[]) => void): void;
}

export interface StoreOptions {
  /** `memory:`, `sqlite:PATH`, `redis://…`, `rediss://…` or `none`. */
  readonly url: string;
  /** Milliseconds that one read or write may take before it is given up. */
  readonly timeoutMs: number;
  /** Bytes that a store in memory may hold, roughly; of another one, half as much is kept at hand. */
  readonly maxBytes: number;
  /** Milliseconds since the epoch, by a clock that never goes back. */
  readonly now?: () => number;
  /** The way to the process that holds the store of `memory:` for several; left out if there is one alone. */
  readonly link?: HubLink | undefined;
  /** Takes faults of the store, once a minute at the most. */
  readonly onFault: (error: unknown) => void;
}

/**
 * Opens the store, which may be out of reach as yet; null if nothing is to be held or shared. With `none` and a link,
 * it is there for counters and leases alone. Stores outside this process are loaded where one is asked for.
 */
export async function openStore(options: StoreOptions): Promise<Store | null> {
  const { url, link, maxBytes } = options;
  if (link === undefined && url === 'none') return null;
  if (link === undefined && url === 'memory:') return openMemory(maxBytes);
  const { openElsewhere } = await import('../wings/stores/elsewhere.ts');
  return openElsewhere(options);
}

/** A value, as this process holds it. */
interface HeldValue {
  readonly value: unknown;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

/** Opens a store of values in this process, as they are; the least recently used go first. */
function openMemory(maxBytes: number): Store {
  const held = new BoundedCache<HeldValue>(
    maxBytes,
    ({ value }, key) => OVERHEAD_BYTES + key.length + roughBytes(value),
  );
  function peek(key: string): unknown {
    const entry = held.get(key);
    return entry === undefined || entry.expires < Date.now() ? undefined : entry.value;
  }
  return {
    peek,
    isAllHere: true,
    getMany: async (keys) => keys.map(peek),
    async setMany(entries, ttlMs) {
      const expires = Date.now() + ttlMs;
      for (const { key, value } of entries) held.set(key, { value, expires });
    },
    clear: async (prefix) => held.forget(prefix),
    // Nobody shares this store, so the giver of a value holds the first one, and calls stand in this process's ledger.
    first: async (_name, value) => value,
    onReturn() {},
    sharedCounters: null,
    leases: null,
    news: null,
    shrink: (share) => held.shrink(share),
    close: async () => held.clear(),
  };
}
