import type { Store } from '../cache/store.ts';
import type { Config } from '../config/config.ts';
import { cacheBounds } from '../config/memory-budget.ts';
import { mapValue, type PromiseOrValue } from '../shared/async/promises.ts';
import type { Failure } from '../shared/errors.ts';
import { PUBLIC, type Tenant, type Tenants } from './tenant.ts';

/** A value as it came. It is shared, so readers must not change it. */
export interface CacheEntry<Value> {
  readonly value: Value;
  /** Instant at which the service sent it, in milliseconds since the epoch. */
  readonly atMs: number;
}

/** An entry on its way to the store, and its key there. */
interface NamedEntry {
  readonly name: string;
  readonly key: string;
  readonly value: CacheEntry<unknown>;
}

type Joining = (value: unknown, before: unknown) => unknown;

interface TenantCacheParts {
  readonly store: Store;
  readonly tenants: Tenants;
  /** Milliseconds that an accepted key counts as accepted. */
  readonly authTtlMs: number;
  /** Milliseconds that anything is cached at all. */
  readonly retentionMs: number;
  readonly maxNames?: number;
}

/** Interval at which the store is told that a key is still accepted, as a share of `authTtlMs`. */
const WRITING_SHARE = 0.1;

/** The service's last verdict on each key. Each read of a shared store brings the verdicts that others know. */
function createKeyStatuses({ store, tenants: { now }, authTtlMs, retentionMs }: TenantCacheParts) {
  const nameOfStatus = ({ digest }: Tenant) => `${digest}:keyStatus`;

  function write(tenant: Tenant): Promise<boolean> {
    tenant.writtenAtMs = now();
    return store.setMany([statusOf(tenant)], retentionMs);
  }

  function statusOf(tenant: Tenant) {
    const { acceptedAtMs, refusedAtMs, recheckBeforeMs } = tenant;
    return { key: nameOfStatus(tenant), value: { acceptedAtMs, refusedAtMs, recheckBeforeMs } };
  }

  /** Takes over what the store knows of a key. */
  function learn(tenant: Tenant, stored: unknown): void {
    if (!isKeyStatus(stored)) return;
    if (stored.acceptedAtMs > 0) tenant.prove();
    const { recheckBeforeMs = 0 } = stored;
    if (stored.refusedAtMs > tenant.refusedAtMs || recheckBeforeMs > tenant.recheckBeforeMs) tenant.renew();
    tenant.recheckBeforeMs = Math.max(tenant.recheckBeforeMs, recheckBeforeMs);
    tenant.acceptedAtMs = Math.max(tenant.acceptedAtMs, stored.acceptedAtMs);
    tenant.refusedAtMs = Math.max(tenant.refusedAtMs, stored.refusedAtMs);
  }

  return {
    learn,
    /** At once, if the store can be read so. */
    lookUp(tenant: Tenant): PromiseOrValue<void> {
      const names = [nameOfStatus(tenant)];
      const looking = store.peekMany?.(names) ?? store.getMany(names);
      return mapValue(looking, ([stored]) => learn(tenant, stored));
    },
    /** Reads values beside what others know of the key. */
    async readWith(tenant: Tenant, keys: readonly string[]): Promise<readonly unknown[]> {
      const [status, ...values] = await store.getMany([nameOfStatus(tenant), ...keys]);
      learn(tenant, status);
      return values;
    },
    /** The same at once; undefined if the store can't be read so. */
    peekWith(tenant: Tenant, keys: readonly string[]): readonly unknown[] | undefined {
      if (store.peekMany === null || store.isAllHere) return store.peekMany?.(keys);
      const [status, ...values] = store.peekMany([nameOfStatus(tenant), ...keys]);
      learn(tenant, status);
      return values;
    },
    /** True if the service has accepted the key lately, so that entries may be served without asking. */
    isAccepted(tenant: Tenant): boolean {
      if (tenant === PUBLIC) return true;
      const { acceptedAtMs, refusedAtMs } = tenant;
      return acceptedAtMs > refusedAtMs && now() - acceptedAtMs <= authTtlMs;
    },
    /** Returns the failure for which the service refuses the key; null if it doesn't, or nobody has asked. */
    refusal: ({ acceptedAtMs, refusedAtMs, refusal }: Tenant): Failure | null =>
      refusedAtMs >= acceptedAtMs ? refusal : null,
    accept(tenant: Tenant, atMs = now()): void {
      const isNews = tenant.acceptedAtMs <= tenant.refusedAtMs;
      tenant.acceptedAtMs = Math.max(atMs, tenant.refusedAtMs + 1);
      tenant.refusal = null;
      if (isNews || atMs - tenant.writtenAtMs >= authTtlMs * WRITING_SHARE) void write(tenant);
    },
    /** `isStored` settles once the store knows of the refusal. */
    refuse(tenant: Tenant, refusal: Failure) {
      const wasAccepted = tenant.acceptedAtMs > tenant.refusedAtMs;
      tenant.refusedAtMs = Math.max(now(), tenant.acceptedAtMs);
      tenant.refusal = refusal;
      tenant.renew();
      // Nothing is cached for a key that was never accepted.
      if (!wasAccepted) return { wasAccepted, isStored: Promise.resolve(true) };
      return { wasAccepted, isStored: write(tenant) };
    },
    /**
     * Has figures of the key from before an instant count only if a look at the sources says so.
     * @returns a promise that settles once all who share the store can know of it
     */
    recheck(tenant: Tenant, beforeMs: number): Promise<void> {
      tenant.recheckBeforeMs = beforeMs;
      tenant.renew();
      return write(tenant).then(() => {});
    },
    /** Changes with each value that is cached for the key or for all, and with each refusal of the key. */
    generation: (tenant: Tenant): number => tenant.generation + (tenant === PUBLIC ? 0 : PUBLIC.generation),
  };
}

