import { taken } from '../async/steps.ts';
import {
  type CoverLimits,
  cover,
  coverWithin,
  expectedRows,
  type Pair,
  type Rectangle,
  type RowsOf,
} from '../planner/cover.ts';
import { type Demand, keyOf, pairKey } from '../planner/demand.ts';
import type { Learned } from '../planner/learned.ts';
import { type ModeLimits, type ModePlan, type PlanPart, partsOf } from '../planner/modes.ts';
import { widened, type YearRange } from '../planner/year-range.ts';
import { planningModes } from './mode-plans.ts';
import type { PairsToFetch } from './task.ts';

/** The bounds of calls. */
export interface CallBounds {
  readonly learned: Learned;
  readonly codesPerCall: number;
}

/** The bounds of plans. */
export interface Planning extends CallBounds {
  readonly overfetchRows: number;
}

/** Characters of codes and keys in one address; servers and proxies take 8,000 and more. */
const MAX_ADDRESS = 6_000;

export function limitsOf({ learned, codesPerCall }: CallBounds): CoverLimits {
  return { maxRows: learned.maxRows, maxCodes: codesPerCall, maxAddress: MAX_ADDRESS };
}

/** Calls and rows that demands are planned to take. An answer that is cut short, or refused, takes more. */
export interface Estimate {
  readonly calls: number;
  /** Rows that the calls are expected to bring. */
  readonly rows: number;
}

export function estimate(demands: readonly Demand[], planning: Planning): Estimate {
  const { learned } = planning;
  const limits = modeLimits(planning);
  const plan = taken(planningModes(demands, limits, learned));
  const total = { calls: 0, rows: 0 };
  for (const { pairs, rowsOf } of hopefulParts(plan, learned))
    add(total, cover(pairs, limits, rowsOf), rowsOf);
  return total;
}

/**
 * True if demands are planned to take no more than this. Often their own rows, or one call that can't hold them,
 * already tell; then they are not parted into calls.
 */
export function fitsWithin(most: Estimate, demands: readonly Demand[], planning: Planning): boolean {
  const { learned } = planning;
  const limits = modeLimits(planning);
  const plan = taken(planningModes(demands, limits, learned));
  const total = { calls: 0, rows: 0 };
  for (const { pairs, rowsOf } of hopefulParts(plan, learned)) {
    const ownRows = pairs.reduce(
      (sum, { countryCode, metricKey }) => sum + rowsOf(countryCode, metricKey),
      0,
    );
    if (total.rows + ownRows > most.rows) return false;
    const rectangles = coverWithin(most.calls - total.calls, pairs, limits, rowsOf);
    if (rectangles === null) return false;
    add(total, rectangles, rowsOf);
  }
  return total.rows <= most.rows;
}

function add(
  total: { -readonly [Part in keyof Estimate]: number },
  rectangles: readonly Rectangle[],
  rowsOf: RowsOf,
): void {
  total.calls += rectangles.length;
  for (const rectangle of rectangles) total.rows += expectedRows(rectangle, rowsOf);
}

/** The parts of a plan, each with the rows to cover it by. */
export function hopefulParts(plan: ModePlan, learned: Learned): PlanPart[] {
  return partsOf(
    plan,
    (pairs) => hopefulRows(pairs, learned),
    (years, pairs) => hopefulRowsWithin(years, pairs, learned),
  );
}

export function modeLimits(planning: Planning): ModeLimits {
  return { ...limitsOf(planning), overfetchRows: planning.overfetchRows };
}

/**
 * Rows of series to plan by. A first call for series of unknown length asks for all of them: the service's total then
 * tells how many calls the rest takes, and the rows that came are kept. That is as many calls as if the lengths had
 * been known, while a guess is paid for either way. A guess is needed only if the service gives no totals.
 */
export function hopefulRows(wanted: readonly Pair[], learned: Learned): RowsOf {
  return hopeful(wanted, learned, learned.seriesRows, learned.knowsSeries);
}

/** The years and rows to plan by if whole series are asked for in place of some years. */
export function inWhole(
  pairs: readonly Pair[],
  { learned }: Pick<CallBounds, 'learned'>,
): Pick<PairsToFetch, 'years' | 'rowsOf'> {
  return { years: null, rowsOf: hopefulRows(pairs, learned) };
}

function hopefulRowsWithin(years: YearRange, wanted: readonly Pair[], learned: Learned): RowsOf {
  const asked = widened(years);
  return hopeful(wanted, learned, learned.rowsWithin(asked), (c, m) => learned.knowsWithin(c, m, asked));
}

function hopeful(
  wanted: readonly Pair[],
  { totals }: Learned,
  expected: RowsOf,
  knows: (countryCode: string, metricKey: string) => boolean,
): RowsOf {
  if (totals === 'untold') return expected;
  const keys = new Set(wanted.map(keyOf));
  return (code, metric) =>
    keys.has(pairKey(code, metric)) && !knows(code, metric) ? 1 : expected(code, metric);
}
