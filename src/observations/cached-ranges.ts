import type { JsonObject } from '../shared/exact-json.ts';
import { covers, type YearRange } from './planner/demand.ts';

export interface CachedYears {
  readonly years: YearRange | null;
}

export type RawRows = readonly JsonObject[];

export interface RawFigures extends CachedYears {
  readonly rows: RawRows;
  /** Instant when the service sent them, in milliseconds since the epoch. */
  readonly atMs: number;
}

/** The newest first; none covers another that came before it. */
export interface RawRanges {
  readonly ranges: readonly (RawFigures & { readonly years: YearRange })[];
}

const MAX_RANGES = 8;

/** @param key of the demand for the whole series */
export function rangeName(key: string): string {
  return `years of ${key}`;
}

/** None if the value isn't one of ours. */
export function rangesIn(value: unknown): RawRanges['ranges'] {
  const ranges = typeof value === 'object' && value !== null && 'ranges' in value ? value.ranges : [];
  return Array.isArray(ranges) ? ranges.filter((range) => Array.isArray(range?.rows) && range.years) : [];
}

/** Keeps earlier ranges, up to a number, unless the new one covers them. */
export function withOlder(value: unknown, before: unknown): RawRanges {
  const ranges = rangesIn(value);
  const olderRanges = rangesIn(before).filter((old) => !ranges.some(({ years }) => covers(years, old.years)));
  return { ranges: [...ranges, ...olderRanges].slice(0, MAX_RANGES) };
}

/** Drops the times from the ranges of a stored series; any other value is as it is. */
export function timeless(value: unknown): unknown {
  const ranges = rangesIn(value);
  if (ranges.length === 0) return value;
  const bare = ranges.map(({ atMs: _, ...range }) => range);
  return {
    ranges: bare.sort((one, other) => (JSON.stringify(one.years) < JSON.stringify(other.years) ? -1 : 1)),
  };
}

export function timed(value: unknown, atMs: number): unknown {
  const ranges = rangesIn(value);
  return ranges.length === 0 ? value : { ranges: ranges.map((range) => ({ ...range, atMs })) };
}
