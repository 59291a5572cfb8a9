import { NO_TENANT_CACHE, type TenantCache } from '../../keys/tenant-cache.ts';
import type { Learned } from '../../observations/planner/learned.ts';

/** Saves nothing. That the supposed service accepts the key counts within this run alone. */
export function readOnlyCache(tenantCache: TenantCache): TenantCache {
  if (tenantCache === NO_TENANT_CACHE) return tenantCache;
  let isTakenForAccepted = false;
  return {
    ...tenantCache,
    save() {},
    accept() {
      isTakenForAccepted = true;
    },
    isAccepted: (tenant) => isTakenForAccepted || tenantCache.isAccepted(tenant),
    refuse: () => undefined,
  };
}

/**
 * A snapshot to plan by.
 * @param totals whether answers are assumed to state totals. `untold`: series of unknown length are planned as long
 * ones. `unknown`: they are requested in the hope that they are short
 */
export function frozen(learned: Learned, totals: 'untold' | 'unknown'): Learned {
  const facts = { ...learned.facts(), totals };
  const fixed = (names: Learned['listed']['metrics']): typeof names => ({
    size: names.size,
    has: (name) => names.has(name),
    add() {},
    [Symbol.iterator]: () => names[Symbol.iterator](),
  });
  const fixedNames = ({ countries, metrics }: Learned['answered']) => ({
    countries: fixed(countries),
    metrics: fixed(metrics),
  });
  return {
    ...learned,
    facts: () => facts,
    learn() {},
    answered: fixedNames(learned.answered),
    listed: fixedNames(learned.listed),
    learnCountryCodes() {},
    noteAnswer: () => facts,
    figured: fixedNames(learned.figured),
    learnSeries() {},
    learnWithin() {},
  };
}
