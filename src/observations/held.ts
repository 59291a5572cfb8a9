import type { Lookups } from '../cache/lru.ts';
import type { Tenant, Traffic } from '../keys/tenant.ts';
import { NO_TENANT_CACHE, type TenantCache } from '../keys/tenant-cache.ts';
import { billStale } from '../service/bill.ts';
import { type Ask, isBetterOld, type ListCache } from '../service/cached-lists.ts';
import { observations } from '../service/endpoints.ts';
import { checkRight } from '../service/rights.ts';
import type { Sending } from '../service/sending.ts';
import { eachInTurns, type Job, type PromiseOrValue } from '../shared/async/turns.ts';
import type { Failure } from '../shared/errors.ts';
import type {
  createRefusedNames,
  Fetch,
  Figures,
  ObservationEntries,
  ObservationEntry,
  Outcome,
  Outcomes,
} from './entries.ts';
import { type Demand, demandFor, takenUntilMs, wholeOf } from './planner/demand.ts';
import { estimate, fitsWithin, type Planning, rangesOf } from './planner/modes.ts';

/** True if a demand takes figures of any age. */
const isOfAnyAge = ({ key, name }: Demand) => key === name;

/** A demand, and its entry, fresh or not, if there is one: most demands that come this far have none. */
interface HeldDemand extends Demand {
  readonly entry?: ObservationEntry;
}

/** An entry, and the metric that it has figures of. */
export interface HeldFigures {
  readonly entry: ObservationEntry;
  readonly metricKey: string;
}

/**
 * Tells which figures past their time still hold. The service announces no revisions, but one call says when each
 * source last changed. Figures are as good as new if no source that may bring their metric has changed since they came.
 * The catalogue, if it is held, names these sources; else any may be one.
 */
export interface Revalidation {
  /**
   * Returns the latest instant when figures were known to be current: when they came, or when a look at the sources
   * last showed no change since. Spends a call on a look only if that is likely to save more than one.
   */
  check(
    held: readonly HeldFigures[],
    costs: FetchCosts,
    sending: Sending,
  ): Promise<(figures: HeldFigures) => number>;
  /** Counts data calls of a key, by which the worth of a look is judged. */
  countCalls(tenant: Tenant, calls: number, nowMs: number): void;
}

/** Calls to fetch demands with entries past their time, with a look at the sources and without. */
export interface FetchCosts {
  readonly calls: () => number;
  readonly callsIfRenewed: () => number;
}

/** Finds the data calls of a key in the interval of an instant, as long as figures are fresh, and in the one before. */
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

/** The parts that remember what each key asks for. */
interface PrefetchParts {
  readonly now: () => number;
  readonly freshness: Freshness;
  /** Demands remembered, of all keys, that may go along with others; 0 if nothing is held. */
  readonly maxAskedLately: number;
}

/** The parts that look at the sources. */
export interface RevalidationParts {
  readonly ask: Ask;
  readonly tenantCache: TenantCache;
  readonly freshness: Freshness;
  readonly now: () => number;
  /** True if a call may be spent on a look at the sources. Results of earlier looks are used all the same. */
  readonly mayRenew: boolean;
}

/** The listeners to what is held. */
interface HoldingEvents {
  /** Counts lookups among the entries. */
  readonly lookups?: Lookups | undefined;
  /** Called with each demand that an entry meets. */
  readonly onHeld?: (demand: Demand) => void;
  /** Called if entries that are past their time may yet be found to hold. */
  readonly onExpired?: () => void;
}

/** The parts of the stage that holds figures. */
export interface HoldingParts extends Planning, PrefetchParts, HoldingEvents {
  readonly entries: ObservationEntries;
  readonly tenantCache: TenantCache;
  readonly refusedNames: ReturnType<typeof createRefusedNames>;
  readonly outage: { failure(route: string): Failure | null };
}

/** Its parts, and the memory of what each key asks for. */
interface Holding extends HoldingParts {
  readonly prefetch: ReturnType<typeof createPrefetch>;
  readonly revalidation: Revalidation;
}

