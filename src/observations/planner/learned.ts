import { nameOfYears, type Pair, pairKey, type Rectangle, type RowsOf, type YearRange } from './demand.ts';

/** Rows after which the data route is seen to end when no `limit` is given. */
export const DEFAULT_MAX_ROWS = 100;

/** The most rows that a data call brings, until the service shows another figure. */
const ASSUMED_MAX_ROWS = 1000;

/** The years assumed of an unknown series: since the earliest series began. */
const ASSUMED_YEARS: Span = { from: 1950, to: 2026 };

/** Rows assumed of such a series: one a year. */
const ASSUMED_SERIES_ROWS = 77;

/** Pairs whose row count is cached: more than all countries times all indicators. */
const MAX_PAIRS = 50_000;

/** Pairs known after which no further empty pair is cached: anybody can make up names. */
const MAX_EMPTY_PAIRS = MAX_PAIRS / 2;

const mostOf = (rows: number) => (rows === 0 ? MAX_EMPTY_PAIRS : MAX_PAIRS);

/** Names of one kind that are cached. */
const MAX_NAMES = 20_000;

/** Milliseconds that a fact holds without new evidence. Then it is taken for unknown, and found out anew. */
const FACT_LIFE_MS = 10 * 60_000;

/** Facts on the data route that single answers show, each with a value for the unknown. */
export interface Facts {
  /** The most rows that one call brings. */
  maxRows: number;
  /** Rows at which an answer without `limit` ends. */
  defaultRows: number;
  /** Use of `limit`, which isn't specified: answers mention one (`told`), or take it, or refuse it. */
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

/** An answer to a data call, as far as it tells how the service behaves. */
export interface NotedAnswer {
  readonly received: number;
  readonly meta: { readonly total: number | null; readonly limit: number | null };
  /** The figures that came. */
  readonly rows: readonly Pair[];
}

type NameSet = Iterable<string> & {
  readonly size: number;
  has(name: string): boolean;
  add(name: string): unknown;
};

/** As many names as are cached: further ones are not. */
class BoundedNames extends Set<string> {
  override add(name: string): this {
    return this.size < MAX_NAMES ? super.add(name) : this;
  }
}

/** Keeps facts until they are contradicted, or have had no new evidence for as long as they live. */
function createFacts(now: () => number) {
  let current = UNKNOWN_FACTS;
  /** Instants up to which facts are known, by their names. */
  const untilMs = new Map<string, number>();
  /** The first of these instants. */
  let allUntilMs = Number.POSITIVE_INFINITY;
  function facts(): Readonly<Facts> {
    const nowMs = now();
    if (nowMs < allUntilMs) return current;
    for (const [name, atMs] of untilMs) {
      if (nowMs < atMs) continue;
      current = { ...current, [name]: UNKNOWN_FACTS[name as keyof Facts] };
      untilMs.delete(name);
    }
    allUntilMs = Math.min(...untilMs.values());
    return current;
  }

  return {
    facts,
    /** Takes facts over, until they are contradicted or have had no new evidence for ten minutes. */
    learn(some: Partial<Facts>): void {
      const names = Object.keys(some) as (keyof Facts)[];
      const nowMs = now();
      for (const name of names) untilMs.set(name, nowMs + FACT_LIFE_MS);
      if (names.some((name) => current[name] !== some[name])) current = { ...current, ...some };
      allUntilMs = Math.min(...untilMs.values());
    },
  };
}

export type Learned = ReturnType<typeof createLearned>;

function createNames(): Readonly<Record<Dimension, NameSet>> {
  return { countries: new BoundedNames(), metrics: new BoundedNames() };
}

/** Keeps what answers tell of the service. It is shared by all callers: none of it is a figure. */
export function createLearned(now: () => number) {
  const { facts, learn } = createFacts(now);
  const byPair = new Map<string, number>();
  const byMetric = new Map<string, { pairs: number; rows: number }>();
  const spans = new Map<string, Span>();
  const ranges = new Map<string, { readonly name: string; readonly rows: number }>();

  let countryCodes: ReadonlySet<string> = new Set();
  const answered = createNames();
  const figured = createNames();
  let figuredPair: Pair | null = null;

  const seriesRows: RowsOf = (countryCode, metricKey) => {
    const rowCount = byPair.get(pairKey(countryCode, metricKey));
    if (rowCount !== undefined) return rowCount;
    const metric = byMetric.get(metricKey);
    return metric === undefined || metric.pairs === 0
      ? ASSUMED_SERIES_ROWS
      : Math.ceil(metric.rows / metric.pairs);
  };

  return {
    facts,
    learn,
    /** Names that the service has answered for: they don't make it refuse a call. In the spelling of the call. */
    answered,
    /**
     * Learns from an answer: the treatment of `limit`, the names of the call, and those of the figures that came.
     * @param limit the limit that was asked for
     * @returns all facts, as of now
     */
    noteAnswer({ countryCodes, metricKeys }: Rectangle, limit: number | undefined, answer: NotedAnswer) {
      const { rows } = answer;
      learn(limitFacts(answer, limit, facts()));
      for (const code of countryCodes)
        if (!answered.countries.has(code)) answered.countries.add(code.toUpperCase());
      for (const key of metricKeys) answered.metrics.add(key);
      const [first] = rows;
      if (first !== undefined) figuredPair = { countryCode: first.countryCode, metricKey: first.metricKey };
      let before: Pair | undefined;
      for (const row of rows) {
        const { countryCode, metricKey } = row;
        if (countryCode !== before?.countryCode && !figured.countries.has(countryCode))
          figured.countries.add(countryCode.toUpperCase());
        if (metricKey !== before?.metricKey && !figured.metrics.has(metricKey))
          figured.metrics.add(metricKey);
        before = row;
      }
      return facts();
    },
    /** Names in the service's own lists. */
    listed: createNames(),
    /** Codes of the last list of countries, in its order; none before one came. The list may be another by now. */
    get countryCodes() {
      return countryCodes;
    },
    learnCountryCodes(codes: readonly string[]): void {
      countryCodes = new Set(codes);
    },
    /** Names that figures have come for: codes in upper case, keys as the service spells them. */
    figured,
    /** A pair of them that a figure has come for; null before the first. */
    get figuredPair() {
      return figuredPair;
    },
    seriesRows,
    /** True if the length of a series is known rather than assumed. */
    hasSeriesRows(countryCode: string, metricKey: string): boolean {
      return byPair.has(pairKey(countryCode, metricKey));
    },
    /** Notes the number of rows of a whole series, and their years if they are known. */
    learnSeries(countryCode: string, metricKey: string, rows: number, span: Span | null = null): void {
      const key = pairKey(countryCode, metricKey);
      const rowCount = byPair.get(key);
      if (rowCount === undefined && byPair.size >= mostOf(rows)) return;
      byPair.set(key, rows);
      if (span === null) spans.delete(key);
      else spans.set(key, span);
      // Pairs that the service holds nothing of tell nothing of the length of the others.
      const metric = byMetric.get(metricKey) ?? { pairs: 0, rows: 0 };
      metric.pairs += Number(rows > 0) - Number((rowCount ?? 0) > 0);
      metric.rows += rows - (rowCount ?? 0);
      byMetric.set(metricKey, metric);
    },
    /** Expected rows of a series within a range of years. */
    rowsWithin(years: YearRange): RowsOf {
      const name = nameOfYears(years);
      return (countryCode, metricKey) => {
        const key = pairKey(countryCode, metricKey);
        const range = ranges.get(key);
        if (range?.name === name) return range.rows;
        const span = spans.get(key) ?? ASSUMED_YEARS;
        const share = yearsWithin(years, span) / (span.to - span.from + 1);
        return Math.ceil(seriesRows(countryCode, metricKey) * share);
      };
    },
    /** True if the rows of a series within a range of years are known rather than assumed. */
    hasRowsWithin(countryCode: string, metricKey: string, years: YearRange): boolean {
      const key = pairKey(countryCode, metricKey);
      return spans.has(key) || byPair.get(key) === 0 || ranges.get(key)?.name === nameOfYears(years);
    },
    /** Notes the number of rows of a series within a range of years, for the last range only. */
    learnWithin(countryCode: string, metricKey: string, years: YearRange, rows: number): void {
      const key = pairKey(countryCode, metricKey);
      const name = nameOfYears(years);
      if (!ranges.has(key) && ranges.size >= mostOf(rows)) return;
      ranges.set(key, { name, rows });
    },
  };
}

/** The facts that an answer shows of how the service treats `limit`. */
function limitFacts(
  { received, meta }: NotedAnswer,
  asked: number | undefined,
  { maxRows, defaultRows, limitParam }: Facts,
): Partial<Facts> {
  const shown: Partial<Facts> = {};
  if (meta.limit !== null) {
    if (limitParam === 'unknown') shown.limitParam = 'told';
    if (asked === undefined) shown.defaultRows = meta.limit;
    const isCap = asked !== undefined && meta.limit < asked;
    if (isCap || limitParam === 'refused' || meta.limit > maxRows) shown.maxRows = meta.limit;
  }
  if (asked !== undefined) shown.limitParam = 'accepted';
  if (asked !== undefined && received > asked) shown.limitEffect = 'ignored';
  else if (asked !== undefined && received > defaultRows) shown.limitEffect = 'heeded';
  // More rows came than the known maximum: the next answer of as many rows must not look as if a limit had cut it.
  if (received > (shown.maxRows ?? maxRows)) shown.maxRows = received + 1;
  if (meta.total === null) shown.totals = 'untold';
  else if (meta.total > received) shown.totals = 'true';
  return shown;
}

/** True if a call may name years: nothing has shown lately that the service takes none. */
export function mayNameYears({ yearsParam }: Readonly<Facts>): boolean {
  return yearsParam !== 'refused' && yearsParam !== 'ignored';
}

/** Number of years of a span that lie in a range. */
function yearsWithin(range: YearRange, span: Span): number {
  const from = Math.max(span.from, range.from ?? span.from);
  return Math.max(0, Math.min(span.to, range.to ?? span.to) - from + 1);
}