interface KeyStatus {
  readonly acceptedAtMs: number;
  readonly refusedAtMs: number;
  /** Former versions don't write it. */
  readonly recheckBeforeMs?: number;
}

function isKeyStatus(value: unknown): value is KeyStatus {
  if (typeof value !== 'object' || value === null) return false;
  if (!('acceptedAtMs' in value && 'refusedAtMs' in value)) return false;
  return typeof value.acceptedAtMs === 'number' && typeof value.refusedAtMs === 'number';
}

type Entries = ReadonlyMap<string, CacheEntry<unknown>>;

const NOT_ON_THEIR_WAY: Entries = new Map();

function createWrites({ store, retentionMs }: TenantCacheParts) {
  /** Values on their way to the store, by their keys there. */
  const writing = new Map<string, CacheEntry<unknown>>();
  const landing = new Set<Promise<void>>();
  let areAllStored = true;

  async function land(entries: readonly NamedEntry[], join?: Joining, stored?: Promise<Entries>) {
    let joined = entries;
    if (join !== undefined && stored !== undefined) {
      const before = await stored;
      // Values that have been replaced since are joined with these, and on their own way.
      const left = entries.filter(({ key, value }) => writing.get(key) === value);
      joined = left.map((entry) => ({
        ...entry,
        value: joinedWith(before.get(entry.name), entry.value, join),
      }));
      for (const { key, value } of joined) writing.set(key, value);
    }
    if (!(await store.setMany(joined, retentionMs))) areAllStored = false;
    for (const { key, value } of joined) if (writing.get(key) === value) writing.delete(key);
  }

  return {
    writing,
    /** @param stored the entries that the store has, to join with */
    put(entries: readonly NamedEntry[], join?: Joining, stored?: Promise<Entries>): void {
      for (const { key, value } of entries) writing.set(key, value);
      const written = land(entries, join, stored).then(() => void landing.delete(written));
      landing.add(written);
    },
    /** Settles once all values are in the store or have failed to get there: false if any has failed since the start. */
    async landed(): Promise<boolean> {
      await Promise.all(landing);
      return areAllStored;
    },
  };
}

function joinedWith(
  before: CacheEntry<unknown> | undefined,
  entry: CacheEntry<unknown>,
  join: Joining,
): CacheEntry<unknown> {
  return before === undefined ? entry : { ...entry, value: join(entry.value, before.value) };
}

/** Memoized names in the store, of all keys together, unless set. */
const MAX_NAMES = 60_000;

export type TenantCache = ReturnType<typeof createTenantCache>;

/** Between the digest of a key and the name of the value. */
const CACHED = ':held:';

export function nameInStore(key: string): string | null {
  const at = key.indexOf(CACHED);
  return at === -1 ? null : key.slice(at + CACHED.length);
}

