import type { ObservationRecord } from '../../service/records/observations.ts';
import { compareTimes, type Period, periodIn, periodOf, timeIn } from '../../shared/periods.ts';

/** The fields that decide which of several rows is the newest. */
interface Dated {
  readonly year: number;
  readonly period: string;
  readonly asOfPeriod: string | null;
  readonly locationName: string | null;
  readonly retrievedAt: string;
  readonly datasetVersion?: string | null;
  readonly source?: string;
  /** The row as it was sent: tells apart rows that are alike in all else. */
  readonly record?: object;
}

/** The newest row, in any order of them: see {@link compareAge}. */
export function newestOf<Row extends Dated>(rows: readonly Row[]): Row | null {
  let newest: Row | null = null;
  for (const row of rows) {
    if (newest === null || compareAge(row, newest) > 0) newest = row;
  }
  return newest;
}

/**
 * Tells which row is the newer one: positive if the first is. This is the one order of figures, which the SDL states at
 * `Country.observation`:
 *
 * 1. the later year of the row, also if its period says another
 * 2. the period that ends later; one that can't be read ends with the year
 * 3. the longer period: a year before its last half, quarter, month, week and day; one that can't be read comes last
 * 4. the later point in time that a stock was taken at, and one before none
 * 5. the figure of the whole country before those of places, and these by their names
 * 6. the later retrieval, by the instant
 * 7. the later release of the dataset, as its name sorts
 * 8. the source whose key comes first, and then all else that a row says, as texts sort
 *
 * It knows no order of rows: two rows that are not copies of one another are never alike.
 */
function compareAge(a: Dated, b: Dated): number {
  return compareInTime(a, b) || compareOfOneTime(a, b);
}

function compareInTime(a: Dated, b: Dated): number {
  return a.year - b.year || comparePeriods(a, b) || compareStrings(asOfDay(a), asOfDay(b));
}

function compareOfOneTime(a: Dated, b: Dated): number {
  return (
    compareStrings(b.locationName ?? '', a.locationName ?? '') ||
    compareTimes(a.retrievedAt, b.retrievedAt) ||
    compareStrings(a.datasetVersion ?? '', b.datasetVersion ?? '') ||
    compareStrings(b.source ?? '', a.source ?? '') ||
    compareStrings(contentOf(b), contentOf(a))
  );
}

/**
 * Puts the rows of a series in their one order, whatever call brought them: the oldest first, and of rows of one time
 * the one that would be the latest. Mostly they come in it, or the years run down.
 * @returns the same list
 */
export function putInOrder<Row extends Dated>(rows: Row[]): Row[] {
  const compare = (a: Row, b: Row) => compareInTime(a, b) || compareOfOneTime(b, a);
  const isInOrder = () => rows.every((row, i) => i === 0 || compare(rows[i - 1] as Row, row) <= 0);
  if (isInOrder()) return rows;
  rows.reverse();
  return isInOrder() ? rows : rows.sort(compare);
}

function comparePeriods(a: Dated, b: Dated): number {
  if (a.period === b.period) return 0;
  const [one, other] = [periodOf(a), periodOf(b)];
  return (
    compareStrings(endOf(one, a), endOf(other, b)) ||
    // Of two periods that end together, the one that begins earlier is longer.
    compareStrings(other?.firstDay ?? UNREAD, one?.firstDay ?? UNREAD)
  );
}

/** Sorts after all days. */
const UNREAD = '~';

function endOf(period: Period | null, { year }: Dated): string {
  return period?.lastDay ?? `${String(year).padStart(4, '0')}-12-31`;
}

/** The last day that a stock may have been taken on; empty if none is named, or none can be read. */
function asOfDay({ asOfPeriod }: Dated): string {
  return asOfPeriod === null ? '' : (periodIn(asOfPeriod)?.lastDay ?? '');
}

