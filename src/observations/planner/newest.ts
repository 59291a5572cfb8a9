import type { ObservationRecord } from '../../service/records/observations.ts';
import { compareTimes, type Period, periodIn, periodOf } from '../../shared/periods.ts';

interface Dated {
  readonly year: number;
  readonly period: string;
  readonly asOfPeriod: string | null;
  readonly locationName: string | null;
  readonly retrievedAt: string;
  readonly datasetVersion?: string | null;
  readonly source?: string;
  /** As sent: distinguishes rows that are alike in all else. */
  readonly record?: object;
}

/** See {@link compareAge}; the order of rows makes no difference. */
export function newestOf<Row extends Dated>(rows: readonly Row[]): Row | null {
  let newest: Row | null = null;
  for (const row of rows) {
    if (newest === null || compareAge(row, newest) > 0) newest = row;
  }
  return newest;
}

/**
 * Positive if the first row is newer. This is the one order of figures, as the SDL states it at
 * `Country.observation`:
 *
 * 1. the later year of the row, even if its period says another
 * 2. the period that ends later; an unreadable one ends with the year
 * 3. the longer period: a year before its last half, quarter, month, week and day; an unreadable one comes last
 * 4. the later point in time of a stock, and one before none
 * 5. the figure of the whole country before those of places, and these by name
 * 6. the later retrieval, by the instant
 * 7. the later release of the dataset, as its name sorts
 * 8. the source whose key comes first, and then the rest of the row, as strings sort
 *
 * The position of rows doesn't count, and only copies are equal.
 */
function compareAge(a: Dated, b: Dated): number {
  return compareInTime(a, b) || compareOfOneTime(a, b);
}

/** Positive if the first row is for a later time, whatever its place. */
export function compareInTime(a: Dated, b: Dated): number {
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
 * Sorts a series in place: oldest first, and of rows of one time the latest first. Rows mostly come sorted, by rising
 * or falling years.
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
    // Of periods that end together, the earlier start is the longer one.
    compareStrings(other?.firstDay ?? UNREAD, one?.firstDay ?? UNREAD)
  );
}

/** Sorts after all days. */
const UNREAD = '~';

function endOf(period: Period | null, { year }: Dated): string {
  return period?.lastDay ?? `${String(year).padStart(4, '0')}-12-31`;
}

/** Empty if none is named or readable. */
function asOfDay({ asOfPeriod }: Dated): string {
  return asOfPeriod === null ? '' : (periodIn(asOfPeriod)?.lastDay ?? '');
}

/** In one order of fields: distinguishes strings that mean the same. */
function contentOf({ period, asOfPeriod, retrievedAt, record = {} }: Dated): string {
  const fields = Object.entries(record).sort(([a], [b]) => compareStrings(a, b));
  return JSON.stringify([period, asOfPeriod, retrievedAt, fields]);
}

function compareStrings(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

type Row = ObservationRecord;

/** Equal for all spellings of a period; an unreadable one keeps its text. */
export function periodKeyOf(row: { readonly year: number; readonly period: string }): string {
  return periodOf(row)?.key ?? row.period;
}

export function distinct(rows: readonly Row[]): readonly Row[] {
  return rows.length === 1
    ? rows
    : [...new Map(rows.toReversed().map((row) => [contentsOf(row), row])).values()];
}

export function areCopies(a: Row, b: Row): boolean {
  return contentsOf(a) === contentsOf(b);
}

function contentsOf(row: Row): string {
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

export function sourcesOf(rows: readonly Row[]): readonly string[] {
  return [...new Set(rows.map(({ source }) => source))].sort();
}
