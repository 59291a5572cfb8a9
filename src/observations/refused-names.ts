import { createLru } from '../cache/lru.ts';
import type { Pair } from '../planner/cover.ts';
import type { Dimension } from '../planner/learned.ts';
import type { Outcome } from './outcome.ts';

/** Names remembered at once; the one not asked for longest goes first. */
const MAX_NAMES = 10_000;

/** The service's outcome for a name that it refused. */
export interface Refused {
  readonly outcome: Outcome;
  /** Instant of the refusal, in milliseconds since the epoch. */
  readonly atMs: number;
}

/** Country codes and metric keys that the service has refused, by key digest: a negative cache. */
export interface RefusedNames {
  /** The refusal of a name of a pair; undefined if there is none, or it is older than data may be. */
  of(keyDigest: string, pair: Pair): Refused | undefined;
  remember(keyDigest: string, dimension: Dimension, name: string, refused: Refused): void;
}

export interface RefusedNamesParts {
  readonly now: () => number;
  /** Milliseconds for which a refusal is remembered; 0 remembers none. */
  readonly ttlMs: number;
}

export function createRefusedNames({ now, ttlMs }: RefusedNamesParts): RefusedNames {
  const names = createLru<Refused>(MAX_NAMES);

  const keyOf = (keyDigest: string, dimension: Dimension, name: string) =>
    `${keyDigest} ${dimension} ${dimension === 'countries' ? name.toUpperCase() : name}`;

  function find(key: string): Refused | undefined {
    const held = names.get(key);
    if (held === undefined || now() - held.atMs < ttlMs) return held;
    names.delete(key);
    return undefined;
  }

  return {
    of: (keyDigest, { countryCode, metricKey }) =>
      names.size === 0
        ? undefined
        : (find(keyOf(keyDigest, 'countries', countryCode)) ?? find(keyOf(keyDigest, 'metrics', metricKey))),
    remember(keyDigest, dimension, name, refused) {
      if (ttlMs > 0) names.set(keyOf(keyDigest, dimension, name), refused);
    },
  };
}
