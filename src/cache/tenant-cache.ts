import { LRUCache } from 'lru-cache';
import type { Failure } from '../errors.ts';
import { createKeyStatuses, type KeyStatusParts } from './key-status.ts';

/**
 * The values that are held for each key: figures and lists as the service sent them, and if the service still accepts
 * the key. Nothing held for one key ever answers another.
 */
export interface TenantCache {
  /**
   * Reads the entries under these names, in one round trip; a name that has none is not in the map. An entry that is
   * older than the service's last refusal of the key, or past all use, counts as none.
   */
  read<Value>(keyDigest: string, names: readonly string[]): Promise<ReadonlyMap<string, CacheEntry<Value>>>;
  /** Reads the entry under one name: at once, if it is held in this process. */
  readOne<Value>(
    keyDigest: string,
    name: string,
  ): CacheEntry<Value> | undefined | Promise<CacheEntry<Value> | undefined>;
  /** Reads the entry under one name in this process. */
  peek<Value>(keyDigest: string, name: string): CacheEntry<Value> | undefined;
  /** True if entries can be read at once, all of them or the ones that were used lately. */
  readonly isAtHand: boolean;
  /** Holds values that the service sent at an instant; they can be read at once. */
  keep(keyDigest: string, values: ReadonlyMap<string, unknown>, atMs: number): void;
  /** Settles once everything that is to be held by now lies in the store, or never will. */
  landed(): Promise<unknown>;
  /** Learns the other gateways' knowledge of a key, if they share the store. */
  lookUp(keyDigest: string): Promise<void>;
  /**
   * Returns a number that changes each time that this process puts anything in the tenant cache for a key or for all,
   * or learns that the key is refused.
   */
  generation(keyDigest: string): number;
  /** Returns true if the service has accepted the key lately, so that entries may be served without asking. */
  isAccepted(keyDigest: string): boolean;
  /** Returns the failure for which the service refuses the key; null if it doesn't, or nobody has asked. */
  refusal(keyDigest: string): Failure | null;
  /** Notes that the service has accepted the key. */
  accept(keyDigest: string): void;
  /**
   * Notes that the service has refused the key, and purges all that is held for it.
   * @returns a promise that settles once all who share the store can know of it
   */
  refuse(keyDigest: string, refusal: Failure): Promise<void> | undefined;
}

/** A value as it came. It is shared: its readers leave it as it is. */
export interface CacheEntry<Value> {
  readonly value: Value;
  /** Instant at which the service sent it, in milliseconds since the epoch. */
  readonly atMs: number;
}

/** Callers whose names in the store are at hand, and names of all of them together unless told. */
const MAX_KEYED = 1_000;
const MAX_NAMES = 60_000;