/** Caches values for each key, and its acceptance. What is cached for one key never answers another. */
export function createTenantCache(parts: TenantCacheParts) {
  const { store, tenants, retentionMs, maxNames = MAX_NAMES } = parts;
  const { now } = tenants;
  const { learn, refuse, readWith, peekWith, ...statuses } = createKeyStatuses(parts);
  const { writing, put, landed } = createWrites(parts);

  /** Names in the store are memoized, since most are wanted again and again. `among` marks those that count in `count`. */
  let among = {};
  let count = 0;
  function keyOfEntry(tenant: Tenant, name: string): string {
    if (!tenant.isKnown) return keyIn(tenant, name);
    if (tenant.names?.among !== among) tenant.names = { among, keys: new Map() };
    const cachedName = tenant.names.keys.get(name);
    if (cachedName !== undefined) return cachedName;
    if (count >= maxNames) {
      among = {};
      count = 0;
      tenant.names = { among, keys: new Map() };
    }
    const key = keyIn(tenant, name);
    tenant.names.keys.set(name, key);
    count += 1;
    return key;
  }
  const keyIn = ({ digest }: Tenant, name: string) => `${digest}${CACHED}${name}`;

  /**
   * Reads entries by name, in one round trip. An entry that is older than the service's last refusal of the key, or
   * past all use, counts as none.
   */
  async function read<Value>(
    tenant: Tenant,
    names: readonly string[],
    onTheirWay: Entries = writing,
  ): Promise<ReadonlyMap<string, CacheEntry<Value>>> {
    const entries = new Map<string, CacheEntry<Value>>();
    if (names.length === 0) return entries;
    const keys = names.map((name) => keyOfEntry(tenant, name));
    const values = (store.isAllHere ? peekWith(tenant, keys) : await readWith(tenant, keys)) ?? [];
    const oldestMs = Math.max(tenant.refusedAtMs, now() - retentionMs);
    for (const [i, name] of names.entries()) {
      // The name tells the type of its value.
      const entry = (onTheirWay.get(keys[i] ?? '') ?? values[i]) as CacheEntry<Value> | null | undefined;
      if (entry?.value !== undefined && entry.atMs > oldestMs) entries.set(name, entry);
    }
    return entries;
  }

  /** Reads entries that can be read at once, by the places of their names, as `read` does. */
  function peekMany<Value>(tenant: Tenant, names: readonly string[]): (CacheEntry<Value> | undefined)[] {
    const keys = names.map((name) => keyOfEntry(tenant, name));
    const values = peekWith(tenant, keys);
    const oldestMs = Math.max(tenant.refusedAtMs, now() - retentionMs);
    return keys.map((key, i) => {
      const value = (writing.size > 0 ? writing.get(key) : undefined) ?? values?.[i];
      const entry = value as CacheEntry<Value> | null | undefined;
      // A value that is no entry has no instant, so the comparison is false.
      return entry != null && entry.atMs > oldestMs ? entry : undefined;
    });
  }
  const peek = <Value>(tenant: Tenant, name: string) => peekMany<Value>(tenant, [name])[0];

  return {
    read: <Value>(tenant: Tenant, names: readonly string[]) => read<Value>(tenant, names),
    /** At once, if the entry is cached in this process. */
    readOne<Value>(tenant: Tenant, name: string): PromiseOrValue<CacheEntry<Value> | undefined> {
      const entry = store.peekMany === null ? undefined : peek<Value>(tenant, name);
      if (entry !== undefined || (store.peekMany !== null && store.isAllHere)) return entry;
      return read<Value>(tenant, [name]).then((entries) => entries.get(name));
    },
    peek,
    peekMany,
    /** True if entries can be read at once. */
    isAtHand: store.peekMany !== null,
    isAllHere: store.peekMany !== null && store.isAllHere,
    /**
     * Caches values that the service sent at an instant; they can be read at once.
     * @param join joins each with the value that was cached under its name before, if there is one
     */
    save(tenant: Tenant, values: ReadonlyMap<string, unknown>, atMs: number, join?: Joining): void {
      tenant.renew();
      const entries: NamedEntry[] = [];
      values.forEach((given, name) => {
        const entry = { value: given, atMs };
        const value = join === undefined ? entry : joinedWith(peek(tenant, name), entry, join);
        entries.push({ name, key: keyOfEntry(tenant, name), value });
      });
      const isElsewhere = join !== undefined && !store.isAllHere;
      put(entries, join, isElsewhere ? read(tenant, [...values.keys()], NOT_ON_THEIR_WAY) : undefined);
    },
    landed,
    ...statuses,
    /**
     * Notes that the service has refused the key, and purges all that is cached for it.
     * @returns a promise that settles once all who share the store can know of it
     */
    refuse(tenant: Tenant, failure: Failure): Promise<void> | undefined {
      const { wasAccepted, isStored } = refuse(tenant, failure);
      // The refusal comes first: nothing older than it is served from then on, however long the purge takes.
      if (!wasAccepted) return undefined;
      const told = isStored.then(() => {});
      void told.then(() => store.clear(keyOfEntry(tenant, '')));
      return told;
    },
  };
}

