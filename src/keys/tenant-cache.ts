import type { Store } from '../cache/store.ts';
import type { Config } from '../config/config.ts';
import { cacheBounds } from '../config/memory-budget.ts';
import type { PromiseOrValue } from '../shared/async/turns.ts';
import type { Failure } from '../shared/errors.ts';
import { PUBLIC, type Tenant, type Tenants } from './tenant.ts';

/** A value as it came. It is shared: its readers leave it as it is. */
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

/** Joins a value with the one that was cached before. */
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

/** Interval at which the store is told that a key is still accepted, as a share of the time for which that counts. */
const WRITING_SHARE = 0.1;

/** The service's last word on each key. Each read from a shared store brings that of the others. */
function createKeyStatuses({ store, tenants: { now }, authTtlMs, retentionMs }: TenantCacheParts) {
  const nameOf = ({ digest }: Tenant) => `${digest}:keyStatus`;

  function write(tenant: Tenant): Promise<boolean> {
    tenant.writtenAtMs = now();
    return store.setMany([statusOf(tenant)], retentionMs);
  }

  /** Settles once the store has what this process knows of the key, and others have heard of it. */
  async function spread(tenant: Tenant): Promise<void> {
    await Promise.all([store.news?.publish(statusOf(tenant)), write(tenant)]);
  }

  function statusOf(tenant: Tenant) {
    const { acceptedAtMs, refusedAtMs, recheckBeforeMs } = tenant;
    return { key: nameOf(tenant), value: { acceptedAtMs, refusedAtMs, recheckBeforeMs } };
  }

  /** Takes over the store's word on a key, as it was read under `nameOf`. Returns the instant of its last refusal. */
  function learn(tenant: Tenant, stored: unknown): number {
    if (!isKeyStatus(stored)) return tenant.refusedAtMs;
    if (stored.acceptedAtMs > 0) tenant.prove();
    const { recheckBeforeMs = 0 } = stored;
    if (stored.refusedAtMs > tenant.refusedAtMs || recheckBeforeMs > tenant.recheckBeforeMs) tenant.renew();
    tenant.recheckBeforeMs = Math.max(tenant.recheckBeforeMs, recheckBeforeMs);
    tenant.acceptedAtMs = Math.max(tenant.acceptedAtMs, stored.acceptedAtMs);
    tenant.refusedAtMs = Math.max(tenant.refusedAtMs, stored.refusedAtMs);
    return tenant.refusedAtMs;
  }

  return {
    learn,
    nameOf,
    /** Learns the other gateways' knowledge of a key, if they share the store. */
    async lookUp(tenant: Tenant): Promise<void> {
      const [stored] = await store.getMany([nameOf(tenant)]);
      learn(tenant, stored);
    },
    /** Returns true if the service has accepted the key lately, so that entries may be served without asking. */
    isAccepted(tenant: Tenant): boolean {
      if (tenant === PUBLIC) return true;
      const { acceptedAtMs, refusedAtMs } = tenant;
      return acceptedAtMs > refusedAtMs && now() - acceptedAtMs <= authTtlMs;
    },
    /** Returns the failure for which the service refuses the key; null if it doesn't, or nobody has asked. */
    refusal: ({ acceptedAtMs, refusedAtMs, refusal }: Tenant): Failure | null =>
      refusedAtMs >= acceptedAtMs ? refusal : null,
    /** Notes that the service has accepted the key, at an instant. */
    accept(tenant: Tenant, atMs = now()): void {
      const isNews = tenant.acceptedAtMs <= tenant.refusedAtMs;
      tenant.acceptedAtMs = Math.max(atMs, tenant.refusedAtMs + 1);
      tenant.refusal = null;
      if (isNews || atMs - tenant.writtenAtMs >= authTtlMs * WRITING_SHARE) void write(tenant);
    },
    /** Refuses the key. `isStored` settles once the store has the refusal, and others have heard of it. */
    refuse(tenant: Tenant, refusal: Failure) {
      const wasAccepted = tenant.acceptedAtMs > tenant.refusedAtMs;
      tenant.refusedAtMs = Math.max(now(), tenant.acceptedAtMs);
      tenant.refusal = refusal;
      tenant.renew();
      // A key that was never accepted has nothing that could be served to anybody.
      if (!wasAccepted) return { wasAccepted, isStored: Promise.resolve() };
      return { wasAccepted, isStored: spread(tenant) };
    },
    /**
     * Has figures of the key from before an instant hold only if a look at the sources says so.
     * @returns a promise that settles once all who share the store can know of it
     */
    recheck(tenant: Tenant, beforeMs: number): Promise<void> {
      tenant.recheckBeforeMs = beforeMs;
      tenant.renew();
      return spread(tenant);
    },
    /** Returns a number that changes with each value put there for the key or for all, and each refusal of it. */
    generation: (tenant: Tenant): number => tenant.generation + (tenant === PUBLIC ? 0 : PUBLIC.generation),
  };
}

