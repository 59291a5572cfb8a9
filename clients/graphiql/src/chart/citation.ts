import { type CitationStyle, type Cited, citationOf } from '../../../../src/shared/citations.ts';
import { attribution, sourceOf } from '../source-names.ts';
import type { Figure } from './figures.ts';
import { yearsOf } from './numbers.ts';

/** Names that a title has one by one; of more it has the number. */
const MAX_NAMES = 4;

/**
 * References to the figures of a picture, one for each source and release of a dataset; empty if no source is
 * named.
 * @param link address of the picture, which stands for a source without a page; null if there is none
 */
export function citationsOf(figures: readonly Figure[], style: CitationStyle, link: string | null): string {
  const groups = Map.groupBy(
    figures.filter(({ source }) => source !== null),
    ({ source, release }) => JSON.stringify([source, release]),
  );
  const all = [...groups.values()].flatMap((rows) => {
    const [first] = rows;
    return first === undefined ? [] : [citationOf(citedOf(first, rows, link), style)];
  });
  return all.join(style === 'TEXT' ? '\n' : '\n\n');
}

function citedOf(first: Figure, rows: readonly Figure[], link: string | null): Cited {
  const { source, release } = first;
  const key = source ?? '';
  const times = rows.flatMap(({ retrievedAt }) => retrievedAt ?? []);
  const title = [
    listed(
      rows.map(({ indicatorName }) => indicatorName),
      'indicators',
    ),
    listed(
      rows.map(({ place }) => place ?? ''),
      'places',
    ),
    listed(
      rows.map(({ countryName }) => countryName),
      'countries',
    ),
  ];
  return {
    source: key,
    named: sourceOf(first),
    title: title.filter((part) => part !== '').join(', '),
    period: yearsOf(rows),
    via: attribution(),
    release,
    // Figures of one release may have come at different times: all of them were there at the last.
    retrievedAt: times.reduce<string | null>((a, b) => (a === null || b > a ? b : a), null),
    dataUrl: link,
  };
}

/** Names without repetition, or their number. */
function listed(all: readonly string[], what: string): string {
  const names = [...new Set(all)].filter((name) => name !== '');
  return names.length > MAX_NAMES ? `${names.length} ${what}` : names.join(', ');
}