export const NO_TENANT_CACHE: TenantCache = {
  read: async () => new Map(),
  readOne: () => undefined,
  peek: () => undefined,
  peekMany: (_tenant, names) => names.map(() => undefined),
  isAtHand: true,
  isAllHere: true,
  lookUp() {},
  generation: () => 0,
  save() {},
  landed: async () => true,
  isAccepted: () => false,
  refusal: () => null,
  accept() {},
  refuse: () => undefined,
  async recheck(tenant, beforeMs) {
    tenant.recheckBeforeMs = beforeMs;
  },
};

/** Has one of the gateways that share a store fetch the names that several want at the same time. */
export interface InFlight {
  /** The cache in which the others find the values; null if nobody shares the store. */
  readonly cache: TenantCache | null;
  /**
   * Fetches names that nobody else is fetching, and waits for the others; but for a few seconds at most, and not if the
   * store is lost.
   * @throws the error of `fetch`, or the signal's reason
   */
  together(wanted: {
    readonly group: string;
    readonly names: readonly string[];
    readonly signal: AbortSignal;
    /** Fetches names; calls that come at the same time in this process share it. */
    fetch(names: readonly string[]): Promise<void>;
    /** Takes over the values that others have fetched; returns the names that have none. */
    takeOver(names: readonly string[]): Promise<readonly string[]>;
  }): Promise<void>;
}

/** For a store that nobody shares. */
export const ALONE: InFlight = { cache: null, together: ({ names, fetch }) => fetch(names) };

export function freshnessIn({ cacheTtlSeconds, staleIfErrorSeconds }: Config) {
  return { ttlMs: cacheTtlSeconds * 1000, staleMs: staleIfErrorSeconds * 1000 };
}

/** The longest retention in a store, in milliseconds: ten years. */
export const LONGEST_MS = 315_360_000_000;

export function openTenantCache(store: Store | null, config: Config, tenants: Tenants): TenantCache {
  const { ttlMs, staleMs } = freshnessIn(config);
  if (store === null || config.cacheUrl === 'none' || ttlMs + staleMs === 0) return NO_TENANT_CACHE;
  const { names: maxNames } = cacheBounds(config);
  const authTtlMs = config.authTtlSeconds * 1000;
  const retentionMs = Math.min(ttlMs + staleMs, LONGEST_MS);
  return createTenantCache({ store, tenants, authTtlMs, retentionMs, maxNames });
}

/**
 * Opens the cache for callers who can't ask: entries count at any age, and under any key that the service has accepted,
 * unless it has refused it since. Nothing is written to it.
 * @param written the cache whose values it reads, those on their way to the store included
 */
export function openAgelessCache(store: Store | null, tenants: Tenants, written: TenantCache): TenantCache {
  if (store === null || written === NO_TENANT_CACHE) return NO_TENANT_CACHE;
  const ageless = { authTtlMs: Number.POSITIVE_INFINITY, retentionMs: Number.POSITIVE_INFINITY };
  const cache = createTenantCache({ store, tenants, ...ageless });
  if (cache.isAllHere) return cache;
  return {
    ...cache,
    async read<Value>(tenant: Tenant, names: readonly string[]) {
      await written.landed();
      return cache.read<Value>(tenant, names);
    },
    async readOne<Value>(tenant: Tenant, name: string) {
      await written.landed();
      return cache.readOne<Value>(tenant, name);
    },
  };
}
