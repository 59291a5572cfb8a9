import type { Tenant } from '../keys/tenant.ts';
import { type Demand, demandFor } from './planner/demand.ts';
import { estimate, fitsWithin, type Planning } from './planner/modes.ts';

/** Recently asked figures of each key, which may join other calls before they expire. */
export interface Prefetch {
  /** @param checkedAtMs instants as of which each is known to hold */
  wanted(tenant: Tenant, demands: readonly Demand[], checkedAtMs: readonly number[], nowMs: number): void;
  brought(tenant: Tenant, demands: readonly Demand[]): void;
  /** The most recently asked first. */
  of(tenant: Tenant, demands: readonly Demand[], nowMs: number): readonly Demand[];
}

export const NO_PREFETCH: Prefetch = { wanted() {}, brought() {}, of: () => [] };

const MAX_KEYS = 1_000;
const MAX_DEMANDS = 500;

/** Demands beyond which a plan has no room for more, and is too slow to make several times. */
const MAX_ACCOMPANIED = 1_000;

/** Share of the time to live from which figures join other calls. */
const AGEING_SHARE = 0.5;

interface AskedLately {
  readonly demand: Demand;
  readonly askedAtMs: number;
  checkedAtMs: number;
}

/**
 * Notes figures that a key has asked for and that will soon expire. A call costs the same with them, so the next
 * one brings them along, and saves a later call.
 */
export function createPrefetch(
  {
    now,
    freshness: { ttlMs },
  }: { readonly now: () => number; readonly freshness: { readonly ttlMs: number } },
  maxAskedLately: number,
): Prefetch {
  if (maxAskedLately === 0) return NO_PREFETCH;
  let count = 0;
  /** Least recently active tenant first, and least recently asked figure first. */
  const askers = new Map<Tenant, Map<string, AskedLately>>();

  function forgetOne(): void {
    const [[tenant, asked] = []] = askers;
    if (tenant === undefined || asked === undefined) return;
    count -= asked.size;
    askers.delete(tenant);
  }

  function askedOf(tenant: Tenant): Map<string, AskedLately> {
    const asked = askers.get(tenant) ?? new Map<string, AskedLately>();
    askers.delete(tenant);
    askers.set(tenant, asked);
    if (askers.size > MAX_KEYS) forgetOne();
    return asked;
  }

  return {
    wanted(tenant, demands, checkedAtMs, nowMs) {
      if (demands.length === 0) return;
      const asked = askedOf(tenant);
      count -= asked.size;
      for (let i = 0; i < demands.length; i += 1) {
        const demand = demands[i] as Demand;
        const { mode, countryCode, metricKey, years } = demand;
        // Ranges are asked for only if whole series take more calls: they join none.
        if (years !== null) continue;
        asked.delete(demand.key);
        const whole = demand.key === demand.name ? demand : demandFor(mode, countryCode, metricKey);
        asked.set(demand.key, { demand: whole, askedAtMs: nowMs, checkedAtMs: checkedAtMs[i] as number });
        if (asked.size > MAX_DEMANDS) asked.delete(asked.keys().next().value ?? '');
      }
      count += asked.size;
      if (count > maxAskedLately) forgetOne();
    },
    brought(tenant, demands) {
      const asked = askers.get(tenant);
      for (const demand of demands) {
        const askedLately = asked?.get(demand.key);
        if (askedLately !== undefined) askedLately.checkedAtMs = now();
      }
    },
    of(tenant, demands, nowMs) {
      const going: Demand[] = [];
      const fetched = new Set(demands.map(({ key }) => key));
      const mode = new Set(demands.map(({ mode }) => mode));
      for (const [key, { demand, askedAtMs, checkedAtMs }] of [...(askers.get(tenant) ?? [])].reverse()) {
        const isWanted = nowMs - askedAtMs <= ttlMs;
        const isAgeing = nowMs - checkedAtMs > ttlMs * AGEING_SHARE;
        if (isWanted && isAgeing && mode.has(demand.mode) && !fetched.has(key)) going.push(demand);
      }
      return going;
    },
  };
}

/**
 * The most candidates, in order, that cost no further call: the answer stays within the rows that the service is
 * known to bring, and those that may be fetched unasked.
 */
export function goingAlong(
  demands: readonly Demand[],
  candidates: readonly Demand[],
  planning: Planning,
): readonly Demand[] {
  const { learned, overfetchRows } = planning;
  const usable = candidates.filter(
    ({ mode, countryCode, metricKey }) =>
      mode === 'latest' || learned.hasRowsWithin(countryCode, metricKey, null),
  );
  if (usable.length === 0 || demands.length > MAX_ACCOMPANIED) return [];
  const alone = estimate(demands, planning);
  // Stays below the limit, so that one figure more than expected doesn't cut the answer.
  const { limitParam, maxRows, defaultRows } = learned.facts();
  const limitRows = limitParam === 'accepted' ? maxRows : defaultRows;
  const rows = Math.min(alone.rows + overfetchRows, alone.calls * limitRows * 0.9);
  const most = { calls: alone.calls, rows };
  for (let count = usable.length; count > 0; count = Math.floor(count / 3)) {
    const some = usable.slice(0, count);
    if (fitsWithin(most, [...demands, ...some], planning)) return some;
  }
  return [];
}
