import type { CachedPair } from '../../observations/cached-pairs.ts';
import type { Pair } from '../../observations/planner/demand.ts';
import { distinct, sourcesOf } from '../../observations/planner/newest.ts';

/** What is cached of one country and metric. */
export interface AvailabilityRecord extends Pair {
  readonly firstYear: number | null;
  readonly lastYear: number | null;
  readonly figures: number;
  /** Keys of the sources, in their order. */
  readonly sources: readonly string[];
  /** ISO 8601, UTC. */
  readonly asOf: string;
  readonly isComplete: boolean;
}

export function recordOf(pair: Pair, { whole, rest }: CachedPair): AvailabilityRecord {
  const entries = whole === null ? rest : [whole];
  const rows = distinct(entries.flatMap(({ rows }) => rows));
  const years = rows.map(({ year }) => year).sort((a, b) => a - b);
  const checkedAtMs = entries.map((entry) => entry.checkedAtMs);
  return {
    ...pair,
    firstYear: years[0] ?? null,
    lastYear: years.at(-1) ?? null,
    figures: rows.length,
    sources: sourcesOf(rows),
    asOf: new Date(Math.min(...checkedAtMs)).toISOString(),
    isComplete: whole !== null,
  };
}
