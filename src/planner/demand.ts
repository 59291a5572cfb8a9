import type { Pair } from './cover.ts';

/** Whether the latest figure of a pair is wanted, or its whole series. */
export type Kind = 'latest' | 'series';

/** One figure or series that somebody wants. Country codes are in upper case, metric keys as the caller wrote them. */
export interface Demand extends Pair {
  readonly kind: Kind;
}

/** Names a pair, whatever the case that it is written in. */
export function pairKey(countryCode: string, metricKey: string): string {
  return `${countryCode.toUpperCase()} ${metricKey.toLowerCase()}`;
}

/** The only name of a demand: answers are matched to it, never by position. */
export function demandKey({ kind, countryCode, metricKey }: Demand): string {
  return `${kind} ${pairKey(countryCode, metricKey)}`;
}
