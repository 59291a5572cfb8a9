import { openLookups } from '../cache/lru.ts';
import { openStore } from '../cache/open-store.ts';
import { StoreOutage } from '../cache/outage.ts';
import { openInFlight } from '../keys/open-in-flight.ts';
import { openTenants } from '../keys/tenant.ts';
import { openTenantCache } from '../keys/tenant-cache.ts';
import { type Clock, createSteadyClock, systemClock } from '../shared/async/clock.ts';
import type { GatewayParts } from './gateway-parts.ts';

export type Stores = Awaited<ReturnType<typeof openStores>>;

export function openClocks(givenClock: Clock | undefined) {
  const clock = givenClock ?? systemClock;
  const steadyNow = createSteadyClock(clock.now);
  // Nobody can set this clock, so it gives the ages of what only this process knows.
  const elapsed = givenClock === undefined ? performance.now.bind(performance) : steadyNow;
  return { clock, steadyNow, elapsed };
}

export async function openStores(
  { config, observer, runFile }: GatewayParts,
  clocks: ReturnType<typeof openClocks>,
) {
  const { clock, steadyNow } = clocks;
  const store = await openStore({
    // With `none`, it is there for counters and leases alone.
    url: runFile === undefined ? config.cacheUrl : `sqlite:${runFile.path}`,
    mostBytes: runFile?.mostBytes,
    timeoutMs: config.cacheTimeoutMs,
    maxBytes: config.cacheMaxBytes,
    now: steadyNow,
    after: clock.after,
    onError(error) {
      if (error instanceof StoreOutage && observer.outage !== undefined) observer.outage(error);
      else observer.problem(error, 'cache');
    },
  });
  const tenants = await openTenants(config.keyPepper, store, steadyNow);
  const tenantCache = openTenantCache(store, config, tenants);
  const inFlight = openInFlight(store, tenantCache, { config, clock, tenants });
  return { ...clocks, store, tenants, tenantCache, inFlight, lookups: openLookups() };
}
