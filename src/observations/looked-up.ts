import { yieldToEventLoop } from '../async/yielding.ts';
import { type Demand, takenUntilMs } from '../planner/demand.ts';
import type { Sending } from '../upstream/call.ts';
import type { Fetch } from './fetch.ts';
import { type HeldDemand, type HeldParts, isFresh } from './held.ts';
import type { Outcome } from './outcome.ts';
import type { RefusedNames } from './refused-names.ts';

export interface LookedUpParts extends Pick<HeldParts, 'entries' | 'tenantCache' | 'freshness' | 'now'> {
  readonly refusedNames: Pick<RefusedNames, 'of'>;
}

/** Demands that take milliseconds to look after. */
const MANY = 2_000;

/**
 * Reads the entries of all demands in one round trip to the store, for the stages below. A name that the service
 * refused lately keeps that outcome: it is not asked for again so soon.
 */
export function lookedUp(next: Fetch<HeldDemand>, parts: LookedUpParts): Fetch {
  return async (demands, sending, settle) => {
    const { caller } = sending;
    const reading = parts.entries.read(caller.keyDigest, demands);
    sending.waits?.store.timing(reading);
    const entries = await reading;
    if (demands.length > MANY) await yieldToEventLoop(caller);
    const others: HeldDemand[] = [];
    for (const demand of demands) {
      const held = { ...demand, entry: entries.get(demand.key) };
      const refused = isFresh(held, parts) ? undefined : refusedLately(demand, sending, parts);
      if (refused === undefined) others.push(held);
      else settle(demand, refused);
    }
    return next(others, sending, settle);
  };
}

function refusedLately(
  demand: Demand,
  { caller: { keyDigest }, bill, onHeld }: Sending,
  { tenantCache, refusedNames, freshness, now }: LookedUpParts,
): Outcome | undefined {
  const refused = tenantCache.isAccepted(keyDigest) ? refusedNames.of(keyDigest, demand) : undefined;
  if (refused === undefined) return undefined;
  const freshUntilMs = takenUntilMs(demand, refused.atMs, freshness.ttlMs);
  if (now() >= freshUntilMs) return undefined;
  bill.cached += 1;
  onHeld?.(freshUntilMs);
  return refused.outcome;
}
