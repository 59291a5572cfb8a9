import type { Clock } from '../async/clock.ts';
import type { Config } from '../config.ts';
import { heldBounds } from '../memory-budget.ts';
import { ALONE, createInFlight, type InFlight } from './in-flight.ts';
import type { Store } from './store.ts';
import { createTenantCache, NO_TENANT_CACHE, type TenantCache } from './tenant-cache.ts';

/**
 * The longest that an operation waits for names that others are fetching, and the share of its time; then it asks
 * itself.
 */
const MAX_WAIT_MS = 5_000;
const WAIT_SHARE = 0.25;

/**
 * Returns the time for which a held value is fresh, and the time past that for which it may be served instead of an
 * error.
 */
export function freshnessIn({ cacheTtlSeconds, staleIfErrorSeconds }: Config) {
  return { ttlMs: cacheTtlSeconds * 1000, staleMs: staleIfErrorSeconds * 1000 };
}

/** Opens the cache of each key's values; it holds nothing if the settings say so. */
export function openTenantCache(store: Store | null, config: Config, now: () => number): TenantCache {
  const { ttlMs, staleMs } = freshnessIn(config);
  if (store === null || config.cacheUrl === 'none' || ttlMs + staleMs === 0) return NO_TENANT_CACHE;
  const { names: maxNames } = heldBounds(config);
  const authTtlMs = config.authTtlSeconds * 1000;
  return createTenantCache({ store, now, authTtlMs, holdMs: ttlMs + staleMs, maxNames });
}

/** Milliseconds that an answer is there for others who wait for it, if nothing is held. */
const RELAY_MS = 10_000;

/**
 * Opens the fetches that are in flight anywhere among all who share the store: the others read their answers in the
 * cache, or, if nothing is held, in one that holds them for a while.
 */
export function openInFlight(
  store: Store | null,
  tenantCache: TenantCache,
  {
    config,
    clock,
    steadyNow: now,
  }: { readonly config: Config; readonly clock: Clock; readonly steadyNow: () => number },
): InFlight {
  if (store?.leases == null) return ALONE;
  const relay = () =>
    createTenantCache({ store, now, authTtlMs: config.authTtlSeconds * 1000, holdMs: RELAY_MS });
  return createInFlight({
    leases: store.leases,
    cache: tenantCache === NO_TENANT_CACHE ? relay() : tenantCache,
    clock,
    maxWaitMs: Math.min(MAX_WAIT_MS, config.operationTimeoutMs * WAIT_SHARE),
  });
}
