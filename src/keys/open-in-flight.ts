import type { Store } from '../cache/store.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../shared/async/clock.ts';
import type { Tenants } from './tenant.ts';
import {
  ALONE,
  createTenantCache,
  type InFlight,
  NO_TENANT_CACHE,
  type TenantCache,
} from './tenant-cache.ts';

/** The longest wait for names that others are fetching, and the same as a share of an operation's time. */
const MAX_WAIT_MS = 5_000;
const WAIT_SHARE = 0.25;

/** If nothing is cached: milliseconds for which an answer is kept for others who wait for it. */
const RELAY_MS = 10_000;

/**
 * Opens the fetches in flight among all who share the store. Others read their answers in the cache or, if nothing is
 * cached, in one that keeps them for a while.
 */
export function openInFlight(
  store: Store | null,
  tenantCache: TenantCache,
  { config, clock, tenants }: { readonly config: Config; readonly clock: Clock; readonly tenants: Tenants },
): InFlight {
  if (store?.leases == null) return ALONE;
  const { leases } = store;
  const authTtlMs = config.authTtlSeconds * 1000;
  const relay = () => createTenantCache({ store, tenants, authTtlMs, retentionMs: RELAY_MS });
  const cache = tenantCache === NO_TENANT_CACHE ? relay() : tenantCache;
  const maxWaitMs = Math.min(MAX_WAIT_MS, config.operationTimeoutMs * WAIT_SHARE);
  const opening = import('./in-flight.ts').then(({ createInFlight }) =>
    createInFlight(leases, cache, clock, maxWaitMs),
  );
  return { cache, together: async (wanted) => (await opening).together(wanted) };
}
