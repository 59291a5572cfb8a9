import type { CoverLimits, RowsOf } from './cover.ts';
import { type Demand, wholeKey } from './demand.ts';
import type { YearRange } from './year-range.ts';

/** A lower bound of the calls for figures, kept while demands are still coming: no cover of them has fewer. */
export interface FewestCalls {
  /** Distinct figures so far. */
  readonly figures: number;
  readonly calls: number;
  /** Counts a figure, once for all its demands. */
  add(demand: Demand): void;
}

const NO_ROWS: RowsOf = () => 0;

/**
 * Bounds the calls from below, at next to no work: each call brings a number of rows and names a number of codes at the
 * most, so the sums of the demands tell the least.
 */
export function createFewestCalls(
  { maxRows, maxCodes }: Pick<CoverLimits, 'maxRows' | 'maxCodes'>,
  seriesRows: RowsOf,
  rowsWithin: (years: YearRange) => RowsOf = () => NO_ROWS,
): FewestCalls {
  /** Rows by figure: for a series, the most that one demand takes of it. */
  const counted = new Map<string, number>();
  const countryCodes = new Set<string>();
  const metricKeys = new Set<string>();
  let [latest, series] = [0, 0];
  return {
    get figures() {
      return counted.size;
    },
    get calls() {
      // Latest figures may all stand in the series.
      const rows = Math.max(series === 0 ? latest : 0, series);
      const names = Math.max(countryCodes.size, metricKeys.size);
      return Math.max(Math.ceil(rows / maxRows), Math.ceil(names / maxCodes));
    },
    add(demand) {
      const { mode, years, countryCode, metricKey } = demand;
      const key = wholeKey(demand);
      const before = counted.get(key);
      if (before !== undefined && mode === 'latest') return;
      countryCodes.add(countryCode);
      metricKeys.add(metricKey);
      const rowsOf = years === null ? seriesRows : rowsWithin(years);
      // A pair beyond the limit is a call of its own.
      const rows = mode === 'latest' ? 1 : Math.min(maxRows, rowsOf(countryCode, metricKey));
      counted.set(key, Math.max(rows, before ?? 0));
      if (mode === 'latest') latest += 1;
      else series += Math.max(0, rows - (before ?? 0));
    },
  };
}

/** A lower bound: no plan for these figures takes fewer calls. */
export function fewestCalls(
  demands: readonly Demand[],
  limits: Pick<CoverLimits, 'maxRows' | 'maxCodes'>,
  seriesRows: RowsOf,
  rowsWithin?: (years: YearRange) => RowsOf,
): number {
  const fewest = createFewestCalls(limits, seriesRows, rowsWithin);
  for (const demand of demands) fewest.add(demand);
  return fewest.calls;
}
