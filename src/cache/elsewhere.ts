import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import {
  ConsecutiveBreaker,
  ConstantBackoff,
  circuitBreaker,
  handleAll,
  type IPolicy,
  retry,
  TimeoutStrategy,
  timeout,
  wrap,
} from 'cockatiel';
import type { KeyvStorageAdapter, KeyvStorageEntry } from 'keyv';
import Keyv from 'keyv';
import { within } from '../shared/async/within.ts';
import { parseExactly } from '../shared/exact-json.ts';
import type { Adapter, Backing, OnError } from './backing.ts';
import { openHubBacking } from './hub.ts';
import { BoundedCache, roughBytes, type Shrinkable } from './lru.ts';
import { StoreOutage } from './outage.ts';
import type { HubLink, Leases, SharedCounters, Store, StoreOptions } from './store.ts';

/** Failures in a row after which the store is left alone for a while. */
const MAX_FAILURES = 3;

/** Times as long as values that shared counters may take: a count without them may be one too many. */
const COUNTERS_PATIENCE = 3;

/** Tries to end a lease, and the pause between them: all others who want the same names wait for it. */
const END_RETRIES = 3;
const END_PAUSE_MS = 100;

/** Milliseconds that the store is left alone before one more try. */
const PAUSE_MS = 3_000;

/** Bound of a purge: it looks at every key of the store, and nobody waits for it. */
const PURGE_TIMEOUT_MS = 30_000;

/** Milliseconds that a close waits for writes under way. */
const CLOSE_TIMEOUT_MS = 1_000;

/**
 * Knows of a store whose work fails, by kinds of work: a full one can be read, and one that is late with values may count.
 * Some failures in a row begin an outage. It is over when each kind that failed has gone well since.
 */
function watchOutage(onError: OnError) {
  const failures = new Map<string, number>();
  let isOut = false;

  function end(): void {
    failures.clear();
    if (isOut) onError(new StoreOutage('The store (CACHE_URL) is there again.', true));
    isOut = false;
  }

  return {
    end,
    failed(kind: string, cause: unknown): void {
      failures.set(kind, (failures.get(kind) ?? 0) + 1);
      const inAll = [...failures.values()].reduce((sum, count) => sum + count, 0);
      if (isOut || inAll < MAX_FAILURES) return;
      isOut = true;
      const reason = cause instanceof Error ? cause.message : String(cause);
      const words = `The store (CACHE_URL) fails (${reason}): until it is back, this process holds figures in its memory and counts calls by itself.`;
      onError(new StoreOutage(words, false, { cause }));
    },
    done(kind: string): void {
      if (failures.delete(kind) && failures.size === 0) end();
    },
  };
}

interface GuardOptions {
  readonly timeoutMs: number;
  readonly onError: OnError;
  /** Holds texts in the place of the store while that fails; left out for nothing. */
  readonly standIn?: StandInCache;
}

/**
 * Stands before a store so that its troubles are nobody else's: a read or write that fails or takes too long is a miss,
 * for which memory stands in; after some failures in a row the store isn't asked for a while; and an outage is reported when it begins and when it is over.
 * Values that are late don't keep counters from being asked.
 */
