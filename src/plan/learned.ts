import type { Pair, Rectangle, RowsOf } from './cover.ts';
import { type Mode, nameOfYears, pairKey, type YearRange, yearsWithin } from './demand.ts';

/** Rows after which the data route is seen to end when no `limit` is given. */
export const DEFAULT_MAX_ROWS = 100;

/** The known extent of an answer. */
interface Extent {
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

/** The most rows that a data call brings, until the service shows another figure. */
const ASSUMED_MAX_ROWS = 1000;

/** The years assumed of an unknown series: since the earliest series began. */
const ASSUMED_YEARS: Span = { from: 1950, to: 2026 };

/** Rows assumed of such a series: one a year. */
const ASSUMED_SERIES_ROWS = 77;

/** Pairs whose row count is remembered: more than all countries times all indicators. */
const MAX_PAIRS = 50_000;

/** Pairs known after which no further empty pair is remembered: anybody can make up names. */
const MAX_EMPTY_PAIRS = MAX_PAIRS / 2;

const mostOf = (rows: number) => (rows === 0 ? MAX_EMPTY_PAIRS : MAX_PAIRS);

/** Names of one kind that are remembered. */
const MAX_NAMES = 20_000;

/** Milliseconds that a fact holds without new evidence. Then it is taken for unknown, and found out anew. */
const FACT_LIFE_MS = 10 * 60_000;

/** Facts on the data route that single answers show, each with a value for the unknown. */
export interface Facts {
  /** The most rows that one call brings. */
  maxRows: number;
  /** Rows at which an answer without `limit` ends. */
  defaultRows: number;
  /**
   * Use of `limit`, which the route's specification doesn't name: its answers mention one (`told`), or a call with it
   * has been answered or refused.
   */
  limitParam: 'unknown' | 'told' | 'accepted' | 'refused';
  /** The lowest `limit` that was refused without a word on the accepted ones; infinite if none was. */
  refusedLimit: number;
  /** Effect of a `limit` that is taken; a service may ignore it. */
  limitEffect: 'unknown' | 'heeded' | 'ignored';
  /**
   * Use of `start_year` and `end_year`, which the route's specification doesn't name: rows of the named years have
   * come, or rows of others too, or a call with them has been refused that was answered without.
   */
  yearsParam: 'unknown' | 'accepted' | 'ignored' | 'refused';
  /** Worth of `meta.total`: it has counted rows beyond those sent, it isn't there, or nothing is known yet. */
  totals: 'unknown' | 'true' | 'untold';
}

const UNKNOWN_FACTS: Readonly<Facts> = {
  maxRows: ASSUMED_MAX_ROWS,
  defaultRows: DEFAULT_MAX_ROWS,
  limitParam: 'unknown',
  refusedLimit: Number.POSITIVE_INFINITY,
  limitEffect: 'unknown',
  yearsParam: 'unknown',
  totals: 'unknown',
};

/** The years of a series, from the first row to the last. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export type Dimension = 'countries' | 'metrics';

/** Facts, as long as they hold. */
interface KnownFacts {
  /** Returns all facts as of now: for those who look at several of them. */
  facts(): Readonly<Facts>;
  /** Takes facts over, until they are contradicted or have had no new evidence for ten minutes. */
  learn(facts: Partial<Facts>): void;
}

/** Knowledge of the service from its answers. Shared by all callers: none of it is a figure. */
export interface Learned extends Readonly<Facts>, KnownFacts {
  /** Names that the service has answered for: they don't make it refuse a call. In the spelling of the call. */
  readonly answered: Readonly<Record<Dimension, NameSet>>;
  /** Names in the service's own lists. */
  readonly listed: Readonly<Record<Dimension, NameSet>>;
  /** Codes of the last list of countries, in its order; none before one came. The list may be another by now. */
  readonly countryCodes: readonly string[];
  learnCountryCodes(codes: readonly string[]): void;
  /** Notes that a call was answered, and the countries and metrics of the figures that came. */
  noteAnswer(asked: Rectangle, figures: readonly Pair[]): void;
  /** Names that figures have come for: codes in upper case, keys as the service spells them. */
  readonly figured: Readonly<Record<Dimension, NameSet>>;
  /** Expected rows of a series. */
  readonly seriesRows: RowsOf;
  /** True if the length of a series is known rather than assumed. */
  knowsSeries(countryCode: string, metricKey: string): boolean;
  /**
   * Remembers the number of rows of a whole series.
   * @param span the years of its rows, if they are known
   */
  learnSeries(countryCode: string, metricKey: string, rows: number, span?: Span | null): void;
  /** Expected rows of a series within a range of years. */
  rowsWithin(years: YearRange): RowsOf;
  /** True if the rows of a series within a range of years are known rather than assumed. */
  knowsWithin(countryCode: string, metricKey: string, years: YearRange): boolean;
  /** Remembers the number of rows of a series within a range of years, for the last range only. */
  learnWithin(countryCode: string, metricKey: string, years: YearRange, rows: number): void;
}

/** A bounded set of names. */
export interface NameSet {
  readonly size: number;
  has(name: string): boolean;
  add(name: string): void;
  every(test: (name: string) => boolean): boolean;
}

/** Keeps facts until they are contradicted, or have had no new evidence for as long as they live. */
function createFacts(now: () => number): KnownFacts {
  let known = UNKNOWN_FACTS;
  /** Instants up to which facts are known, by their names. */
  const untilMs = new Map<string, number>();
  /** The first of these instants. */
  let allUntilMs = Number.POSITIVE_INFINITY;
  function facts(): Readonly<Facts> {
    const nowMs = now();
    if (nowMs < allUntilMs) return known;
    for (const [name, atMs] of untilMs) {
      if (nowMs < atMs) continue;
      known = { ...known, [name]: UNKNOWN_FACTS[name as keyof Facts] };
      untilMs.delete(name);
    }
    allUntilMs = Math.min(...untilMs.values());
    return known;
  }

  return {
    facts,
    learn(some) {
      const names = Object.keys(some) as (keyof Facts)[];
      const nowMs = now();
      for (const name of names) untilMs.set(name, nowMs + FACT_LIFE_MS);
      if (names.some((name) => known[name] !== some[name])) known = { ...known, ...some };
      allUntilMs = Math.min(...untilMs.values());
    },
  };
}

export function createLearned(now: () => number): Learned {
  const { facts, learn } = createFacts(now);
  const byPair = new Map<string, number>();
  const byMetric = new Map<string, { pairs: number; rows: number }>();
  const spans = new Map<string, Span>();
  const ranges = new Map<string, { readonly name: string; readonly rows: number }>();

  let countryCodes: readonly string[] = [];
  const answered = { countries: createNameSet(), metrics: createNameSet() };
  const figured = { countries: createNameSet(), metrics: createNameSet() };

  const seriesRows: RowsOf = (countryCode, metricKey) => {
    const known = byPair.get(pairKey(countryCode, metricKey));
    if (known !== undefined) return known;
    const metric = byMetric.get(metricKey);
    return metric === undefined || metric.pairs === 0
      ? ASSUMED_SERIES_ROWS
      : Math.ceil(metric.rows / metric.pairs);
  };

  return {
    get maxRows() {
      return facts().maxRows;
    },
    get defaultRows() {
      return facts().defaultRows;
    },
    get limitParam() {
      return facts().limitParam;
    },
    get refusedLimit() {
      return facts().refusedLimit;
    },
    get limitEffect() {
      return facts().limitEffect;
    },
    get yearsParam() {
      return facts().yearsParam;
    },
    get totals() {
      return facts().totals;
    },
    facts,
    learn,
    answered,
    noteAnswer({ countryCodes, metricKeys }, figures) {
      for (const code of countryCodes) answered.countries.add(code.toUpperCase());
      for (const key of metricKeys) answered.metrics.add(key);
      for (const code of new Set(figures.map((row) => row.countryCode)))
        figured.countries.add(code.toUpperCase());
      for (const key of new Set(figures.map((row) => row.metricKey))) figured.metrics.add(key);
    },
    listed: { countries: createNameSet(), metrics: createNameSet() },
    get countryCodes() {
      return countryCodes;
    },
    learnCountryCodes(codes) {
      countryCodes = codes;
    },
    figured,
    seriesRows,
    knowsSeries(countryCode, metricKey) {
      return byPair.has(pairKey(countryCode, metricKey));
    },
    learnSeries(countryCode, metricKey, rows, span = null) {
      const key = pairKey(countryCode, metricKey);
      const known = byPair.get(key);
      if (known === undefined && byPair.size >= mostOf(rows)) return;
      byPair.set(key, rows);
      if (span === null) spans.delete(key);
      else spans.set(key, span);
      // Pairs that the service holds nothing of tell nothing of the length of the others.
      const metric = byMetric.get(metricKey) ?? { pairs: 0, rows: 0 };
      metric.pairs += Number(rows > 0) - Number((known ?? 0) > 0);
      metric.rows += rows - (known ?? 0);
      byMetric.set(metricKey, metric);
    },
    rowsWithin(years) {
      const name = nameOfYears(years);
      return (countryCode, metricKey) => {
        const key = pairKey(countryCode, metricKey);
        const known = ranges.get(key);
        if (known?.name === name) return known.rows;
        const span = spans.get(key) ?? ASSUMED_YEARS;
        const share = yearsWithin(years, span) / (span.to - span.from + 1);
        return Math.ceil(seriesRows(countryCode, metricKey) * share);
      };
    },
    knowsWithin(countryCode, metricKey, years) {
      const key = pairKey(countryCode, metricKey);
      return spans.has(key) || byPair.get(key) === 0 || ranges.get(key)?.name === nameOfYears(years);
    },
    learnWithin(countryCode, metricKey, years, rows) {
      const key = pairKey(countryCode, metricKey);
      const name = nameOfYears(years);
      if (!ranges.has(key) && ranges.size >= mostOf(rows)) return;
      ranges.set(key, { name, rows });
    },
  };
}

/** True if a call may name years: nothing has shown lately that the service takes none. */
export function mayNameYears({ yearsParam }: Readonly<Facts>): boolean {
  return yearsParam !== 'refused' && yearsParam !== 'ignored';
}

function createNameSet(): NameSet {
  const names = new Set<string>();
  return {
    get size() {
      return names.size;
    },
    has: (name) => names.has(name),
    add(name) {
      if (names.size < MAX_NAMES) names.add(name);
    },
    every(test) {
      for (const name of names) if (!test(name)) return false;
      return true;
    },
  };
}

/**
 * The present knowledge, to plan by and not to add to.
 * @param totals `untold` has series of unknown length be taken for long, `unknown` has them asked for in hope
 */
export function frozen(learned: Learned, totals: 'untold' | 'unknown'): Learned {
  const facts = { ...learned.facts(), totals };
  const fixed = (names: NameSet): NameSet => ({
    size: names.size,
    has: (name) => names.has(name),
    add() {},
    every: (test) => names.every(test),
  });
  const fixedNames = ({ countries, metrics }: Learned['answered']) => ({
    countries: fixed(countries),
    metrics: fixed(metrics),
  });
  return {
    ...facts,
    facts: () => facts,
    learn() {},
    answered: fixedNames(learned.answered),
    listed: fixedNames(learned.listed),
    countryCodes: learned.countryCodes,
    learnCountryCodes() {},
    noteAnswer() {},
    figured: fixedNames(learned.figured),
    seriesRows: learned.seriesRows,
    knowsSeries: learned.knowsSeries,
    learnSeries() {},
    rowsWithin: learned.rowsWithin,
    knowsWithin: learned.knowsWithin,
    learnWithin() {},
  };
}
