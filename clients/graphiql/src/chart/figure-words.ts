import { sourceNameOf } from '../source-names.ts';
import type { Figure } from './figures.ts';
import { fullNumber, shortNumber } from './numbers.ts';
import { timeOf } from './picture.ts';

export function labelOf({ countryName, indicatorName, place }: Figure): string {
  return [countryName || indicatorName, place].filter((part) => part !== null && part !== '').join(', ');
}

/** Words about a figure, line by line. */
export function captionOf(figure: Figure): string {
  const { value, unit, low, high, isModelled, isStale } = figure;
  const bounds = low !== null && high !== null ? `${inWords(low)} to ${inWords(high)}` : null;
  return [
    labelOf(figure),
    amountOf(value, unit),
    bounds,
    [timeOf(figure), isModelled ? 'modelled' : null, isStale ? 'past its time' : null]
      .filter(Boolean)
      .join(', '),
    sourceNameOf(figure),
  ]
    .filter((part) => part !== null && part !== '')
    .join('\n');
}

/** A number as it is read: exact while it is short. */
function inWords(value: number): string {
  return Math.abs(value) < 1e9 ? fullNumber(value) : shortNumber(value);
}

/**
 * A number and its unit, such as `111.1 billion US dollars`, or `45 (score, 0 to 100)`.
 * @param number the number as it is written
 */
export function amountOf(value: number, unit: string | null, number = inWords(value)): string {
  const words = unitInWords(unit ?? '');
  const isNoun = !/^(score|index|ratio)\b|,/.test(words);
  return [number, isNoun ? words : `(${words})`].filter((part) => part !== '').join(' ');
}

/** A unit as it is read: some sources write theirs as names of variables. */
export function unitInWords(unit: string): string {
  return /\s/.test(unit) ? unit : unit.replaceAll('_', ' ');
}
