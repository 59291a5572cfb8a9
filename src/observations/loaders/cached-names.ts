import { createObjectMemo } from '../../cache/lru.ts';
import type { Tenant } from '../../keys/tenant.ts';
import { NO_TENANT_CACHE } from '../../keys/tenant-cache.ts';
import { cachedRecords } from '../../service/cached-answers.ts';
import type { ListCache } from '../../service/cached-lists.ts';
import { type Endpoint, makeCall } from '../../service/call.ts';
import { countries, indicators } from '../../service/endpoints.ts';
import { mapValue, type PromiseOrValue } from '../../shared/async/turns.ts';
import type { Dimension, Learned } from '../planner/learned.ts';
import { allNamesIn, type NamedList, nameIn } from '../whole-lists.ts';

/** Names that, at no call, are known to be all there are. */
export interface CachedNames extends Pick<CachedList<unknown>, 'freshUntilMs' | 'atMs'> {
  readonly route: string;
  /** Names in the list's spelling. */
  readonly names: readonly string[];
  /** True if there may be something of the name, in any case. */
  has(name: string): boolean;
}

/** Finds the names of a list that is cached for a key; null if none is cached, or it may be incomplete. */
export type FindCachedNames = (dimension: Dimension, tenant: Tenant) => PromiseOrValue<CachedNames | null>;

/** Records that are cached of an endpoint, and may be served without asking until an instant. */
interface CachedList<Result> {
  readonly records: Result;
  readonly freshUntilMs: number;
  /** Instant at which the service sent them. */
  readonly atMs: number;
}

/** Looks for fresh records of an endpoint, and never asks for them; null if the service would have to be asked. */
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
      // A store elsewhere tells with the entry if the key is accepted.
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
 * Milliseconds for which a missing list counts as missing, if a look for it takes a round trip to the store. Only a
 * call for a name that may be unknown depends on it, and most operations name something.
 */
const NOTHING_MS = 1_000;

const ROUTES = { countries: countries.route, metrics: indicators.route } as const;

/** Finds the names that are cached, of a list that has all there are. */
export function createCachedNames(cache: ListCache, { figured }: Learned): FindCachedNames {
  const { tenantCache, now } = cache;
  const find: Readonly<Record<Dimension, (tenant: Tenant) => PromiseOrValue<CachedList<NamedList> | null>>> =
    {
      countries: createCachedList(countries, {}, cache),
      metrics: createCachedList(indicators, {}, cache),
    };
  /** The instant and the generation at which a look for a list has found none. */
  type Missed = { readonly atMs: number; readonly generation: number };
  const missed = {
    countries: createObjectMemo<Missed>('no countries'),
    metrics: createObjectMemo<Missed>('no metrics'),
  };

  function look(dimension: Dimension, tenant: Tenant): PromiseOrValue<CachedList<NamedList> | null> {
    const miss = missed[dimension].of(tenant);
    const generation = tenantCache.generation(tenant);
    // If all is in this process, nothing is there that a new generation doesn't tell of.
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
