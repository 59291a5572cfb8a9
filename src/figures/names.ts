import { LRUCache } from 'lru-cache';
import { mapValue, type PromiseOrValue } from '../async/turns.ts';
import type { Pair } from '../plan/cover.ts';
import type { Dimension, Learned } from '../plan/learned.ts';
import type { Sending } from '../service/call.ts';
import { countries, indicators } from '../service/endpoints.ts';
import { type Ask, type HeldList, held, type ListCache } from '../service/lists.ts';
import type { IndicatorRecord } from '../service/records/catalogue.ts';
import type { CountryRecord } from '../service/records/countries.ts';
import { leftOutOf } from '../service/records/envelope.ts';
import { createLru, createObjectMemo } from '../store/lru.ts';
import type { Tenant } from '../tenants/tenant.ts';
import type { Outcome } from './entries.ts';

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
  of(tenant: Tenant, pair: Pair): Refused | undefined;
  remember(tenant: Tenant, dimension: Dimension, name: string, refused: Refused): void;
}

/** @param ttlMs milliseconds for which a refusal is remembered; 0 remembers none */
export function createRefusedNames(now: () => number, ttlMs: number): RefusedNames {
  const names = createLru<Refused>(MAX_NAMES);

  const keyOf = (tenant: Tenant, dimension: Dimension, name: string) =>
    `${tenant.digest} ${dimension} ${dimension === 'countries' ? name.toUpperCase() : name}`;

  function find(key: string): Refused | undefined {
    const held = names.get(key);
    if (held === undefined || now() - held.atMs < ttlMs) return held;
    names.delete(key);
    return undefined;
  }

  return {
    of: (tenant, { countryCode, metricKey }) =>
      names.size === 0
        ? undefined
        : (find(keyOf(tenant, 'countries', countryCode)) ?? find(keyOf(tenant, 'metrics', metricKey))),
    remember(tenant, dimension, name, refused) {
      if (ttlMs > 0) names.set(keyOf(tenant, dimension, name), refused);
    },
  };
}

/** Names that, at no call, are known to be all there are. */
export interface HeldNames {
  readonly freshUntilMs: number;
  /** Names in the list's spelling. */
  readonly names: readonly string[];
  /** True if there may be something of the name, in any case. */
  has(name: string): boolean;
}

/** Finds the names of a list that is held for a key; null if none is held, or it may be incomplete. */
export type FindHeldNames = (dimension: Dimension, tenant: Tenant) => PromiseOrValue<HeldNames | null>;

/** Countries by their codes, or metrics by their keys. */
type NamedList = readonly { readonly code?: string; readonly key?: string }[];

/** Length of a list that the service may have cut at its usual number without saying so. */
const USUAL_ROWS = 100;

/**
 * Milliseconds for which a missing list counts as missing, if a look for it takes a round trip to the store. Only a
 * call for a name that may be unknown depends on it, and most operations name something.
 */
const NOTHING_MS = 1_000;

/** Keys remembered as having no list. */
const MAX_KEYS = 1_000;

const folded = createObjectMemo<ReadonlySet<string>>('names');

/**
 * Finds the names that are held. A list that had records left out may lack their names. If figures have come for a name
 * that a list lacks, it doesn't list everything that has figures: then no name is known to be missing.
 */
export function createHeldNames(cache: ListCache, { figured }: Learned): FindHeldNames {
  const { tenantCache, now } = cache;
  const find: Readonly<Record<Dimension, (tenant: Tenant) => PromiseOrValue<HeldList<NamedList> | null>>> = {
    countries: held(countries, {}, cache),
    metrics: held(indicators, {}, cache),
  };
  const none = new LRUCache<string, { readonly atMs: number; readonly generation: number }>({
    max: MAX_KEYS,
  });

  function isKnownMissing(dimension: Dimension, tenant: Tenant): boolean {
    const known = none.get(`${dimension} ${tenant.digest}`);
    return (
      known !== undefined &&
      now() - known.atMs < NOTHING_MS &&
      known.generation === tenantCache.generation(tenant)
    );
  }

  function look(dimension: Dimension, tenant: Tenant): PromiseOrValue<HeldList<NamedList> | null> {
    if (tenantCache.isAtHand) return find[dimension](tenant);
    return isKnownMissing(dimension, tenant) ? null : lookIn(dimension, tenant);
  }

  async function lookIn(dimension: Dimension, tenant: Tenant): Promise<HeldList<NamedList> | null> {
    const generation = tenantCache.generation(tenant);
    const found = await find[dimension](tenant);
    if (found === null) none.set(`${dimension} ${tenant.digest}`, { atMs: now(), generation });
    return found;
  }

  function namesIn(dimension: Dimension, found: HeldList<NamedList> | null): HeldNames | null {
    if (found === null) return null;
    const list = found.records;
    if (list.length === 0 || list.length === USUAL_ROWS || leftOutOf(list) !== null) return null;
    const names = list.map(({ code, key }) => code ?? key ?? '');
    const all = folded.of(list) ?? new Set(names.map((name) => name.toUpperCase()));
    folded.put(list, all);
    const has = (name: string) => all.has(name.toUpperCase());
    if (!figured[dimension].every(has)) return null;
    return { freshUntilMs: found.freshUntilMs, names, has };
  }

  return (dimension, tenant) => {
    const found = look(dimension, tenant);
    return found instanceof Promise
      ? found.then((there) => namesIn(dimension, there))
      : namesIn(dimension, found);
  };
}

/**
 * Notes the names in the lists that go by: the service knows them, so they are the last to be suspected of a refusal.
 */
export function notingNames(ask: Ask, learned: Learned): Ask {
  const { listed } = learned;
  /** Lists seen before: a held list is served again and again. */
  const noted = new WeakSet<object>();
  const isNew = (list: object) => {
    if (noted.has(list)) return false;
    noted.add(list);
    return true;
  };
  return (endpoint, params, sending, maxAgeMs) =>
    mapValue(ask(endpoint, params, sending, maxAgeMs), (result) => {
      if (result === null || typeof result !== 'object') return result;
      if (endpoint.route === countries.route && isNew(result)) {
        const codes = (result as readonly CountryRecord[]).map(({ code }) => code);
        for (const code of codes) listed.countries.add(code);
        learned.learnCountryCodes(codes);
      }
      if (endpoint.route === indicators.route && isNew(result)) {
        // A measure without data may be unknown to the data endpoint.
        for (const { key, hasData } of result as readonly IndicatorRecord[]) {
          if (hasData !== false) listed.metrics.add(key);
        }
      }
      return result;
    });
}

/** Asks for the service's own lists, by an `ask` that notes their names. A list that can't be had tells nothing. */
export function createNameLists(ask: Ask): (dimension: Dimension, sending: Sending) => Promise<void> {
  return async (dimension, sending) => {
    try {
      await (dimension === 'countries' ? ask(countries, {}, sending) : ask(indicators, {}, sending));
    } catch {
      sending.signal.throwIfAborted();
    }
  };
}
