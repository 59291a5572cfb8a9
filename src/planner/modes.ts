import { type CoverLimits, covering, expectedRows, type Pair, type RowsOf, taken } from './cover.ts';
import { type Demand, keyOf } from './demand.ts';
import type { Steps } from './tiling.ts';

export interface ModePlan {
  /** Pairs to ask for with `latest=true`. */
  readonly latest: readonly Pair[];
  /** Pairs to ask for whole; the latest figure of any of them is taken from its series. */
  readonly series: readonly Pair[];
}

export interface ModeLimits extends CoverLimits {
  /** Rows beyond those of separate calls that a merged plan may bring. */
  readonly overfetchRows: number;
}

/**
 * Latest figures and series cannot share a call, but a series holds its latest figure. Asks for everything as
 * series where that takes fewer calls and brings no more unwanted rows than the budget allows.
 */
export function chooseModes(demands: readonly Demand[], limits: ModeLimits, seriesRows: RowsOf): ModePlan {
  return taken(choosingModes(demands, limits, seriesRows));
}

/** As {@link chooseModes}, in steps: of thousands of demands, each takes milliseconds. */
export function* choosingModes(
  demands: readonly Demand[],
  limits: ModeLimits,
  seriesRows: RowsOf,
): Steps<ModePlan> {
  const series = new Map<string, Pair>();
  for (const demand of demands) {
    if (demand.mode === 'series') series.set(keyOf(demand), demand);
  }
  const latest = new Map<string, Pair>();
  for (const demand of demands) {
    const key = keyOf(demand);
    if (demand.mode === 'latest' && !series.has(key)) latest.set(key, demand);
  }
  const apart: ModePlan = { latest: [...latest.values()], series: [...series.values()] };
  if (latest.size === 0 || series.size === 0) return apart;

  const together: ModePlan = { latest: [], series: [...series.values(), ...latest.values()] };
  const latestCover = yield* covering(apart.latest, limits, oneRow);
  const seriesCover = yield* covering(apart.series, limits, seriesRows);
  const togetherCover = yield* covering(together.series, limits, seriesRows);
  const rowsApart =
    sum(latestCover.map((r) => expectedRows(r, oneRow))) +
    sum(seriesCover.map((r) => expectedRows(r, seriesRows)));
  const rowsTogether = sum(togetherCover.map((r) => expectedRows(r, seriesRows)));
  const isCheaper = togetherCover.length < latestCover.length + seriesCover.length;
  return isCheaper && rowsTogether - rowsApart <= limits.overfetchRows ? together : apart;
}

/** The latest figure of a pair is one row. */
export const oneRow: RowsOf = () => 1;

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}
