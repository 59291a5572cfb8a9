import Keyv, { type KeyvStorageAdapter } from 'keyv';
import type { Backing, Fault } from './backing.ts';
import { guarded } from './guarded.ts';
import { type HubLink, openHubBacking } from './hub-link.ts';
import type { Leases } from './leases.ts';
import type { Shrinkable } from './lru.ts';
import { openMemory } from './memory.ts';
import { near } from './near.ts';
import type { SharedCounters } from './shared-counters.ts';
import type { StoreEntry } from './store-entry.ts';
import { unpacked } from './unpacked.ts';

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
  readonly onFault: Fault;
}

/** Prefix of each key outside this process, so that a Redis may serve others too. */
const NAMESPACE = 'country-graph:';

/** Share of the bytes of a store in memory that may be kept at hand of a store elsewhere, as it was read. */
const AT_HAND_SHARE = 0.5;

/** Milliseconds by which the clocks of others who share the store may be ahead. */
const AHEAD_MS = 60_000;

/**
 * Opens the store, which may be out of reach as yet; null if nothing is to be held or shared. With `none` and a link,
 * it is there for counters and leases alone.
 */
export async function openStore(options: StoreOptions): Promise<Store | null> {
  const { url, link } = options;
  if (isInHub(url) && link !== undefined) {
    const store = await storeOver(openHubBacking(link), options);
    const shared = { ...store, news: newsOver(link, options.timeoutMs) };
    return url === 'memory:' ? near(shared, link) : shared;
  }
  return url === 'none' ? null : storeOver(await openBacking(options), options);
}

/** Returns true if the values of such an address are held in a process: for several of them, in a hub. */
export function isInHub(url: string): boolean {
  return url === 'memory:' || url === 'none';
}

function newsOver({ ask, onTold, onChanged }: HubLink, timeoutMs: number): StoreNews {
  return {
    async tell({ key, value }) {
      const late = new Promise((resolve) => setTimeout(resolve, timeoutMs).unref());
      await Promise.race([ask('store.tell', key, JSON.stringify(value)).catch(() => {}), late]);
    },
    onTold: (listener) => onTold((key, text) => listener({ key, value: JSON.parse(text) })),
    onChanged,
  };
}

async function storeOver(backing: Backing, options: StoreOptions): Promise<Store> {
  const { now = Date.now } = options;
  const guard = guarded(backing, options);
  // A hub's values are at hand in `near.ts`.
  const atHandBytes = options.link === undefined ? options.maxBytes * AT_HAND_SHARE : 0;
  const texts = backing.holdsObjects ? null : unpacked(guard.adapter, atHandBytes);
  const keyv = new Keyv({
    store: (texts ?? guard.adapter) as unknown as KeyvStorageAdapter,
    serialization: false,
  });
  // A value that can't be written as text is a fault too. If nobody listens for it, Keyv throws it at the writer.
  keyv.on('error', options.onFault);
  const named = isInHub(options.url) ? (key: string) => key : (key: string) => NAMESPACE + key;
  const { peek } = backing;
  return {
    async getMany(keys) {
      const values = await keyv.getMany(keys.map(named));
      if (backing.holdsObjects) return values;
      const latestMs = now() + AHEAD_MS;
      return values.map((value) => (isFromAhead(value, latestMs) ? undefined : value));
    },
    peek: peek && ((key) => peek(named(key))),
    isAllHere: backing.holdsObjects,
    async setMany(entries, ttlMs) {
      await keyv.setMany(entries.map(({ key, value }) => ({ key: named(key), value, ttl: ttlMs })));
    },
    clear: (prefix) => guard.clear(named(prefix)),
    first: (name, value) => guard.first(named(name), value),
    onReturn: guard.onReturn,
    sharedCounters: guard.sharedCounters,
    leases: guard.leases,
    news: null,
    shrink(share) {
      backing.shrink?.(share);
      texts?.shrink(share);
    },
    close: guard.close,
  };
}

/**
 * Returns true if a value was written by a clock that was set back since, or is wrong elsewhere: nobody can tell how
 * old it is, and it would count as new until the time has come that it names.
 */
function isFromAhead(value: unknown, latestMs: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { atMs, acceptedAtMs } = value as { readonly atMs?: unknown; readonly acceptedAtMs?: unknown };
  return Number(atMs ?? acceptedAtMs ?? 0) > latestMs;
}

async function openBacking({ url, maxBytes, onFault }: StoreOptions): Promise<Backing> {
  if (url === 'memory:') return openMemory(maxBytes);
  if (url.startsWith('sqlite:')) {
    const { openSqlite } = await import('./sqlite.ts');
    return openSqlite(url.slice('sqlite:'.length), maxBytes * AT_HAND_SHARE, onFault);
  }
  const { openRedis } = await import('./redis.ts');
  return openRedis(url, NAMESPACE);
}
