import type { Lookups } from '../cache/lru.ts';
import type { Tenant, Traffic } from '../keys/tenant.ts';
import { NO_TENANT_CACHE, type TenantCache } from '../keys/tenant-cache.ts';
import { billStale } from '../service/bill.ts';
import { type Ask, isBetterOld, type ListCache } from '../service/cached-lists.ts';
import type { Send } from '../service/call.ts';
import { observations } from '../service/endpoints.ts';
import { checkRight } from '../service/rights.ts';
import type { Sending } from '../service/sending.ts';
import { eachInTurns, type Job, type PromiseOrValue } from '../shared/async/turns.ts';
import type { Failure } from '../shared/errors.ts';
import { once } from '../shared/once.ts';
import type { ObservationEntries } from './entries.ts';
import type { ObservationEntry } from './entry-reader.ts';
import type { Fetch, Figures, Outcome, Outcomes } from './fetch.ts';
import { type Demand, takenUntilMs, wholeOf } from './planner/demand.ts';
import { estimate, type Planning, rangesOf } from './planner/modes.ts';
import { goingAlong, type Prefetch } from './prefetch.ts';
import type { createRefusedNames } from './refused-names.ts';

const isOfAnyAge = ({ key, name }: Demand) => key === name;

/** A demand with its entry, fresh or not: most demands that come this far have none. */
interface CachedDemand extends Demand {
  readonly entry?: ObservationEntry;
}

export interface CachedFigures {
  readonly entry: ObservationEntry;
  readonly metricKey: string;
}

/**
 * Tells which expired figures still hold. The service announces no revisions, but one call says when each source last
 * changed: figures hold if no source that may bring their metric has changed since. The catalogue, if cached, names
 * these sources; otherwise any may be one.
 */
export interface Revalidation {
  /**
   * Returns the latest instant at which figures were known to be current. Spends a call only if that is likely to
   * save more than one.
   */
  check(
    expired: readonly CachedFigures[],
    costs: FetchCosts,
    sending: Sending,
  ): Promise<(figures: CachedFigures) => number>;
  /** By these, the worth of a check is judged. */
  countCalls(tenant: Tenant, calls: number, nowMs: number): void;
}

/** Calls to fetch expired demands, without and with a check of the sources. */
export interface FetchCosts {
  readonly calls: () => number;
  readonly callsIfRenewed: () => number;
}

/** The data calls of a key in the current interval of one time to live, and in the one before. */
export function trafficOf(tenant: Tenant, nowMs: number, { ttlMs }: Freshness): Traffic {
  const interval = Math.floor(nowMs / Math.max(1, ttlMs));
  tenant.traffic ??= { interval, calls: 0, callsBefore: 0, askedAtMs: 0 };
  const { traffic } = tenant;
  if (traffic.interval !== interval) {
    traffic.callsBefore = traffic.interval === interval - 1 ? traffic.calls : 0;
    traffic.calls = 0;
    traffic.interval = interval;
  }
  return traffic;
}

type Freshness = ListCache['freshness'];

export interface FiguresCache {
  readonly entries: ObservationEntries;
  readonly tenantCache: TenantCache;
  readonly refusedNames: ReturnType<typeof createRefusedNames>;
  /** Also saves figures of pairs that nobody wanted. */
  readonly save: ObservationEntries['save'];
  readonly freshness: Freshness;
  readonly now: () => number;
}

export interface DataService {
  readonly send: Send;
  /** Asks for lists, and notes the names in them in `learned`. */
  readonly ask: Ask;
  readonly outage: { failure(route: string): Failure | null };
}

export interface FiguresEvents {
  readonly lookups?: Lookups | undefined;
  readonly onCached?: (demand: Demand) => void;
  /** Called if expired entries may turn out to hold. */
  readonly onExpired?: () => void;
  /** Called with the rows of each answer, and how many of them nobody had asked for. */
  readonly onRows?: ((received: number, unwanted: number) => void) | undefined;
}

export interface RevalidationParts extends Pick<FiguresCache, 'tenantCache' | 'freshness' | 'now'> {
  readonly ask: Ask;
  /** False still uses the results of earlier checks. */
  readonly mayRenew: boolean;
}

export interface CachingParts {
  readonly planning: Planning;
  readonly service: Pick<DataService, 'outage'>;
  readonly cache: FiguresCache;
  readonly events: FiguresEvents;
  readonly prefetch: Prefetch;
  readonly revalidation: Revalidation;
}

