import { createLru } from '../cache/lru.ts';
import { distinct, periodKeyOf, sourcesOf } from '../planner/newest.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';

/**
 * Countries and metrics that, to each key's knowledge, have more than one figure of their newest period. Most services
 * have none. It decides nothing: the answer warns by it.
 */
export interface SeveralFigures {
  readonly isEmpty: boolean;
  /**
   * Notes the rows that have come for the newest period of a country and metric.
   * @param areAll true if there are no others, so that earlier knowledge of the pair is over
   */
  note(keyDigest: string, rows: readonly ObservationRecord[], areAll: boolean): void;
  /**
   * The sources of all figures for the same place and period as one; null if it is known to be the only one, or nothing
   * is known.
   */
  sourcesOf(keyDigest: string, row: ObservationRecord): readonly string[] | null;
}

/** Countries and metrics remembered, of all keys. */
const MAX_PAIRS = 20_000;

/** Periods of a country and metric remembered: several end on the same day. */
const MAX_PERIODS = 8;

/** The sources of figures, by the place and period that they are for. */
type SourcesByPeriod = ReadonlyMap<string, readonly string[]>;

export function createSeveralFigures(): SeveralFigures {
  const known = createLru<SourcesByPeriod>(MAX_PAIRS);
  const nameOf = (keyDigest: string, { countryCode, metricKey }: ObservationRecord) =>
    `${keyDigest} ${countryCode} ${metricKey}`;

  return {
    get isEmpty() {
      return known.size === 0;
    },
    note(keyDigest, rows, areAll) {
      if (rows.length === 0 || (rows.length === 1 && known.size === 0)) return;
      const first = rows[0] as ObservationRecord;
      const several = rows.length === 1 ? [] : severalIn(rows);
      if (several.length > 0) known.set(nameOf(keyDigest, first), new Map(several));
      else if (areAll) known.delete(nameOf(keyDigest, first));
    },
    sourcesOf(keyDigest, row) {
      return known.size === 0 ? null : (known.get(nameOf(keyDigest, row))?.get(whenOf(row)) ?? null);
    },
  };
}

function severalIn(rows: readonly ObservationRecord[]): [string, readonly string[]][] {
  const several = [...Map.groupBy(rows, whenOf)].filter(([, alike]) => distinct(alike).length > 1);
  return several.slice(0, MAX_PERIODS).map(([when, alike]) => [when, sourcesOf(alike)]);
}

/** Names the place and the period of a row. */
function whenOf(row: ObservationRecord): string {
  return JSON.stringify([row.year, periodKeyOf(row), row.locationName]);
}
