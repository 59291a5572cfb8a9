import { leftOutOf } from '../upstream/records/left-out.ts';
import type { SourceRecord } from '../upstream/records/platform.ts';

/** What the service said of its sources. */
export interface Look {
  readonly records: readonly SourceRecord[];
  /** When, in milliseconds since the epoch, by a clock that never goes back. */
  readonly atMs: number;
}

/** Sources that have run. */
export interface SourceRuns {
  readonly records: readonly SourceRecord[];
  /** Whether there are no others: what can't be read of the sources may hide some. */
  readonly areAll: boolean;
}

/**
 * Sources that have run between two looks, by what the service says of their last runs: no clock of ours is asked.
 * @param before null where this is the first look
 */
export function runsBetween(before: Look | null, now: Look): SourceRuns {
  if (before === null) return { records: [], areAll: true };
  const last = new Map(before.records.map(({ key, lastSuccessfulRefresh }) => [key, lastSuccessfulRefresh]));
  const records = now.records.filter(
    ({ key, lastSuccessfulRefresh }) =>
      lastSuccessfulRefresh !== null && last.get(key) !== lastSuccessfulRefresh,
  );
  return { records, areAll: leftOutOf(before.records) === null && leftOutOf(now.records) === null };
}
