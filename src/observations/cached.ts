import type { Tenant } from '../keys/tenant.ts';
import { NO_TENANT_CACHE } from '../keys/tenant-cache.ts';
import { billStale } from '../service/bill.ts';
import { isBetterOld } from '../service/cached-lists.ts';
import { observations } from '../service/endpoints.ts';
import { checkRight } from '../service/rights.ts';
import type { Sending } from '../service/sending.ts';
import type { PromiseOrValue } from '../shared/async/promises.ts';
import { eachInTurns, type Job } from '../shared/async/turns.ts';
import type { DataService, FiguresCache, FiguresEvents } from './called.ts';
import type { ObservationEntry } from './entry-reader.ts';
import type { Fetch, Figures, Outcome, Outcomes, OutcomesByName } from './fetch.ts';
import { type Demand, takenUntilMs, wholeOf } from './planner/demand.ts';
import { estimate, type Planning, rangesOf } from './planner/modes.ts';
import { goingAlong, type Prefetch } from './prefetch.ts';
import type { Revalidation } from './revalidation.ts';

const isOfAnyAge = ({ key, name }: Demand) => key === name;

export interface CachingParts {
  readonly planning: Planning;
  readonly service: Pick<DataService, 'outage'>;
  readonly cache: FiguresCache;
  readonly events: FiguresEvents;
  readonly prefetch: Prefetch;
  readonly revalidation: Revalidation;
}

/** Share of its time to live after which a figure that is asked for is counted again as wanted. */
const RECOUNTING_SHARE = 0.1;

/** Demands that take less than a turn to make, and to look up. */
export const FEW = 250;

interface Terms {
  readonly freshness: FiguresCache['freshness'];
  readonly tenant: Tenant;
}

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
        wanted.push(answeredBy(demand, entry));
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

/** The demand that an entry answers: the whole series, of which some years may be wanted. */
function answeredBy(demand: Demand, entry: ObservationEntry): Demand {
  return entry.years === null ? wholeOf(demand) : demand;
}

/** What is cached of a demand. */
interface Reading {
  readonly demand: Demand;
  /** Fresh or not; most demands that come this far have none. */
  readonly entry: ObservationEntry | undefined;
}

/** What one operation's demands are answered with. */
interface Meeting extends CachingParts, Terms {
  readonly next: Fetch;
  readonly sending: Sending;
}

/**
 * Answers the demands of one operation from cached entries, and has the others fetched. A demand goes only as far as it
 * has to:
 *
 * 1. The entries of all demands are read in one round trip to the store, unless they were just looked for. A name that the
 *    service refused lately keeps that outcome.
 * 2. Entries past their time are checked, if there are any: those that still hold are not fetched.
 * 3. Whole series are asked for in place of some years, unless a range takes fewer calls.
 * 4. The rest takes along figures that cost no further call.
 * 5. If the service gives no answer, entries past their time are served and marked stale, unless the service refuses
 *    the key, or the caller insists on newer ones.
 */
export function cachedFiguresStage(next: Fetch, parts: CachingParts): Figures['fetch'] {
  const { tenantCache, freshness } = parts.cache;
  return async (demands, sending, missingAsOf = null) => {
    checkRight(sending.caller, observations.tag);
    const { tenant } = sending.caller;
    const meeting = { ...parts, next, sending, freshness, tenant };
    if (tenantCache === NO_TENANT_CACHE && demands.every(isOfAnyAge)) return fetchUncached(demands, meeting);
    const areMissing = missingAsOf !== null && missingAsOf === tenantCache.generation(tenant);
    const entries = areMissing ? [] : await entriesOf(demands, meeting);
    const readings = demands.map((demand, i) => ({ demand, entry: entries[i] }));
    const { looked, refused } = await withoutRefused(readings, meeting);
    await renewExpired(looked, meeting);
    const outcomes = await answerOrFetch(looked, meeting);
    for (const [name, outcome] of refused) outcomes.set(name, outcome);
    return outcomes;
  };
}