interface KeyStatus {
  readonly acceptedAtMs: number;
  readonly refusedAtMs: number;
  /** Left out by gateways of before. */
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
  /** Values on their way, by their keys in the store. */
  const writing = new Map<string, CacheEntry<unknown>>();
  const landing = new Set<Promise<void>>();
  let areAllStored = true;

  async function land(entries: readonly NamedEntry[], join?: Joining, stored?: Promise<Entries>) {
    let joined = entries;
    if (join !== undefined && stored !== undefined) {
      const before = await stored;
      // A value that has taken the place of one since is joined with it, and on its own way.
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
    /**
     * Settles once everything that is to be cached by now lies in the store, or never will: false if the store could not
     * take some of it since the start.
     */
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

/** Names in the store that are at hand, of all keys together, unless set. */
const MAX_NAMES = 60_000;

export type TenantCache = ReturnType<typeof createTenantCache>;

/** Stands in keys of the store between the digest of a key and the name of what is cached for it. */
const CACHED = ':held:';

/** Returns the name of what is cached under a key of the store; null if that is something else. */
export function nameInStore(key: string): string | null {
  const at = key.indexOf(CACHED);
  return at === -1 ? null : key.slice(at + CACHED.length);
}

/** Caches values for each key, and its acceptance. Nothing cached for one key ever answers another. */
export function createTenantCache(parts: TenantCacheParts) {
  const { store, tenants, retentionMs, maxNames = MAX_NAMES } = parts;
  const { now } = tenants;
  const { learn, nameOf, refuse, ...statuses } = createKeyStatuses(parts);
  const { writing, put, landed } = createWrites(parts);

  store.news?.onPublished(({ key, value }) => void learn(tenants.named(digestIn(key)), value));
  store.news?.onChanged((keys) => {
    for (const digest of new Set(keys.map(digestIn))) {
      const tenant = digest === PUBLIC.digest ? PUBLIC : tenants.find(digest);
      tenant?.renew();
    }
  });

  /** Marks the names that are at hand, and their number: most are wanted again and again. */
  let among = {};
  let count = 0;
  function keyOf(tenant: Tenant, name: string): string {
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
  const digestIn = (key: string) => key.slice(0, key.indexOf(':'));

  /**
   * Reads the entries under these names, in one round trip; a name that has none is not in the map. An entry that is
   * older than the service's last refusal of the key, or past all use, counts as none.
   */
  async function read<Value>(
    tenant: Tenant,
    names: readonly string[],
    onTheirWay: Entries = writing,
  ): Promise<ReadonlyMap<string, CacheEntry<Value>>> {
    const entries = new Map<string, CacheEntry<Value>>();
    const { peekMany: peekAll, isAllHere } = store;
    if (names.length === 0) return entries;
    const keys = names.map((name) => keyOf(tenant, name));
    const [status, ...values] =
      peekAll !== null && isAllHere
        ? [undefined, ...peekAll(keys)]
        : await store.getMany([nameOf(tenant), ...keys]);
    const oldestMs = Math.max(learn(tenant, status), now() - retentionMs);
    for (const [i, name] of names.entries()) {
      // The value was put there under its name, so that it has the type that this name always has.
      const entry = (onTheirWay.get(keys[i] ?? '') ?? values[i]) as CacheEntry<Value> | null | undefined;
      if (entry?.value !== undefined && entry.atMs > oldestMs) entries.set(name, entry);
    }
    return entries;
  }

  /** Reads entries that are in this process, by the places of their names, as `read` does: by one look at the clock. */
  function peekMany<Value>(tenant: Tenant, names: readonly string[]): (CacheEntry<Value> | undefined)[] {
    const keys = names.map((name) => keyOf(tenant, name));
    const values = store.peekMany?.(keys);
    const oldestMs = Math.max(tenant.refusedAtMs, now() - retentionMs);
    return keys.map((key, i) => {
      const value = (writing.size > 0 ? writing.get(key) : undefined) ?? values?.[i];
      const entry = value as CacheEntry<Value> | null | undefined;
      // Anything else than an entry has no instant, which is later than none.
      return entry != null && entry.atMs > oldestMs ? entry : undefined;
    });
  }
  const peek = <Value>(tenant: Tenant, name: string) => peekMany<Value>(tenant, [name])[0];

  return {
    read: <Value>(tenant: Tenant, names: readonly string[]) => read<Value>(tenant, names),
    /** Reads the entry under one name: at once, if it is cached in this process. */
    readOne<Value>(tenant: Tenant, name: string): PromiseOrValue<CacheEntry<Value> | undefined> {
      const entry = store.peekMany === null ? undefined : peek<Value>(tenant, name);
      if (entry !== undefined || (store.peekMany !== null && store.isAllHere)) return entry;
      return read<Value>(tenant, [name]).then((entries) => entries.get(name));
    },
    peek,
    peekMany,
    /** True if entries can be read at once, all of them or the ones that were used lately. */
    isAtHand: store.peekMany !== null,
    isAllHere: store.peekMany !== null && store.isAllHere,
    /**
     * Holds values that the service sent at an instant; they can be read at once.
     * @param join joins each with the value that was cached under its name before, if there is one
     */
    save(tenant: Tenant, values: ReadonlyMap<string, unknown>, atMs: number, join?: Joining): void {
      tenant.renew();
      const entries: NamedEntry[] = [];
      values.forEach((given, name) => {
        const entry = { value: given, atMs };
        const value = join === undefined ? entry : joinedWith(peek(tenant, name), entry, join);
        entries.push({ name, key: keyOf(tenant, name), value });
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
      // The refusal counts first: everything older than it is gone from then on, however long the purge takes, which
      // looks at all of the store.
      if (!wasAccepted) return undefined;
      void isStored.then(() => store.clear(keyOf(tenant, '')));
      return isStored;
    },
  };
}

/** The cache that holds nothing. */
export const NO_TENANT_CACHE: TenantCache = {
  read: async () => new Map(),
  readOne: () => undefined,
  peek: () => undefined,
  peekMany: (_tenant, names) => names.map(() => undefined),
  isAtHand: true,
  isAllHere: true,
  lookUp: async () => {},
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

/** Has one of those who share a store fetch the names that several ask for at the same time. */
export interface InFlight {
  /** The cache in which the others read the values that one has fetched; null if nobody shares the store. */
  readonly cache: TenantCache | null;
  /**
   * Fetches names that nobody else is fetching, and waits for the others; but no longer than a few seconds, and not at
   * all if the store is lost: then each fetches for itself.
   * @throws the error of `fetch`, or the signal's reason
   */
  together(wanted: {
    /** The digest of its owner. */
    readonly group: string;
    readonly names: readonly string[];
    readonly signal: AbortSignal;
    /** Fetches names; calls that come at the same time in this process share it. */
    fetch(names: readonly string[]): Promise<void>;
    /** Takes over the values that others have fetched; returns the names that have none. */
    takeOver(names: readonly string[]): Promise<readonly string[]>;
  }): Promise<void>;
}

/** Fetches all by itself, for a store that nobody shares. */
export const ALONE: InFlight = { cache: null, together: ({ names, fetch }) => fetch(names) };

/** Returns the time for which a cached value is fresh, and the further one for which it may stand for an error. */
export function freshnessIn({ cacheTtlSeconds, staleIfErrorSeconds }: Config) {
  return { ttlMs: cacheTtlSeconds * 1000, staleMs: staleIfErrorSeconds * 1000 };
}

/** Milliseconds of the longest time that a store is told: ten years. */
export const LONGEST_MS = 315_360_000_000;

/** Opens the cache of each key's values; it holds nothing if the settings say so. */
export function openTenantCache(store: Store | null, config: Config, tenants: Tenants): TenantCache {
  const { ttlMs, staleMs } = freshnessIn(config);
  if (store === null || config.cacheUrl === 'none' || ttlMs + staleMs === 0) return NO_TENANT_CACHE;
  const { names: maxNames } = cacheBounds(config);
  const authTtlMs = config.authTtlSeconds * 1000;
  const retentionMs = Math.min(ttlMs + staleMs, LONGEST_MS);
  return createTenantCache({ store, tenants, authTtlMs, retentionMs, maxNames });
}

/**
 * Opens the cache for those who can't ask: of any age, and whenever the service has accepted the key, unless it has
 * refused it since. Nothing is written to it.
 * @param written the cache whose values it reads, also those on their way to the store
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
