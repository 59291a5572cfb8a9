import type { CachedFigures, FieldPair } from '../../plugin/index.ts';

/** What is cached of one country and metric. */
export interface AvailabilityRecord extends FieldPair {
  /** Of each figure, ascending. */
  readonly years: readonly number[];
  readonly firstYear: number | null;
  readonly lastYear: number | null;
  readonly figures: number;
  /** Keys of the sources, in their order. */
  readonly sources: readonly string[];
  /** ISO 8601, UTC. */
  readonly asOf: string;
  readonly isComplete: boolean;
}

export function recordOf(
  pair: FieldPair,
  { rows, sources, asOfMs, isWhole }: CachedFigures,
): AvailabilityRecord {
  const years = rows.map(({ year }) => year).sort((a, b) => a - b);
  return {
    ...pair,
    years,
    firstYear: years[0] ?? null,
    lastYear: years.at(-1) ?? null,
    figures: years.length,
    sources,
    asOf: new Date(asOfMs).toISOString(),
    isComplete: isWhole,
  };
}
