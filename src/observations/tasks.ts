import { Failure } from '../errors.ts';
import type { Pair, Rectangle, RowsOf } from '../planner/cover.ts';
import type { Mode } from '../planner/demand.ts';
import type { Outcome } from './outcome.ts';

/** A rectangle to fetch, and the demanded pairs that it answers. */
export interface Task {
  readonly mode: Mode;
  readonly rectangle: Rectangle;
  readonly wanted: readonly Pair[];
  /** Rows that its pairs are expected to have. */
  readonly rowsOf: RowsOf;
  readonly settle: SettlePair;
  /** How often a cut answer was asked for in pieces before. */
  readonly round: number;
}

/**
 * Settles the pairs of one mode: with rows, with a failure, or with `'no figure'` where the latest row holds no value, so
 * that the latest figure stands further back in the series.
 */
export type SettlePair = (pair: Pair, outcome: Outcome | 'no figure') => void;

/**
 * Plans and fetches pairs of one mode.
 * @returns how many rows came for them, those without a figure included; null where not everything came
 */
export type FetchPairs = (
  mode: Mode,
  pairs: readonly Pair[],
  rowsOf: RowsOf,
  settle: SettlePair,
  round: number,
) => Promise<number | null>;

/** A failure on the way is the outcome of every pair that was wanted there. */
export async function settlingFailures(
  { wanted, settle }: Task,
  fetch: () => Promise<number | null>,
): Promise<number | null> {
  try {
    return await fetch();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    for (const pair of wanted) settle(pair, error);
    return null;
  }
}

/** Row counts add up only where every part came whole. */
export function sum(counts: readonly (number | null)[]): number | null {
  let total = 0;
  for (const count of counts) {
    if (count === null) return null;
    total += count;
  }
  return total;
}

export function within({ countryCodes, metricKeys }: Rectangle): (pair: Pair) => boolean {
  const codes = new Set(countryCodes);
  const keys = new Set(metricKeys);
  return (pair) => codes.has(pair.countryCode) && keys.has(pair.metricKey);
}