async function fetchUncached(demands: readonly Demand[], meeting: Meeting): Promise<OutcomesByName> {
  const { next, sending } = meeting;
  if (demands.every(({ years }) => years === null)) return next(demands, sending);
  const readings = await askedFor(
    demands.map((demand) => ({ demand, entry: undefined })),
    meeting,
  );
  const fetched = await next(onePerKey(readings.map(({ asked }) => asked)), sending);
  return new Map(readings.map(({ demand, asked }) => [demand.name, fetched.get(asked.key) ?? []]));
}

/** By index of the demand. Synchronous if all entries are in this process. */
async function entriesOf(
  demands: readonly Demand[],
  { tenant, cache: { entries, tenantCache }, sending }: Meeting,
): Promise<readonly (ObservationEntry | undefined)[]> {
  if (tenantCache.isAllHere) return entries.atHand(tenant, demands);
  const reading = entries.read(tenant, demands);
  sending.waits?.store.timing(reading);
  const read = await reading;
  return demands.map(({ key }) => read.get(key));
}

/** Splits off demands whose name was refused lately, and that no fresh entry answers. */
async function withoutRefused(readings: readonly Reading[], meeting: Meeting) {
  const { cache, sending } = meeting;
  const refused: [name: string, outcome: Outcome][] = [];
  if (cache.refusedNames.areNone) return { looked: readings, refused };
  const looked: Reading[] = [];
  const nowMs = cache.now();
  await withEach(sending.caller, readings, (reading) => {
    const isCached = isFresh(reading.demand, reading.entry, nowMs, meeting);
    const outcome = isCached ? undefined : refusedLately(reading.demand, nowMs, meeting);
    if (outcome === undefined) looked.push(reading);
    else refused.push([reading.demand.name, outcome]);
  });
  return { looked, refused };
}

function refusedLately(
  demand: Demand,
  nowMs: number,
  { tenant, freshness, sending: { bill, onCached }, cache: { refusedNames, tenantCache } }: Meeting,
): Outcome | undefined {
  const refused = refusedNames.of(tenant, demand);
  if (refused === undefined || !tenantCache.isAccepted(tenant)) return undefined;
  const untilMs = takenUntilMs(demand, refused.atMs, freshness.ttlMs);
  if (nowMs >= untilMs) return undefined;
  bill.cached += 1;
  onCached?.(untilMs, observations.route, refused.atMs, refused.atMs);
  return refused.outcome;
}

/** Has expired entries count again that still hold. */
async function renewExpired(readings: readonly Reading[], meeting: Meeting): Promise<void> {
  const { events, planning, revalidation, sending } = meeting;
  const missing = missingIn(readings, meeting);
  const isRenewable = ({ entry, demand }: Reading) => entry !== undefined && demand.maxAgeMs > 0;
  const expired = missing
    .filter(isRenewable)
    .flatMap(({ entry, demand }) => (entry ? { entry, metricKey: demand.metricKey } : []));
  if (expired.length === 0) return;
  events.onExpired?.();
  const callsFor = (some: readonly Reading[]) =>
    estimate(
      some.map(({ demand }) => demand),
      planning,
    ).calls;
  const costs = {
    calls: () => callsFor(missing),
    callsIfRenewed: () => callsFor(missing.filter((reading) => !isRenewable(reading))),
  };
  const checkedAtMs = await revalidation.check(expired, costs, sending);
  for (const figures of expired) figures.entry.checkedAtMs = checkedAtMs(figures);
}

function missingIn(readings: readonly Reading[], meeting: Meeting): readonly Reading[] {
  const nowMs = meeting.cache.now();
  return readings.filter(({ demand, entry }) => !isFresh(demand, entry, nowMs, meeting));
}

/** A demand with the one that answers it, which may be for the whole series. */
interface Asked extends Reading {
  readonly asked: Demand;
}

