import { DEFAULT_MAX_ROWS } from './completeness.ts';
import type { RowsOf } from './cover.ts';
import { pairKey } from './demand.ts';

/** The most rows that a data call brings, until the service shows another figure. */
const ASSUMED_MAX_ROWS = 1000;

/** Rows of a series that nothing is known of: one a year since the earliest series began in 1950. */
const ASSUMED_SERIES_ROWS = 77;

/** Pairs whose row count is remembered: more than all countries times all indicators. */
const MAX_PAIRS = 50_000;

/** What the answers of the service have taught about it. Shared by all callers: none of it is a figure. */
export interface Learned {
  /** The most rows that one call brings. */
  maxRows: number;
  /** Rows after which an answer ends that was asked for without `limit`. */
  defaultRows: number;
  /**
   * Whether the data route takes `limit`, which its specification doesn't name: its answers mention one (`told`), or a
   * call with it has been answered or refused.
   */
  limitParam: 'unknown' | 'told' | 'accepted' | 'refused';
  /** What `meta.total` is worth: it has counted rows beyond those sent, it isn't there, or nothing is known yet. */
  totals: 'unknown' | 'true' | 'untold';
  /** Countries and metrics that the service has answered for, in the spelling of {@link pairKey}. */
  readonly harmless: { readonly countries: Set<string>; readonly metrics: Set<string> };
  /** Expected rows of a series. */
  readonly seriesRows: RowsOf;
  /** Whether the length of a series is known rather than assumed. */
  knowsSeries(countryCode: string, metricKey: string): boolean;
  /** Remembers how many rows a whole series has. */
  learnSeries(countryCode: string, metricKey: string, rows: number): void;
}

export function createLearned(): Learned {
  const byPair = new Map<string, number>();
  const byMetric = new Map<string, { pairs: number; rows: number }>();

  return {
    maxRows: ASSUMED_MAX_ROWS,
    defaultRows: DEFAULT_MAX_ROWS,
    limitParam: 'unknown',
    totals: 'unknown',
    harmless: { countries: new Set(), metrics: new Set() },
    seriesRows(countryCode, metricKey) {
      const known = byPair.get(pairKey(countryCode, metricKey));
      if (known !== undefined) return known;
      const metric = byMetric.get(metricKey.toLowerCase());
      return metric === undefined || metric.pairs === 0
        ? ASSUMED_SERIES_ROWS
        : Math.ceil(metric.rows / metric.pairs);
    },
    knowsSeries(countryCode, metricKey) {
      return byPair.has(pairKey(countryCode, metricKey));
    },
    learnSeries(countryCode, metricKey, rows) {
      const key = pairKey(countryCode, metricKey);
      const known = byPair.get(key);
      if (known === undefined && byPair.size >= MAX_PAIRS) return;
      byPair.set(key, rows);
      // Pairs that the service holds nothing of say nothing of how long the others are.
      const metric = byMetric.get(metricKey.toLowerCase()) ?? { pairs: 0, rows: 0 };
      metric.pairs += Number(rows > 0) - Number((known ?? 0) > 0);
      metric.rows += rows - (known ?? 0);
      byMetric.set(metricKey.toLowerCase(), metric);
    },
  };
}

/** What is known now, to plan by and not to add to; series of unknown length are taken to be long. */
export function frozen(learned: Learned): Learned {
  return {
    ...learned,
    totals: 'untold',
    harmless: { countries: new Set(learned.harmless.countries), metrics: new Set(learned.harmless.metrics) },
    learnSeries() {},
  };
}
