import { createObjectMemo } from '../../cache/lru.ts';
import type { Tenant } from '../../keys/tenant.ts';
import { NO_TENANT_CACHE } from '../../keys/tenant-cache.ts';
import { cachedRecords } from '../../service/cached-answers.ts';
import type { ListCache } from '../../service/cached-lists.ts';
import { type Endpoint, makeCall } from '../../service/call.ts';
import { countries, indicators } from '../../service/endpoints.ts';
import { mapValue, type PromiseOrValue } from '../../shared/async/promises.ts';
import type { Dimension, Learned } from '../planner/learned.ts';
import { allNamesIn, type NamedList, nameIn } from '../whole-lists.ts';

/** All the names that there are, known without a call. */
export interface CachedNames extends Pick<CachedList<unknown>, 'freshUntilMs' | 'atMs'> {
  readonly route: string;
  readonly names: readonly string[];
  /** In any case. */
  has(name: string): boolean;
}

/** Null if no list is cached for the key, or it may be incomplete. */
export type FindCachedNames = (dimension: Dimension, tenant: Tenant) => PromiseOrValue<CachedNames | null>;

interface CachedList<Result> {
  readonly records: Result;
  readonly freshUntilMs: number;
  readonly atMs: number;
}

/** Null if the service would have to be asked: it never is. */
function createCachedList<Params, Result>(
  endpoint: Endpoint<Params, Result>,
  params: Params,
  { tenantCache, freshness, now }: ListCache,
): (tenant: Tenant) => PromiseOrValue<CachedList<Result> | null> {
  const call = makeCall(endpoint, params);
  return (tenant) => {
    if (tenantCache === NO_TENANT_CACHE) return null;
    const listOf = (
      entry: Awaited<ReturnType<typeof cachedRecords<Params, Result>>>,
    ): CachedList<Result> | null => {
      // A shared store tells with the entry if the key is accepted.
      if (entry === null || entry.records === null || !tenantCache.isAccepted(tenant)) return null;
      const { records, atMs, answer } = entry;
      const { ttlMs } = freshness;
      const isAnyAge = ttlMs === Number.POSITIVE_INFINITY;
      const freshUntilMs = atMs + (isAnyAge ? ttlMs : Math.min(answer.allowedMs ?? ttlMs, ttlMs));
      return now() < freshUntilMs ? { records, freshUntilMs, atMs } : null;
    };
    const entry = cachedRecords(endpoint, params, call, tenant, tenantCache);
    return entry instanceof Promise ? entry.then(listOf) : listOf(entry);
  };
}

/**
 * Milliseconds for which a missing list isn't looked for again if that takes a round trip. Most operations name
 * something, but only a call for a possibly unknown name depends on it.
 */
const NOTHING_MS = 1_000;

/** Of the lists that have the names. */
export const ROUTES = { countries: countries.route, metrics: indicators.route } as const;

export function createCachedNames(cache: ListCache, { figured }: Learned): FindCachedNames {
  const { tenantCache, now } = cache;
  const find: Readonly<Record<Dimension, (tenant: Tenant) => PromiseOrValue<CachedList<NamedList> | null>>> =
    {
      countries: createCachedList(countries, {}, cache),
      metrics: createCachedList(indicators, {}, cache),
    };
  /** When a lookup has found no list. */
  type Missed = { readonly atMs: number; readonly generation: number };
  const missed = {
    countries: createObjectMemo<Missed>('no countries'),
    metrics: createObjectMemo<Missed>('no metrics'),
  };

  function look(dimension: Dimension, tenant: Tenant): PromiseOrValue<CachedList<NamedList> | null> {
    const miss = missed[dimension].of(tenant);
    const generation = tenantCache.generation(tenant);
    // With everything in this process, a new list comes with a new generation.
    if (miss?.generation === generation && (tenantCache.isAllHere || now() - miss.atMs < NOTHING_MS))
      return null;
    return mapValue(find[dimension](tenant), (cachedList) => {
      if (cachedList === null && (!tenantCache.isAllHere || tenantCache.isAccepted(tenant)))
        missed[dimension].put(tenant, { atMs: now(), generation });
      return cachedList;
    });
  }

  function namesIn(dimension: Dimension, cachedList: CachedList<NamedList>): CachedNames | null {
    const list = cachedList.records;
    const all = allNamesIn(list, figured[dimension]);
    if (all === null) return null;
    const has = (name: string) => all.has(name.toUpperCase());
    const { freshUntilMs, atMs } = cachedList;
    return { freshUntilMs, atMs, route: ROUTES[dimension], names: list.map(nameIn), has };
  }

  return (dimension, tenant) => {
    const cachedList = look(dimension, tenant);
    if (cachedList instanceof Promise) return cachedList.then((list) => list && namesIn(dimension, list));
    return cachedList && namesIn(dimension, cachedList);
  };
}
