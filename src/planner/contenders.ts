import { periodOf } from '../periods.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';
import { newestOf } from './newest.ts';

type Row = ObservationRecord;

/**
 * The rows of a series of which any may be the latest figure by the service's own choice: those of the newest year whose period ends on
 * the same day, or on a day that can't be told. A figure of the whole country stands before those of places. A series tells its latest figure
 * where there is just one.
 */
export function contenders(rows: readonly Row[]): readonly Row[] {
  const newest = rows.length < 2 ? null : newestOf(rows);
  if (newest === null) return rows;
  // Mostly a year has one row: then no period is looked at.
  if (rows.findIndex((row) => row !== newest && row.year === newest.year) < 0) return [newest];
  const end = lastDayOf(newest);
  const there = rows.filter((row) => {
    if (row === newest) return true;
    if (row.year !== newest.year) return false;
    const other = lastDayOf(row);
    return end === null || other === null || other === end;
  });
  if (there.length === 1) return there;
  return distinct(newest.locationName === null ? there.filter(isNational) : there);
}

/** The last day of a row's period; null where no rule reads it. */
export function lastDayOf(row: Row): string | null {
  return periodOf(row)?.lastDay ?? null;
}

/** Names the period of a row, however it is spelt; one that no rule reads is called as it is. */
export function periodKeyOf(row: Pick<Row, 'year' | 'period'>): string {
  return periodOf(row)?.key ?? row.period;
}

/** Figures for the same place and period as one of them, which is among them. */
export function alikeWith(one: Row, rows: readonly Row[]): readonly Row[] {
  if (rows.length === 1) return rows;
  const period = periodKeyOf(one);
  const isAlike = (row: Row) =>
    row.year === one.year && row.locationName === one.locationName && periodKeyOf(row) === period;
  return distinct(rows.filter(isAlike));
}

/** Without copies of the same row. */
export function distinct(rows: readonly Row[]): readonly Row[] {
  return rows.length === 1 ? rows : [...new Map(rows.toReversed().map((row) => [nameOf(row), row])).values()];
}

/** Whether two rows are copies of each other. */
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
