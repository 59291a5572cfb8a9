import { nameOfYears, type Pair, pairKey, type Rectangle, type RowsOf, type YearRange } from './demand.ts';

/** Observed length of an answer without `limit`. */
export const DEFAULT_MAX_ROWS = 100;

/** Observed: above it, `limit` is refused. */
export const HIGHEST_LIMIT = 1000;

/** Of a series of unknown length: since the earliest series began. */
const ASSUMED_YEARS: Span = { from: 1950, to: 2026 };

/** One row a year. */
export const ASSUMED_SERIES_ROWS = 77;

/** More than all countries times all indicators. */
const MAX_PAIRS = 50_000;

/** From here on no further empty pair is noted: anybody can make up names. */
const MAX_EMPTY_PAIRS = MAX_PAIRS / 2;

const maxPairsFor = (rows: number) => (rows === 0 ? MAX_EMPTY_PAIRS : MAX_PAIRS);

const MAX_NAMES = 20_000;

/** What answers have shown of the data route, each with a value for unknown. None of it expires. */
export interface Facts {
  /** Most rows that a call has brought, since one was last cut. */
  maxRows: number;
  defaultRows: number;
  /** `limit` isn't specified: the service has taken it, or refused it. */
  limitParam: 'unknown' | 'accepted' | 'refused';
  /** The highest `limit`: as observed, as a refusal has named it, or the highest that was taken where a refusal named none. */
  limit: number;
  /**
   * `start_year` and `end_year`, which the specification doesn't name for this route: rows of the named years came; or
   * those of others too, or a call with them was refused that was answered without.
   */
  yearsParam: 'unknown' | 'accepted' | 'refused';
  /** `true` once `meta.total` has counted rows beyond those sent, `untold` if it isn't there. */
  totals: 'unknown' | 'true' | 'untold';
}

const UNKNOWN_FACTS: Readonly<Facts> = {
  maxRows: HIGHEST_LIMIT,
  defaultRows: DEFAULT_MAX_ROWS,
  limitParam: 'unknown',
  limit: HIGHEST_LIMIT,
  yearsParam: 'unknown',
  totals: 'unknown',
};

/** First and last year of a series. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export type Dimension = 'countries' | 'metrics';

export interface NotedAnswer {
  readonly received: number;
  readonly meta: { readonly total: number | null; readonly limit: number | null };
  readonly rows: readonly Pair[];
}

type NameSet = Iterable<string> & {
  readonly size: number;
  has(name: string): boolean;
  add(name: string): unknown;
};

/** Drops names beyond the maximum. */
class BoundedNames extends Set<string> {
  override add(name: string): this {
    return this.size < MAX_NAMES ? super.add(name) : this;
  }
}

export type Learned = ReturnType<typeof createLearned>;

function createNames(): Readonly<Record<Dimension, NameSet>> {
  return { countries: new BoundedNames(), metrics: new BoundedNames() };
}

