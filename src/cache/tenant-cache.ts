import { LRUCache } from 'lru-cache';
import type { Failure } from '../errors.ts';
import { createCorners } from './corners.ts';
import type { Store } from './store.ts';

/**
 * What is held for each key: figures and lists as the service sent them, and whether the service still accepts the
 * key. Nothing held for one key ever answers another.
 */
export interface TenantCache {
  /**
   * What is held under these names, in one round trip; a name that nothing is held under is not in the map. What is
   * older than the service's last refusal of the key, or past all use, is not held.
   */
  read<Value>(keyDigest: string, names: readonly string[]): Promise<ReadonlyMap<string, CacheEntry<Value>>>;
  /** What is held under one name: at once, where the store is in this process. */
  readOne<Value>(
    keyDigest: string,
    name: string,
  ): CacheEntry<Value> | undefined | Promise<CacheEntry<Value> | undefined>;
  /** Whether the store is in this process, so that whatever is held can be read at once. */
  readonly isAtHand: boolean;
  /** Holds values that the service sent at an instant; they can be read at once. */
  keep(keyDigest: string, values: ReadonlyMap<string, unknown>, atMs: number): void;
  /** Learns what other gateways that share the store know of a key. */
  lookUp(keyDigest: string): Promise<void>;
  /** Changes whenever this process puts anything in the tenant cache for a key or for all, or hears that the key is refused. */
  generation(keyDigest: string): number;
  /** Whether the service has accepted the key lately, so that what is held may be served without asking. */
  isAccepted(keyDigest: string): boolean;
  /** Why the service refuses the key; null where it doesn't, or nobody has asked. */
  refusal(keyDigest: string): Failure | null;
  /** The service has accepted the key. */
  accept(keyDigest: string): void;
  /** The service has refused the key: all that is held for it is purged. */
  refuse(keyDigest: string, refusal: Failure): void;
}

/** A value as it came. It is shared: whoever reads it leaves it as it is. */
export interface CacheEntry<Value> {
  readonly value: Value;
  /** When the service sent it, in milliseconds since the epoch. */
  readonly atMs: number;
}

/** The key digest of what anybody may read. */
export const PUBLIC = 'public';

/** What the service last said of a key. Instants are milliseconds since the epoch; 0 for never. */
interface KeyStatus {
  acceptedAtMs: number;
  refusedAtMs: number;
  /** When it was last written to the store. */
  writtenAtMs: number;
  generation: number;
  refusal: Failure | null;
}

export interface TenantCacheParts {
  readonly store: Store;
  readonly now: () => number;
  /** How long a key that was accepted counts as accepted. */
  readonly authTtlMs: number;
  /** How long anything is held at all. */
  readonly holdMs: number;
}

/** Keys whose status is remembered at once. */
const MAX_KEY_STATUSES = { proven: 10_000, unproven: 2_000 };

/** Callers whose names in the store are at hand, and names of each. */
const MAX_KEYED = 100;
const MAX_KEYS = 30_000;

/** How often the store is told that a key is still accepted, as a share of how long that counts. */
const TELLING_SHARE = 0.1;

