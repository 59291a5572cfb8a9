import { createLru } from '../cache/lru.ts';
import type { Tenant } from '../keys/tenant.ts';
import type { ObservationRecord } from '../service/records/observations.ts';
import { distinct, periodKeyOf, sourcesOf } from './planner/newest.ts';

export type SeveralFigures = ReturnType<typeof createSeveralFigures>;

const MAX_PAIRS = 20_000;

/** Periods noted of a pair: several may end on the same day. */
const MAX_PERIODS = 8;

/**
 * Pairs that, as far as each key knows, have more than one figure of their newest period. Most services have none.
 * Only used for warnings.
 */
export function createSeveralFigures() {
  /** Sources by place and period. */
  const sourcesByPair = createLru<ReadonlyMap<string, readonly string[]>>(MAX_PAIRS);
  const nameOfPair = (tenant: Tenant, { countryCode, metricKey }: ObservationRecord) =>
    `${tenant.digest} ${countryCode} ${metricKey}`;

  const several = {
    isEmpty: true,
    /** @param areAll true if there are no others, so that earlier knowledge of the pair is outdated */
    note(tenant: Tenant, rows: readonly ObservationRecord[], areAll: boolean): void {
      const [first] = rows;
      if (first === undefined) return;
      const those = rows.length === 1 ? [] : severalIn(rows);
      if (those.length > 0) sourcesByPair.set(nameOfPair(tenant, first), new Map(those));
      else if (areAll) sourcesByPair.delete(nameOfPair(tenant, first));
      several.isEmpty = sourcesByPair.size === 0;
    },
    /** Null if no other figures for the place and period are known. */
    sourcesOf(tenant: Tenant, row: ObservationRecord): readonly string[] | null {
      return sourcesByPair.size === 0
        ? null
        : (sourcesByPair.get(nameOfPair(tenant, row))?.get(whenOf(row)) ?? null);
    },
  };
  return several;
}

function severalIn(rows: readonly ObservationRecord[]): [string, readonly string[]][] {
  const several = [...Map.groupBy(rows, whenOf)].filter(([, alike]) => distinct(alike).length > 1);
  return several.slice(0, MAX_PERIODS).map(([when, alike]) => [when, sourcesOf(alike)]);
}

function whenOf(row: ObservationRecord): string {
  return JSON.stringify([row.year, periodKeyOf(row), row.locationName]);
}