/** The whole content of a row, in one order of its fields: tells apart texts that mean the same. */
function contentOf({ period, asOfPeriod, retrievedAt, record = {} }: Dated): string {
  const fields = Object.entries(record).sort(([a], [b]) => compareStrings(a, b));
  return JSON.stringify([period, asOfPeriod, retrievedAt, fields]);
}

function compareStrings(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

type Row = ObservationRecord;

/**
 * The rows of a series of which, by the service's own choice, any may be the latest figure: those of the newest year
 * whose period ends on the same day, or on a day that can't be known.
 */
export function newestRows(rows: readonly Row[]): readonly Row[] {
  const newest = rows.length < 2 ? null : newestOf(rows);
  if (newest === null) return rows;
  // Mostly a year has one row: then no period is looked at.
  if (rows.findIndex((row) => row !== newest && row.year === newest.year) < 0) return [newest];
  const end = lastDayOf(newest);
  return distinct(
    rows.filter((row) => {
      if (row === newest) return true;
      if (row.year !== newest.year) return false;
      const other = lastDayOf(row);
      return end === null || other === null || other === end;
    }),
  );
}

/**
 * Returns the newest that may be the latest figure: one of the whole country stands before those of places. A series
 * tells its latest figure if there is just one.
 */
export function contenders(rows: readonly Row[]): readonly Row[] {
  const newest = newestRows(rows);
  const isOfCountry = newest.length > 1 && newestOf(newest)?.locationName === null;
  return isOfCountry ? newest.filter(isNational) : newest;
}

/**
 * Returns true if a row that the service chose as the latest figure at an instant is that still, by the rows of the
 * series: it is one of them, and none for that time or a later one has been written since. The service may choose by
 * another rule than ours.
 */
export function isLatestStill(chosen: Row, rows: readonly Row[], chosenAtMs: number): boolean {
  const isSince = ({ retrievedAt }: Row) => (timeIn(retrievedAt)?.lastMs ?? Infinity) >= chosenAtMs;
  return (
    rows.some((row) => areCopies(row, chosen)) &&
    !rows.some((row) => compareInTime(row, chosen) >= 0 && isSince(row))
  );
}

/** The last day of a row's period; null if no rule reads it. */
function lastDayOf(row: Row): string | null {
  return periodOf(row)?.lastDay ?? null;
}

/** Names the period of a row, in any spelling; a period that no rule reads keeps its text. */
export function periodKeyOf(row: { readonly year: number; readonly period: string }): string {
  return periodOf(row)?.key ?? row.period;
}

/** Figures for the same place and period as one of them, with that one. */
export function alikeWith(one: Row, rows: readonly Row[]): readonly Row[] {
  if (rows.length === 1) return rows;
  const period = periodKeyOf(one);
  const isAlike = (row: Row) =>
    row.year === one.year && row.locationName === one.locationName && periodKeyOf(row) === period;
  return distinct(rows.filter(isAlike));
}

/** The rows without copies of the same row. */
export function distinct(rows: readonly Row[]): readonly Row[] {
  return rows.length === 1 ? rows : [...new Map(rows.toReversed().map((row) => [nameOf(row), row])).values()];
}

/** True if two rows are copies of each other. */
export function areCopies(a: Row, b: Row): boolean {
  return nameOf(a) === nameOf(b);
}

function nameOf(row: Row): string {
  const { year, period, asOfPeriod, locationName, value, unit } = row;
  const { source, valueStatus, datasetVersion, retrievedAt } = row;
  return JSON.stringify([
    year,
    period,
    asOfPeriod,
    locationName,
    value,
    unit,
    source,
    valueStatus,
    datasetVersion,
    retrievedAt,
  ]);
}

/** The sources of figures, each once, in the order of their keys. */
export function sourcesOf(rows: readonly Row[]): readonly string[] {
  return [...new Set(rows.map(({ source }) => source))].sort();
}

function isNational({ locationName }: Row): boolean {
  return locationName === null;
}