export function createTenantCache({ store, now, authTtlMs, holdMs }: TenantCacheParts): TenantCache {
  const keyStatuses = createCorners<KeyStatus>(MAX_KEY_STATUSES);
  /** Never the same twice, so that a key that was forgotten meanwhile has no generation of before. */
  let generations = 0;
  /** Values on their way to the store, by their keys in it. */
  const writing = new Map<string, CacheEntry<unknown>>();

  /** Names in the store by key digest and name: most are wanted again and again. */
  const keys = new LRUCache<string, Map<string, string>>({ max: MAX_KEYED });
  function keyOf(keyDigest: string, name: string): string {
    if (!keyStatuses.isProven(keyDigest)) return keyIn(keyDigest, name);
    let known = keys.get(keyDigest);
    if (known === undefined || known.size >= MAX_KEYS) {
      known = new Map();
      keys.set(keyDigest, known);
    }
    let key = known.get(name);
    if (key === undefined) {
      key = keyIn(keyDigest, name);
      known.set(name, key);
    }
    return key;
  }
  const keyIn = (keyDigest: string, name: string) => `${keyDigest}:held:${name}`;
  const statusKey = (keyDigest: string) => `${keyDigest}:keyStatus`;

  function statusOfKey(keyDigest: string): KeyStatus {
    let keyStatus = keyStatuses.get(keyDigest);
    if (keyStatus === undefined) {
      generations += 1;
      keyStatus = { acceptedAtMs: 0, refusedAtMs: 0, writtenAtMs: 0, generation: generations, refusal: null };
      keyStatuses.add(keyDigest, keyStatus);
      if (keyDigest === PUBLIC) keyStatuses.prove(PUBLIC);
    }
    return keyStatus;
  }

  function renew(keyStatus: KeyStatus): void {
    generations += 1;
    keyStatus.generation = generations;
  }

  /** Other gateways may know more of the key. */
  function learn(keyDigest: string, told: unknown): KeyStatus {
    const keyStatus = statusOfKey(keyDigest);
    if (!isInstants(told)) return keyStatus;
    if (told.acceptedAtMs > 0) keyStatuses.prove(keyDigest);
    if (told.refusedAtMs > keyStatus.refusedAtMs) renew(keyStatus);
    keyStatus.acceptedAtMs = Math.max(keyStatus.acceptedAtMs, told.acceptedAtMs);
    keyStatus.refusedAtMs = Math.max(keyStatus.refusedAtMs, told.refusedAtMs);
    return keyStatus;
  }

  function tell(keyDigest: string, keyStatus: KeyStatus): Promise<void> {
    const { acceptedAtMs, refusedAtMs } = keyStatus;
    keyStatus.writtenAtMs = now();
    return store.setMany([{ key: statusKey(keyDigest), value: { acceptedAtMs, refusedAtMs } }], holdMs);
  }

  const isAccepted = ({ acceptedAtMs, refusedAtMs }: KeyStatus) =>
    acceptedAtMs > refusedAtMs && now() - acceptedAtMs <= authTtlMs;

  async function read<Value>(keyDigest: string, names: readonly string[]) {
    const found = new Map<string, CacheEntry<Value>>();
    const { peek } = store;
    if (names.length === 0) return found;
    const keys = names.map((name) => keyOf(keyDigest, name));
    const [told, ...values] =
      peek === null ? await store.getMany([statusKey(keyDigest), ...keys]) : [undefined, ...keys.map(peek)];
    const keyStatus = learn(keyDigest, told);
    const oldestMs = Math.max(keyStatus.refusedAtMs, now() - holdMs);
    for (const [i, name] of names.entries()) {
      const held = writing.get(keys[i] ?? '') ?? values[i];
      if (isCacheEntry(held) && held.atMs > oldestMs) found.set(name, held as CacheEntry<Value>);
    }
    return found;
  }

  return {
    read,
    readOne<Value>(keyDigest: string, name: string) {
      if (store.peek === null) return read<Value>(keyDigest, [name]).then((found) => found.get(name));
      const key = keyOf(keyDigest, name);
      const held = (writing.size > 0 ? writing.get(key) : undefined) ?? store.peek(key);
      const oldestMs = Math.max(statusOfKey(keyDigest).refusedAtMs, now() - holdMs);
      return isCacheEntry(held) && held.atMs > oldestMs ? (held as CacheEntry<Value>) : undefined;
    },
    isAtHand: store.peek !== null,
    async lookUp(keyDigest) {
      const [told] = await store.getMany([statusKey(keyDigest)]);
      learn(keyDigest, told);
    },
    generation: (keyDigest) =>
      statusOfKey(keyDigest).generation + (keyDigest === PUBLIC ? 0 : statusOfKey(PUBLIC).generation),
    keep(keyDigest, values, atMs) {
      renew(statusOfKey(keyDigest));
      const entries = [...values].map(([name, value]) => ({
        key: keyOf(keyDigest, name),
        value: { value, atMs },
      }));
      for (const { key, value } of entries) writing.set(key, value);
      void store.setMany(entries, holdMs).then(() => {
        for (const { key, value } of entries) if (writing.get(key) === value) writing.delete(key);
      });
    },
    isAccepted: (keyDigest) => keyDigest === PUBLIC || isAccepted(statusOfKey(keyDigest)),
    refusal(keyDigest) {
      const { acceptedAtMs, refusedAtMs, refusal } = statusOfKey(keyDigest);
      return refusedAtMs >= acceptedAtMs ? refusal : null;
    },
    accept(keyDigest) {
      const keyStatus = statusOfKey(keyDigest);
      const isNews = keyStatus.acceptedAtMs <= keyStatus.refusedAtMs;
      keyStatus.acceptedAtMs = Math.max(now(), keyStatus.refusedAtMs + 1);
      keyStatus.refusal = null;
      keyStatuses.prove(keyDigest);
      if (isNews || now() - keyStatus.writtenAtMs >= authTtlMs * TELLING_SHARE)
        void tell(keyDigest, keyStatus);
    },
    refuse(keyDigest, refusal) {
      const keyStatus = statusOfKey(keyDigest);
      const wasAccepted = keyStatus.acceptedAtMs > keyStatus.refusedAtMs;
      keyStatus.refusedAtMs = Math.max(now(), keyStatus.acceptedAtMs);
      keyStatus.refusal = refusal;
      renew(keyStatus);
      // A key that was never accepted has nothing in the tenant cache, and a purge looks at all of the store.
      if (wasAccepted) void tell(keyDigest, keyStatus).then(() => store.clear(keyOf(keyDigest, '')));
    },
  };
}

/** The cache of a dry run: nothing is put on it or taken off, and what the service says of a key is forgotten. */
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
    refuse() {},
  };
}

/** Where nothing is held. */
export const NO_TENANT_CACHE: TenantCache = {
  read: async () => new Map(),
  readOne: () => undefined,
  isAtHand: true,
  lookUp: async () => {},
  generation: () => 0,
  keep() {},
  isAccepted: () => false,
  refusal: () => null,
  accept() {},
  refuse() {},
};

function isCacheEntry(value: unknown): value is CacheEntry<unknown> {
  return typeof value === 'object' && value !== null && 'value' in value && hasNumber(value, 'atMs');
}

function isInstants(value: unknown): value is { acceptedAtMs: number; refusedAtMs: number } {
  return (
    typeof value === 'object' &&
    value !== null &&
    hasNumber(value, 'acceptedAtMs') &&
    hasNumber(value, 'refusedAtMs')
  );
}

function hasNumber(value: object, name: string): boolean {
  return typeof (value as Record<string, unknown>)[name] === 'number';
}
