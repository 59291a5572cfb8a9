import { type FieldPair, parseExactly } from '../../plugin/index.ts';
import type { RecordedRevision, RecordedState } from './journal.ts';
import type { State } from './sights.ts';

/** A figure as it was at some time. */
export interface RecordedFigureRecord extends FieldPair {
  readonly year: number;
  readonly period: string;
  readonly asOfPeriod: string | null;
  readonly locationName: string | null;
  readonly value: number;
  readonly digits: string;
  readonly unit: string;
  readonly source: string;
  readonly valueStatus: string;
  readonly estimateLow: number | null;
  readonly estimateHigh: number | null;
  readonly datasetVersion: string | null;
  readonly retrievedAt: string;
  /** ISO 8601, UTC. */
  readonly seenAt: string;
}

export interface RevisionRecord extends FieldPair {
  readonly before: RecordedFigureRecord | null;
  readonly after: RecordedFigureRecord | null;
  /** ISO 8601, UTC. */
  readonly seenAt: string;
}

export function figureIn(
  { countryCode, metricKey }: FieldPair,
  { year, period, asOfPeriod, locationName, source, state, retrievedAt, fromMs }: RecordedState,
): RecordedFigureRecord {
  const [exact, unit, valueStatus, datasetVersion, estimateLow, estimateHigh] = parseExactly(state) as State;
  const digits = JSON.stringify(exact);
  return {
    countryCode,
    metricKey,
    year,
    period,
    asOfPeriod,
    locationName,
    value: Number(digits),
    digits,
    unit,
    source,
    valueStatus,
    estimateLow,
    estimateHigh,
    datasetVersion,
    retrievedAt,
    seenAt: new Date(fromMs).toISOString(),
  };
}

export function revisionIn(revision: RecordedRevision): RevisionRecord {
  const { countryCode, metricKey, before, after, atMs } = revision;
  return {
    countryCode,
    metricKey,
    before: before && figureIn(revision, before),
    after: after && figureIn(revision, after),
    seenAt: new Date(atMs).toISOString(),
  };
}
