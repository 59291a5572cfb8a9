import { CLOCK_SKEW_MS } from '../observations/revalidation.ts';
import { timeIn } from '../times.ts';
import { leftOutOf } from '../upstream/records/left-out.ts';
import type { SourceRecord } from '../upstream/records/platform.ts';

/** The service's list of its sources, as it was at a look. */
export interface Look {
  readonly records: readonly SourceRecord[];
  /** Instant of the look, in milliseconds since the epoch, by a clock that never goes back. */
  readonly atMs: number;
}

/** Sources that have run. */
export interface SourceRuns {
  readonly records: readonly SourceRecord[];
  /**
   * Sources that may have run: their last run is said to be the same, and too coarsely to tell a further one from it.
   */
  readonly possible: readonly SourceRecord[];
  /** True if there are no others: records of sources that can't be read may hide some. */
  readonly areAll: boolean;
}

/**
 * Returns the sources that have run between two looks, by the service's word on their last runs: no clock of ours is
 * asked. If that is a day, or no time that can be read, a source may have run again and is said to have run when it
 * had: until the day is over, each look may miss a run.
 * @param before null if this is the first look
 */
export function runsBetween(before: Look | null, now: Look): SourceRuns {
  if (before === null) return { records: [], possible: [], areAll: true };
  const last = new Map(before.records.map(({ key, lastSuccessfulRefresh }) => [key, lastSuccessfulRefresh]));
  const records = now.records.filter(
    ({ key, lastSuccessfulRefresh }) =>
      lastSuccessfulRefresh !== null && last.get(key) !== lastSuccessfulRefresh,
  );
  const possible = now.records.filter(
    ({ key, lastSuccessfulRefresh }) =>
      lastSuccessfulRefresh !== null &&
      last.get(key) === lastSuccessfulRefresh &&
      mayHideRun(lastSuccessfulRefresh, before.atMs),
  );
  return { records, possible, areAll: leftOutOf(before.records) === null && leftOutOf(now.records) === null };
}

/** Milliseconds below which times name an instant: longer ones may be those of several runs. */
const COARSE_MS = 60_000;

/**
 * Returns true if a source may have run since an instant, though its last run is said to be at the same time as before.
 */
function mayHideRun(lastRun: string, sinceMs: number): boolean {
  const time = timeIn(lastRun);
  if (time === null) return true;
  return time.lastMs - time.firstMs >= COARSE_MS - 1 && time.lastMs + CLOCK_SKEW_MS >= sinceMs;
}
