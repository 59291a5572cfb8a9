import { createObjectMemo } from '../cache/object-memo.ts';
import type { IndicatorRecord } from '../upstream/records/indicators.ts';
import { leftOutOf, sumOf, withLeftOut } from '../upstream/records/left-out.ts';

export interface CatalogueFilter {
  /** Words, all of which an indicator has; null or omitted: any. */
  readonly search?: string | null | undefined;
  /** Key of a source; null or omitted: any. */
  readonly source?: string | null | undefined;
}

const searchedTexts = createObjectMemo<string>('searched text');

/**
 * The indicators that pass. If some don't say who publishes them, and a source is asked for, the list says that it may
 * lack them.
 */
export function searched(
  list: readonly IndicatorRecord[],
  { search, source }: CatalogueFilter,
): readonly IndicatorRecord[] {
  const words = plain(search ?? '')
    .split(/\s+/)
    .filter(Boolean);
  if (words.length === 0 && source == null) return list;
  const named = words.length === 0 ? list : list.filter((item) => hasAll(item, words));
  if (source == null) return named;
  const wanted = source.toLowerCase();
  const isOf = ({ sources }: IndicatorRecord) => sources.some((key) => key.toLowerCase() === wanted);
  const untold = named.filter((item) => !isOf(item)).map(({ sources }) => leftOutOf(sources));
  return withLeftOut(named.filter(isOf), sumOf(untold));
}

function hasAll(item: IndicatorRecord, words: readonly string[]): boolean {
  let text = searchedTexts.of(item);
  if (text === undefined) {
    const { key, name, record } = item;
    const description = typeof record.description === 'string' ? record.description : '';
    text = plain(`${key} ${name ?? ''} ${description}`);
    searchedTexts.put(item, text);
  }
  const own = text;
  return words.every((word) => own.includes(word));
}

/** Text without cases and accents. */
function plain(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}
