import type { Mode } from './demand.ts';

/** Rows after which the data route is seen to end when no `limit` is given. */
export const DEFAULT_MAX_ROWS = 100;

/** The known extent of an answer. */
export interface Extent {
  /** Rows in the body. */
  readonly received: number;
  /** Matching rows as the service counts them; null if it doesn't say. */
  readonly total: number | null;
  /** The limit that the service says it applied; null if it names none. */
  readonly limit: number | null;
  /** The limit that was asked for. */
  readonly askedLimit: number | undefined;
  /** True if a row came for every pair of a call for latest figures, so that none can be missing. */
  readonly isEveryPairPresent: () => boolean;
  /** True if the service's totals have proved to count rows beyond those sent. */
  readonly isTotalTrue: boolean;
  /** Effect of the limit in the call: `heeded` once it has proved to make a difference. */
  readonly limitEffect: 'unknown' | 'heeded' | 'ignored';
}

/**
 * True if an answer must be taken as cut short: its total is higher than its rows, or it is exactly as long as a limit
 * that applied and nothing proves it whole.
 */
export function isCut({
  received,
  total,
  limit,
  askedLimit,
  isEveryPairPresent,
  isTotalTrue,
  limitEffect,
}: Extent): boolean {
  if (total !== null && total > received) return true;
  if (total !== null && isTotalTrue) return false;
  return isAtLimit() && !isEveryPairPresent();

  function isAtLimit(): boolean {
    if (limit !== null) return received >= limit;
    if (askedLimit !== undefined && limitEffect === 'heeded') return received >= askedLimit;
    const isAsLong = limitEffect === 'unknown' && received === askedLimit;
    return received > 0 && (isAsLong || received === DEFAULT_MAX_ROWS);
  }
}

/**
 * The pairs of a cut answer that look whole: rows come in one run a pair, so that the cut can only have hit the last
 * run. (If latest figures come one a pair, it has hit none.) None if a pair comes in several runs. This is evidence,
 * not proof: the caller holds it against the service's total.
 */
export function wholeRuns<Row extends { readonly key: string }>(
  rows: readonly Row[],
  mode: Mode,
): Map<string, Row[]> {
  const runs = new Map<string, Row[]>();
  let last: string | undefined;
  for (const row of rows) {
    const { key } = row;
    const run = runs.get(key);
    if (run === undefined) runs.set(key, [row]);
    else if (key === last) run.push(row);
    else return new Map();
    last = key;
  }
  const isOneEach = mode === 'latest' && runs.size === rows.length;
  if (last !== undefined && !isOneEach) runs.delete(last);
  return runs;
}
