import { LRUCache } from 'lru-cache';
import type { Pair } from '../planner/cover.ts';
import { pairKey } from '../planner/demand.ts';
import type { Outcome } from './outcome.ts';

/** How long a name that the service refused is not asked for again. */
const MEMORY_MS = 10 * 60_000;

/** Names remembered at once; those not asked for longest go first. */
const MAX_NAMES = 10_000;

/** Country codes, metric keys and pairs of them that made the service refuse a call, by key digest. */
export interface Culprits {
  /** What the demands of this pair get without being asked for; undefined where nothing is known against it. */
  outcomeOf(partition: string, pair: Pair): Outcome | undefined;
  /** `name` is a country code, a metric key, or a pair as `pairKey` names it. */
  remember(partition: string, name: string, outcome: Outcome): void;
}

export function createCulprits(now: () => number): Culprits {
  const names = new LRUCache<string, { outcome: Outcome; untilMs: number }>({ max: MAX_NAMES });

  const keyOf = (partition: string, name: string) => `${partition} ${name.toLowerCase()}`;

  function recall(key: string): Outcome | undefined {
    const held = names.get(key);
    if (held === undefined) return undefined;
    if (held.untilMs > now()) return held.outcome;
    names.delete(key);
    return undefined;
  }

  function remember(partition: string, name: string, outcome: Outcome): void {
    names.set(keyOf(partition, name), { outcome, untilMs: now() + MEMORY_MS });
  }

  return {
    outcomeOf: (partition, { countryCode, metricKey }) =>
      names.size === 0
        ? undefined
        : (recall(keyOf(partition, countryCode)) ??
          recall(keyOf(partition, metricKey)) ??
          recall(keyOf(partition, pairKey(countryCode, metricKey)))),
    remember,
  };
}