export function guardedBacking(backing: Backing, { timeoutMs, onError, standIn }: GuardOptions) {
  const breaker = openBreaker();
  const bounded = wrap(breaker, timeout(timeoutMs, TimeoutStrategy.Aggressive));
  // A lease is ended though the store has failed before: it may have been taken then.
  const ending = wrap(
    retry(handleAll, { maxAttempts: END_RETRIES, backoff: new ConstantBackoff(END_PAUSE_MS) }),
    timeout(timeoutMs, TimeoutStrategy.Aggressive),
  );
  const { sharedCounters, leases } = backing;
  const writing = new Set<Promise<unknown>>();
  const outage = watchOutage(onError);
  let isAway = false;
  const listeners: (() => void)[] = [];

  function returned(): void {
    isAway = false;
    for (const listener of listeners) listener();
  }
  backing.onReturn?.(() => {
    outage.end();
    returned();
  });

  async function attempt<T, F>(kind: string, policy: IPolicy, work: () => Promise<T>, otherwise: F) {
    try {
      const result = await policy.execute(work);
      outage.done(kind);
      if (isAway) returned();
      return result;
    } catch (error) {
      isAway = true;
      outage.failed(kind, error);
      return otherwise;
    }
  }

  const counting = wrap(openBreaker(), timeout(COUNTERS_PATIENCE * timeoutMs, TimeoutStrategy.Aggressive));
  const counted: SharedCounters | null = sharedCounters && {
    take: (account, at) => attempt('count', counting, () => sharedCounters.take(account, at), null),
    read: (account, at) => attempt('look at counts', counting, () => sharedCounters.read(account, at), null),
    putBack: (account, at) =>
      attempt('count', counting, () => sharedCounters.putBack(account, at), undefined),
    note: (account, note) => attempt('count', counting, () => sharedCounters.note(account, note), undefined),
  };
  const leased: Leases | null = leases && {
    take: (lease, terms) => attempt('lease', bounded, () => leases.take(lease, terms), null),
    look: (group, names) => attempt('look at leases', bounded, () => leases.look(group, names), null),
    end: (lease, isFetched) => attempt('lease', ending, () => leases.end(lease, isFetched), undefined),
  };

  return {
    // Keyv asks for no more of an adapter than this.
    adapter: {
      // Such adapters are handed the instant at which a value expires, not a duration.
      capabilities: { expires: true },
      // Expired values are swept by the store itself.
      deleteMany: async (keys: string[]) => keys.map(() => true),
      async getMany(keys: string[]): Promise<unknown[]> {
        const values = await attempt('read', bounded, () => backing.adapter.getMany(keys), null);
        return values ?? keys.map((key) => standIn?.get(key)?.text);
      },
      async setMany(entries: KeyvStorageEntry[]) {
        const work = async () => {
          await backing.adapter.setMany(entries);
          return true;
        };
        const write = attempt('write', bounded, work, false);
        writing.add(write);
        const isWritten = await write;
        writing.delete(write);
        standIn?.note(entries, isWritten);
        return entries.map(() => isWritten);
      },
    },
    async clear(prefix: string) {
      const patient = wrap(breaker, timeout(PURGE_TIMEOUT_MS, TimeoutStrategy.Aggressive));
      await attempt('write', patient, () => backing.clear(prefix), undefined);
    },
    /** Returns null if the store could not tell. */
    first: (name: string, value: string) => attempt('write', bounded, () => backing.first(name, value), null),
    onReturn: (listener: () => void) => void listeners.push(listener),
    sharedCounters: counted,
    leases: leased,
    async close() {
      await within(CLOSE_TIMEOUT_MS, Promise.all(writing));
      await backing.close();
    },
  };
}

function openBreaker() {
  return circuitBreaker(handleAll, {
    halfOpenAfter: PAUSE_MS,
    breaker: new ConsecutiveBreaker(MAX_FAILURES),
  });
}

interface NearEntry {
  /** Undefined if the store had none. */
  readonly value: unknown;
}

/**
 * Milliseconds for which it counts that the store had nothing under a name. A process that puts something there says so
 * at once; but a store that can't be reached has nothing either, and doesn't say when it can.
 */
const NOTHING_MS = 1_000;

/**
 * Holds the values that this process reads and writes of a hub's store here as well, as objects, so that they can be
 * read at once. It also holds that a name has no value, which operations look for again and again. A value that others
 * change is dropped here as soon as they do, and is read from the store from then on.
 */
export function createNearCache<Far extends Pick<Store, 'getMany' | 'setMany' | 'clear'>>(
  store: Far,
  link: HubLink,
): Far & Shrinkable & Pick<Store, 'peekMany'> {
  const cache = new BoundedCache<NearEntry>(
    link.nearCacheBytes,
    ({ value }, key) => key.length + roughBytes(value),
  );
  /** Grows with each change that others make, so that a value that was read before isn't taken for a later one. */
  let changes = 0;

  link.onChanged((keys) => {
    changes += 1;
    for (const key of keys) cache.delete(key);
  });
  link.onCleared((prefix) => {
    changes += 1;
    cache.forget(prefix);
  });

  return {
    ...store,
    shrink: (share) => cache.shrink(share),
    peekMany: (keys: readonly string[]) => keys.map((key) => cache.get(key)?.value),
    async getMany(keys: readonly string[]) {
      const cachedValues = keys.map((key) => cache.get(key));
      const missing = keys.filter((_, i) => cachedValues[i] === undefined);
      const before = changes;
      const read = missing.length === 0 ? [] : await store.getMany(missing);
      let next = 0;
      return keys.map((key, i) => {
        const at = cachedValues[i];
        if (at !== undefined) return at.value;
        const value = read[next];
        next += 1;
        // A value that others have changed since may be newer, and so may one that was written here.
        if (changes === before && !cache.has(key))
          cache.set(key, { value }, value === undefined ? { ttl: NOTHING_MS } : {});
        return value;
      });
    },
    async setMany(entries: Parameters<Store['setMany']>[0], ttlMs: number) {
      for (const { key, value } of entries) cache.set(key, { value });
      return store.setMany(entries, ttlMs);
    },
    async clear(prefix: string) {
      cache.forget(prefix);
      await store.clear(prefix);
    },
  };
}

