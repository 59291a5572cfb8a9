import { LRUCache } from 'lru-cache';
import { yieldToEventLoop } from '../async/turns.ts';
import { type Demand, demandFor, takenUntilMs, wholeOf } from '../plan/demand.ts';
import { estimate, fitsWithin, type Planning } from '../plan/modes.ts';
import { billStale, type Sending } from '../service/call.ts';
import { observations } from '../service/endpoints.ts';
import type { Outage } from '../service/gate.ts';
import { type Freshness, isBetterOld } from '../service/lists.ts';
import type { ObservationRecord } from '../service/records/observations.ts';
import { createObjectMemo, type Lookups } from '../store/lru.ts';
import type { Tenant } from '../tenants/tenant.ts';
import type { TenantCache } from '../tenants/tenant-cache.ts';
import type { ObservationEntries, ObservationEntry, Outcome } from './entries.ts';
import type { Fetch, Figures, Settle } from './fetch.ts';

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
function isUsable(demand: HeldDemand, { freshness, now }: ServingParts): boolean {
  const { entry } = demand;
  return (
    entry !== undefined &&
    now() <= takenUntilMs(demand, entry.checkedAtMs, freshness.ttlMs + freshness.staleMs)
  );
}

/** Counts a figure that is served from its entry. */
function serve(
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
    const { tenant } = sending.caller;
    if (!tenantCache.isAtHand || !tenantCache.isAccepted(tenant)) return null;
    const nowMs = now();
    return (demand) => {
      const entry = entries.atHand(tenant, demand);
      if (entry === undefined || nowMs >= freshUntilMs(entry, demand, parts)) return undefined;
      if (nowMs - entry.wantedAtMs > freshness.ttlMs * RECOUNTING_SHARE) {
        entry.wantedAtMs = nowMs;
        prefetch.wanted(tenant, entry.years === null ? wholeOf(demand) : demand, entry.checkedAtMs);
      }
      return serve(demand, entry, sending, parts);
    };
  };
}

/**
 * Figures that a key has asked for lately and that will soon be past their time. A call costs the same with them, so
 * the next call to leave brings them along, and their own call is saved.
 */
export interface Prefetch {
  /** Notes a figure that was asked for now, and is known to hold as of an instant. */
  wanted(tenant: Tenant, demand: Demand, checkedAtMs: number): void;
  /** Notes figures that were brought along. */
  brought(tenant: Tenant, demands: readonly Demand[]): void;
  /** Candidates to go along with these, the last asked for first. */
  of(tenant: Tenant, demands: readonly Demand[]): readonly Demand[];
}

/** Keys remembered, figures of each, and by default figures of all. */
const MAX_KEYS = 1_000;
const MAX_DEMANDS = 500;
const MAX_DEMANDS_OF_ALL = 40_000;

/** Demands beyond which a plan has no room for a prefetch, and costs too much to make several times. */
const MAX_ACCOMPANIED = 1_000;

/** Figures older than this share of their time go along. */
const AGEING_SHARE = 0.5;

interface AskedLately {
  readonly demand: Demand;
  readonly askedAtMs: number;
  checkedAtMs: number;
}

/** Has each call that leaves bring along figures that will soon be wanted anew. */
export function prefetched(
  next: Fetch,
  parts: Planning & { readonly prefetch: Pick<Prefetch, 'of' | 'brought'> },
): Fetch {
  const { prefetch } = parts;
  return async (demands, sending, settle) => {
    const { tenant } = sending.caller;
    const along = demands.length === 0 ? [] : goingAlong(demands, prefetch.of(tenant, demands), parts);
    const isAlong = new Set(along.map(({ key }) => key));
    const brought: Demand[] = [];
    await next([...demands, ...along], sending, (demand, outcome) => {
      if (!isAlong.has(demand.key)) settle(demand, outcome);
      else if (!(outcome instanceof Error)) brought.push(demand);
    });
    prefetch.brought(tenant, brought);
  };
}

