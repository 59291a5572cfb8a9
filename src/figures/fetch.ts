import type { Demand } from '../plan/demand.ts';
import { distinct, periodKeyOf, sourcesOf } from '../plan/newest.ts';
import type { Sending } from '../service/call.ts';
import type { ObservationRecord } from '../service/records/observations.ts';
import { createLru } from '../store/lru.ts';
import type { Tenant } from '../tenants/tenant.ts';

/** The outcome of one demand: its rows (none if the service holds no figure), or the reason why there are none. */
export type Outcome = readonly ObservationRecord[] | Error;

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
  note(tenant: Tenant, rows: readonly ObservationRecord[], areAll: boolean): void;
  /**
   * The sources of all figures for the same place and period as one; null if it is known to be the only one, or nothing
   * is known.
   */
  sourcesOf(tenant: Tenant, row: ObservationRecord): readonly string[] | null;
}

/** Countries and metrics remembered, of all keys. */
const MAX_PAIRS = 20_000;

/** Periods of a country and metric remembered: several end on the same day. */
const MAX_PERIODS = 8;

/** The sources of figures, by the place and period that they are for. */
type SourcesByPeriod = ReadonlyMap<string, readonly string[]>;

export function createSeveralFigures(): SeveralFigures {
  const known = createLru<SourcesByPeriod>(MAX_PAIRS);
  const nameOf = (tenant: Tenant, { countryCode, metricKey }: ObservationRecord) =>
    `${tenant.digest} ${countryCode} ${metricKey}`;

  return {
    get isEmpty() {
      return known.size === 0;
    },
    note(tenant, rows, areAll) {
      if (rows.length === 0 || (rows.length === 1 && known.size === 0)) return;
      const first = rows[0] as ObservationRecord;
      const several = rows.length === 1 ? [] : severalIn(rows);
      if (several.length > 0) known.set(nameOf(tenant, first), new Map(several));
      else if (areAll) known.delete(nameOf(tenant, first));
    },
    sourcesOf(tenant, row) {
      return known.size === 0 ? null : (known.get(nameOf(tenant, row))?.get(whenOf(row)) ?? null);
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

/** Called once a demand, as soon as its outcome is known, with a demand of the same name. */
export type Settle = (demand: Demand, outcome: Outcome) => void;

/**
 * One stage of the way of figures, or all of them: settles each of the demands, no two of which are equal. A failure on
 * the way is an outcome. A thrown error is a fault of ours, or the reason for which the operation was given up.
 */
export type Fetch<Wanted extends Demand = Demand> = (
  demands: readonly Wanted[],
  sending: Sending,
  settle: Settle,
) => Promise<void>;

/** The source of the figures of one operation. */
export interface Figures {
  /** Finds the held figures for a demand that may be served without asking; null if none can be found at once. */
  held(sending: Sending): ((demand: Demand) => readonly ObservationRecord[] | undefined) | null;
  /** @throws the signal's reason if the client leaves first */
  readonly fetch: Fetch;
  /** The countries and metrics that are known to have several figures of a period. */
  readonly several: Pick<SeveralFigures, 'isEmpty' | 'sourcesOf'>;
}
