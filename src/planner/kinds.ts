import { type CoverLimits, covering, expectedRows, type Pair, type RowsOf, taken } from './cover.ts';
import { type Demand, pairKey } from './demand.ts';
import type { Steps } from './tiling.ts';

export interface KindPlan {
  /** Pairs to ask for with `latest=true`. */
  readonly latest: readonly Pair[];
  /** Pairs to ask for whole; the latest figure of any of them is taken from its series. */
  readonly series: readonly Pair[];
}

export interface KindLimits extends CoverLimits {
  /** Rows beyond those of separate calls that a merged plan may bring. */
  readonly overfetchRows: number;
}

/**
 * Latest figures and series cannot share a call, but a series holds its latest figure. Asks for everything as
 * series where that takes fewer calls and brings no more unwanted rows than the budget allows.
 */
export function chooseKinds(demands: readonly Demand[], limits: KindLimits, seriesRows: RowsOf): KindPlan {
  return taken(choosingKinds(demands, limits, seriesRows));
}

/** As {@link chooseKinds}, in steps: of thousands of demands, each takes milliseconds. */
export function* choosingKinds(
  demands: readonly Demand[],
  limits: KindLimits,
  seriesRows: RowsOf,
): Steps<KindPlan> {
  const series = new Map<string, Pair>();
  for (const demand of demands) {
    if (demand.kind === 'series') series.set(pairKey(demand.countryCode, demand.metricKey), demand);
  }
  const latest = new Map<string, Pair>();
  for (const demand of demands) {
    const key = pairKey(demand.countryCode, demand.metricKey);
    if (demand.kind === 'latest' && !series.has(key)) latest.set(key, demand);
  }
  const apart: KindPlan = { latest: [...latest.values()], series: [...series.values()] };
  if (latest.size === 0 || series.size === 0) return apart;

  const together: KindPlan = { latest: [], series: [...series.values(), ...latest.values()] };
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
