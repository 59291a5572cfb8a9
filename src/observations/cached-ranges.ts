import type { JsonObject } from '../service/records/envelope.ts';
import { covers, type YearRange } from './planner/demand.ts';

export interface CachedYears {
  /** Null for all years. */
  readonly years: YearRange | null;
}

export type RawRows = readonly JsonObject[];

/** Rows of a series, or of some years of it, as they are cached. */
export interface RawFigures extends CachedYears {
  readonly rows: RawRows;
  /** Instant when the service sent them, in milliseconds since the epoch. */
  readonly atMs: number;
}

/** Ranges of a pair, as they are cached: the last one first. None has all years of another that came before it. */
export interface RawRanges {
  readonly ranges: readonly (RawFigures & { readonly years: YearRange })[];
}

/** Ranges of a pair that are cached at once. */
const MAX_RANGES = 8;

/**
 * The name under which the last ranges of a pair are cached.
 * @param key of the demand for its whole series
 */
export function rangeName(key: string): string {
  return `years of ${key}`;
}

/** The ranges in a stored value; none if it is not one that was put there. */
export function rangesIn(value: unknown): RawRanges['ranges'] {
  const ranges = typeof value === 'object' && value !== null && 'ranges' in value ? value.ranges : [];
  return Array.isArray(ranges) ? ranges.filter((range) => Array.isArray(range?.rows) && range.years) : [];
}

/** Holds the ranges of before on, up to a number, unless the new one has their years. */
export function withOlder(value: unknown, before: unknown): RawRanges {
  const ranges = rangesIn(value);
  const olderRanges = rangesIn(before).filter((old) => !ranges.some(({ years }) => covers(years, old.years)));
  return { ranges: [...ranges, ...olderRanges].slice(0, MAX_RANGES) };
}