/**
 * Asks for whole series in place of some years, unless a range takes fewer calls: whole series cache better, and
 * concurrent demands for any years become one. A whole series is the outcome of the range too.
 */
async function askedFor(
  readings: readonly Reading[],
  { sending, planning }: Meeting,
): Promise<readonly Asked[]> {
  const demands = readings.map(({ demand }) => demand);
  const isRange = await rangesOf(sending.caller, demands, planning);
  return readings.map(({ demand, entry }) => ({
    demand,
    entry,
    asked: demand.years === null || isRange(demand) ? demand : wholeOf(demand),
  }));
}

function heldIn(readings: readonly Reading[], missing: readonly Reading[]): readonly Asked[] {
  if (missing.length === readings.length) return [];
  const areMissing = new Set(missing);
  return readings.flatMap((reading) => {
    const { demand, entry } = reading;
    if (entry === undefined || areMissing.has(reading)) return [];
    return { demand, entry, asked: answeredBy(demand, entry) };
  });
}

async function answerOrFetch(readings: readonly Reading[], meeting: Meeting): Promise<OutcomesByName> {
  const { tenant, sending, revalidation, cache } = meeting;
  const callsSoFar = () => sending.bill.byRoute[observations.route] ?? 0;
  const callsBefore = callsSoFar();
  const missing = missingIn(readings, meeting);
  const held = heldIn(readings, missing);
  const asked = await askedFor(missing, meeting);
  // If all is cached, some of it is asked for to test the key.
  const isTest = missing.length === 0 && !cache.tenantCache.isAccepted(tenant);
  const fetched = await fetchMissing(isTest ? testing(held, meeting) : asked, meeting);
  const others = held.filter((one) => !fetched.has(one.asked.key));
  // No call was sent, or the service's word on the key has expired since: what is cached may not be served untested.
  if (others.length > 0 && verdictOn(fetched, meeting).name === 'none')
    for (const [key, outcome] of await fetchMissing(others, meeting)) fetched.set(key, outcome);
  const outcomes = await outcomesOf([...held, ...asked], fetched, meeting);
  const calls = callsSoFar() - callsBefore;
  if (calls > 0) revalidation.countCalls(tenant, calls, cache.now());
  return outcomes;
}

/**
 * What the service has said of the key, on which cached entries depend: `failed` if the call that would have told got no
 * answer, so that entries may only stand in for it; `none` if nothing was asked.
 */
type Verdict =
  | { readonly name: 'accepted' | 'none' }
  | { readonly name: 'refused' | 'failed'; readonly failure: Error };

/** To be read after each call, which may have changed it. */
function verdictOn(fetched: Outcomes, { tenant, cache: { tenantCache } }: Meeting): Verdict {
  const refusal = tenantCache.refusal(tenant);
  if (refusal !== null) return { name: 'refused', failure: refusal };
  if (tenantCache.isAccepted(tenant)) return { name: 'accepted' };
  const failure = [...fetched.values()].find(isBetterOld);
  return failure === undefined ? { name: 'none' } : { name: 'failed', failure };
}

/** Chooses demands that test a key though all is cached: all if they take one call, otherwise the oldest. */
function testing(held: readonly Asked[], { planning }: Meeting): readonly Asked[] {
  const demands = onePerKey(held.map(({ asked }) => asked));
  if (estimate(demands, planning).calls <= 1) return held;
  const checkedAtMs = ({ entry }: Asked) => entry?.checkedAtMs ?? 0;
  return [held.reduce((oldest, one) => (checkedAtMs(one) < checkedAtMs(oldest) ? one : oldest))];
}

