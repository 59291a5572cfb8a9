import { type Demand, type RowsOf, wholeKey, type YearRange } from '../../observations/planner/demand.ts';
import type { CoverLimits } from '../../observations/planner/grid.ts';

/**
 * A lower bound of the calls for figures while demands are still added. Sums over the demands suffice, since a call is
 * limited in rows and in names.
 */
export function createFewestCalls(
  { maxRows, maxCodes }: CoverLimits,
  rowsWithin: (years: YearRange | null) => RowsOf,
) {
  /** Rows by figure; for a series, the most that one demand takes of it. */
  const counted = new Map<string, number>();
  const countryCodes = new Set<string>();
  const metricKeys = new Set<string>();
  let [latest, series] = [0, 0];
  return {
    figures: () => counted.size,
    calls() {
      // The series may contain all latest figures.
      const rows = Math.max(series === 0 ? latest : 0, series);
      const names = Math.max(countryCodes.size, metricKeys.size);
      return Math.max(Math.ceil(rows / maxRows), Math.ceil(names / maxCodes));
    },
    /** Counts each figure once, however often it is demanded. */
    add(demand: Demand) {
      const { mode, years, countryCode, metricKey } = demand;
      const key = wholeKey(demand);
      const before = counted.get(key);
      if (before !== undefined && mode === 'latest') return;
      countryCodes.add(countryCode);
      metricKeys.add(metricKey);
      // A pair beyond the limit is a call of its own.
      const rows = mode === 'latest' ? 1 : Math.min(maxRows, rowsWithin(years)(countryCode, metricKey));
      counted.set(key, Math.max(rows, before ?? 0));
      if (mode === 'latest') latest += 1;
      else series += Math.max(0, rows - (before ?? 0));
    },
  };
}
