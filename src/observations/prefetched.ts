import { LRUCache } from 'lru-cache';
import { type Demand, demandFor } from '../planner/demand.ts';
import { estimate, fitsWithin, type Planning } from './estimate.ts';
import type { Fetch } from './fetch.ts';

/**
 * Figures that a key has asked for lately and that will soon be past their time. A call costs the same with them, so
 * the next call to leave brings them along, and their own call is saved.
 */
export interface Prefetch {
  /** Notes a figure that was asked for now, and is known to hold as of an instant. */
  wanted(keyDigest: string, demand: Demand, checkedAtMs: number): void;
  /** Notes figures that were brought along. */
  brought(keyDigest: string, demands: readonly Demand[]): void;
  /** Candidates to go along with these, the last asked for first. */
  of(keyDigest: string, demands: readonly Demand[]): readonly Demand[];
}

/** Keys remembered, figures of each, and by default figures of all. */
const MAX_KEYS = 1_000;
const MAX_DEMANDS = 500;
const MAX_DEMANDS_OF_ALL = 40_000;

/** Demands beyond which a plan has no room for a prefetch, and costs too much to make several times. */
const MAX_ACCOMPANIED = 1_000;

/** Figures older than this share of their time go along. */
const AGEING_SHARE = 0.5;

interface AskedLately {
  readonly demand: Demand;
  readonly askedAtMs: number;
  checkedAtMs: number;
}

/** Has each call that leaves bring along figures that will soon be wanted anew. */
export function prefetched(
  next: Fetch,
  parts: Planning & { readonly prefetch: Pick<Prefetch, 'of' | 'brought'> },
): Fetch {
  const { prefetch } = parts;
  return async (demands, sending, settle) => {
    const { keyDigest } = sending.caller;
    const along = demands.length === 0 ? [] : goingAlong(demands, prefetch.of(keyDigest, demands), parts);
    const isAlong = new Set(along.map(({ key }) => key));
    const brought: Demand[] = [];
    await next([...demands, ...along], sending, (demand, outcome) => {
      if (!isAlong.has(demand.key)) settle(demand, outcome);
      else if (!(outcome instanceof Error)) brought.push(demand);
    });
    prefetch.brought(keyDigest, brought);
  };
}

export function createPrefetch({
  now,
  ttlMs,
  maxDemands = MAX_DEMANDS_OF_ALL,
}: {
  now: () => number;
  ttlMs: number;
  maxDemands?: number;
}): Prefetch {
  let count = 0;
  const byKey = new LRUCache<string, LRUCache<string, AskedLately>>({
    max: MAX_KEYS,
    dispose(asked) {
      count -= asked.size;
    },
  });

  return {
    wanted(keyDigest, demand, checkedAtMs) {
      const { mode, countryCode, metricKey, years } = demand;
      // Some years alone are asked for only if whole series take more calls: they go along with none.
      if (years !== null) return;
      let asked = byKey.get(keyDigest);
      if (asked === undefined) {
        asked = new LRUCache({ max: MAX_DEMANDS });
        byKey.set(keyDigest, asked);
      }
      count -= asked.size;
      asked.set(demand.key, {
        demand: demandFor(mode, countryCode, metricKey),
        askedAtMs: now(),
        checkedAtMs,
      });
      count += asked.size;
      // Drops the demands of the key that asked the longest ago.
      if (count > maxDemands) byKey.pop();
    },
    brought(keyDigest, demands) {
      const asked = byKey.get(keyDigest);
      for (const demand of demands) {
        const known = asked?.peek(demand.key);
        if (known !== undefined) known.checkedAtMs = now();
      }
    },
    of(keyDigest, demands) {
      const nowMs = now();
      const going: Demand[] = [];
      const fetched = new Set(demands.map(({ key }) => key));
      const mode = new Set(demands.map(({ mode }) => mode));
      for (const [key, { demand, askedAtMs, checkedAtMs }] of byKey.get(keyDigest)?.entries() ?? []) {
        const isWanted = nowMs - askedAtMs <= ttlMs;
        const isAgeing = nowMs - checkedAtMs > ttlMs * AGEING_SHARE;
        if (isWanted && isAgeing && mode.has(demand.mode) && !fetched.has(key)) going.push(demand);
      }
      return going;
    },
  };
}

/**
 * The most candidates for a prefetch, from the first on, that go along with demands at no further call: the answer
 * stays within the rows that the service is known to bring, and within those that may be fetched unasked.
 */
function goingAlong(
  demands: readonly Demand[],
  candidates: readonly Demand[],
  planning: Planning,
): readonly Demand[] {
  const { learned, overfetchRows } = planning;
  const known = candidates.filter(
    ({ mode, countryCode, metricKey }) => mode === 'latest' || learned.knowsSeries(countryCode, metricKey),
  );
  if (known.length === 0 || demands.length > MAX_ACCOMPANIED) return [];
  const alone = estimate(demands, planning);
  // Stays short of the limit, so that a figure more than was expected doesn't cut the answer.
  const limitRows = learned.limitParam === 'accepted' ? learned.maxRows : learned.defaultRows;
  const most = {
    calls: alone.calls,
    rows: Math.min(alone.rows + overfetchRows, alone.calls * limitRows * 0.9),
  };
  for (let count = known.length; count > 0; count = Math.floor(count / 3)) {
    const some = known.slice(0, count);
    if (fitsWithin(most, [...demands, ...some], planning)) return some;
  }
  return [];
}

/** A prefetch by which nothing goes along. */
export const NO_PREFETCH: Prefetch = { wanted() {}, brought() {}, of: () => [] };