/** Loads the check for the first expired figure. */
export function createLazyRevalidation(
  load: () => Promise<Revalidation['check']>,
  freshness: Freshness,
): Revalidation {
  const loading = once(load);
  return {
    check: async (...expired) => (await loading())(...expired),
    countCalls(tenant, calls, nowMs) {
      trafficOf(tenant, nowMs, freshness).calls += calls;
    },
  };
}

/** Share of its time to live after which a figure that is asked for is counted again as wanted. */
const RECOUNTING_SHARE = 0.1;

/** Demands that take less than a turn. */
const FEW = 250;

interface Terms {
  readonly freshness: Freshness;
  readonly tenant: Tenant;
}

const termsOf = ({ freshness }: FiguresCache, { caller: { tenant } }: Sending): Terms => ({
  freshness,
  tenant,
});

function freshUntilMs(
  { checkedAtMs }: ObservationEntry,
  demand: Demand,
  { freshness: { ttlMs }, tenant }: Terms,
): number {
  // With an infinite time to live, nothing can be asked again.
  const isAnyAge = ttlMs === Number.POSITIVE_INFINITY;
  if (checkedAtMs < tenant.recheckBeforeMs && !isAnyAge) return Number.NEGATIVE_INFINITY;
  if (isOfAnyAge(demand)) return checkedAtMs + ttlMs;
  return takenUntilMs(demand, checkedAtMs, ttlMs);
}

export function isFresh(
  demand: Demand,
  entry: ObservationEntry | undefined,
  nowMs: number,
  terms: Terms,
): boolean {
  return entry !== undefined && nowMs < freshUntilMs(entry, demand, terms);
}

/** True if the entry may stand in while the service fails. */
function isUsable({ entry, ...demand }: CachedDemand, { freshness, now }: FiguresCache): boolean {
  const usableMs = freshness.ttlMs + freshness.staleMs;
  return entry !== undefined && now() <= takenUntilMs(demand, entry.checkedAtMs, usableMs);
}

class Served {
  readonly #events: FiguresEvents;
  #count = 0;
  #freshUntilMs = Number.POSITIVE_INFINITY;
  #oldestAtMs = Number.POSITIVE_INFINITY;
  #newestAtMs = Number.NEGATIVE_INFINITY;

  constructor(events: FiguresEvents) {
    this.#events = events;
  }