/** Characters below which a string is not worth compressing. */
const MIN_PACKED_CHARS = 1_000;

/** First character of compressed text; JSON never begins with it. */
const MARK = '~';

/** The entry for a text past reading: it holds nothing. */
const NOTHING = {};

/** Turns Keyv's envelopes into text: JSON, and compressed if that pays. Text that can't be read holds nothing. */
export const packing = {
  stringify(envelope: unknown): string {
    const text = JSON.stringify(envelope);
    if (text.length < MIN_PACKED_CHARS) return text;
    return MARK + zstdCompressSync(text).toString('base64');
  },
  parse<T>(text: string): T {
    try {
      const isPacked = text.startsWith(MARK);
      const json = isPacked ? zstdDecompressSync(Buffer.from(text.slice(1), 'base64')).toString() : text;
      return (parseExactly(json) ?? NOTHING) as T;
    } catch {
      return NOTHING as T;
    }
  },
};

/** A text with the envelope that it was read as, or written from. */
interface CachedString {
  readonly text: string;
  readonly envelope: unknown;
  /** The entry, if the store couldn't take it; undefined if it has. */
  readonly unwritten?: KeyvStorageEntry | undefined;
}

/** The last texts of a store in another process, and their envelopes. While the store fails, they stand in for it. */
export class StandInCache extends BoundedCache<CachedString> {
  /** @param maxBytes bytes that may be cached, roughly */
  constructor(maxBytes: number) {
    super(maxBytes, ({ text, envelope }, key) => key.length + text.length + roughBytes(envelope));
  }

  /** Notes if the store has taken texts, as far as there are no later ones. */
  note(entries: readonly KeyvStorageEntry[], isWritten: boolean): void {
    for (const entry of entries) {
      const cachedEntry = this.get(entry.key);
      if (
        cachedEntry === undefined ||
        cachedEntry.text !== entry.value ||
        (isWritten && !cachedEntry.unwritten)
      )
        continue;
      this.set(entry.key, { ...cachedEntry, unwritten: isWritten ? undefined : entry });
    }
  }
}

/** Returns the instant at which a value was sent, or at which the service last judged a key. */
function instantOf(envelope: unknown): number {
  const value = isObject(envelope) && isObject(envelope.value) ? envelope.value : {};
  const instants = [value.atMs, value.acceptedAtMs, value.refusedAtMs];
  return Math.max(0, ...instants.map((instant) => (typeof instant === 'number' ? instant : 0)));
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null;
}

/**
 * Keeps envelopes as texts in a store of another process. The last envelope of each key's text is cached in this process, so that
 * a text which is still the same is not parsed, decompressed and decoded again. It is shared: its readers leave it as
 * it is. What the store couldn't take is read here, until it has taken it or has something later.
 */
export function unpackedStore<Texts extends Adapter>(store: Texts, cache: StandInCache): Texts & Shrinkable {
  function envelopeOf(key: string, text: unknown): unknown {
    if (typeof text !== 'string') return undefined;
    const last = cache.get(key);
    if (last?.text === text) return last.envelope;
    const envelope = packing.parse<unknown>(text);
    cache.set(key, { text, envelope });
    return envelope;
  }

  return {
    ...store,
    shrink: (share) => cache.shrink(share),
    async getMany(keys) {
      const strings = await store.getMany(keys);
      const late: KeyvStorageEntry[] = [];
      const envelopes = keys.map((key, i) => {
        const cachedEntry = cache.get(key);
        const envelope = envelopeOf(key, strings[i]);
        if (cachedEntry?.unwritten === undefined || instantOf(cachedEntry.envelope) <= instantOf(envelope))
          return envelope;
        cache.set(key, cachedEntry);
        if (strings[i] !== cachedEntry.text) late.push(cachedEntry.unwritten);
        return cachedEntry.envelope;
      });
      if (late.length > 0) void store.setMany(late);
      return envelopes;
    },
    async setMany(entries) {
      const written = entries.map((entry) => ({ ...entry, value: packing.stringify(entry.value) }));
      for (const [i, { key, value: envelope }] of entries.entries())
        cache.set(key, { text: written[i]?.value ?? '', envelope });
      return store.setMany(written);
    },
  };
}

