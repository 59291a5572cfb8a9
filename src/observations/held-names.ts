import { LRUCache } from 'lru-cache';
import { mapValue, type PromiseOrValue } from '../async/promise-or-value.ts';
import { createObjectMemo } from '../cache/object-memo.ts';
import type { Dimension, Learned } from '../planner/learned.ts';
import { type CachedParts, type HeldList, held } from '../upstream/cached.ts';
import { countries, indicators } from '../upstream/endpoints.ts';
import { leftOutOf } from '../upstream/records/left-out.ts';

/** Names that, at no call, are known to be all there are. */
export interface HeldNames {
  readonly freshUntilMs: number;
  /** Names in the list's spelling. */
  readonly names: readonly string[];
  /** True if there may be something of the name, in any case. */
  has(name: string): boolean;
}

/** Finds the names of a list that is held for a key; null if none is held, or it may be incomplete. */
export type FindHeldNames = (dimension: Dimension, keyDigest: string) => PromiseOrValue<HeldNames | null>;

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
export function createHeldNames(
  parts: Pick<CachedParts, 'tenantCache' | 'freshness' | 'now'>,
  { figured }: Pick<Learned, 'figured'>,
): FindHeldNames {
  const find: Readonly<Record<Dimension, (keyDigest: string) => PromiseOrValue<HeldList<NamedList> | null>>> =
    {
      countries: held(countries, {}, parts),
      metrics: held(indicators, {}, parts),
    };
  const { tenantCache, now } = parts;
  const none = new LRUCache<string, { readonly atMs: number; readonly generation: number }>({
    max: MAX_KEYS,
  });

  function isKnownMissing(dimension: Dimension, keyDigest: string): boolean {
    const known = none.get(`${dimension} ${keyDigest}`);
    return (
      known !== undefined &&
      now() - known.atMs < NOTHING_MS &&
      known.generation === tenantCache.generation(keyDigest)
    );
  }

  function look(dimension: Dimension, keyDigest: string): PromiseOrValue<HeldList<NamedList> | null> {
    if (tenantCache.isAtHand) return find[dimension](keyDigest);
    if (isKnownMissing(dimension, keyDigest)) return null;
    const generation = tenantCache.generation(keyDigest);
    return mapValue(find[dimension](keyDigest), (found) => {
      if (found === null) none.set(`${dimension} ${keyDigest}`, { atMs: now(), generation });
      return found;
    });
  }

  return (dimension, keyDigest) =>
    mapValue(look(dimension, keyDigest), (found) => {
      if (found === null) return null;
      const list = found.records;
      if (list.length === 0 || list.length === USUAL_ROWS || leftOutOf(list) !== null) return null;
      const names = list.map(({ code, key }) => code ?? key ?? '');
      const all = folded.of(list) ?? new Set(names.map((name) => name.toUpperCase()));
      folded.put(list, all);
      const has = (name: string) => all.has(name.toUpperCase());
      if (!figured[dimension].every(has)) return null;
      return { freshUntilMs: found.freshUntilMs, names, has };
    });
}
