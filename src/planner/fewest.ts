import type { CoverLimits, RowsOf } from './cover.ts';
import type { Demand } from './demand.ts';

/** How few calls figures can take, found while they are still being wanted: no cover of them has fewer. */
export interface FewestCalls {
  /** Distinct figures so far. */
  readonly figures: number;
  readonly calls: number;
  /** Counts a figure, once however often it is wanted. */
  add(demand: Demand): void;
}

/**
 * Each call brings a number of rows and names a number of codes at the most, so that sums of what is wanted bound the
 * calls from below, at next to no work.
 */
export function createFewestCalls(
  { maxRows, maxCodes }: Pick<CoverLimits, 'maxRows' | 'maxCodes'>,
  seriesRows: RowsOf,
): FewestCalls {
  const counted = new Set<string>();
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
    add({ mode, key, countryCode, metricKey }) {
      if (counted.has(key)) return;
      counted.add(key);
      countryCodes.add(countryCode);
      metricKeys.add(metricKey);
      if (mode === 'latest') latest += 1;
      // A pair beyond the limit is a call of its own.
      else series += Math.min(maxRows, seriesRows(countryCode, metricKey));
    },
  };
}

/** No plan for these figures takes fewer calls. */
export function fewestCalls(
  demands: readonly Demand[],
  limits: Pick<CoverLimits, 'maxRows' | 'maxCodes'>,
  seriesRows: RowsOf,
): number {
  const fewest = createFewestCalls(limits, seriesRows);
  for (const demand of demands) fewest.add(demand);
  return fewest.calls;
}
