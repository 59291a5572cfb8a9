import { mapValue, type PromiseOrValue } from '../async/promise-or-value.ts';
import { createObjectMemo } from '../cache/object-memo.ts';
import type { Dimension, Learned } from '../planner/learned.ts';
import { type CachedParts, held } from '../upstream/cached.ts';
import { countries, indicators } from '../upstream/endpoints.ts';
import { leftOutOf } from '../upstream/records/left-out.ts';

/** Names of which it is known, at no call, that there are no others. */
export interface HeldNames {
  readonly freshUntilMs: number;
  /** As the list has them. */
  readonly names: readonly string[];
  /** Whether there may be something of the name, in whatever case. */
  has(name: string): boolean;
}

/** Finds the names of a list that is held for a key; null where none is, or it may not be all there is. */
export type FindHeldNames = (dimension: Dimension, keyDigest: string) => PromiseOrValue<HeldNames | null>;

/** A list of as many rows may have been cut at the service's usual number, and not say so. */
const USUAL_ROWS = 100;

const folded = createObjectMemo<ReadonlySet<string>>('names');

/**
 * What is left out of a list may be among what it lacks. And where figures have come for a name that it has not, it is not
 * a list of all that there are figures of: then none is known to be missing.
 */
export function createHeldNames(
  parts: Pick<CachedParts, 'tenantCache' | 'freshness' | 'now'>,
  { figured }: Pick<Learned, 'figured'>,
): FindHeldNames {
  const find = {
    countries: held(countries, {}, parts),
    metrics: held(indicators, {}, parts),
  };
  const namesIn = {
    countries: (list: readonly { readonly code?: string; readonly key?: string }[]) =>
      list.map(({ code = '' }) => code),
    metrics: (list: readonly { readonly code?: string; readonly key?: string }[]) =>
      list.map(({ key = '' }) => key),
  };
  return (dimension, keyDigest) =>
    mapValue(find[dimension](keyDigest), (found) => {
      if (found === null) return null;
      const list: readonly { readonly code?: string; readonly key?: string }[] = found.records;
      if (list.length === 0 || list.length === USUAL_ROWS || leftOutOf(list) !== null) return null;
      const names = namesIn[dimension](list);
      const all = folded.of(list) ?? new Set(names.map((name) => name.toUpperCase()));
      folded.put(list, all);
      const has = (name: string) => all.has(name.toUpperCase());
      if (!figured[dimension].every(has)) return null;
      return { freshUntilMs: found.freshUntilMs, names, has };
    });
}
