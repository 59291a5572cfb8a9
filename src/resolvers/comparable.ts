import { createObjectMemo } from '../cache/object-memo.ts';
import { type Period, periodOf, shiftedPeriod } from '../periods.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';

/** What makes a number of two figures one that would be misread; the words go into a warning. */
export class Misfit {
  /** What kind of misfit it is: the same kind is told once of a country and indicator. */
  readonly kind: string;
  readonly words: string;

  constructor(kind: string, words: string) {
    this.kind = kind;
    this.words = words;
  }
}

type Series = readonly ObservationRecord[];

const years = createObjectMemo<ReadonlyMap<number, Series>>('rows by year');

/** Rows of a year: a series of days has thousands, and each of them is compared with others. */
function rowsOf(rows: Series, year: number): Series {
  let byYear = years.of(rows);
  if (byYear === undefined) {
    byYear = Map.groupBy(rows, (row) => row.year);
    years.put(rows, byYear);
  }
  return byYear.get(year) ?? [];
}

/**
 * The figure of a year that goes with another one: of the same place, and for the same part of the year, however that is spelt.
 * Where it is the only one of its year, a figure of a year goes with one of the day that a year ends with, too. A period that
 * can't be read goes with the same text alone.
 * @param rows of one country and indicator
 * @returns null where there is none
 */
export function counterpart(
  rows: Series,
  own: ObservationRecord,
  year: number,
): ObservationRecord | Misfit | null {
  const there = rowsOf(rows, year).filter(({ locationName }) => locationName === own.locationName);
  const [only, ...others] = there;
  if (only === undefined) return null;
  const period = periodOf(own);
  const wanted = period && shiftedPeriod(period, year - own.year);
  let same = there.filter((row) =>
    period === null ? row.period === own.period : wanted !== null && periodOf(row)?.key === wanted.key,
  );
  if (same.length > 1) same = same.filter(({ source }) => source === own.source);
  if (same.length > 1) same = same.filter(({ datasetVersion }) => datasetVersion === own.datasetVersion);
  const [match, ...doubtful] = same;
  if (match !== undefined && doubtful.length === 0) return match;
  if (others.length === 0 && areYearAndDay(period, periodOf(only))) return only;
  const { countryCode, metricKey } = only;
  return new Misfit(
    'period',
    `${countryCode} ${metricKey} has figures of ${year}, but not just one that goes with the period ${own.period}`,
  );
}

/** Whether one is a year of the calendar, and the other a day: as the last one of a fiscal year, it stands for that. */
function areYearAndDay(a: Period | null, b: Period | null): boolean {
  if (a === null || b === null) return false;
  return (isYear(a) && b.frequency === 'day') || (isYear(b) && a.frequency === 'day');
}

function isYear({ frequency, key }: Period): boolean {
  return frequency === 'year' && key.length === 4;
}

/** The years that there are figures of, for a warning; null where there are none. */
export function yearsIn(rows: Series, { locationName }: ObservationRecord): string | null {
  const found = rows.filter((row) => row.locationName === locationName).map(({ year }) => year);
  if (found.length === 0) return null;
  const [first, last] = [found.reduce((a, b) => Math.min(a, b)), found.reduce((a, b) => Math.max(a, b))];
  return first === last ? `${first}` : `${first} to ${last}`;
}

/** How much a figure has changed against an earlier one, in their unit. */
export function changeOf(own: ObservationRecord, earlier: ObservationRecord): number | Misfit {
  return misfitOfUnits(own, earlier) ?? finite(own.value - earlier.value);
}

/** How much a figure has grown, in percent of an earlier one. */
export function growthOf(own: ObservationRecord, earlier: ObservationRecord): number | Misfit {
  const misfit = misfitOfUnits(own, earlier);
  if (misfit !== null) return misfit;
  if (earlier.value <= 0) {
    const words = `${nameOf(earlier)} is ${earlier.value}, and growth in percent of that says nothing`;
    return new Misfit('base', words);
  }
  return finite(((own.value - earlier.value) / earlier.value) * 100);
}

/** A figure divided by another. */
export function quotientOf(own: ObservationRecord, divisor: ObservationRecord): number | Misfit {
  if (divisor.value === 0)
    return new Misfit('zero', `${nameOf(divisor)} is 0, and nothing can be divided by it`);
  return finite(own.value / divisor.value);
}

export function misfitOfUnits(own: ObservationRecord, other: ObservationRecord): Misfit | null {
  if (own.unit === other.unit) return null;
  return new Misfit('unit', `${nameOf(own)} is in ${own.unit}, ${nameOf(other)} in ${other.unit}`);
}

function finite(value: number): number | Misfit {
  return Number.isFinite(value) ? value : new Misfit('size', 'the result is beyond what a number holds');
}

function nameOf({ countryCode, metricKey, year }: ObservationRecord): string {
  return `${countryCode} ${metricKey} of ${year}`;
}
