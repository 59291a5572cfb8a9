export interface Pair {
  readonly countryCode: string;
  readonly metricKey: string;
  /** The pair's key as `keyOf` returns it, if it is at hand. */
  readonly pairKey?: string;
}

/** One call of the data route. */
export interface Rectangle {
  readonly countryCodes: readonly string[];
  readonly metricKeys: readonly string[];
}

/**
 * Expected rows of a pair, also of one that nobody demands but that a rectangle would bring along. A finite whole
 * number, not negative. Asked once for each country and metric that the demands name.
 */
export type RowsOf = (countryCode: string, metricKey: string) => number;

/** Years from one to another, both included; null for an open side. At least one side is closed. */
export interface YearRange {
  readonly from: number | null;
  readonly to: number | null;
}

/** Years that a call may name: the service takes none before or after. */
const FIRST_YEAR = 1900;
const LAST_YEAR = 2100;

/** Makes a range that a call may name; null if that is every year, or none that a call can name. */
export function yearRange(from: number | null | undefined, to: number | null | undefined): YearRange | null {
  const first = from != null && from > FIRST_YEAR ? from : null;
  const last = to != null && to < LAST_YEAR ? to : null;
  if (first === null && last === null) return null;
  return (first ?? FIRST_YEAR) > LAST_YEAR || (last ?? LAST_YEAR) < FIRST_YEAR
    ? null
    : { from: first, to: last };
}

/**
 * The years to ask for, so that those of a range come for certain: one more on each side. A service may leave out the
 * last year that is named, and it may go by the year beside that of the figure, as a fiscal year's.
 */
export function widened({ from, to }: YearRange): YearRange {
  return { from: from === null ? null : from - 1, to: to === null ? null : to + 1 };
}

export function isWithin({ from, to }: YearRange, year: number): boolean {
  return (from === null || year >= from) && (to === null || year <= to);
}

/** True if all years of one range lie in another. */
export function covers(outer: YearRange, { from, to }: YearRange): boolean {
  const holdsFrom = outer.from === null || (from !== null && from >= outer.from);
  const holdsTo = outer.to === null || (to !== null && to <= outer.to);
  return holdsFrom && holdsTo;
}

/** The smallest range that covers all of these; null if that is every year. */
export function spanOf(ranges: readonly YearRange[]): YearRange | null {
  const all = (sides: readonly (number | null)[], most: (...years: number[]) => number) =>
    sides.includes(null) ? null : most(...(sides as readonly number[]));
  const from = all([...new Set(ranges.map((range) => range.from))], Math.min);
  const to = all([...new Set(ranges.map((range) => range.to))], Math.max);
  return from === null && to === null ? null : { from, to };
}

/** Names a range: equal ones have the same name. */
export function nameOfYears({ from, to }: YearRange): string {
  return `${from ?? ''}–${to ?? ''}`;
}

/** Kind of a demand: the latest figure of a pair, or its whole series. */
export type Mode = 'latest' | 'series';

/** A demand for one figure or series. Country codes are in upper case, metric keys as the caller wrote them. */
export interface Demand extends Pair {
  readonly mode: Mode;
  /** The years of a series to bring; null for all of it. Rows of other years may come with them. */
  readonly years: YearRange | null;
  readonly pairKey: string;
  /** Name of the demanded figures: answers are matched by it, never by position. */
  readonly key: string;
  /** Name beside demands for the same figures of another age; it is the key if any age is taken. */
  readonly name: string;
  /** The oldest age of a cached answer, in milliseconds; infinite if any will do. No part of the key. */
  readonly maxAgeMs: number;
  /**
   * Instant up to which fetched figures are too old: they may have changed by then. In milliseconds of the clock of
   * ages; minus infinity if no change is known. No part of the key.
   */
  readonly changedAtMs: number;
}

export function demandFor(
  mode: Mode,
  countryCode: string,
  metricKey: string,
  maxAgeMs = Number.POSITIVE_INFINITY,
  years: YearRange | null = null,
): Demand {
  const whole = wholeFor(mode, namedPair(countryCode, metricKey));
  if (years === null && maxAgeMs === Number.POSITIVE_INFINITY) return whole;
  const key = years === null ? whole.key : `${whole.key} ${nameOfYears(years)}`;
  return { ...whole, years, key, name: nameOf(key, maxAgeMs, whole.changedAtMs), maxAgeMs };
}

/** Reads the country and the metric that the name of a demand begins with, behind its mode. */
export function pairOfName(name: string): Pair {
  const [, countryCode = '', metricKey = ''] = name.split(' ', 3);
  return { countryCode, metricKey };
}

/** The demands for each of these countries with each of these metrics. */
export function demandsFor(
  mode: Mode,
  countryCodes: readonly string[],
  metricKeys: readonly string[],
  maxAgeMs?: number,
  years?: YearRange | null,
): Demand[] {
  const demands: Demand[] = [];
  for (const code of countryCodes)
    for (const key of metricKeys) demands.push(demandFor(mode, code, key, maxAgeMs, years));
  return demands;
}