export function createPrefetch({
  now,
  ttlMs,
  maxDemands = MAX_DEMANDS_OF_ALL,
}: {
  now: () => number;
  ttlMs: number;
  maxDemands?: number;
}): Prefetch {
  let count = 0;
  const askedBy = createObjectMemo<LRUCache<string, AskedLately> | undefined>('asked lately');
  /** Tenants that have asked for any, the one that did the longest ago first. */
  const askers = new Set<Tenant>();

  function forgetOne(): void {
    for (const tenant of askers) {
      count -= askedBy.of(tenant)?.size ?? 0;
      askedBy.put(tenant, undefined);
      askers.delete(tenant);
      return;
    }
  }

  function askedOf(tenant: Tenant): LRUCache<string, AskedLately> {
    askers.delete(tenant);
    askers.add(tenant);
    const known = askedBy.of(tenant);
    if (known !== undefined) return known;
    if (askers.size > MAX_KEYS) forgetOne();
    const asked = new LRUCache<string, AskedLately>({ max: MAX_DEMANDS });
    askedBy.put(tenant, asked);
    return asked;
  }

  return {
    wanted(tenant, demand, checkedAtMs) {
      const { mode, countryCode, metricKey, years } = demand;
      // Some years alone are asked for only if whole series take more calls: they go along with none.
      if (years !== null) return;
      const asked = askedOf(tenant);
      count -= asked.size;
      asked.set(demand.key, {
        demand: demandFor(mode, countryCode, metricKey),
        askedAtMs: now(),
        checkedAtMs,
      });
      count += asked.size;
      if (count > maxDemands) forgetOne();
    },
    brought(tenant, demands) {
      const asked = askedBy.of(tenant);
      for (const demand of demands) {
        const known = asked?.peek(demand.key);
        if (known !== undefined) known.checkedAtMs = now();
      }
    },
    of(tenant, demands) {
      const nowMs = now();
      const going: Demand[] = [];
      const fetched = new Set(demands.map(({ key }) => key));
      const mode = new Set(demands.map(({ mode }) => mode));
      for (const [key, { demand, askedAtMs, checkedAtMs }] of askedBy.of(tenant)?.entries() ?? []) {
        const isWanted = nowMs - askedAtMs <= ttlMs;
        const isAgeing = nowMs - checkedAtMs > ttlMs * AGEING_SHARE;
        if (isWanted && isAgeing && mode.has(demand.mode) && !fetched.has(key)) going.push(demand);
      }
      return going;
    },
  };
}

/**
 * The most candidates for a prefetch, from the first on, that go along with demands at no further call: the answer
 * stays within the rows that the service is known to bring, and within those that may be fetched unasked.
 */
function goingAlong(
  demands: readonly Demand[],
  candidates: readonly Demand[],
  planning: Planning,
): readonly Demand[] {
  const { learned, overfetchRows } = planning;
  const known = candidates.filter(
    ({ mode, countryCode, metricKey }) => mode === 'latest' || learned.knowsSeries(countryCode, metricKey),
  );
  if (known.length === 0 || demands.length > MAX_ACCOMPANIED) return [];
  const alone = estimate(demands, planning);
  // Stays short of the limit, so that a figure more than was expected doesn't cut the answer.
  const limitRows = learned.limitParam === 'accepted' ? learned.maxRows : learned.defaultRows;
  const most = {
    calls: alone.calls,
    rows: Math.min(alone.rows + overfetchRows, alone.calls * limitRows * 0.9),
  };
  for (let count = known.length; count > 0; count = Math.floor(count / 3)) {
    const some = known.slice(0, count);
    if (fitsWithin(most, [...demands, ...some], planning)) return some;
  }
  return [];
}

/** A prefetch by which nothing goes along. */
export const NO_PREFETCH: Prefetch = { wanted() {}, brought() {}, of: () => [] };

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
    const { tenant } = sending.caller;
    const fetched: Fetched = new Map();
    const isUnproven = () => !tenantCache.isAccepted(tenant) && tenantCache.refusal(tenant) === null;
    const failure = () => [...fetched.values()].find(isBetterOld) ?? null;
    await fetchInto(fetched, toFetch(demands, sending, parts), next, sending, parts);
    const others = demands.filter(({ key }) => !fetched.has(key));
    if (others.length > 0 && isUnproven() && failure() === null) {
      // Nothing was asked of the service, so the key is as unproven as before.
      await fetchInto(fetched, others, next, sending, parts);
    }
    // The service may have refused the key by now: then no entry of it is served.
    const refusal = tenantCache.refusal(tenant);
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
  if (missing.length > 0 || parts.tenantCache.isAccepted(caller.tenant)) return missing;
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
      parts.prefetch.wanted(caller.tenant, demand, isNew ? parts.now() : (entry?.checkedAtMs ?? 0));
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
