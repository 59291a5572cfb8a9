import type { ObservationRecord } from '../../service/records/observations.ts';
import { periodOf, timeIn } from '../../shared/periods.ts';
import { areCopies, compareInTime, distinct, newestOf, periodKeyOf } from './newest.ts';

type Row = ObservationRecord;
type Rows = readonly Row[];

/** What the rows of a country and metric tell of its latest figure. */
export interface Latest {
  /** The first by our own order (`newestOf`); null if there is none. */
  readonly figure: Row | null;
  /** All figures of its period and place, itself among them. */
  readonly several: Rows;
  /** All rows, those of places too, whose period ends with that of the figure, or on an unknown day of its year. */
  readonly newest: Rows;
  /**
   * Those of `newest` that a service may choose: of the country only, if the figure is. The rows decide the latest
   * figure if this is a single one; otherwise only the service can tell.
   */
  readonly candidates: Rows;
}

/** Figures of the whole country, or of places in it. Null or omitted: no bound. */
interface RowsFilter {
  readonly scope?: 'NATIONAL' | 'PLACES' | 'ALL' | null | undefined;
  readonly fromYear?: number | null | undefined;
  readonly toYear?: number | null | undefined;
}

const NO_FILTER: RowsFilter = {};

/** The one decision on the latest figure; the order of rows makes no difference. */
export function latestIn(rows: Rows, filter: RowsFilter = NO_FILTER): Latest {
  const fitting = filtered(rows, filter);
  const figure = fitting.length < 2 ? (fitting[0] ?? null) : newestOf(fitting);
  const ofYear = fitting.length < 2 ? fitting : fitting.filter(({ year }) => year === figure?.year);
  // Mostly a year has one row: then no period is read.
  if (figure === null || ofYear.length < 2)
    return { figure, several: ofYear, newest: ofYear, candidates: ofYear };
  const end = lastDayOf(figure);
  const isNewest = (row: Row) => row === figure || end === null || [null, end].includes(lastDayOf(row));
  const newest = distinct(ofYear.filter(isNewest));
  const period = periodKeyOf(figure);
  const isAlike = (row: Row) => row.locationName === figure.locationName && periodKeyOf(row) === period;
  const candidates = isNational(figure) ? newest.filter(isNational) : newest;
  return { figure, several: newest.filter(isAlike), newest, candidates };
}

/** As {@link latestIn}, for many pairs. */
export function latestInEach(pairs: readonly { readonly rows: Rows }[]): readonly Latest[] {
  return pairs.map(({ rows }) => latestIn(rows));
}

export function filtered(rows: Rows, { scope, fromYear, toYear }: RowsFilter): Rows {
  const isAnyScope = scope == null || scope === 'ALL';
  if (fromYear == null && toYear == null && isAnyScope) return rows;
  return rows.filter(
    (row) =>
      (fromYear == null || row.year >= fromYear) &&
      (toYear == null || row.year <= toYear) &&
      (isAnyScope || (scope === 'NATIONAL') === isNational(row)),
  );
}

export function isNational({ locationName }: Pick<Row, 'locationName'>): boolean {
  return locationName === null;
}

/** Null if no rule reads it. */
function lastDayOf(row: Row): string | null {
  return periodOf(row)?.lastDay ?? null;
}

/**
 * True if a row that the service once chose as the latest must still be its choice: it is in the series, and no row
 * for that time or later has been written since. The service may choose by another rule than ours.
 */
export function isLatestStill(chosen: Row, series: Rows, chosenAtMs: number): boolean {
  const isSince = ({ retrievedAt }: Row) => (timeIn(retrievedAt)?.lastMs ?? Infinity) >= chosenAtMs;
  return (
    series.some((row) => areCopies(row, chosen)) &&
    !series.some((row) => compareInTime(row, chosen) >= 0 && isSince(row))
  );
}
