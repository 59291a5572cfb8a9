/** Years from one to another, both included; null for an open side. At least one side is closed. */
export interface YearRange {
  readonly from: number | null;
  readonly to: number | null;
}

/** Years that a call may name: the service takes none before or after. */
const FIRST_YEAR = 1900;
const LAST_YEAR = 2100;

/**
 * A range that a call may name.
 * @returns null if that is every year, or if no call can name it
 */
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

/** Number of years of a span that lie in a range. */
export function yearsWithin(range: YearRange, span: { readonly from: number; readonly to: number }): number {
  const from = Math.max(span.from, range.from ?? span.from);
  return Math.max(0, Math.min(span.to, range.to ?? span.to) - from + 1);
}

/** Names a range: equal ones have the same name. */
export function nameOfYears({ from, to }: YearRange): string {
  return `${from ?? ''}–${to ?? ''}`;
}
