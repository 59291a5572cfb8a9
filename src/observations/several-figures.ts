import { createLru } from '../cache/lru.ts';
import type { Tenant } from '../keys/tenant.ts';
import type { ObservationRecord } from '../service/records/observations.ts';
import { distinct, periodKeyOf, sourcesOf } from './planner/newest.ts';

export type SeveralFigures = ReturnType<typeof createSeveralFigures>;

const MAX_PAIRS = 20_000;

/** Periods of a country and metric cached: several end on the same day. */
const MAX_PERIODS = 8;

/**
 * Keeps the countries and metrics that, to each key's knowledge, have more than one figure of their newest period. Most
 * services have none. It decides nothing: the answer warns by it.
 */
export function createSeveralFigures() {
  /** The sources of figures, by the place and period that they are for. */
  const sourcesByPair = createLru<ReadonlyMap<string, readonly string[]>>(MAX_PAIRS);
  const nameOf = (tenant: Tenant, { countryCode, metricKey }: ObservationRecord) =>
    `${tenant.digest} ${countryCode} ${metricKey}`;

  const several = {
    isEmpty: true,
    /**
     * Notes the rows that have come for the newest period of a country and metric.
     * @param areAll true if there are no others, so that earlier knowledge of the pair is over
     */
    note(tenant: Tenant, rows: readonly ObservationRecord[], areAll: boolean): void {
      const [first] = rows;
      if (first === undefined) return;
      const those = rows.length === 1 ? [] : severalIn(rows);
      if (those.length > 0) sourcesByPair.set(nameOf(tenant, first), new Map(those));
      else if (areAll) sourcesByPair.delete(nameOf(tenant, first));
      several.isEmpty = sourcesByPair.size === 0;
    },
    /** Returns the sources of all figures for the place and period of one; null if none but it are known. */
    sourcesOf(tenant: Tenant, row: ObservationRecord): readonly string[] | null {
      return sourcesByPair.size === 0
        ? null
        : (sourcesByPair.get(nameOf(tenant, row))?.get(whenOf(row)) ?? null);
    },
  };
  return several;
}

function severalIn(rows: readonly ObservationRecord[]): [string, readonly string[]][] {
  const several = [...Map.groupBy(rows, whenOf)].filter(([, alike]) => distinct(alike).length > 1);
  return several.slice(0, MAX_PERIODS).map(([when, alike]) => [when, sourcesOf(alike)]);
}

/** Names the place and the period of a row. */
function whenOf(row: ObservationRecord): string {
  return JSON.stringify([row.year, periodKeyOf(row), row.locationName]);
}