async function fetchMissing(missing: readonly Asked[], meeting: Meeting): Promise<Outcomes> {
  const { next, sending, cache, events, service, freshness } = meeting;
  const isAllUsable = missing.length > 0 && missing.every((one) => isUsable(one, meeting));
  const down = isAllUsable ? service.outage.failure(observations.route) : null;
  if (down !== null) {
    // So that the pool no longer waits for this operation.
    await next([], sending);
    const failure = down.with({ route: observations.route, attempts: 0 });
    return new Map(missing.map(({ asked }) => [asked.key, failure]));
  }
  const nowMs = cache.now();
  if (events.lookups !== undefined) events.lookups.misses += missing.length;
  const fetched = await fetchAlong(onePerKey(missing.map(({ asked }) => asked)), nowMs, meeting);
  const cachedMs = missing.reduce((ms, { demand }) => Math.min(ms, demand.maxAgeMs), freshness.ttlMs);
  if (missing.length > 0) sending.onFetched?.(nowMs + cachedMs);
  return fetched;
}

/** Demands that differ only in the age they allow are one to the stages below. */
function onePerKey(demands: readonly Demand[]): readonly Demand[] {
  const byKey = new Map(demands.map((demand) => [demand.key, demand]));
  return byKey.size === demands.length ? demands : [...byKey.values()];
}

/** Fetches figures along that will soon be wanted again. */
async function fetchAlong(
  demands: readonly Demand[],
  nowMs: number,
  { next, sending, tenant, prefetch, planning }: Meeting,
): Promise<Outcomes> {
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

async function outcomesOf(
  readings: readonly Asked[],
  fetched: Outcomes,
  meeting: Meeting,
): Promise<OutcomesByName> {
  const { sending, cache, events, prefetch, tenant } = meeting;
  const verdict = verdictOn(fetched, meeting);
  const failure = 'failure' in verdict ? verdict.failure : null;
  const nowMs = cache.now();
  const outcomes: OutcomesByName = new Map();
  const served = new Served(events);
  const wanted: Demand[] = [];
  const checkedAtMs: number[] = [];
  await withEach(sending.caller, readings, (reading) => {
    const { demand, entry, asked } = reading;
    const came = fetched.get(asked.key);
    const isNew = came !== undefined && !(came instanceof Error);
    // A demand that was never answered doesn't join other calls: it may make them fail.
    if (isNew || entry !== undefined) {
      wanted.push(asked);
      checkedAtMs.push(isNew ? nowMs : (entry?.checkedAtMs ?? 0));
    }
    if (came === undefined && failure === null && entry !== undefined)
      served.add(asked, entry, freshUntilMs(entry, demand, meeting));
    const outcome = came ?? failure ?? entry?.rows ?? [];
    const mayBeOld = outcome instanceof Error && verdict.name !== 'refused';
    outcomes.set(demand.name, mayBeOld ? staleOr(outcome, reading, meeting) : outcome);
  });
  served.bill(sending);
  prefetch.wanted(tenant, wanted, checkedAtMs, nowMs);
  return outcomes;
}

/** Synchronous, unless there are many. */
function withEach<One>(job: Job, all: readonly One[], work: (one: One) => void): PromiseOrValue<void> {
  if (all.length > FEW) return eachInTurns(job, all, work);
  for (const one of all) work(one);
}

/** True if the entry may stand in while the service fails. */
function isUsable({ demand, entry }: Reading, { cache: { freshness, now } }: Meeting): boolean {
  const usableMs = freshness.ttlMs + freshness.staleMs;
  return entry !== undefined && now() <= takenUntilMs(demand, entry.checkedAtMs, usableMs);
}

/** Returns expired rows in place of a failure if they may be served. */
function staleOr(failure: Error, reading: Reading, meeting: Meeting): Outcome {
  const { entry } = reading;
  const { sending, cache } = meeting;
  if (entry === undefined || !isUsable(reading, meeting) || !isBetterOld(failure)) return failure;
  billStale(sending.bill, observations.route, failure, entry.atMs, cache.now());
  for (const row of entry.rows) sending.onStale?.(row, failure.code);
  return entry.rows;
}
