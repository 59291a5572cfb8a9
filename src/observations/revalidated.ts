import type { Sending } from '../upstream/call.ts';
import { observations } from '../upstream/endpoints.ts';
import { estimate, type Planning } from './estimate.ts';
import type { Fetch } from './fetch.ts';
import { type HeldDemand, isFresh, type ServingParts } from './held.ts';
import type { Revalidation } from './revalidation.ts';

export interface RevalidatedParts extends ServingParts, Planning {
  readonly revalidation: Revalidation;
}

/**
 * Corrects for how long entries past their time are known to hold, before `cached` decides by it which to serve and
 * which to fetch. The stage stands above `cached`, and below `lookedUp`: only entries that have been read can hold
 * longer than was thought. It counts data calls sent below: they tell how many a look at the sources may save.
 */
export function revalidated(next: Fetch<HeldDemand>, parts: RevalidatedParts): Fetch<HeldDemand> {
  return async (demands, sending, settle) => {
    await renew(demands, sending, parts);
    const { bill, caller } = sending;
    const callsBefore = bill.byRoute[observations.route] ?? 0;
    await next(demands, sending, settle);
    parts.revalidation.countCalls(caller.keyDigest, (bill.byRoute[observations.route] ?? 0) - callsBefore);
  };
}

async function renew(
  demands: readonly HeldDemand[],
  sending: Sending,
  parts: RevalidatedParts,
): Promise<void> {
  const missing = demands.filter((demand) => !isFresh(demand, parts));
  const isRenewable = ({ entry, maxAgeMs }: HeldDemand) => entry !== undefined && maxAgeMs > 0;
  const expired = missing
    .filter(isRenewable)
    .flatMap(({ entry, metricKey }) => (entry ? { entry, metricKey } : []));
  const costs = {
    calls: () => estimate(missing, parts).calls,
    callsIfRenewed: () =>
      estimate(
        missing.filter((demand) => !isRenewable(demand)),
        parts,
      ).calls,
  };
  const checkedAtMs = await parts.revalidation.check(expired, costs, sending);
  for (const figures of expired) figures.entry.checkedAtMs = checkedAtMs(figures);
}