  add(demand: Demand, { atMs }: ObservationEntry, untilMs: number): void {
    this.#count += 1;
    if (untilMs < this.#freshUntilMs) this.#freshUntilMs = untilMs;
    if (atMs < this.#oldestAtMs) this.#oldestAtMs = atMs;
    if (atMs > this.#newestAtMs) this.#newestAtMs = atMs;
    this.#events.onCached?.(demand);
  }

  bill({ bill, onCached }: Sending): void {
    if (this.#count === 0) return;
    bill.cached += this.#count;
    if (this.#events.lookups !== undefined) this.#events.lookups.hits += this.#count;
    onCached?.(this.#freshUntilMs, observations.route, this.#oldestAtMs, this.#newestAtMs);
  }
}

/** Answers from this process at once, past all stages. */
export function findCached({ cache, events, prefetch }: CachingParts): Figures['find'] {
  const { entries, tenantCache, freshness, now } = cache;
  return (demands, sending) => {
    checkRight(sending.caller, observations.tag);
    const { tenant } = sending.caller;
    if (!tenantCache.isAtHand || !tenantCache.isAccepted(tenant)) return null;
    const nowMs = now();
    const served = new Served(events);
    const wanted: Demand[] = [];
    const checkedAtMs: number[] = [];
    const terms = { freshness, tenant };
    let areOthersMissing = tenantCache.isAllHere;
    const outcomes = entries.atHand(tenant, demands).map((entry, i) => {
      if (entry === undefined) return undefined;
      const demand = demands[i] as Demand;
      const untilMs = freshUntilMs(entry, demand, terms);
      if (nowMs >= untilMs) {
        areOthersMissing = false;
        return undefined;
      }
      if (nowMs - entry.wantedAtMs > freshness.ttlMs * RECOUNTING_SHARE) {
        entry.wantedAtMs = nowMs;
        wanted.push(demand.years === null || entry.years !== null ? demand : wholeOf(demand));
        checkedAtMs.push(entry.checkedAtMs);
      }
      served.add(demand, entry, untilMs);
      return entry.rows;
    });
    served.bill(sending);
    if (wanted.length > 0) prefetch.wanted(tenant, wanted, checkedAtMs, nowMs);
    return { outcomes, missingAsOf: areOthersMissing ? tenantCache.generation(tenant) : null };
  };
}

/**
 * Answers the demands of one operation from cached entries, and has the others fetched. A demand goes only as far as it
 * has to:
 *
 * 1. The entries of all demands are read in one round trip to the store, unless they were just looked for. A name that the
 *    service refused lately keeps that outcome.
 * 2. Whole series are asked for in place of some years, unless a range takes fewer calls.
 * 3. Entries past their time are checked, if there are any: those that still hold are not fetched.
 * 4. The rest takes along figures that cost no further call.
 * 5. If the service gives no answer, entries past their time are served and marked stale, unless the service refuses
 *    the key, or the caller insists on newer ones.
 */
export function cachedFiguresStage(next: Fetch, parts: CachingParts): Figures['fetch'] {
  const { tenantCache, now } = parts.cache;
  return async (demands, sending, missingAsOf = null) => {
    checkRight(sending.caller, observations.tag);
    const { tenant } = sending.caller;
    if (tenantCache === NO_TENANT_CACHE && demands.every(isOfAnyAge))
      return inPlaceOfYears(demands, sending, parts, (sent) => next(sent, sending));
    const areMissing = missingAsOf !== null && missingAsOf === tenantCache.generation(tenant);
    const cached = areMissing ? demands : await withEntries(demands, sending, parts.cache);
    const nowMs = now();
    const { looked, refused } = await withoutRefused(cached, sending, nowMs, parts.cache);
    const meeting = { next, sending, parts, nowMs };
    const outcomes = await inPlaceOfYears(looked, sending, parts, (sent) => answerOrFetch(sent, meeting));
    for (const [name, outcome] of refused) outcomes.set(name, outcome);
    return outcomes;
  };
}

/** Synchronous if all entries are in this process. */
async function withEntries(
  demands: readonly Demand[],
  { caller: { tenant }, waits }: Sending,
  { entries, tenantCache }: FiguresCache,
): Promise<readonly CachedDemand[]> {
  const withEntry = (demand: Demand, entry: ObservationEntry | undefined): CachedDemand =>
    entry === undefined ? demand : { ...demand, entry };
  if (tenantCache.isAllHere) {
    const cachedEntries = entries.atHand(tenant, demands);
    return demands.map((demand, i) => withEntry(demand, cachedEntries[i]));
  }
  const reading = entries.read(tenant, demands);
  waits?.store.timing(reading);
  const read = await reading;
  return demands.map((demand) => withEntry(demand, read.get(demand.key)));
}

/** Splits off demands whose name was refused lately, and that no fresh entry answers. */
async function withoutRefused(
  demands: readonly CachedDemand[],
  sending: Sending,
  nowMs: number,
  cache: FiguresCache,
) {
  const refused: [name: string, outcome: Outcome][] = [];
  if (cache.refusedNames.areNone) return { looked: demands, refused };
  const looked: CachedDemand[] = [];
  const terms = termsOf(cache, sending);
  await withEach(sending.caller, demands, (demand) => {
    const isCached = isFresh(demand, demand.entry, nowMs, terms);
    const outcome = isCached ? undefined : refusedLately(demand, sending, nowMs, cache);
    if (outcome === undefined) looked.push(demand);
    else refused.push([demand.name, outcome]);
  });
  return { looked, refused };
}

function refusedLately(
  demand: Demand,
  { caller, bill, onCached }: Sending,
  nowMs: number,
  { refusedNames, freshness, tenantCache }: FiguresCache,
): Outcome | undefined {
  const refused = refusedNames.of(caller.tenant, demand);
  if (refused === undefined || !tenantCache.isAccepted(caller.tenant)) return undefined;
  const untilMs = takenUntilMs(demand, refused.atMs, freshness.ttlMs);
  if (nowMs >= untilMs) return undefined;
  bill.cached += 1;
  onCached?.(untilMs, observations.route, refused.atMs, refused.atMs);
  return refused.outcome;
}

/**
 * Asks for whole series in place of some years, unless a range takes fewer calls: whole series cache better, and
 * concurrent demands for any years become one. A whole series is the outcome of the range too.
 */
function inPlaceOfYears(
  demands: readonly CachedDemand[],
  sending: Sending,
  parts: CachingParts,
  fetch: FetchCached,
): Promise<Outcomes> {
  const isOfAll = demands.every(({ years }) => years === null);
  return isOfAll ? fetch(demands) : inPlaceOfRanges(demands, sending, parts, fetch);
}

type FetchCached = (demands: readonly CachedDemand[]) => Promise<Outcomes>;

async function inPlaceOfRanges(
  demands: readonly CachedDemand[],
  sending: Sending,
  { planning, cache }: CachingParts,
  fetch: FetchCached,
): Promise<Outcomes> {
  const nowMs = cache.now();
  const terms = termsOf(cache, sending);
  const isCached = (demand: CachedDemand) => isFresh(demand, demand.entry, nowMs, terms);
  const missing = demands.filter((demand) => !isCached(demand));
  const isRange = await rangesOf(sending.caller, missing, planning);
  // Several ranges may be one whole series, which may be wanted itself.
  const sent = new Map<string, CachedDemand>();
  const standIns = new Map<string, string>();
  for (const demand of demands) {
    const isByRange = demand.entry?.years != null && isCached(demand);
    const wanted = demand.years === null || isByRange || isRange(demand) ? demand : wholeOf(demand);
    if (!sent.has(wanted.name)) sent.set(wanted.name, wanted);
    standIns.set(demand.name, wanted.name);
  }
  const outcomes = await fetch([...sent.values()]);
  for (const [name, standIn] of standIns) outcomes.set(name, outcomes.get(standIn) ?? []);
  return outcomes;
}

interface Meeting {
  readonly next: Fetch;
  readonly sending: Sending;
  readonly parts: CachingParts;
  readonly nowMs: number;
}

/** Returns the outcomes by name. */
async function answerOrFetch(demands: readonly CachedDemand[], meeting: Meeting): Promise<Outcomes> {
  const { sending, parts } = meeting;
  const { tenantCache, now } = parts.cache;
  const { tenant } = sending.caller;
  const callsSoFar = () => sending.bill.byRoute[observations.route] ?? 0;
  const missing = await expiredOrMissing(demands, meeting);
  const callsBefore = callsSoFar();
  const needsTest = missing.length === 0 && !tenantCache.isAccepted(tenant);
  const fetched = await fetchMissing(needsTest ? testing(demands, parts) : missing, meeting);
  const failure = () => [...fetched.values()].find(isBetterOld) ?? null;
  const isUnproven = () => tenantCache.refusal(tenant) === null && !tenantCache.isAccepted(tenant);
  const others = demands.filter(({ key }) => !fetched.has(key));
  if (others.length > 0 && isUnproven() && failure() === null) {
    // Nothing was asked of the service.
    for (const [key, outcome] of await fetchMissing(others, meeting)) fetched.set(key, outcome);
  }
  // The key may have been refused by now: then none of its entries is served.
  const refusal = tenantCache.refusal(tenant);
  const evidence = { fetched, refusal, doubt: isUnproven() ? failure() : null, nowMs: now() };
  const outcomes = await outcomesOf(demands, evidence, meeting);
  const calls = callsSoFar() - callsBefore;
  if (calls > 0) parts.revalidation.countCalls(tenant, calls, evidence.nowMs);
  return outcomes;
}

/** Renews expired entries that still hold; returns the demands that no entry answers. */
async function expiredOrMissing(
  demands: readonly CachedDemand[],
  { sending, parts: { cache, events, planning, revalidation }, nowMs }: Meeting,
): Promise<readonly CachedDemand[]> {
  const terms = termsOf(cache, sending);
  const unmetAt = (atMs: number) => demands.filter((demand) => !isFresh(demand, demand.entry, atMs, terms));
  const missing = unmetAt(nowMs);
  const isRenewable = ({ entry, maxAgeMs }: CachedDemand) => entry !== undefined && maxAgeMs > 0;
  const expired = missing
    .filter(isRenewable)
    .flatMap(({ entry, metricKey }) => (entry ? { entry, metricKey } : []));
  if (expired.length === 0) return missing;
  events.onExpired?.();
  const fresh = missing.filter((demand) => !isRenewable(demand));
  const costs = {
    calls: () => estimate(missing, planning).calls,
    callsIfRenewed: () => estimate(fresh, planning).calls,
  };
  const checkedAtMs = await revalidation.check(expired, costs, sending);
  for (const figures of expired) figures.entry.checkedAtMs = checkedAtMs(figures);
  return unmetAt(cache.now());
}

/** Chooses demands that test a key though all is cached: all if they take one call, otherwise the oldest. */
function testing(demands: readonly CachedDemand[], { planning }: CachingParts): readonly CachedDemand[] {
  if (estimate(demands, planning).calls <= 1) return demands;
  const checkedAtMs = ({ entry }: CachedDemand) => entry?.checkedAtMs ?? 0;
  return [demands.reduce((oldest, one) => (checkedAtMs(one) < checkedAtMs(oldest) ? one : oldest))];
}

/** Returns the outcomes by key. */
async function fetchMissing(demands: readonly CachedDemand[], meeting: Meeting): Promise<Outcomes> {
  const { next, sending, parts, nowMs } = meeting;
  const { cache, events } = parts;
  const isAllUsable = demands.length > 0 && demands.every((demand) => isUsable(demand, cache));
  const down = isAllUsable ? parts.service.outage.failure(observations.route) : null;
  if (down !== null) {
    // So that the pool no longer waits for this operation.
    await next([], sending);
    const failure = down.with({ route: observations.route, attempts: 0 });
    return new Map(demands.map(({ key }) => [key, failure]));
  }
  if (events.lookups !== undefined) events.lookups.misses += demands.length;
  const fetched = await fetchAlong(onePerKey(demands), meeting);
  const cachedMs = demands.reduce((ms, { maxAgeMs }) => Math.min(ms, maxAgeMs), cache.freshness.ttlMs);
  if (demands.length > 0) sending.onFetched?.(nowMs + cachedMs);
  return fetched;
}

/** Demands that differ only in the age they allow are one to the stages below. */
function onePerKey(demands: readonly Demand[]): readonly Demand[] {
  if (demands.every(isOfAnyAge)) return demands;
  return [...new Map(demands.map((demand) => [demand.key, demand])).values()];
}

/** Fetches figures along that will soon be wanted again. */
async function fetchAlong(
  demands: readonly Demand[],
  { next, sending, parts: { prefetch, planning }, nowMs }: Meeting,
): Promise<Outcomes> {
  const { tenant } = sending.caller;
  const ageing = demands.length === 0 ? [] : prefetch.of(tenant, demands, nowMs);
  const along = ageing.length === 0 ? [] : goingAlong(demands, ageing, planning);
  if (along.length === 0) return next(demands, sending);
  const outcomes = await next([...demands, ...along], sending);
  prefetch.brought(
    tenant,
    along.filter(({ key }) => !(outcomes.get(key) instanceof Error)),
  );
  for (const { key } of along) outcomes.delete(key);
  return outcomes;
}

interface Evidence {
  readonly fetched: Outcomes;
  /** Why the service refuses the key; null if it doesn't. */
  readonly refusal: Error | null;
  /** Why it is unknown if the service accepts the key; null if it is known. */
  readonly doubt: Error | null;
  readonly nowMs: number;
}

/** Returns the outcomes by name. */
async function outcomesOf(
  demands: readonly CachedDemand[],
  { fetched, refusal, doubt, nowMs }: Evidence,
  { sending, parts }: Meeting,
): Promise<Outcomes> {
  const { caller } = sending;
  const { cache, events, prefetch } = parts;
  const terms = termsOf(cache, sending);
  const outcomes: Outcomes = demands.every(isOfAnyAge) ? fetched : new Map();
  const served = new Served(events);
  const wanted: Demand[] = [];
  const checkedAtMs: number[] = [];
  await withEach(caller, demands, (demand) => {
    const { entry } = demand;
    const fetchedOutcome = fetched.get(demand.key);
    const isNew = fetchedOutcome !== undefined && !(fetchedOutcome instanceof Error);
    // A demand that was never answered doesn't join other calls: it may make them fail.
    if (isNew || entry !== undefined) {
      wanted.push(demand);
      checkedAtMs.push(isNew ? nowMs : (entry?.checkedAtMs ?? 0));
    }
    const error = refusal ?? doubt;
    if (fetchedOutcome === undefined && error === null && entry !== undefined)
      served.add(demand, entry, freshUntilMs(entry, demand, terms));
    const outcome = fetchedOutcome ?? error ?? entry?.rows ?? [];
    const mayBeOld = outcome instanceof Error && refusal === null;
    outcomes.set(demand.name, mayBeOld ? staleOr(outcome, demand, sending, cache) : outcome);
  });
  served.bill(sending);
  prefetch.wanted(caller.tenant, wanted, checkedAtMs, nowMs);
  return outcomes;
}

/** Synchronous, unless there are many. */
function withEach<One>(job: Job, demands: readonly One[], work: (demand: One) => void): PromiseOrValue<void> {
  if (demands.length > FEW) return eachInTurns(job, demands, work);
  for (const demand of demands) work(demand);
}

/** Returns expired rows in place of a failure if they may be served. */
function staleOr(failure: Error, demand: CachedDemand, sending: Sending, cache: FiguresCache): Outcome {
  const { entry } = demand;
  if (entry === undefined || !isUsable(demand, cache) || !isBetterOld(failure)) return failure;
  billStale(sending.bill, observations.route, failure, entry.atMs, cache.now());
  for (const row of entry.rows) sending.onStale?.(row, failure.code);
  return entry.rows;
}
