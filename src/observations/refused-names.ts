import { createLru } from '../cache/lru.ts';
import type { Tenant } from '../keys/tenant.ts';
import type { Outcome } from './fetch.ts';
import type { Pair } from './planner/demand.ts';
import type { Dimension } from './planner/learned.ts';

const MAX_NAMES = 10_000;

interface Refused {
  readonly outcome: Outcome;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
}

/**
 * A negative cache of country codes and metric keys, by key of the service.
 * @param ttlMs milliseconds for which a refusal is cached; 0 caches none
 */
export function createRefusedNames(now: () => number, ttlMs: number) {
  const names = createLru<Refused>(MAX_NAMES);

  const keyOfName = (tenant: Tenant, dimension: Dimension, name: string) =>
    `${tenant.digest} ${dimension} ${name}`;

  function find(key: string): Refused | undefined {
    const refusal = names.get(key);
    if (refusal === undefined || now() - refusal.atMs < ttlMs) return refusal;
    names.delete(key);
    return undefined;
  }

  const refusedNames = {
    /** Until the first is added: spares the look-ups. */
    areNone: true,
    of: (tenant: Tenant, { countryCode, metricKey }: Pair) =>
      find(keyOfName(tenant, 'countries', countryCode)) ?? find(keyOfName(tenant, 'metrics', metricKey)),
    add(tenant: Tenant, dimension: Dimension, name: string, refused: Refused) {
      if (ttlMs === 0) return;
      names.set(keyOfName(tenant, dimension, name), refused);
      refusedNames.areNone = false;
    },
  };
  return refusedNames;
}
