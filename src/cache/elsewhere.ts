import type { KeyvStorageAdapter } from 'keyv';
import Keyv from 'keyv';
import { within } from '../shared/async/within.ts';
import type { Backing } from './backing.ts';
import { guardedBacking } from './guarded-backing.ts';
import { openHubBacking } from './hub.ts';
import { createNearCache } from './near-cache.ts';
import type { HubLink, Store, StoreOptions } from './store.ts';
import { StandInCache, unpackedStore } from './unpacked-store.ts';

/** Prefix of each key outside this process, so that a Redis may serve others too. */
const NAMESPACE = 'country-graph:';

/** The share of `maxBytes` for entries of a store elsewhere that are also cached in this process. */
const AT_HAND_SHARE = 0.5;

/** Milliseconds by which the clocks of other gateways may be ahead. */
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
  // The near cache has those of a hub.
  const atHandBytes = isInHub(url) ? 0 : (link?.nearCacheBytes ?? maxBytes * AT_HAND_SHARE);
  const atHand = new StandInCache(atHandBytes);
  const guard = guardedBacking(backing, { ...options, standIn: atHand });
  const { peekMany, ...texts } = unpackedStore(guard.adapter, atHand, backing.peek);
  const keyv = new Keyv({
    store: texts as unknown as KeyvStorageAdapter,
    serialization: false,
  });
  // Such as a value that isn't JSON: without a listener, Keyv would throw at the writer.
  keyv.on('error', options.onError);
  const named = isInHub(url) ? (key: string) => key : (key: string) => NAMESPACE + key;
  function withoutFuture(values: readonly unknown[]): readonly unknown[] {
    const latestMs = now() + MAX_CLOCK_SKEW_MS;
    return values.map((value) => (isFromFuture(value, latestMs) ? undefined : value));
  }
  return {
    getMany: async (keys) => withoutFuture(await keyv.getMany(keys.map(named))),
    peekMany:
      peekMany === null
        ? null
        : (keys) => {
            try {
              return withoutFuture(peekMany(keys.map(named)).map(valueIn));
            } catch {
              // Work that may wait meets the same, and reports it.
              return keys.map(() => undefined);
            }
          },
    isAllHere: false,
    async setMany(entries, ttlMs) {
      const written = entries.map(({ key, value }) => ({ key: named(key), value, ttl: ttlMs }));
      return (await keyv.setMany(written)).every(Boolean);
    },
    async clear(prefix) {
      atHand.forget(named(prefix));
      await guard.clear(named(prefix));
      // Some may have been read meanwhile.
      atHand.forget(named(prefix));
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

/** Returns the value of one of Keyv's envelopes, unless its time is over. */
function valueIn(envelope: unknown): unknown {
  if (typeof envelope !== 'object' || envelope === null) return undefined;
  const { value, expires } = envelope as { readonly value?: unknown; readonly expires?: number | null };
  return expires != null && expires < Date.now() ? undefined : value;
}

/**
 * True if the clock that a value was written by has been set back since, or is wrong on another machine: its age is
 * unknown, and it would count as new until that time has come.
 */
function isFromFuture(value: unknown, latestMs: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { atMs, acceptedAtMs } = value as { readonly atMs?: unknown; readonly acceptedAtMs?: unknown };
  return Number(atMs ?? acceptedAtMs ?? 0) > latestMs;
}
