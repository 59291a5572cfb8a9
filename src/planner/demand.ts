import type { Pair } from './cover.ts';
import { nameOfYears, type YearRange } from './year-range.ts';

/** Whether the latest figure of a pair is wanted, or its whole series. */
export type Mode = 'latest' | 'series';

/** One figure or series that somebody wants. Country codes are in upper case, metric keys as the caller wrote them. */
export interface Demand extends Pair {
  readonly mode: Mode;
  /** The years that are wanted of a series; null for all of it. Rows of other years may come with them. */
  readonly years: YearRange | null;
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
  const whole = namesOf(countryCode, metricKey)[mode];
  const key = years === null ? whole : `${whole} ${nameOfYears(years)}`;
  return { mode, years, countryCode, metricKey, key, maxAgeMs };
}

/** The demand for all years of which some are wanted. */
export function wholeOf<Wanted extends Demand>(demand: Wanted): Wanted {
  return demand.years === null ? demand : { ...demand, years: null, key: demandKey(demand.mode, demand) };
}

/** The names of a pair and of the demands for it. */
interface Names {
  readonly pair: string;
  readonly latest: string;
  readonly series: string;
}

/**
 * Names by metric and by country, both as they were written. Nothing is looked up so often as the name of a pair: without
 * this table, a plan of 11,178 series takes twice the time.
 */
const known = new Map<string, Map<string, Names>>();

/** Pairs whose names are at hand: more than all countries times all indicators. */
const MAX_NAMES = 50_000;

let count = 0;

function namesOf(countryCode: string, metricKey: string): Names {
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
  const pair = `${countryCode.toUpperCase()} ${metricKey}`;
  names = { pair, latest: `latest ${pair}`, series: `series ${pair}` };
  byCountry.set(countryCode, names);
  count += 1;
  return names;
}

/** As {@link pairKey}. */
export function keyOf({ countryCode, metricKey }: Pair): string {
  return pairKey(countryCode, metricKey);
}

/** Names a pair. Case makes no difference in a country code; in a metric key it may, and it is the service that decides. */
export function pairKey(countryCode: string, metricKey: string): string {
  return namesOf(countryCode, metricKey).pair;
}

/** The key of all demands for a pair in a mode. */
export function demandKey(mode: Mode, { countryCode, metricKey }: Pair): string {
  return namesOf(countryCode, metricKey)[mode];
}
