import { createLru } from '../cache/lru.ts';
import type { Tenant } from '../keys/tenant.ts';
import type { Outcome } from './fetch.ts';
import type { Pair } from './planner/demand.ts';
import type { Dimension } from './planner/learned.ts';

const MAX_NAMES = 10_000;

/** The service's outcome for a name that it refused. */
interface Refused {
  readonly outcome: Outcome;
  /** Instant of the refusal, in milliseconds since the epoch. */
  readonly atMs: number;
}

/**
 * Keeps country codes and metric keys that the service has refused a key: a negative cache.
 * @param ttlMs milliseconds for which a refusal is cached; 0 caches none
 */
export function createRefusedNames(now: () => number, ttlMs: number) {
  const names = createLru<Refused>(MAX_NAMES);

  const keyOf = (tenant: Tenant, dimension: Dimension, name: string) =>
    `${tenant.digest} ${dimension} ${dimension === 'countries' ? name.toUpperCase() : name}`;

  function find(key: string): Refused | undefined {
    const refusal = names.get(key);
    if (refusal === undefined || now() - refusal.atMs < ttlMs) return refusal;
    names.delete(key);
    return undefined;
  }

  const refusedNames = {
    /** True as long as no name of any key has been refused. */
    areNone: true,
    /** Returns the refusal of a name of a pair; undefined if there is none, or it is older than data may be. */
    of: (tenant: Tenant, { countryCode, metricKey }: Pair) =>
      find(keyOf(tenant, 'countries', countryCode)) ?? find(keyOf(tenant, 'metrics', metricKey)),
    add(tenant: Tenant, dimension: Dimension, name: string, refused: Refused) {
      if (ttlMs === 0) return;
      names.set(keyOf(tenant, dimension, name), refused);
      refusedNames.areNone = false;
    },
  };
  return refusedNames;
}
