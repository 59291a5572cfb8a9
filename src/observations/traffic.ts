import type { Tenant, Traffic } from '../keys/tenant.ts';
import type { FiguresCache } from './called.ts';

/** The data calls of a key in the current interval of one time to live, and in the one before. */
export function trafficOf(tenant: Tenant, nowMs: number, { ttlMs }: FiguresCache['freshness']): Traffic {
  const interval = Math.floor(nowMs / Math.max(1, ttlMs));
  tenant.traffic ??= { interval, calls: 0, callsBefore: 0, askedAtMs: 0 };
  const { traffic } = tenant;
  if (traffic.interval !== interval) {
    traffic.callsBefore = traffic.interval === interval - 1 ? traffic.calls : 0;
    traffic.calls = 0;
    traffic.interval = interval;
  }
  return traffic;
}
