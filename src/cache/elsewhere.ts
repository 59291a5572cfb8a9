import type { KeyvStorageAdapter } from 'keyv';
import Keyv from 'keyv';
import type { Backing } from './backing.ts';
import { guardedBacking } from './guarded-backing.ts';
import type { Store, StoreOptions } from './store.ts';
import { unpackedStore } from './unpacked-store.ts';

/** Prefix of each key outside this process, so that a Redis may serve others too. */
const NAMESPACE = 'country-graph:';

/** The share of `maxBytes` for entries of a store elsewhere that are also cached in this process. */
const AT_HAND_SHARE = 0.5;

/** Milliseconds by which the clocks of other gateways may be ahead. */
const MAX_CLOCK_SKEW_MS = 60_000;

/** Opens a store outside this process: a file or a Redis. */
export async function openElsewhere(options: StoreOptions): Promise<Store> {
  const { url, mostBytes, onError } = options;
  if (url.startsWith('sqlite:')) {
    const { openSqlite } = await import('./sqlite.ts');
    return storeOver(await openSqlite(url.slice('sqlite:'.length), onError, mostBytes), options);
  }
  const { openRedis } = await import('./redis.ts');
  return storeOver(await openRedis(url, NAMESPACE), options);
}

async function storeOver(anyBacking: Backing, options: StoreOptions): Promise<Store> {
  const { now = Date.now, maxBytes } = options;
  const backing = named(anyBacking);
  const guard = guardedBacking(backing, options);
  const atHand = unpackedStore(guard.adapter, maxBytes * AT_HAND_SHARE, backing.peek);
  const { peekMany } = atHand;
  // Keyv asks for no more of an adapter than this one has.
  const keyv = new Keyv({ store: atHand as unknown as KeyvStorageAdapter, serialization: false });
  // Such as a value that isn't JSON: without a listener, Keyv would throw at the writer.
  keyv.on('error', options.onError);
  function withoutFuture(values: readonly unknown[]): readonly unknown[] {
    const latestMs = now() + MAX_CLOCK_SKEW_MS;
    return values.map((value) => (isFromFuture(value, latestMs) ? undefined : value));
  }
  return {
    getMany: async (keys) => withoutFuture(await keyv.getMany([...keys])),
    peekMany:
      peekMany === null
        ? null
        : (keys) => {
            try {
              return withoutFuture(peekMany(keys).map(valueIn));
            } catch {
              // Work that may wait meets the same, and reports it.
              return keys.map(() => undefined);
            }
          },
    isAllHere: false,
    async setMany(entries, ttlMs) {
      const written = entries.map(({ key, value }) => ({ key, value, ttl: ttlMs }));
      return (await keyv.setMany(written)).every(Boolean);
    },
    async clear(prefix) {
      atHand.forget(prefix);
      await guard.clear(prefix);
      // Some may have been read meanwhile.
      atHand.forget(prefix);
    },
    first: guard.first,
    sharedCounters: guard.sharedCounters,
    leases: guard.leases,
    shrink: atHand.shrink,
    close: guard.close,
  };
}

/** Names are only as long as this where they leave the process. */
function named(backing: Backing): Backing {
  const { adapter, peek, clear, first } = backing;
  const nameIn = (key: string) => NAMESPACE + key;
  return {
    ...backing,
    adapter: {
      getMany: (keys) => adapter.getMany(keys.map(nameIn)),
      setMany: (entries) => adapter.setMany(entries.map((entry) => ({ ...entry, key: nameIn(entry.key) }))),
    },
    peek:
      peek &&
      (() => {
        const { version, read } = peek();
        return { version, read: (keys) => read(keys.map(nameIn)) };
      }),
    clear: (prefix) => clear(nameIn(prefix)),
    first: (name, value) => first(nameIn(name), value),
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