export function createTenantCache(parts: KeyStatusParts & { readonly maxNames?: number }): TenantCache {
  const { store, now, holdMs, maxNames = MAX_NAMES } = parts;
  const statuses = createKeyStatuses(parts);
  /** Values on their way to the store, by their keys in it. */
  const writing = new Map<string, CacheEntry<unknown>>();
  const landing = new Set<Promise<void>>();

  store.news?.onTold(({ key, value }) => void statuses.learn(digestIn(key), value));
  store.news?.onChanged((keys) => {
    for (const keyDigest of new Set(keys.map(digestIn))) statuses.renew(keyDigest);
  });

  /** Names in the store by key digest and name: most are wanted again and again. When they are too many, all are dropped. */
  const keys = new LRUCache<string, Map<string, string>>({ max: MAX_KEYED });
  /** Names of the caller that was last in use. */
  let last = { keyDigest: '', known: new Map<string, string>() };
  let count = 0;
  function keysOf(keyDigest: string): Map<string, string> {
    if (last.keyDigest === keyDigest) return last.known;
    let known = keys.get(keyDigest);
    if (known === undefined) {
      known = new Map();
      keys.set(keyDigest, known);
    }
    last = { keyDigest, known };
    return known;
  }
  function addKey(keyDigest: string, name: string, key: string): void {
    if (count >= maxNames) {
      keys.clear();
      last = { keyDigest: '', known: new Map() };
      count = 0;
    }
    keysOf(keyDigest).set(name, key);
    count += 1;
  }
  function keyOf(keyDigest: string, name: string): string {
    if (!statuses.isProven(keyDigest)) return keyIn(keyDigest, name);
    const known = keysOf(keyDigest).get(name);
    if (known !== undefined) return known;
    const key = keyIn(keyDigest, name);
    addKey(keyDigest, name, key);
    return key;
  }
  const keyIn = (keyDigest: string, name: string) => `${keyDigest}:held:${name}`;
  const digestIn = (key: string) => key.slice(0, key.indexOf(':'));

  async function read<Value>(keyDigest: string, names: readonly string[]) {
    const found = new Map<string, CacheEntry<Value>>();
    const { peek, isAllHere } = store;
    if (names.length === 0) return found;
    const keys = names.map((name) => keyOf(keyDigest, name));
    const [status, ...values] =
      peek !== null && isAllHere
        ? [undefined, ...keys.map(peek)]
        : await store.getMany([statuses.nameOf(keyDigest), ...keys]);
    const oldestMs = Math.max(statuses.learn(keyDigest, status), now() - holdMs);
    for (const [i, name] of names.entries()) {
      const held = writing.get(keys[i] ?? '') ?? values[i];
      if (isCacheEntry<Value>(held) && held.atMs > oldestMs) found.set(name, held);
    }
    return found;
  }

  function peek<Value>(keyDigest: string, name: string): CacheEntry<Value> | undefined {
    const key = keyOf(keyDigest, name);
    const held = (writing.size > 0 ? writing.get(key) : undefined) ?? store.peek?.(key);
    if (!isCacheEntry<Value>(held)) return undefined;
    return held.atMs > Math.max(statuses.refusedAtMs(keyDigest), now() - holdMs) ? held : undefined;
  }

  return {
    read,
    readOne<Value>(keyDigest: string, name: string) {
      const held = store.peek === null ? undefined : peek<Value>(keyDigest, name);
      if (held !== undefined || (store.peek !== null && store.isAllHere)) return held;
      return read<Value>(keyDigest, [name]).then((found) => found.get(name));
    },
    peek,
    isAtHand: store.peek !== null,
    keep(keyDigest, values, atMs) {
      statuses.renew(keyDigest);
      const entries = [...values].map(([name, value]) => ({
        key: keyOf(keyDigest, name),
        value: { value, atMs },
      }));
      for (const { key, value } of entries) writing.set(key, value);
      const write = store.setMany(entries, holdMs).then(() => {
        for (const { key, value } of entries) if (writing.get(key) === value) writing.delete(key);
        landing.delete(write);
      });
      landing.add(write);
    },
    landed: () => Promise.all(landing),
    lookUp: statuses.lookUp,
    generation: statuses.generation,
    isAccepted: statuses.isAccepted,
    refusal: statuses.refusal,
    accept: statuses.accept,
    refuse(keyDigest, refusal) {
      const { wasAccepted, isStored } = statuses.refuse(keyDigest, refusal);
      // The refusal counts first: everything older than it is gone from then on, however long the purge takes, which
      // looks at all of the store.
      if (!wasAccepted) return undefined;
      void isStored.then(() => store.clear(keyOf(keyDigest, '')));
      return isStored;
    },
  };
}

/** Wraps the cache for a dry run: nothing is put on it or taken off, and the service's word on a key is forgotten. */
export function readOnlyCache(tenantCache: TenantCache): TenantCache {
  if (tenantCache === NO_TENANT_CACHE) return tenantCache;
  let isTakenForAccepted = false;
  return {
    ...tenantCache,
    keep() {},
    accept() {
      isTakenForAccepted = true;
    },
    isAccepted: (keyDigest) => isTakenForAccepted || tenantCache.isAccepted(keyDigest),
    refuse: () => undefined,
  };
}

/** The cache that holds nothing. */
export const NO_TENANT_CACHE: TenantCache = {
  read: async () => new Map(),
  readOne: () => undefined,
  peek: () => undefined,
  isAtHand: true,
  lookUp: async () => {},
  generation: () => 0,
  keep() {},
  landed: async () => {},
  isAccepted: () => false,
  refusal: () => null,
  accept() {},
  refuse: () => undefined,
};

/** Recognizes an entry. It was put there under its name, so that its value has the type that this name always has. */
function isCacheEntry<Value>(held: unknown): held is CacheEntry<Value> {
  if (typeof held !== 'object' || held === null || !('value' in held)) return false;
  return 'atMs' in held && typeof held.atMs === 'number';
}