/** Prefix of each key outside this process, so that a Redis may serve others too. */
const NAMESPACE = 'country-graph:';

/** Share of the bytes of a store in memory that may be cached in this process of a store elsewhere, as it was read. */
const AT_HAND_SHARE = 0.5;

/** Milliseconds by which the clocks of others who share the store may be ahead. */
const MAX_CLOCK_SKEW_MS = 60_000;

/** Opens a store outside this process: a file, a Redis, or a hub if the address names neither. */

export async function openElsewhere(options: StoreOptions): Promise<Store> {
  const { url, link, timeoutMs, onError } = options;
  if (link !== undefined && isInHub(url)) {
    const store = await storeOver(openHubBacking(link), options);
    const shared = { ...store, news: newsOver(link, timeoutMs) };
    return url === 'memory:' ? createNearCache(shared, link) : shared;
  }
  if (url.startsWith('sqlite:')) {
    const { openSqlite } = await import('./sqlite.ts');
    return storeOver(await openSqlite(url.slice('sqlite:'.length), onError), options);
  }
  const { openRedis } = await import('./redis.ts');
  return storeOver(await openRedis(url, NAMESPACE), options);
}

/** Returns true if a hub holds the values of such an address, for several processes. */
function isInHub(url: string): boolean {
  return url === 'memory:' || url === 'none';
}

function newsOver({ ask, onPublished, onChanged }: HubLink, timeoutMs: number): NonNullable<Store['news']> {
  return {
    publish: ({ key, value }) =>
      within(
        timeoutMs,
        ask('store.tell', key, JSON.stringify(value)).catch(() => {}),
      ),
    onPublished: (listener) => onPublished((key, text) => listener({ key, value: JSON.parse(text) })),
    onChanged,
  };
}

async function storeOver(backing: Backing, options: StoreOptions): Promise<Store> {
  const { now = Date.now, url, link, maxBytes } = options;
  // A hub's values are at hand in `near`.
  const atHandBytes = isInHub(url) ? 0 : (link?.nearCacheBytes ?? maxBytes * AT_HAND_SHARE);
  const atHand = new StandInCache(atHandBytes);
  const guard = guardedBacking(backing, { ...options, standIn: atHand });
  const texts = unpackedStore(guard.adapter, atHand);
  const keyv = new Keyv({
    store: texts as unknown as KeyvStorageAdapter,
    serialization: false,
  });
  // A value that can't be written as text is an error too. If nobody listens for it, Keyv throws it at the writer.
  keyv.on('error', options.onError);
  const named = isInHub(url) ? (key: string) => key : (key: string) => NAMESPACE + key;
  return {
    async getMany(keys) {
      const values = await keyv.getMany(keys.map(named));
      const latestMs = now() + MAX_CLOCK_SKEW_MS;
      return values.map((value) => (isFromFuture(value, latestMs) ? undefined : value));
    },
    peekMany: null,
    isAllHere: false,
    async setMany(entries, ttlMs) {
      const written = entries.map(({ key, value }) => ({ key: named(key), value, ttl: ttlMs }));
      return (await keyv.setMany(written)).every(Boolean);
    },
    clear(prefix) {
      atHand.forget(named(prefix));
      return guard.clear(named(prefix));
    },
    first: (name, value) => guard.first(named(name), value),
    onReturn: guard.onReturn,
    sharedCounters: guard.sharedCounters,
    leases: guard.leases,
    news: null,
    shrink(share) {
      backing.shrink?.(share);
      texts.shrink(share);
    },
    close: guard.close,
  };
}

/**
 * Returns true if a value was written by a clock that was set back since, or is wrong elsewhere: nobody can tell how
 * old it is, and it would count as new until the time has come that it names.
 */
function isFromFuture(value: unknown, latestMs: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { atMs, acceptedAtMs } = value as { readonly atMs?: unknown; readonly acceptedAtMs?: unknown };
  return Number(atMs ?? acceptedAtMs ?? 0) > latestMs;
}
