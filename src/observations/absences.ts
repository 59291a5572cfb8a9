import { createObjectMemo } from '../cache/lru.ts';
import type { ObservationRecord } from '../service/records/observations.ts';

type NoRows = readonly ObservationRecord[];

/**
 * Empty outcomes about which the service says more. Each is recognised by identity, so whoever passes outcomes on
 * needn't know. Not frozen: indexes are attached to the arrays (`createObjectMemo`).
 */
const NO_ROWS = {
  /** There are rows, but none with a value. */
  BLANK: [] as NoRows,
  UNKNOWN_INDICATOR: [] as NoRows,
  NOT_OFFERED: [] as NoRows,
} as const;

export type AbsenceOfRows = keyof typeof NO_ROWS;

/** An ordinary empty outcome for null. */
export function noRows(absence: AbsenceOfRows | null): NoRows {
  return absence === null ? [] : NO_ROWS[absence];
}

/** Null if the service has said no more than that there are none. */
export function absenceIn(rows: NoRows): AbsenceOfRows | null {
  if (rows.length > 0) return null;
  const names = Object.keys(NO_ROWS) as AbsenceOfRows[];
  return names.find((name) => NO_ROWS[name] === rows) ?? null;
}

const ofSomeYears = createObjectMemo<true>('of some years');

/** Marks rows that came for some years alone: what lies outside of them is unknown. */
export function markOfSomeYears(rows: NoRows): void {
  ofSomeYears.put(rows, true);
}

export const isOfSomeYears = (rows: NoRows): boolean => ofSomeYears.of(rows) === true;