/** Adds the memory. `load` loads the look at the sources, for the first figure past its time. */
export function openHolding(parts: HoldingParts, load: () => Promise<Revalidation['check']>): Holding {
  let loading: Promise<Revalidation['check']> | undefined;
  return {
    ...parts,
    prefetch: parts.maxAskedLately === 0 ? NO_PREFETCH : createPrefetch(parts),
    revalidation: {
      async check(...expired) {
        loading ??= load();
        return (await loading)(...expired);
      },
      countCalls(tenant, calls, nowMs) {
        trafficOf(tenant, nowMs, parts.freshness).calls += calls;
      },
    },
  };
}

/** Share of a figure's time after which it is counted anew among the key's wanted figures, if it is asked for. */
const RECOUNTING_SHARE = 0.1;

/** Demands that are looked after in less than a turn. */
const FEW = 250;

function freshUntilMs(entry: ObservationEntry, demand: Demand, { freshness }: PrefetchParts): number {
  if (isOfAnyAge(demand)) return entry.checkedAtMs + freshness.ttlMs;
  return takenUntilMs(demand, entry.checkedAtMs, freshness.ttlMs);
}

/** True if an entry meets a demand at an instant. */
export function isFresh(
  demand: Demand,
  entry: ObservationEntry | undefined,
  nowMs: number,
  parts: PrefetchParts,
): boolean {
  return entry !== undefined && nowMs < freshUntilMs(entry, demand, parts);
}

/** True if the entry may be served if the service gives no answer. */
function isUsable({ entry, ...demand }: HeldDemand, { freshness, now }: PrefetchParts): boolean {
  const usableMs = freshness.ttlMs + freshness.staleMs;
  return entry !== undefined && now() <= takenUntilMs(demand, entry.checkedAtMs, usableMs);
}

/** Figures that are served from their entries together. */
class Served {
  readonly #parts: HoldingParts;
  #count = 0;
  #freshUntilMs = Number.POSITIVE_INFINITY;

  constructor(parts: HoldingParts) {
    this.#parts = parts;
  }

