export interface Pair {
  readonly countryCode: string;
  readonly metricKey: string;
  /** As `keyOfPair` returns it, if at hand. */
  readonly pairKey?: string;
}

export interface Rectangle {
  readonly countryCodes: readonly string[];
  readonly metricKeys: readonly string[];
}

/**
 * Expected rows of a pair, even one that nobody demands: a finite whole number, not negative. Asked once for each
 * country and metric of the demands.
 */
export type RowsOf = (countryCode: string, metricKey: string) => number;

/** Both ends included; null for an open side. At least one is closed. */
export interface YearRange {
  readonly from: number | null;
  readonly to: number | null;
}

/** The service takes no years outside of these. */
const FIRST_YEAR = 1900;
const LAST_YEAR = 2100;

/** Null if the range is every year, or none that a call can name. */
export function yearRange(from: number | null | undefined, to: number | null | undefined): YearRange | null {
  const first = from != null && from > FIRST_YEAR ? from : null;
  const last = to != null && to < LAST_YEAR ? to : null;
  if (first === null && last === null) return null;
  return (first ?? FIRST_YEAR) > LAST_YEAR || (last ?? LAST_YEAR) < FIRST_YEAR
    ? null
    : { from: first, to: last };
}

/**
 * One more year on each side: a service may leave out the last named year, or go by the year beside that of the
 * figure, such as a fiscal year's.
 */
export function widened({ from, to }: YearRange): YearRange {
  return { from: from === null ? null : from - 1, to: to === null ? null : to + 1 };
}

export function isWithin({ from, to }: YearRange, year: number): boolean {
  return (from === null || year >= from) && (to === null || year <= to);
}

export function covers(outer: YearRange, { from, to }: YearRange): boolean {
  const holdsFrom = outer.from === null || (from !== null && from >= outer.from);
  const holdsTo = outer.to === null || (to !== null && to <= outer.to);
  return holdsFrom && holdsTo;
}

/** Null if the smallest range around them is every year. */
export function spanOf(ranges: readonly YearRange[]): YearRange | null {
  const all = (sides: readonly (number | null)[], most: (...years: number[]) => number) =>
    sides.includes(null) ? null : most(...(sides as readonly number[]));
  const from = all([...new Set(ranges.map((range) => range.from))], Math.min);
  const to = all([...new Set(ranges.map((range) => range.to))], Math.max);
  return from === null && to === null ? null : { from, to };
}

export function nameOfYears({ from, to }: YearRange): string {
  return `${from ?? ''}–${to ?? ''}`;
}

export type Mode = 'latest' | 'series';

/** Country codes are in upper case, metric keys as the caller wrote them. */
export interface Demand extends Pair {
  readonly mode: Mode;
  /** Null for the whole series. Rows of other years may come along. */
  readonly years: YearRange | null;
  readonly pairKey: string;
  /** Names the figures: answers are matched by it, never by position. */
  readonly key: string;
  /** The key, with the bounds on age if there are any. */
  readonly name: string;
  /** Maximum age of a cached answer; infinite if any will do. No part of the key. */
  readonly maxAgeMs: number;
  /**
   * Figures fetched up to this instant are too old: they may have changed. By the clock of ages; minus infinity if no
   * change is known. No part of the key.
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
  return { ...whole, years, key, name: nameOfDemand(key, maxAgeMs, whole.changedAtMs), maxAgeMs };
}

export function pairOfName(name: string): Pair {
  const [, countryCode = '', metricKey = ''] = name.split(' ', 3);
  return { countryCode, metricKey };
}

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

/** Pairs that are such demands are returned themselves. */
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

/** Takes only figures fetched after an instant, by the clock of ages. */
export function changedAt(demand: Demand, changedAtMs: number): Demand {
  return { ...demand, name: nameOfDemand(demand.key, demand.maxAgeMs, changedAtMs), changedAtMs };
}

/**
 * Minus infinity if the demand never takes figures known to hold at `atMs`.
 * @param usableMs milliseconds for which it takes them unless it sets a lower age
 */
export function takenUntilMs({ maxAgeMs, changedAtMs }: Demand, atMs: number, usableMs: number): number {
  return atMs > changedAtMs ? atMs + Math.min(usableMs, maxAgeMs) : Number.NEGATIVE_INFINITY;
}

function nameOfDemand(key: string, maxAgeMs: number, changedAtMs: number): string {
  const isAnyAge = maxAgeMs === Number.POSITIVE_INFINITY && changedAtMs === Number.NEGATIVE_INFINITY;
  return isAnyAge ? key : `${key} within ${maxAgeMs} ms, after ${changedAtMs}`;
}

export function wholeOf<Wanted extends Demand>(demand: Wanted): Wanted {
  if (demand.years === null) return demand;
  const key = wholeKey(demand);
  return { ...demand, years: null, key, name: nameOfDemand(key, demand.maxAgeMs, demand.changedAtMs) };
}

/** A pair with its demands for whole figures of any age, once made. */
interface NamedPair extends Pair, Record<Mode, Demand | null> {
  readonly pairKey: string;
}

/** By the names as written. Without this table, a plan of 11,178 series takes twice the time. */
const pairsByMetric = new Map<string, Map<string, NamedPair>>();

/** More than all countries times all indicators. */
const MAX_NAMES = 50_000;

let count = 0;

function namedPair(countryCode: string, metricKey: string): NamedPair {
  return pairsByMetric.get(metricKey)?.get(countryCode) ?? addPair(countryCode, metricKey);
}

/** However its code is written, that of the pair is in upper case. */
function addPair(writtenCode: string, metricKey: string): NamedPair {
  if (count >= MAX_NAMES) {
    pairsByMetric.clear();
    count = 0;
  }
  const countryCode = writtenCode.toUpperCase();
  const pairKey = `${countryCode} ${metricKey}`;
  const named: NamedPair = { countryCode, metricKey, pairKey, latest: null, series: null };
  const byCountry = pairsByMetric.get(metricKey) ?? new Map<string, NamedPair>();
  pairsByMetric.set(metricKey, byCountry.set(writtenCode, named));
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

export function pairsOf({ countryCodes, metricKeys }: Rectangle): Pair[] {
  return countryCodes.flatMap((code) => metricKeys.map((key) => namedPair(code, key)));
}

export function cellsOf({ countryCodes, metricKeys }: Rectangle): number {
  return countryCodes.length * metricKeys.length;
}

export function keyOfPair(pair: Pair): string {
  return pair.pairKey ?? pairKey(pair.countryCode, pair.metricKey);
}

/** Country codes ignore case; metric keys may not, which is for the service to decide. */
export function pairKey(countryCode: string, metricKey: string): string {
  return namedPair(countryCode, metricKey).pairKey;
}

export function pairKeys(pairs: readonly Pair[]): string[] {
  return pairs.map(({ countryCode, metricKey }) => pairKey(countryCode, metricKey));
}

export function wholeKey(demand: Demand): string {
  return demand.years === null ? demand.key : demandKey(demand.mode, demand);
}

export function demandKeys(mode: Mode, figures: readonly { readonly pair: Pair }[]): string[] {
  return figures.map(({ pair }) => demandKey(mode, pair));
}

export function demandKey(mode: Mode, { countryCode, metricKey }: Pair): string {
  return wholeFor(mode, namedPair(countryCode, metricKey)).key;
}
