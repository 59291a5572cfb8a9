import { createObjectMemo } from '../cache/lru.ts';
import { leftOutOf } from '../service/records/envelope.ts';

export type NamedList = readonly { readonly code?: string; readonly key?: string }[];

/** A list of this length may have been cut without notice. */
const USUAL_ROWS = 100;

const folded = createObjectMemo<ReadonlySet<string>>('names');

export const nameIn = ({ code, key }: NamedList[number]): string => code ?? key ?? '';

/**
 * Upper-case names of a list; null if there may be others: it may be cut, had records left out, or lacks a name that
 * figures have come for.
 */
export function allNamesIn(list: NamedList, figured: Iterable<string>): ReadonlySet<string> | null {
  if (list.length === 0 || list.length === USUAL_ROWS || leftOutOf(list) !== null) return null;
  const all = folded.of(list) ?? folded.put(list, new Set(list.map((item) => nameIn(item).toUpperCase())));
  for (const name of figured) if (!all.has(name.toUpperCase())) return null;
  return all;
}
