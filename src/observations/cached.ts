import { yieldToEventLoop } from '../async/yielding.ts';
import type { TenantCache } from '../cache/tenant-cache.ts';
import type { Demand } from '../planner/demand.ts';
import { isBetterOld } from '../upstream/cached.ts';
import { billStale, type Sending } from '../upstream/call.ts';
import { observations } from '../upstream/endpoints.ts';
import type { Outage } from '../upstream/outage.ts';
import { estimate, type Planning } from './estimate.ts';
import type { Fetch, Settle } from './fetch.ts';
import { type HeldDemand, isFresh, isUsable, type ServingParts, serve } from './held.ts';
import type { Outcome } from './outcome.ts';
import type { Prefetch } from './prefetched.ts';

export interface CachedFiguresParts extends ServingParts, Planning {
  readonly tenantCache: TenantCache;
  readonly outage: Pick<Outage, 'failure'>;
  readonly prefetch: Pick<Prefetch, 'wanted'>;
}

/** Outcomes from the stages below, by the keys of the demands. */
type Fetched = Map<string, Outcome>;

/** Demands that take milliseconds to settle. */
const MANY = 2_000;

/**
 * Meets demands from fresh entries, and has only the missing ones fetched. If the service gives no answer, entries past
 * their time are served and marked stale, unless the service refuses the key, or the caller insists on newer ones.
 */
export function cached(next: Fetch, parts: CachedFiguresParts): Fetch<HeldDemand> {
  const { tenantCache } = parts;
  return async (demands, sending, settle) => {
    const { keyDigest } = sending.caller;
    const fetched: Fetched = new Map();
    const isUnproven = () => !tenantCache.isAccepted(keyDigest) && tenantCache.refusal(keyDigest) === null;
    const failure = () => [...fetched.values()].find(isBetterOld) ?? null;
    await fetchInto(fetched, toFetch(demands, sending, parts), next, sending, parts);
    const others = demands.filter(({ key }) => !fetched.has(key));
    if (others.length > 0 && isUnproven() && failure() === null) {
      // Nothing was asked of the service, so the key is as unproven as before.
      await fetchInto(fetched, others, next, sending, parts);
    }
    // The service may have refused the key by now: then no entry of it is served.
    const refusal = tenantCache.refusal(keyDigest);
    const doubt = isUnproven() ? failure() : null;
    await settleAll(demands, { fetched, refusal, doubt }, settle, sending, parts);
  };
}

/**
 * Demands to fetch. A key that the service has not accepted lately is put to the test even if everything is held: with
 * all demands if they take one call, else with the one for the oldest figure.
 */
function toFetch(
  demands: readonly HeldDemand[],
  { caller }: Sending,
  parts: CachedFiguresParts,
): readonly HeldDemand[] {
  const missing = demands.filter((demand) => !isFresh(demand, parts));
  if (missing.length > 0 || parts.tenantCache.isAccepted(caller.keyDigest)) return missing;
  if (estimate(demands, parts).calls <= 1) return demands;
  const checkedAtMs = ({ entry }: HeldDemand) => entry?.checkedAtMs ?? 0;
  return [demands.reduce((oldest, one) => (checkedAtMs(one) < checkedAtMs(oldest) ? one : oldest))];
}

async function fetchInto(
  fetched: Fetched,
  demands: readonly HeldDemand[],
  next: Fetch,
  sending: Sending,
  parts: CachedFiguresParts,
): Promise<void> {
  const isAllUsable = demands.length > 0 && demands.every((demand) => isUsable(demand, parts));
  const down = isAllUsable ? parts.outage.failure() : null;
  if (down !== null) {
    // The pool no longer waits for this operation.
    await next([], sending, () => {});
    const failure = down.with({ route: observations.route, attempts: 0 });
    for (const { key } of demands) fetched.set(key, failure);
    return;
  }
  if (parts.lookups !== undefined) parts.lookups.misses += demands.length;
  // Demands that differ only in the age they allow are one to the stages below.
  const byKey = new Map<string, Demand>(demands.map((demand) => [demand.key, demand]));
  const askedAtMs = parts.now();
  await next([...byKey.values()], sending, ({ key }, outcome) => fetched.set(key, outcome));
  for (const { maxAgeMs } of demands)
    sending.onFetched?.(askedAtMs + Math.min(parts.freshness.ttlMs, maxAgeMs));
}

interface Evidence {
  readonly fetched: ReadonlyMap<string, Outcome>;
  /** The reason for which the service refuses the key; null if it doesn't. */
  readonly refusal: Error | null;
  /** The reason why it is unknown if the service accepts the key; null if it is known. */
  readonly doubt: Error | null;
}

async function settleAll(
  demands: readonly HeldDemand[],
  { fetched, refusal, doubt }: Evidence,
  settle: Settle,
  sending: Sending,
  parts: CachedFiguresParts,
): Promise<void> {
  const { caller } = sending;
  for (const [done, demand] of demands.entries()) {
    if (done > 0 && done % MANY === 0) await yieldToEventLoop(caller);
    const { entry } = demand;
    const own = fetched.get(demand.key);
    const isNew = own !== undefined && !(own instanceof Error);
    // A demand that was never met doesn't go along with other calls: it may make them fail.
    if (isNew || entry !== undefined)
      parts.prefetch.wanted(caller.keyDigest, demand, isNew ? parts.now() : (entry?.checkedAtMs ?? 0));
    const outcome = own ?? refusal ?? doubt ?? (entry && serve(demand, entry, sending, parts)) ?? [];
    const mayBeOld = outcome instanceof Error && refusal === null;
    settle(demand, mayBeOld ? staleOr(outcome, demand, sending, parts) : outcome);
  }
}

/** Returns rows past their time in place of a failure, if they may be served; else the failure. */
function staleOr(failure: Error, demand: HeldDemand, sending: Sending, parts: CachedFiguresParts): Outcome {
  const { entry } = demand;
  if (entry === undefined || !isUsable(demand, parts) || !isBetterOld(failure)) return failure;
  billStale(sending.bill, observations.route, failure, entry.atMs, parts.now());
  for (const row of entry.rows) sending.onStale?.(row, failure.code);
  return entry.rows;
}
