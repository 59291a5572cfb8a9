import { LRUCache } from 'lru-cache';
import { type Demand, demandKey } from '../planner/demand.ts';

/**
 * Figures that a key has asked for lately and that will soon be past their time. A call costs the same with them, so
 * whichever call leaves next brings them along, and theirs is saved.
 */
export interface Prefetch {
  /** A figure was asked for now, and is known to hold as of an instant. */
  wanted(keyDigest: string, demand: Demand, checkedAtMs: number): void;
  /** Figures were brought along. */
  brought(keyDigest: string, demands: readonly Demand[]): void;
  /** What might go along with these, the last asked for first. */
  of(keyDigest: string, demands: readonly Demand[]): readonly Demand[];
}

/** Keys, and figures of each, that are remembered. */
const MAX_KEYS = 1_000;
const MAX_DEMANDS = 500;

/** Figures older than this share of their time go along. */
const AGEING_SHARE = 0.5;

interface Asked {
  readonly demand: Demand;
  readonly askedAtMs: number;
  checkedAtMs: number;
}

export function createPrefetch({ now, ttlMs }: { now: () => number; ttlMs: number }): Prefetch {
  const byKey = new LRUCache<string, LRUCache<string, Asked>>({ max: MAX_KEYS });

  return {
    wanted(keyDigest, demand, checkedAtMs) {
      let asked = byKey.get(keyDigest);
      if (asked === undefined) {
        asked = new LRUCache({ max: MAX_DEMANDS });
        byKey.set(keyDigest, asked);
      }
      asked.set(demandKey(demand), { demand, askedAtMs: now(), checkedAtMs });
    },
    brought(keyDigest, demands) {
      const asked = byKey.get(keyDigest);
      for (const demand of demands) {
        const known = asked?.peek(demandKey(demand));
        if (known !== undefined) known.checkedAtMs = now();
      }
    },
    of(keyDigest, demands) {
      const nowMs = now();
      const going: Demand[] = [];
      const fetched = new Set(demands.map(demandKey));
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

/** Where nothing goes along. */
export const NO_PREFETCH: Prefetch = { wanted() {}, brought() {}, of: () => [] };
