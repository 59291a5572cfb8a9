import type { Pair } from './cover.ts';
import { nameOfYears, type YearRange } from './year-range.ts';

/** Whether the latest figure of a pair is wanted, or its whole series. */
export type Mode = 'latest' | 'series';

/** One figure or series that somebody wants. Country codes are in upper case, metric keys as the caller wrote them. */
export interface Demand extends Pair {
  readonly mode: Mode;
  /** The years that are wanted of a series; null for all of it. Rows of other years may come with them. */
  readonly years: YearRange | null;
  readonly pairKey: string;
  /** What it asks for, by the only name: answers are matched to it, never by position. */
  readonly key: string;
  /** How old a held answer may be, in milliseconds; infinite where the caller doesn't insist. No part of the key. */
  readonly maxAgeMs: number;
}

export function demandFor(
  mode: Mode,
  countryCode: string,
  metricKey: string,
  maxAgeMs = Number.POSITIVE_INFINITY,
  years: YearRange | null = null,
): Demand {
  const names = namesOf(countryCode, metricKey);
  const whole = names[mode];
  const key = years === null ? whole : `${whole} ${nameOfYears(years)}`;
  return { mode, years, countryCode, metricKey, pairKey: names.pairKey, key, maxAgeMs };
}

/** The demand for all years of which some are wanted. */
export function wholeOf<Wanted extends Demand>(demand: Wanted): Wanted {
  return demand.years === null ? demand : { ...demand, years: null, key: wholeKey(demand) };
}

/** A pair, with the names of the demands for it. */
interface NamedPair extends Pair {
  readonly pairKey: string;
  readonly latest: string;
  readonly series: string;
}

/**
 * Names by metric and by country, both as they were written. Nothing is looked up so often as the name of a pair: without
 * this table, a plan of 11,178 series takes twice the time.
 */
const known = new Map<string, Map<string, NamedPair>>();

/** Pairs whose names are at hand: more than all countries times all indicators. */
const MAX_NAMES = 50_000;

let count = 0;

function namesOf(countryCode: string, metricKey: string): NamedPair {
  let byCountry = known.get(metricKey);
  let names = byCountry?.get(countryCode);
  if (names !== undefined) return names;
  if (count >= MAX_NAMES) {
    known.clear();
    byCountry = undefined;
    count = 0;
  }
  if (byCountry === undefined) {
    byCountry = new Map();
    known.set(metricKey, byCountry);
  }
  const pairKey = `${countryCode.toUpperCase()} ${metricKey}`;
  names = {
    countryCode,
    metricKey,
    pairKey,
    latest: `latest ${pairKey}`,
    series: `series ${pairKey}`,
  };
  byCountry.set(countryCode, names);
  count += 1;
  return names;
}

/** A pair whose name is at hand. */
export function pairOf(countryCode: string, metricKey: string): Pair {
  return namesOf(countryCode, metricKey);
}

/** As {@link pairKey}. */
export function keyOf(pair: Pair): string {
  return pair.pairKey ?? pairKey(pair.countryCode, pair.metricKey);
}

/** Names a pair. Case makes no difference in a country code; in a metric key it may, and it is the service that decides. */
export function pairKey(countryCode: string, metricKey: string): string {
  return namesOf(countryCode, metricKey).pairKey;
}

/** The key of a demand for all years of which some are wanted. */
export function wholeKey(demand: Demand): string {
  return demand.years === null ? demand.key : demandKey(demand.mode, demand);
}

/** The key of all demands for a pair in a mode. */
export function demandKey(mode: Mode, { countryCode, metricKey }: Pair): string {
  return namesOf(countryCode, metricKey)[mode];
}
