import type { ObservationRecord } from '../../service/records/observations.ts';
import type { LeftOutRows, Sending } from '../../service/sending.ts';
import type { FailureCode } from '../../shared/errors.ts';

/** Notes what an operation is told about its rows and records as they come. */
export function createAnswerNotes(sending: Sending) {
  /** Failures for which expired records were served; made by the first. */
  let staleness: Map<object, FailureCode> | undefined;
  const leftOut: LeftOutRows[] = [];
  const listening: Sending = {
    ...sending,
    onStale(records, why) {
      if (typeof records !== 'object' || records === null) return;
      staleness ??= new Map();
      staleness.set(records, why);
    },
    onLeftOut: (rows) => void leftOut.push(rows),
  };
  const notes = {
    /** Rows of answers that belong to no figure that can be asked for. */
    leftOut: (): readonly LeftOutRows[] => leftOut,
    /** Marks rows that came as part of a record: they are as old as it is. */
    cameWith(record: object, rows: readonly ObservationRecord[]): void {
      const why = staleness?.get(record);
      if (why !== undefined) for (const row of rows) staleness?.set(row, why);
    },
    /** The failure for which an expired row was served; null if it wasn't. */
    staleness: (row: ObservationRecord): FailureCode | null => staleness?.get(row) ?? null,
  };
  return { sending: listening, notes };
}
