import type { Colours } from './colours.ts';
import type { Figure } from './figures.ts';
import { momentOf, timeOf } from './picture.ts';
import { svgElement } from './svg-element.ts';

/** Years behind the newest figure, from which on a figure of a ranking or a map is striped: it says little of today. */
export const TOLERANCE_YEARS = 5;

/** Names that are written for one year; of more there is the number. */
const MAX_NAMES = 12;

/** The time of a figure as it is compared: a year that ends on some day is a year. */
export function timeIn(figure: Figure): string {
  const moment = momentOf(figure);
  return Number.isInteger(moment) && moment !== 0 ? String(moment) : timeOf(figure);
}

/** Returns the newest of figures that are each their country's latest; null if they have no time, or are all of one. */
export function newestOf(figures: readonly Figure[]): Figure | null {
  const dated = figures.filter((figure) => timeIn(figure) !== '');
  const newest = dated.reduce<Figure | null>(
    (best, one) => (best === null || momentOf(one) > momentOf(best) ? one : best),
    null,
  );
  return dated.some((figure) => newest !== null && timeIn(figure) !== timeIn(newest)) ? newest : null;
}

/** The time of a figure, if it is another than that of the newest; otherwise empty. */
export function earlierTime(figure: Figure, newest: Figure | null): string {
  const time = timeIn(figure);
  return newest === null || time === timeIn(newest) ? '' : time;
}

export const isOld = (figure: Figure, newest: Figure | null) =>
  newest !== null && momentOf(figure) < momentOf(newest) - TOLERANCE_YEARS;

/** Words on the times of latest figures: how many are of the newest, and which are not. */
export function timesInWords(
  figures: readonly Figure[],
): { readonly short: string; readonly note: string } | null {
  const newest = newestOf(figures);
  if (newest === null) return null;
  const byTime = Map.groupBy(
    figures.toSorted((a, b) => momentOf(b) - momentOf(a)),
    timeIn,
  );
  const [, ...earlier] = [...byTime];
  const oldest = earlier.at(-1)?.[0] ?? '';
  const count = byTime.get(timeIn(newest))?.length ?? 0;
  const parts = earlier.map(([time, some]) => {
    const names = [
      ...new Set(some.map(({ countryName, indicatorName }) => countryName || indicatorName)),
    ].sort();
    return `${time || 'no year'}: ${names.length > MAX_NAMES ? `${names.length} countries` : names.join(', ')}`;
  });
  return {
    short: `latest figures: ${count} of ${timeIn(newest)}, the others back to ${oldest}`,
    note: `Not of ${timeIn(newest)}, but of ${parts.join('; ')}.${
      figures.some((figure) => isOld(figure, newest))
        ? ` Striped: more than ${TOLERANCE_YEARS} years older.`
        : ''
    }`,
  };
}

/** Stripes of the ground, which lie over what is old. */
export function stripes(id: string, { ground }: Colours): SVGElement {
  return svgElement(
    'pattern',
    { id, width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
    svgElement('rect', { width: 3, height: 6, fill: ground, 'fill-opacity': 0.8 }),
  );
}