/** What answers tell of the service, shared by all callers: none of it is a figure. */
export function createLearned() {
  let facts = UNKNOWN_FACTS;
  const learn = (some: Partial<Facts>) => {
    facts = { ...facts, ...some };
  };
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
    facts: () => facts,
    learn,
    /** Names that the service has answered for, and so doesn't refuse: codes in upper case, keys as in the call. */
    answered,
    /**
     * @param limit the limit that was asked for
     * @returns all facts, as of now
     */
    noteAnswer({ countryCodes, metricKeys }: Rectangle, limit: number | undefined, answer: NotedAnswer) {
      const { rows } = answer;
      learn(limitFacts(answer, limit, facts));
      for (const code of countryCodes) answered.countries.add(code);
      for (const key of metricKeys) answered.metrics.add(key);
      const [first] = rows;
      if (first !== undefined) figuredPair = { countryCode: first.countryCode, metricKey: first.metricKey };
      for (const { countryCode, metricKey } of rows) {
        figured.countries.add(countryCode);
        figured.metrics.add(metricKey);
      }
      return facts;
    },
    /** Names in the service's own lists. */
    listed: createNames(),
    /** From the last list of countries, in its order; empty before one came. */
    get countryCodes() {
      return countryCodes;
    },
    learnCountryCodes(codes: readonly string[]): void {
      countryCodes = new Set(codes);
    },
    /** Codes in upper case, keys as the service spells them. */
    figured,
    /** A pair that has had a figure; null before the first. */
    get figuredPair() {
      return figuredPair;
    },
    seriesRows,
    learnSeries(countryCode: string, metricKey: string, rows: number, span: Span | null = null): void {
      const key = pairKey(countryCode, metricKey);
      const rowCount = byPair.get(key);
      if (rowCount === undefined && byPair.size >= maxPairsFor(rows)) return;
      byPair.set(key, rows);
      if (span === null) spans.delete(key);
      else spans.set(key, span);
      // Empty pairs say nothing about the length of others.
      const metric = byMetric.get(metricKey) ?? { pairs: 0, rows: 0 };
      metric.pairs += Number(rows > 0) - Number((rowCount ?? 0) > 0);
      metric.rows += rows - (rowCount ?? 0);
      byMetric.set(metricKey, metric);
    },
    /** Expected rows of some years, or of whole series. */
    rowsWithin(years: YearRange | null): RowsOf {
      if (years === null) return seriesRows;
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
    /** True if answers have shown them. */
    hasRowsWithin(countryCode: string, metricKey: string, years: YearRange | null): boolean {
      const key = pairKey(countryCode, metricKey);
      if (years === null) return byPair.has(key);
      return spans.has(key) || byPair.get(key) === 0 || ranges.get(key)?.name === nameOfYears(years);
    },
    /** Only the last range of a pair is noted. */
    learnWithin(countryCode: string, metricKey: string, years: YearRange, rows: number): void {
      const key = pairKey(countryCode, metricKey);
      const name = nameOfYears(years);
      if (!ranges.has(key) && ranges.size >= maxPairsFor(rows)) return;
      ranges.set(key, { name, rows });
    },
  };
}

function limitFacts(
  { received, meta }: NotedAnswer,
  asked: number | undefined,
  { maxRows, limitParam }: Facts,
): Partial<Facts> {
  const shown: Partial<Facts> = {};
  if (meta.limit !== null) {
    if (asked === undefined) shown.defaultRows = meta.limit;
    const isCap = asked !== undefined && meta.limit < asked;
    if (isCap || limitParam === 'refused' || meta.limit > maxRows) shown.maxRows = meta.limit;
  }
  if (asked !== undefined) shown.limitParam = 'accepted';
  // The next answer of as many rows must not look cut by a limit.
  if (received > (shown.maxRows ?? maxRows)) shown.maxRows = received + 1;
  if (meta.total === null) shown.totals = 'untold';
  else if (meta.total > received) shown.totals = 'true';
  return shown;
}

/** Unless the service has shown that it takes none. */
export function mayNameYears({ yearsParam }: Readonly<Facts>): boolean {
  return yearsParam !== 'refused';
}

/**
 * True if as many rows came as the limit that the service states; otherwise, as the one asked for, or a default page. The
 * service heeds a limit below the highest observed: it has named that one in a refusal, or sent as many rows.
 */
export function isAtLimit(received: number, stated: number | null, asked: number | undefined): boolean {
  const isDefaultPage = received === DEFAULT_MAX_ROWS && (asked ?? HIGHEST_LIMIT) >= HIGHEST_LIMIT;
  return stated !== null ? received >= stated : received > 0 && (received === asked || isDefaultPage);
}

function yearsWithin(range: YearRange, span: Span): number {
  const from = Math.max(span.from, range.from ?? span.from);
  return Math.max(0, Math.min(span.to, range.to ?? span.to) - from + 1);
}
