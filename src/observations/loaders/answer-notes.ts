import type { ObservationRecord } from '../../service/records/observations.ts';
import type { LeftOutRows, Sending } from '../../service/sending.ts';
import type { FailureCode } from '../../shared/errors.ts';

/** Has an operation note the rows and records that it was told of as they came. */
export function createAnswerNotes(sending: Sending) {
  /** Failures of records that are served past their time: hardly any operation has some. */
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
    /** Returns the rows of answers to this operation that belong to no figure that can be asked for. */
    leftOut: (): readonly LeftOutRows[] => leftOut,
    /** Tells of rows that came as part of a record: they are as old as it is. */
    cameWith(record: object, rows: readonly ObservationRecord[]): void {
      const why = staleness?.get(record);
      if (why !== undefined) for (const row of rows) staleness?.set(row, why);
    },
    /** Returns the code of the failure for which a row past its time was served all the same; null if it wasn't. */
    staleness: (row: ObservationRecord): FailureCode | null => staleness?.get(row) ?? null,
  };
  return { sending: listening, notes };
}
