import { createObjectMemo } from '../cache/object-memo.ts';
import { type Period, periodOf, shiftedPeriod } from '../periods.ts';
import { distinct, lastDayOf, newestOf, periodKeyOf, sourcesOf } from '../planner/newest.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';

/** A reason for which a number made of two figures would be misread; the words go into a warning. */
export class Misfit {
  /** Kind of misfit: the same kind is told once of a country and indicator. */
  readonly kind: string;
  readonly words: string;

  constructor(kind: string, words: string) {
    this.kind = kind;
    this.words = words;
  }
}

type Series = readonly ObservationRecord[];

/**
 * Figures that go with another one: for the same place, and the same part of a year. Copies are left out; there is one
 * at least.
 */
export interface Matching {
  readonly rows: Series;
  /** True if they are several of which one may be the latest of the whole country. */
  readonly mayBeLatest: boolean;
}

/** Figures for one place and period. */
interface Alike {
  readonly rows: Series;
  readonly first: ObservationRecord;
}

/**
 * Rows by year and place, and of these by period: a series of days has thousands, and each of them is compared with
 * others.
 */
interface SeriesIndex {
  readonly byYear: ReadonlyMap<string, ReadonlyMap<string, Alike>>;
  /** The newest of the whole country. */
  readonly newest: ObservationRecord | null;
}

const indexes = createObjectMemo<SeriesIndex>('rows by year');

const nameOfYear = (year: number, place: string | null) => JSON.stringify([year, place]);

function indexOf(rows: Series): SeriesIndex {
  let index = indexes.of(rows);
  if (index === undefined) {
    const byYear = new Map<string, Map<string, Alike>>();
    for (const [name, ofYear] of Map.groupBy(rows, (row) => nameOfYear(row.year, row.locationName))) {
      const byPeriod = new Map<string, Alike>();
      for (const [period, some] of Map.groupBy(ofYear, periodKeyOf)) {
        const alike = distinct(some);
        byPeriod.set(period, { rows: alike, first: alike[0] as ObservationRecord });
      }
      byYear.set(name, byPeriod);
    }
    const newest = newestOf(rows.filter(({ locationName }) => locationName === null));
    index = { byYear, newest };
    indexes.put(rows, index);
  }
  return index;
}

/**
 * The figures of a year that go with another one: of the same place, and for the same part of the year, in any
 * spelling. If there are none for another period, figures of a year go with one of the day that a year ends with, too.
 * A period that can't be read goes with the same text alone.
 * @param rows rows of one country and indicator
 * @returns null if there is none of that year and place
 */
export function matching(rows: Series, own: ObservationRecord, year: number): Matching | Misfit | null {
  const { byYear, newest } = indexOf(rows);
  const there = byYear.get(nameOfYear(year, own.locationName));
  if (there === undefined) return null;
  const [only] = there.size === 1 ? there.values() : [];
  const found = there.get(shiftedKey(own, year - own.year)) ?? only;
  if (found !== undefined && (found !== only || isOfPeriod(found.first, own, year))) {
    const { rows: alike, first } = found;
    const isOlder =
      first.countryCode === own.countryCode && first.metricKey === own.metricKey && year < own.year;
    return { rows: alike, mayBeLatest: alike.length > 1 && !isOlder && isAsNew(first, newest) };
  }
  const { countryCode, metricKey } = (only ?? ([...there.values()][0] as Alike)).first;
  const words = `${countryCode} ${metricKey} has figures of ${year}, but not just one that goes with the period ${own.period}`;
  return new Misfit('period', words);
}

/** True if a figure is for the newest period of the whole country, or that can't be told. */
function isAsNew(row: ObservationRecord, newest: ObservationRecord | null): boolean {
  if (newest === null || row.locationName !== null || row.year !== newest.year) return false;
  const [end, newestEnd] = [lastDayOf(row), lastDayOf(newest)];
  return end === null || newestEnd === null || end === newestEnd;
}

/**
 * Decides which of the figures that go with another one is compared with it: the only one; of several, the one that the
 * service gives as the latest, or else the one of the same source and release. No order of rows decides.
 * @param latest the latest figure of their country and indicator, if they may be the latest
 */
export function decided(
  { rows, mayBeLatest }: Matching,
  own: ObservationRecord,
  latest: ObservationRecord | null,
): ObservationRecord | Misfit {
  const [first] = rows as readonly [ObservationRecord];
  if (rows.length === 1) return first;
  if (mayBeLatest && latest !== null && isSamePeriod(latest, first)) return latest;
  let same = rows.filter(({ source }) => source === own.source);
  if (same.length > 1) same = same.filter(({ datasetVersion }) => datasetVersion === own.datasetVersion);
  const [match, ...doubtful] = same;
  if (match !== undefined && doubtful.length === 0) return match;
  const { countryCode, metricKey, year } = first;
  const words = `${countryCode} ${metricKey} has several figures of ${year} (${sourcesOf(rows).join(', ')}), and not just one of the source ${own.source}`;
  return new Misfit('several', words);
}

function isSamePeriod(a: ObservationRecord, b: ObservationRecord): boolean {
  return a.year === b.year && a.locationName === b.locationName && periodKeyOf(a) === periodKeyOf(b);
}

/** Does the work of {@link matching} and {@link decided} together. */
export function counterpart(
  rows: Series,
  own: ObservationRecord,
  year: number,
  latest: ObservationRecord | null = null,
): ObservationRecord | Misfit | null {
  const found = matching(rows, own, year);
  return found === null || found instanceof Misfit ? found : decided(found, own, latest);
}

/** True if the figures of a year, all of them for one period, go with another one. */
function isOfPeriod(only: ObservationRecord, own: ObservationRecord, year: number): boolean {
  return (
    periodKeyOf(only) === shiftedKey(own, year - own.year) || areYearAndDay(periodOf(own), periodOf(only))
  );
}

/** True if one is a year of the calendar, and the other a day: as the last one of a fiscal year, it stands for that. */
function areYearAndDay(a: Period | null, b: Period | null): boolean {
  if (a === null || b === null) return false;
  return (isYear(a) && b.frequency === 'day') || (isYear(b) && a.frequency === 'day');
}

function isYear({ frequency, key }: Period): boolean {
  return frequency === 'year' && key.length === 4;
}

/** The name of a row's period some years later; a text that no rule reads is that of other years, too. */
function shiftedKey(row: ObservationRecord, yearsLater: number): string {
  const period = periodOf(row);
  if (period === null || yearsLater === 0) return periodKeyOf(row);
  return shiftedPeriod(period, yearsLater)?.key ?? '';
}

/** The years of the figures, for a warning; null if there are none. */
export function yearsIn(rows: Series, { locationName }: ObservationRecord): string | null {
  const found = rows.filter((row) => row.locationName === locationName).map(({ year }) => year);
  if (found.length === 0) return null;
  const [first, last] = [found.reduce((a, b) => Math.min(a, b)), found.reduce((a, b) => Math.max(a, b))];
  return first === last ? `${first}` : `${first} to ${last}`;
}

/** The change of a figure against an earlier one, in their unit. */
export function changeOf(own: ObservationRecord, earlier: ObservationRecord): number | Misfit {
  return misfitOfUnits(own, earlier) ?? finite(own.value - earlier.value);
}

/** The growth of a figure, in percent of an earlier one. */
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
