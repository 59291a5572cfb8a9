import { cover, expectedRows, type Pair, type RowsOf } from '../planner/cover.ts';
import { type Demand, keyOf, pairKey } from '../planner/demand.ts';
import type { Learned } from '../planner/learned.ts';
import { chooseModes, type ModeLimits, oneRow } from '../planner/modes.ts';
import { type CoveredParts, limitsOf } from './covered.ts';

/** What plans are made by. */
export interface Planning extends Pick<CoveredParts, 'learned' | 'codesPerCall'> {
  readonly overfetchRows: number;
}

/** What demands are planned to take; an answer that is cut short, or refused, takes more. */
export interface Estimate {
  readonly calls: number;
  /** Rows that the calls are expected to bring. */
  readonly rows: number;
}

export function estimate(demands: readonly Demand[], planning: Planning): Estimate {
  const { learned } = planning;
  const limits = modeLimits(planning);
  const { latest, series } = chooseModes(demands, limits, learned.seriesRows);
  let [calls, rows] = [0, 0];
  const add = (pairs: readonly Pair[], rowsOf: RowsOf) => {
    for (const rectangle of pairs.length === 0 ? [] : cover(pairs, limits, rowsOf)) {
      calls += 1;
      rows += expectedRows(rectangle, rowsOf);
    }
  };
  add(latest, oneRow);
  add(series, hopefulRows(series, learned));
  return { calls, rows };
}

export function modeLimits(planning: Planning): ModeLimits {
  return { ...limitsOf(planning), overfetchRows: planning.overfetchRows };
}

/**
 * Rows of series to plan by. A first call for series of unknown length asks for all that is wanted: the service's
 * total then tells how many calls the rest takes, and what came is kept. That is as many calls as had the lengths
 * been known, while a guess is paid for either way. Only where the service gives no totals does it have to be guessed.
 */
export function hopefulRows(wanted: readonly Pair[], learned: Learned): RowsOf {
  if (learned.totals === 'untold') return learned.seriesRows;
  const keys = new Set(wanted.map(keyOf));
  return (code, metric) =>
    keys.has(pairKey(code, metric)) && !learned.knowsSeries(code, metric)
      ? 1
      : learned.seriesRows(code, metric);
}
