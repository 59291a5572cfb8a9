import { createObjectMemo } from '../cache/lru.ts';
import type { ObservationRecord } from '../service/records/observations.ts';

type NoRows = readonly ObservationRecord[];

/**
 * Outcomes without a row, of which the service's answer says more than that there is none. Each is told by its identity, so
 * that whoever passes outcomes on needn't know. They aren't frozen: indexes of rows are put on the rows (`createObjectMemo`).
 */
const NO_ROWS = {
  /** There are rows, and none of them holds a value. */
  BLANK: [] as NoRows,
  /** The service says that it knows no such measure. */
  UNKNOWN_INDICATOR: [] as NoRows,
  /** The service says that it knows no such country. */
  NOT_OFFERED: [] as NoRows,
} as const;

export type AbsenceOfRows = keyof typeof NO_ROWS;

/** Returns the outcome that tells why it has no rows; an ordinary one for no special reason. */
export function noRows(absence: AbsenceOfRows | null): NoRows {
  return absence === null ? [] : NO_ROWS[absence];
}

/** Returns what the service has said of rows that are none; null if it has answered, and no more. */
export function absenceIn(rows: NoRows): AbsenceOfRows | null {
  if (rows.length > 0) return null;
  const names = Object.keys(NO_ROWS) as AbsenceOfRows[];
  return names.find((name) => NO_ROWS[name] === rows) ?? null;
}

const ofSomeYears = createObjectMemo<true>('of some years');

/** Marks the rows of a series that came for some years alone: what lies outside of them is unknown. */
export function markOfSomeYears(rows: NoRows): void {
  ofSomeYears.put(rows, true);
}

export const isOfSomeYears = (rows: NoRows): boolean => ofSomeYears.of(rows) === true;