  /** @param untilMs instant at which the entry is past its time */
  add(demand: Demand, untilMs: number): void {
    this.#count += 1;
    if (untilMs < this.#freshUntilMs) this.#freshUntilMs = untilMs;
    this.#parts.onHeld?.(demand);
  }

  bill({ bill, onHeld }: Sending): void {
    if (this.#count === 0) return;
    bill.cached += this.#count;
    if (this.#parts.lookups !== undefined) this.#parts.lookups.hits += this.#count;
    onHeld?.(this.#freshUntilMs);
  }
}

/** Finds entries in this process: they are answered at once, past all stages. */
export function heldAtOnce(parts: Holding): Figures['find'] {
  const { entries, tenantCache, prefetch, freshness, now } = parts;
  return (demands, sending) => {
    checkRight(sending.caller, observations.tag);
    const { tenant } = sending.caller;
    if (!tenantCache.isAtHand || !tenantCache.isAccepted(tenant)) return null;
    const nowMs = now();
    const served = new Served(parts);
    const found = entries.atHand(tenant, demands).map((entry, i) => {
      const demand = demands[i] as Demand;
      const untilMs = entry === undefined ? 0 : freshUntilMs(entry, demand, parts);
      if (entry === undefined || nowMs >= untilMs) return undefined;
      if (nowMs - entry.wantedAtMs > freshness.ttlMs * RECOUNTING_SHARE) {
        entry.wantedAtMs = nowMs;
        const whole = demand.years === null || entry.years !== null ? demand : wholeOf(demand);
        prefetch.wanted(tenant, whole, entry.checkedAtMs, nowMs);
      }
      served.add(demand, untilMs);
      return entry.rows;
    });
    served.bill(sending);
    return found;
  };
}

/**
 * Meets the demands of one operation from held entries, and has the others fetched. A demand goes only as far as it
 * has to:
 *
 * 1. The entries of all demands are read in one round trip to the store. A name that the service refused lately keeps
 *    that outcome.
 * 2. Whole series are asked for in place of some years, unless a range takes fewer calls.
 * 3. Entries past their time are checked, if there are any: those that still hold are not fetched.
 * 4. The rest takes along figures that cost no further call.
 * 5. If the service gives no answer, entries past their time are served and marked stale, unless the service refuses
 *    the key, or the caller insists on newer ones.
 */
export function held(next: Fetch, parts: Holding): Fetch {
  return async (demands, sending) => {
    checkRight(sending.caller, observations.tag);
    if (parts.tenantCache === NO_TENANT_CACHE && demands.every(isOfAnyAge))
      return inPlaceOfYears(demands, sending, parts, (sent) => next(sent, sending));
    const { looked, refused, nowMs } = await lookUp(demands, sending, parts);
    const meeting = { next, sending, parts, nowMs };
    const outcomes = await inPlaceOfYears(looked, sending, parts, (sent) => meet(sent, meeting));
    for (const [name, outcome] of refused) outcomes.set(name, outcome);
    return outcomes;
  };
}

/** Reads the entries of demands as of an instant, and parts those whose name was refused lately from the others. */
async function lookUp(
  demands: readonly Demand[],
  sending: Sending,
  parts: Holding,
): Promise<{
  readonly looked: readonly HeldDemand[];
  readonly refused: readonly (readonly [name: string, outcome: Outcome])[];
  readonly nowMs: number;
}> {
  const found = await entriesOf(demands, sending, parts);
  const nowMs = parts.now();
  const held = demands.map((demand, i): HeldDemand => {
    const entry = found[i];
    return entry === undefined ? demand : { ...demand, entry };
  });
  if (parts.refusedNames.areNone) return { looked: held, refused: [], nowMs };
  const looked: HeldDemand[] = [];
  const refused: [string, Outcome][] = [];
  const look = (demand: HeldDemand) => {
    const isHeld = isFresh(demand, demand.entry, nowMs, parts);
    const outcome = isHeld ? undefined : refusedLately(demand, sending, nowMs, parts);
    if (outcome === undefined) looked.push(demand);
    else refused.push([demand.name, outcome]);
  };
  await withEach(sending.caller, held, look);
  return { looked, refused, nowMs };
}

/** Finds the entries of demands, fresh or not, by their places: at once, if all of them are here. */
async function entriesOf(
  demands: readonly Demand[],
  { caller: { tenant }, waits }: Sending,
  { entries, tenantCache }: Holding,
): Promise<readonly (ObservationEntry | undefined)[]> {
  if (tenantCache.isAllHere) return entries.atHand(tenant, demands);
  const reading = entries.read(tenant, demands);
  waits?.store.timing(reading);
  const read = await reading;
  return demands.map(({ key }) => read.get(key));
}

function refusedLately(
  demand: Demand,
  { caller, bill, onHeld }: Sending,
  nowMs: number,
  { refusedNames, freshness, tenantCache }: Holding,
): Outcome | undefined {
  const refused = refusedNames.of(caller.tenant, demand);
  if (refused === undefined || !tenantCache.isAccepted(caller.tenant)) return undefined;
  const untilMs = takenUntilMs(demand, refused.atMs, freshness.ttlMs);
  if (nowMs >= untilMs) return undefined;
  bill.cached += 1;
  onHeld?.(untilMs);
  return refused.outcome;
}

/**
 * Asks for whole series in place of some years, unless a range takes fewer calls. Whole series are better to hold, and
 * all who ask at the same time, for any years, ask for the same. An answer that came as a whole series is the outcome of
 * the demand for that too.
 */
async function inPlaceOfYears(
  demands: readonly HeldDemand[],
  { caller }: Sending,
  parts: Holding,
  fetch: (demands: readonly HeldDemand[]) => Promise<Outcomes>,
): Promise<Outcomes> {
  if (demands.every(({ years }) => years === null)) return fetch(demands);
  const nowMs = parts.now();
  const isHeld = (demand: HeldDemand) => isFresh(demand, demand.entry, nowMs, parts);
  const missing = demands.filter((demand) => !isHeld(demand));
  const isRange = await rangesOf(caller, missing, parts);
  // Several ranges may be one whole series, which may be wanted as such besides.
  const sent = new Map<string, HeldDemand>();
  const standIns = new Map<string, string>();
  for (const demand of demands) {
    const isByRange = demand.entry?.years != null && isHeld(demand);
    const own = demand.years === null || isByRange || isRange(demand) ? demand : wholeOf(demand);
    if (!sent.has(own.name)) sent.set(own.name, own);
    standIns.set(demand.name, own.name);
  }
  const outcomes = await fetch([...sent.values()]);
  for (const [name, standIn] of standIns) outcomes.set(name, outcomes.get(standIn) ?? []);
  return outcomes;
}

/** The demands of one operation, on their way. */
interface Meeting {
  readonly next: Fetch;
  readonly sending: Sending;
  readonly parts: Holding;
  /** Instant as of which the entries were looked up. */
  readonly nowMs: number;
}

/** Meets demands from fresh entries, and has the missing ones fetched; returns the outcomes by the names of the demands. */
async function meet(demands: readonly HeldDemand[], meeting: Meeting): Promise<Outcomes> {
  const { sending, parts } = meeting;
  const { tenantCache, revalidation } = parts;
  const { bill } = sending;
  const { tenant } = sending.caller;
  const missing = await expiredOrMissing(demands, meeting);
  const callsBefore = bill.byRoute[observations.route] ?? 0;
  const isTest = missing.length === 0 && !tenantCache.isAccepted(tenant);
  const fetched = await fetchMissing(isTest ? testing(demands, parts) : missing, meeting);
  const others = demands.filter(({ key }) => !fetched.has(key));
  const isUnproven = () => tenantCache.refusal(tenant) === null && !tenantCache.isAccepted(tenant);
  const failure = () => [...fetched.values()].find(isBetterOld) ?? null;
  if (others.length > 0 && isUnproven() && failure() === null) {
    // Nothing was asked of the service, so the key is as unproven as before.
    for (const [key, outcome] of await fetchMissing(others, meeting)) fetched.set(key, outcome);
  }
  const settledAtMs = parts.now();
  // The service may have refused the key by now: then no entry of it is served.
  const isFailed = [...fetched.values()].some((outcome) => outcome instanceof Error);
  const isAllNew = others.length === 0 && !isFailed;
  const refusal = isAllNew ? null : tenantCache.refusal(tenant);
  const doubt = !isAllNew && isUnproven() ? failure() : null;
  const evidence = { fetched, refusal, doubt, nowMs: settledAtMs };
  const outcomes = await outcomesOf(demands, evidence, meeting);
  // They tell how many calls a look at the sources may save.
  const calls = (bill.byRoute[observations.route] ?? 0) - callsBefore;
  if (calls > 0) revalidation.countCalls(tenant, calls, settledAtMs);
  return outcomes;
}

/** Corrects for how long entries past their time are known to hold; returns the demands that no entry meets. */
async function expiredOrMissing(
  demands: readonly HeldDemand[],
  { sending, parts, nowMs }: Meeting,
): Promise<readonly HeldDemand[]> {
  const unmetAt = (atMs: number) => demands.filter((demand) => !isFresh(demand, demand.entry, atMs, parts));
  const missing = unmetAt(nowMs);
  const isRenewable = ({ entry, maxAgeMs }: HeldDemand) => entry !== undefined && maxAgeMs > 0;
  const expired = missing
    .filter(isRenewable)
    .flatMap(({ entry, metricKey }) => (entry ? { entry, metricKey } : []));
  if (expired.length === 0) return missing;
  parts.onExpired?.();
  const fresh = missing.filter((demand) => !isRenewable(demand));
  const costs = {
    calls: () => estimate(missing, parts).calls,
    callsIfRenewed: () => estimate(fresh, parts).calls,
  };
  const checkedAtMs = await parts.revalidation.check(expired, costs, sending);
  for (const figures of expired) figures.entry.checkedAtMs = checkedAtMs(figures);
  return unmetAt(parts.now());
}

/** Chooses demands that put a key to the test though all is held: all if they take one call, else the oldest. */
function testing(demands: readonly HeldDemand[], parts: Holding): readonly HeldDemand[] {
  if (estimate(demands, parts).calls <= 1) return demands;
  const checkedAtMs = ({ entry }: HeldDemand) => entry?.checkedAtMs ?? 0;
  return [demands.reduce((oldest, one) => (checkedAtMs(one) < checkedAtMs(oldest) ? one : oldest))];
}

/** Has demands fetched; returns the outcomes by their keys. */
async function fetchMissing(demands: readonly HeldDemand[], meeting: Meeting): Promise<Outcomes> {
  const { next, sending, parts, nowMs } = meeting;
  const isAllUsable = demands.length > 0 && demands.every((demand) => isUsable(demand, parts));
  const down = isAllUsable ? parts.outage.failure(observations.route) : null;
  if (down !== null) {
    // The pool no longer waits for this operation.
    await next([], sending);
    const failure = down.with({ route: observations.route, attempts: 0 });
    return new Map(demands.map(({ key }) => [key, failure]));
  }
  if (parts.lookups !== undefined) parts.lookups.misses += demands.length;
  const fetched = await fetchAlong(onePerKey(demands), meeting);
  const keptMs = demands.reduce((ms, { maxAgeMs }) => Math.min(ms, maxAgeMs), parts.freshness.ttlMs);
  if (demands.length > 0) sending.onFetched?.(nowMs + keptMs);
  return fetched;
}

/** Demands that differ only in the age they allow are one to the stages below. */
function onePerKey(demands: readonly Demand[]): readonly Demand[] {
  if (demands.every(isOfAnyAge)) return demands;
  return [...new Map(demands.map((demand) => [demand.key, demand])).values()];
}

/** Has the demands that are fetched bring along figures that will soon be wanted anew. */
async function fetchAlong(
  demands: readonly Demand[],
  { next, sending, parts, nowMs }: Meeting,
): Promise<Outcomes> {
  const { prefetch } = parts;
  const { tenant } = sending.caller;
  const ageing = demands.length === 0 ? [] : prefetch.of(tenant, demands, nowMs);
  const along = ageing.length === 0 ? [] : goingAlong(demands, ageing, parts);
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
  /** Outcomes from the stages below. */
  readonly fetched: Outcomes;
  /** The reason for which the service refuses the key; null if it doesn't. */
  readonly refusal: Error | null;
  /** The reason why it is unknown if the service accepts the key; null if it is known. */
  readonly doubt: Error | null;
  /** Instant at which outcomes have come. */
  readonly nowMs: number;
}

/** Decides the outcomes of demands by what has come and what is held; returns them by the names of the demands. */
async function outcomesOf(
  demands: readonly HeldDemand[],
  { fetched, refusal, doubt, nowMs }: Evidence,
  { sending, parts }: Meeting,
): Promise<Outcomes> {
  const { caller } = sending;
  const outcomes: Outcomes = demands.every(isOfAnyAge) ? fetched : new Map();
  const served = new Served(parts);
  const decide = (demand: HeldDemand) => {
    const { entry } = demand;
    const own = fetched.get(demand.key);
    const isNew = own !== undefined && !(own instanceof Error);
    // A demand that was never met doesn't go along with other calls: it may make them fail.
    if (isNew || entry !== undefined)
      parts.prefetch.wanted(caller.tenant, demand, isNew ? nowMs : (entry?.checkedAtMs ?? 0), nowMs);
    const error = refusal ?? doubt;
    if (own === undefined && error === null && entry !== undefined)
      served.add(demand, freshUntilMs(entry, demand, parts));
    const outcome = own ?? error ?? entry?.rows ?? [];
    const mayBeOld = outcome instanceof Error && refusal === null;
    outcomes.set(demand.name, mayBeOld ? staleOr(outcome, demand, sending, parts) : outcome);
  };
  await withEach(caller, demands, decide);
  served.bill(sending);
  return outcomes;
}

/** Does something with each demand: at once, unless there are many. */
function withEach<One>(job: Job, demands: readonly One[], work: (demand: One) => void): PromiseOrValue<void> {
  if (demands.length > FEW) return eachInTurns(job, demands, work);
  for (const demand of demands) work(demand);
}

/** Returns rows past their time in place of a failure, if they may be served; else the failure. */
function staleOr(failure: Error, demand: HeldDemand, sending: Sending, parts: Holding): Outcome {
  const { entry } = demand;
  if (entry === undefined || !isUsable(demand, parts) || !isBetterOld(failure)) return failure;
  billStale(sending.bill, observations.route, failure, entry.atMs, parts.now());
  for (const row of entry.rows) sending.onStale?.(row, failure.code);
  return entry.rows;
}

/** Keys remembered, and figures of each. */
const MAX_KEYS = 1_000;
const MAX_DEMANDS = 500;

/** Demands beyond which a plan has no room for a prefetch, and costs too much to make several times. */
const MAX_ACCOMPANIED = 1_000;

/** Figures older than this share of their time go along. */
const AGEING_SHARE = 0.5;

interface AskedLately {
  readonly demand: Demand;
  readonly askedAtMs: number;
  checkedAtMs: number;
}

/**
 * Remembers figures that a key has asked for lately and that will soon be past their time. A call costs the same with
 * them, so the next call to leave brings them along, and their own call is saved.
 */
function createPrefetch({ now, freshness: { ttlMs }, maxAskedLately }: PrefetchParts) {
  let count = 0;
  /** By tenants that have asked for any: the one that did the longest ago first, and so for the figures of each. */
  const askers = new Map<Tenant, Map<string, AskedLately>>();

  function forgetOne(): void {
    const [[tenant, asked] = []] = askers;
    if (tenant === undefined || asked === undefined) return;
    count -= asked.size;
    askers.delete(tenant);
  }

  function askedOf(tenant: Tenant): Map<string, AskedLately> {
    const asked = askers.get(tenant) ?? new Map<string, AskedLately>();
    askers.delete(tenant);
    askers.set(tenant, asked);
    if (askers.size > MAX_KEYS) forgetOne();
    return asked;
  }

  return {
    /** Notes a figure that was asked for now, and is known to hold as of an instant. */
    wanted(tenant: Tenant, demand: Demand, checkedAtMs: number, nowMs: number): void {
      const { mode, countryCode, metricKey, years } = demand;
      // Some years alone are asked for only if whole series take more calls: they go along with none.
      if (years !== null) return;
      const asked = askedOf(tenant);
      count -= asked.size;
      asked.delete(demand.key);
      // A demand with its entry would hold on to that.
      const isPlain = isOfAnyAge(demand) && !('entry' in demand);
      const whole = isPlain ? demand : demandFor(mode, countryCode, metricKey);
      asked.set(demand.key, { demand: whole, askedAtMs: nowMs, checkedAtMs });
      if (asked.size > MAX_DEMANDS) asked.delete(asked.keys().next().value ?? '');
      count += asked.size;
      if (count > maxAskedLately) forgetOne();
    },
    brought(tenant: Tenant, demands: readonly Demand[]): void {
      const asked = askers.get(tenant);
      for (const demand of demands) {
        const known = asked?.get(demand.key);
        if (known !== undefined) known.checkedAtMs = now();
      }
    },
    /** Lists candidates to go along with these, the last asked for first. */
    of(tenant: Tenant, demands: readonly Demand[], nowMs: number): readonly Demand[] {
      const going: Demand[] = [];
      const fetched = new Set(demands.map(({ key }) => key));
      const mode = new Set(demands.map(({ mode }) => mode));
      for (const [key, { demand, askedAtMs, checkedAtMs }] of [...(askers.get(tenant) ?? [])].reverse()) {
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
  const { limitParam, maxRows, defaultRows } = learned.facts();
  const limitRows = limitParam === 'accepted' ? maxRows : defaultRows;
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
export const NO_PREFETCH: Holding['prefetch'] = { wanted() {}, brought() {}, of: () => [] };
