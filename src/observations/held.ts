import type { Lookups } from '../cache/lookups.ts';
import type { TenantCache } from '../cache/tenant-cache.ts';
import { type Demand, takenUntilMs, wholeOf } from '../planner/demand.ts';
import type { Freshness } from '../upstream/cached.ts';
import type { Sending } from '../upstream/call.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';
import type { ObservationEntries, ObservationEntry } from './entries.ts';
import type { Figures } from './fetch.ts';
import type { Prefetch } from './prefetched.ts';

/** A demand, and its entry, fresh or not. */
export interface HeldDemand extends Demand {
  readonly entry: ObservationEntry | undefined;
}

/** The means to serve held figures. */
export interface ServingParts {
  readonly freshness: Freshness;
  readonly now: () => number;
  /** Called with each demand that an entry meets. */
  readonly onHeld?: (demand: Demand) => void;
  /** Counts lookups among the entries. */
  readonly lookups?: Lookups | undefined;
}

export interface HeldParts extends ServingParts {
  readonly entries: ObservationEntries;
  readonly tenantCache: TenantCache;
  readonly prefetch: Pick<Prefetch, 'wanted'>;
}

/** Share of a figure's time after which it is counted anew among the key's wanted figures, if it is asked for. */
const RECOUNTING_SHARE = 0.1;

function freshUntilMs(
  { checkedAtMs }: ObservationEntry,
  demand: Demand,
  { freshness }: ServingParts,
): number {
  return takenUntilMs(demand, checkedAtMs, freshness.ttlMs);
}

export function isFresh(demand: Demand & Partial<HeldDemand>, parts: ServingParts): boolean {
  return demand.entry !== undefined && parts.now() < freshUntilMs(demand.entry, demand, parts);
}

/** True if the entry may be served if the service gives no answer. */
export function isUsable(demand: HeldDemand, { freshness, now }: ServingParts): boolean {
  const { entry } = demand;
  return (
    entry !== undefined &&
    now() <= takenUntilMs(demand, entry.checkedAtMs, freshness.ttlMs + freshness.staleMs)
  );
}

/** Counts a figure that is served from its entry. */
export function serve(
  demand: Demand,
  entry: ObservationEntry,
  { bill, onHeld }: Sending,
  parts: ServingParts,
): readonly ObservationRecord[] {
  bill.cached += 1;
  if (parts.lookups !== undefined) parts.lookups.hits += 1;
  onHeld?.(freshUntilMs(entry, demand, parts));
  parts.onHeld?.(demand);
  return entry.rows;
}

/** Finds entries in this process: they are answered at once, past all stages. */
export function heldAtOnce(parts: HeldParts): Figures['held'] {
  const { entries, tenantCache, prefetch, freshness, now } = parts;
  return (sending) => {
    const { keyDigest } = sending.caller;
    if (!tenantCache.isAtHand || !tenantCache.isAccepted(keyDigest)) return null;
    const nowMs = now();
    return (demand) => {
      const entry = entries.atHand(keyDigest, demand);
      if (entry === undefined || nowMs >= freshUntilMs(entry, demand, parts)) return undefined;
      if (nowMs - entry.wantedAtMs > freshness.ttlMs * RECOUNTING_SHARE) {
        entry.wantedAtMs = nowMs;
        prefetch.wanted(keyDigest, entry.years === null ? wholeOf(demand) : demand, entry.checkedAtMs);
      }
      return serve(demand, entry, sending, parts);
    };
  };
}
