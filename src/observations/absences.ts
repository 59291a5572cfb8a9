import { createObjectMemo } from '../cache/lru.ts';
import type { ObservationRecord } from '../service/records/observations.ts';
import type { Mode, YearRange } from './planner/demand.ts';

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

export interface AskedFigures {
  readonly countryCode: string;
  readonly metricKey: string;
  readonly mode: Mode;
  /** Null for all years. */
  readonly years: YearRange | null;
  /** Infinite for any age. */
  readonly maxAgeMs: number;
}

/** What has come of figures that were asked for, with all that the service says of them. */
export interface CameFigures {
  readonly rows: readonly ObservationRecord[];
  /** Why there is no row; null if the service hasn't said, or there are rows. */
  readonly absence: AbsenceOfRows | null;
  /** True if years were asked for, so that what lies outside of them is unknown. */
  readonly isOfSomeYears: boolean;
}

/** Undefined if nothing has come yet. */
export type OutcomeOf = (asked: AskedFigures) => CameFigures | Error | undefined;

export function cameFigures(rows: NoRows | Error | undefined): ReturnType<OutcomeOf> {
  if (rows === undefined || rows instanceof Error) return rows;
  return { rows, absence: absenceIn(rows), isOfSomeYears: ofSomeYears.of(rows) === true };
}