/** The demands for the latest figures of pairs: a pair that is one stands for itself. */
export function latestOf(pairs: readonly Pair[]): Demand[] {
  return pairs.map((pair) =>
    isDemand(pair) && pair.mode === 'latest'
      ? pair
      : wholeFor('latest', namedPair(pair.countryCode, pair.metricKey)),
  );
}

function isDemand(pair: Pair | Demand): pair is Demand {
  return 'mode' in pair;
}

/** A demand that takes only figures fetched after an instant, by the clock of ages. */
export function changedAt(demand: Demand, changedAtMs: number): Demand {
  return { ...demand, name: nameOf(demand.key, demand.maxAgeMs, changedAtMs), changedAtMs };
}

/**
 * Instant until which a demand takes figures that were known to hold at an instant; minus infinity if it never takes
 * them.
 * @param usableMs milliseconds for which it takes them unless it sets a lower age
 */
export function takenUntilMs({ maxAgeMs, changedAtMs }: Demand, atMs: number, usableMs: number): number {
  return atMs > changedAtMs ? atMs + Math.min(usableMs, maxAgeMs) : Number.NEGATIVE_INFINITY;
}

function nameOf(key: string, maxAgeMs: number, changedAtMs: number): string {
  const isAnyAge = maxAgeMs === Number.POSITIVE_INFINITY && changedAtMs === Number.NEGATIVE_INFINITY;
  return isAnyAge ? key : `${key} within ${maxAgeMs} ms, after ${changedAtMs}`;
}

/** The demand for all years of a pair, in place of some. */
export function wholeOf<Wanted extends Demand>(demand: Wanted): Wanted {
  if (demand.years === null) return demand;
  const key = wholeKey(demand);
  return { ...demand, years: null, key, name: nameOf(key, demand.maxAgeMs, demand.changedAtMs) };
}

/** A pair, with the demands for all years of it, of any age, that there have been: for most pairs, of one mode. */
interface NamedPair extends Pair, Record<Mode, Demand | null> {
  readonly pairKey: string;
}

/** Pairs by metric and country, as written: without this table, a plan of 11,178 series takes twice the time. */
const pairsByMetric = new Map<string, Map<string, NamedPair>>();

/** Pairs cached: more than all countries times all indicators. */
const MAX_NAMES = 50_000;

let count = 0;

function namedPair(countryCode: string, metricKey: string): NamedPair {
  return pairsByMetric.get(metricKey)?.get(countryCode) ?? addPair(countryCode, metricKey);
}

function addPair(countryCode: string, metricKey: string): NamedPair {
  if (count >= MAX_NAMES) {
    pairsByMetric.clear();
    count = 0;
  }
  const pairKey = `${countryCode.toUpperCase()} ${metricKey}`;
  const named: NamedPair = { countryCode, metricKey, pairKey, latest: null, series: null };
  const byCountry = pairsByMetric.get(metricKey) ?? new Map<string, NamedPair>();
  pairsByMetric.set(metricKey, byCountry.set(countryCode, named));
  count += 1;
  return named;
}

function wholeFor(mode: Mode, pair: NamedPair): Demand {
  pair[mode] ??= newDemand(mode, pair);
  return pair[mode];
}

function newDemand(mode: Mode, { countryCode, metricKey, pairKey }: NamedPair): Demand {
  const key = `${mode} ${pairKey}`;
  return {
    countryCode,
    metricKey,
    pairKey,
    mode,
    years: null,
    key,
    name: key,
    maxAgeMs: Number.POSITIVE_INFINITY,
    changedAtMs: Number.NEGATIVE_INFINITY,
  };
}

/** All pairs of a rectangle, their keys at hand. */
export function pairsOf({ countryCodes, metricKeys }: Rectangle): Pair[] {
  return countryCodes.flatMap((code) => metricKeys.map((key) => namedPair(code, key)));
}

/** Names a pair, as {@link pairKey} does. */
export function keyOf(pair: Pair): string {
  return pair.pairKey ?? pairKey(pair.countryCode, pair.metricKey);
}

/** Names a pair. Case makes no difference in a country code; in a metric key it may, and the service decides that. */
export function pairKey(countryCode: string, metricKey: string): string {
  return namedPair(countryCode, metricKey).pairKey;
}

/** The key of the demand for all years, in place of some. */
export function wholeKey(demand: Demand): string {
  return demand.years === null ? demand.key : demandKey(demand.mode, demand);
}

/** Names pairs by their places, as {@link pairKey} does. */
export function pairKeys(pairs: readonly Pair[]): string[] {
  return pairs.map(keyOf);
}

/** The keys of all demands for these pairs in a mode, by their places. */
export function demandKeys(mode: Mode, pairs: readonly Pair[]): string[] {
  return pairs.map((pair) => demandKey(mode, pair));
}

export function demandKey(mode: Mode, { countryCode, metricKey }: Pair): string {
  return wholeFor(mode, namedPair(countryCode, metricKey)).key;
}
