import { Mutex } from 'async-mutex';
import { type PlanLimits, PUBLISHED_PLANS, type QuotaRecord, type RateLimit } from '../../keys/ledger.ts';
import type { Tenant } from '../../keys/tenant.ts';
import type { Demand } from '../../observations/planner/demand.ts';
import { estimate } from '../../observations/planner/modes.ts';
import { CLOCK_SKEW_MS, namedIn, type SourcesByMetric } from '../../observations/revalidation.ts';
import { openBill } from '../../service/bill.ts';
import { cachedRecords } from '../../service/cached-answers.ts';
import { makeCall } from '../../service/call.ts';
import type { Caller } from '../../service/caller.ts';
import { Deadline } from '../../service/deadline.ts';
import { etlStatus, indicators, observations } from '../../service/endpoints.ts';
import { payerOf } from '../../service/payer.ts';
import { leftOutOf } from '../../service/records/envelope.ts';
import type { SourceRecord } from '../../service/records/reference.ts';
import { checkRight } from '../../service/rights.ts';
import type { Sending } from '../../service/sending.ts';
import { Failure } from '../../shared/errors.ts';
import { timeIn } from '../../shared/periods.ts';
import type { LiveWarning } from '../../shared/warnings.ts';
import type { SourceRef } from '../schema/context.ts';
import {
  EventQueue,
  type LiveParts,
  type Look,
  mergeBill,
  noteCalls,
  type SourceRuns,
  type Task,
} from './event-queue.ts';
import { FigureWatch } from './figures.ts';
import type { ObservationChangesRecord } from './subscribing.ts';

/** Shares of the month's remaining calls that a feed may take: evenly over the month, and at any time. */
const EVEN_SHARE = 0.09;
const BURST_SHARE = 0.01;

const PLANS = Object.values(PUBLISHED_PLANS);
const [SMALLEST, LARGER] = PLANS as [PlanLimits, PlanLimits];

interface Pace {
  /** Calls until the end of the month. */
  readonly calls: number;
  /** Calls that may be spent at any time. */
  readonly burst: number;
  readonly msPerCall: number;
}

/**
 * Returns a tenth of the calls that the plan leaves.
 * @param isLarger true if the service has shown that an unnamed plan is not the smallest
 */
function paceOf(
  { requestsPerMinute, monthlyRequests, callsThisMonth, monthResetsAt }: QuotaRecord,
  isLarger: boolean,
  nowMs: number,
): Pace {
  const unnamed = isLarger ? LARGER : SMALLEST;
  const perMinute = requestsPerMinute ?? unnamed.requestsPerMinute;
  const documented = PLANS.findLast((plan) => plan.requestsPerMinute <= perMinute) ?? SMALLEST;
  const left = Math.max(0, (monthlyRequests ?? documented.monthlyRequests) - callsThisMonth);
  return {
    calls: left * (EVEN_SHARE + BURST_SHARE),
    burst: left * BURST_SHARE,
    msPerCall: Math.max(0, (timeIn(monthResetsAt)?.firstMs ?? nowMs) - nowMs) / (left * EVEN_SHARE),
  };
}

/** Slows a pace down to a tenth of what a budget leaves. */
function within(pace: Pace, limits: readonly RateLimit[]): Pace {
  return limits
    .filter(({ name }) => name !== 'minute')
    .reduce(
      ({ calls, burst, msPerCall }, { left, resetSeconds }) => ({
        calls: Math.min(calls, left),
        burst: Math.min(burst, left * BURST_SHARE),
        msPerCall: Math.max(msPerCall, (resetSeconds * 1000) / (left * EVEN_SHARE)),
      }),
      pace,
    );
}

function spentFailure({ name, most, resetSeconds }: RateLimit, nowMs: number): Failure {
  const resetsAtMs = (Math.floor(nowMs / 1000) + resetSeconds) * 1000;
  return new Failure('KEY_BUDGET_SPENT', `The ${most} calls a ${name} that this key may send are spent.`, {
    limit: most,
    resetsAt: new Date(resetsAtMs).toISOString(),
  });
}

/** Counts the calls of one feed against its pace. */
class Allowance {
  #calls: number | null = null;
  #atMs = 0;

  mayCall({ burst, msPerCall }: Pace, nowMs: number): boolean {
    const most = Math.max(1, burst);
    const since = this.#calls === null ? most : this.#calls + Math.max(0, nowMs - this.#atMs) / msPerCall;
    this.#calls = Math.min(most, since);
    this.#atMs = nowMs;
    return this.#calls >= 1;
  }

  /** May go below zero: the next call then waits. */
  spend(calls: number): void {
    this.#calls = (this.#calls ?? 0) - calls;
  }
}

interface SourceSubscriber {
  /** In lower case; null for all sources. */
  readonly keys: ReadonlySet<string> | null;
  /** The last run of each source that is still to be sent. */
  readonly pending: Map<string, SourceRecord>;
  readonly queue: EventQueue<SourceRef>;
}

class SourceWatch {
  readonly #subscribers = new Set<SourceSubscriber>();

  /** @throws Failure BAD_USER_INPUT if the service is known to have no source of a key */
  subscribe(keys: readonly string[] | null, look: Look | null): EventQueue<SourceRef> {
    const wanted = keys && new Set(keys.map((key) => key.toLowerCase()));
    if (wanted !== null && look !== null && leftOutOf(look.records) === null) {
      const sourceKeys = new Set(look.records.map(({ key }) => key.toLowerCase()));
      const unknown = keys?.find((key) => !sourceKeys.has(key.toLowerCase()));
      if (unknown !== undefined)
        throw new Failure(
          'BAD_USER_INPUT',
          `The service has no source of the key ${unknown}, so the subscription could never report anything.`,
        );
    }
    const pending = new Map<string, SourceRecord>();
    const take = () => {
      const [first] = pending.values();
      if (first === undefined) return null;
      pending.delete(first.key);
      return { key: first.key, partial: first };
    };
    const queue = new EventQueue<SourceRef>(
      take,
      () => null,
      () => this.#subscribers.delete(subscriber),
    );
    const subscriber = { keys: wanted, pending, queue };
    this.#subscribers.add(subscriber);
    return queue;
  }

  ran(records: readonly SourceRecord[]): EventQueue<SourceRef>[] {
    const notified: EventQueue<SourceRef>[] = [];
    for (const { keys, pending, queue } of this.#subscribers) {
      const wanted = records.filter(({ key }) => keys === null || keys.has(key.toLowerCase()));
      for (const record of wanted) {
        // Moves it to the end: sources are sent in the order of their last runs.
        pending.delete(record.key);
        pending.set(record.key, record);
      }
      if (wanted.length > 0) notified.push(queue);
    }
    return notified;
  }
}

type AnyQueue = EventQueue<ObservationChangesRecord> | EventQueue<SourceRef>;

/** @param before settles once the earlier subscriptions of the turn have joined */
type Subscribe<Joined extends AnyQueue> = (task: Task, before: Promise<unknown>) => Promise<Joined>;

/** A subscription that begins in the next turn. */
interface Join {
  readonly caller: Caller;
  readonly begin: (task: Task, before: Promise<unknown>) => Promise<void>;
  readonly reject: (error: unknown) => void;
}

/** Greatest age, in milliseconds, of the catalogue that tells which sources feed a metric. */
const CATALOGUE_MS = 86_400_000;

/** Refusals of the key, which end its subscriptions. */
const FINAL = new Set(['UNAUTHENTICATED', 'FORBIDDEN']);

/**
 * Feeds all subscriptions under one key: polls the sources as often as the plan allows, fetches the figures that a run may
 * have changed, and tells each subscriber its part of the news. One step at a time.
 */
class Feed {
  readonly #parts: LiveParts;
  readonly #onEmpty: () => void;
  readonly #figures: FigureWatch;
  readonly #sources = new SourceWatch();
  readonly #queues = new Set<AnyQueue>();
  readonly #allowance = new Allowance();
  readonly #ends = new AbortController();
  #caller: Caller;
  readonly #turn = new Mutex();
  readonly #joins: Join[] = [];
  #joining = 0;
  #look: Look | null = null;
  #byMetric: SourcesByMetric = new Map();
  #catalogueAtMs = Number.NEGATIVE_INFINITY;
  #pause: LiveWarning | null = null;
  /** Calls that are on nobody's bill yet. */
  #unbilled = openBill();
  #cancel: (() => void) | null = null;

  constructor(caller: Caller, parts: LiveParts, onEmpty: () => void) {
    this.#caller = caller;
    this.#parts = parts;
    this.#onEmpty = onEmpty;
    this.#figures = new FigureWatch(caller.tenant, parts);
  }

  figures(caller: Caller, demands: readonly Demand[], since: string | null) {
    return this.#join(caller, async (task, before) => {
      await this.#learnSources(task);
      const sources = { look: this.#look, byMetric: this.#byMetric };
      return this.#figures.subscribe(demands, since, sources, task, before);
    });
  }

  sources(caller: Caller, keys: readonly string[] | null) {
    return this.#join(caller, async () => this.#sources.subscribe(keys, this.#look));
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#ends.abort();
    for (const queue of this.#queues) queue.close();
  }

  async #join<Joined extends AnyQueue>(caller: Caller, subscribe: Subscribe<Joined>): Promise<Joined> {
    this.#joining += 1;
    this.#caller = caller;
    const { promise, resolve, reject } = Promise.withResolvers<Joined>();
    const begin = async (task: Task, before: Promise<unknown>) => {
      const queue = await subscribe(task, before);
      this.#admit(queue, task);
      resolve(queue);
    };
    this.#joins.push({ caller, begin, reject });
    if (this.#joins.length === 1) void this.#turn.runExclusive(() => this.#beginAll());
    try {
      return await promise;
    } finally {
      this.#joining -= 1;
      this.#leaveIfEmpty();
    }
  }

  /** Fetches the figures of all waiting subscriptions together, and adds them one by one. */
  async #beginAll(): Promise<void> {
    const [first] = this.#joins;
    if (first === undefined) return;
    const looking = this.#taskOf(first);
    try {
      await this.#lookFirst(looking);
    } catch (error) {
      looking.close();
      for (const { reject } of this.#joins.splice(0)) reject(error);
      return;
    }
    let before: Promise<unknown> = Promise.resolve();
    for (const join of this.#joins.splice(0)) {
      const task = join === first ? looking : this.#taskOf(join);
      const begun = join.begin(task, before).catch(join.reject).finally(task.close);
      before = Promise.all([before, begun]);
    }
    await before;
  }

  #taskOf({ caller }: Join): Task {
    return openTask(caller, this.#ends.signal, this.#parts, this.#parts.waitMs);
  }

  #admit(queue: AnyQueue, { bill }: Task): void {
    this.#queues.add(queue);
    queue.charge(bill);
    queue.pause(this.#pause);
    queue.onceClosed(() => {
      this.#queues.delete(queue);
      this.#leaveIfEmpty();
    });
    this.#cancel ??= this.#nextRound();
  }

  #leaveIfEmpty(): void {
    if (this.#queues.size > 0 || this.#joining > 0) return;
    this.close();
    this.#onEmpty();
  }

  #nextRound(): () => void {
    return this.#parts.clock.after(this.#parts.pollMs, () => {
      void this.#turn
        .runExclusive(() => this.#round())
        .finally(() => {
          if (this.#cancel !== null) this.#cancel = this.#nextRound();
        });
    });
  }

  /** Looks at the sources for the first subscription, and whenever the key needs to be accepted anew. */
  async #lookFirst(task: Task): Promise<void> {
    const isAccepted = this.#parts.tenantCache.isAccepted(this.#caller.tenant);
    if (this.#look !== null ? isAccepted : this.#pause !== null) return;
    try {
      const look = await this.#ask(task, this.#parts.pollMs);
      // The next round still has to find the runs since the last one.
      this.#look ??= look;
    } catch (error) {
      if (!(error instanceof Failure) || FINAL.has(error.code)) throw error;
      this.#fail(error);
    }
  }

  async #round(): Promise<void> {
    if (this.#queues.size === 0) return;
    const task = openTask(this.#caller, this.#ends.signal, this.#parts);
    const notified = new Set<AnyQueue>();
    try {
      await this.#renew(task, notified);
    } catch (error) {
      this.#fail(error);
    } finally {
      task.close();
      this.#allowance.spend(task.bill.calls);
      mergeBill(this.#unbilled, task.bill);
      this.#notify(notified);
    }
  }

  /** @param notified filled with the queues that have news, even if a later step fails */
  async #renew(task: Task, notified: Set<AnyQueue>): Promise<void> {
    const { clock, ledger, planning } = this.#parts;
    const { tenant } = this.#caller;
    const quota = await this.#parts.quota(tenant);
    if (quota.state === 'MINUTE_SPENT') return;
    const pace = paceOf(quota, ledger.shareLeft(tenant) !== null, clock.now());
    if (quota.state === 'MONTH_SPENT' || pace.calls < 1) return this.#pauseForMonth(quota);
    const limits = await this.#budgetLimits();
    if (limits.some(({ name, left }) => name === 'minute' && left === 0)) return;
    const spent = limits.find(({ left }) => left === 0);
    if (spent !== undefined) return this.#fail(spentFailure(spent, clock.now()));
    const look = await this.#nextLook(within(pace, limits), task);
    if (look === null) return;
    const runs = runsBetween(this.#look, look);
    this.#look = look;
    for (const queue of this.#sources.ran(runs.records)) notified.add(queue);
    const ran = runs.records.length + runs.possible.length;
    if (ran > 0 && this.#figures.isWatching) await this.#learnSources(task);
    this.#figures.sourcesRan(runs, this.#byMetric);
    const { due } = this.#figures;
    if (due.length > 0 && estimate(due, planning).calls > pace.calls) return this.#pauseForMonth(quota);
    const { behind, failure } = await this.#figures.renew(look.atMs, task);
    if (failure === null) this.#setPause(null);
    else this.#fail(failure);
    for (const queue of behind) notified.add(queue);
  }

  /** None if the key itself pays. */
  async #budgetLimits(): Promise<readonly RateLimit[]> {
    const { budget } = this.#caller;
    await budget?.quota?.();
    return budget?.limits?.() ?? [];
  }

  /** Prefers the look of another gateway of the store; null if none is due. */
  async #nextLook(pace: Pace, task: Task): Promise<Look | null> {
    const { clock, pollMs } = this.#parts;
    const mayCall = this.#allowance.mayCall(pace, clock.now());
    const cachedLook = await this.#cachedLook();
    if (cachedLook !== null && cachedLook.atMs > (this.#look?.atMs ?? Number.NEGATIVE_INFINITY)) {
      // It counts against the same plan, even though another gateway made the call.
      this.#allowance.spend(1);
      return cachedLook;
    }
    return mayCall ? this.#ask(task, pollMs / 2) : null;
  }

  async #cachedLook(): Promise<Look | null> {
    const { tenantCache } = this.#parts;
    const { tenant } = this.#caller;
    const call = makeCall(etlStatus, {});
    const entry = await cachedRecords(etlStatus, {}, call, tenant, tenantCache);
    if (entry === null || entry.records === null || !tenantCache.isAccepted(tenant)) return null;
    return { records: entry.records, atMs: entry.atMs };
  }

  async #ask({ sending }: Task, maxAgeMs: number): Promise<Look> {
    const { ask, steadyNow } = this.#parts;
    const oldestMs = steadyNow() - maxAgeMs;
    const records = (await ask(etlStatus, {}, sending, maxAgeMs)) ?? [];
    const cachedLook = await this.#cachedLook();
    // Another gateway's look keeps its own time: by ours, the figures that it has fetched since would be too old.
    return cachedLook !== null && cachedLook.atMs >= oldestMs ? cachedLook : { records, atMs: steadyNow() };
  }

  /** Learns from the catalogue which sources feed a metric; without it, any may. */
  async #learnSources({ sending }: Task): Promise<void> {
    const nowMs = this.#parts.steadyNow();
    if (nowMs - this.#catalogueAtMs < CATALOGUE_MS) return;
    try {
      const catalogue = await this.#parts.ask(indicators, {}, sending);
      if (catalogue !== null) this.#byMetric = namedIn(catalogue);
      this.#catalogueAtMs = nowMs;
    } catch (error) {
      if (!(error instanceof Failure) || FINAL.has(error.code)) throw error;
    }
  }

  /** The first subscriber is billed for the calls since the last time; to the others they are shared. */
  #notify(queues: ReadonlySet<AnyQueue>): void {
    for (const [i, queue] of [...queues].entries()) {
      if (i === 0) {
        queue.charge(this.#unbilled);
        this.#unbilled = openBill();
      } else queue.charge({ ...openBill(), shared: 1 });
      queue.notify();
    }
  }

  #pauseForMonth({ monthResetsAt: resetsAt }: QuotaRecord): void {
    this.#fail(new Failure('MONTHLY_QUOTA_EXCEEDED', 'The requests of this month are spent.', { resetsAt }));
  }

  /** Pauses all subscriptions, or ends them if the key was refused. A spent minute is soon over and changes nothing. */
  #fail(error: unknown): void {
    if (this.#ends.signal.aborted) return;
    if (!(error instanceof Failure)) this.#parts.onError(error, 'live');
    const failure =
      error instanceof Failure
        ? error
        : new Failure('UPSTREAM_UNAVAILABLE', 'The gateway met an internal error.');
    if (failure.code === 'RATE_LIMITED') return;
    if (FINAL.has(failure.code)) {
      for (const queue of this.#queues) queue.fail(failure);
      return;
    }
    const { resetsAt } = failure.fields;
    const until = resetsAt === undefined ? 'as soon as the service answers' : `at ${resetsAt}`;
    this.#setPause({
      code: 'SUBSCRIPTION_PAUSED',
      message: `Changes are not looked for at the moment: ${failure.message} The subscription goes on by itself, ${until}, and then tells all that has changed.`,
      reason: failure.code,
      ...(resetsAt === undefined ? {} : { resumesAt: resetsAt }),
    });
  }

  #setPause(pause: LiveWarning | null): void {
    if (pause?.reason === this.#pause?.reason) return;
    this.#pause = pause;
    for (const queue of this.#queues) queue.pause(pause);
  }
}

/** One feed per key, and per budget under the gateway's own key, for as long as anybody subscribes. */
export function createFeeds(parts: LiveParts) {
  const feeds = new Map<Tenant | string, Feed>();

  function feedOf(caller: Caller): Feed {
    const { tenant, budget, rights } = caller;
    // A feed asks on behalf of any of its subscribers, so they all have the same rights.
    const whose = budget === undefined ? tenant : `${budget.name} ${rights?.name ?? ''}`;
    const existing = feeds.get(whose);
    if (existing !== undefined) return existing;
    const end = tenant.keep();
    const feed: Feed = new Feed(caller, parts, () => {
      end();
      if (feeds.get(whose) === feed) feeds.delete(whose);
    });
    feeds.set(whose, feed);
    return feed;
  }

  return {
    of: (caller: Caller) => ({
      /**
       * @param since the last revision that the subscriber saw; null to begin with the present figures
       * @throws Failure if the present figures can't be known
       */
      async figures(demands: readonly Demand[], since: string | null) {
        checkRight(caller, observations.tag);
        return feedOf(caller).figures(caller, demands, since);
      },
      /** @throws Failure if the service refuses the key, or knows no such source */
      sources: (keys: readonly string[] | null) => feedOf(caller).sources(caller, keys),
    }),
    stop() {
      for (const feed of feeds.values()) feed.close();
      feeds.clear();
    },
  };
}

/** @param waitMs milliseconds that it may wait for the next minute window */
function openTask(caller: Caller, ends: AbortSignal, parts: LiveParts, waitMs = 0): Task {
  const { observations, maxUpstreamCalls, timeoutMs } = parts;
  const bill = openBill();
  const deadline = new Deadline(timeoutMs, { signal: ends }, parts.clock.after);
  const { participant, figures } = observations.join(caller);
  const sending: Sending = {
    caller: { ...caller, slices: 0 },
    bill,
    payer: payerOf(bill, maxUpstreamCalls, caller.budget),
    signal: deadline.signal,
    deadline,
    waitDeadlineMs: parts.clock.now() + waitMs,
  };
  return {
    sending,
    figures,
    bill,
    close() {
      noteCalls(caller, bill);
      deadline.stop();
      participant.leave();
    },
  };
}

/** Compares the last runs as the service states them, not by our clock. A run stated as a day may hide a later one. */
function runsBetween(before: Look | null, now: Look): SourceRuns {
  if (before === null) return { records: [], possible: [], areAll: true };
  const last = new Map(before.records.map(({ key, lastSuccessfulRefresh }) => [key, lastSuccessfulRefresh]));
  const records: SourceRecord[] = [];
  const possible: SourceRecord[] = [];
  for (const record of now.records) {
    const { key, lastSuccessfulRefresh: lastRun } = record;
    if (lastRun === null) continue;
    if (last.get(key) !== lastRun) records.push(record);
    else if (mayHideRun(lastRun, before.atMs)) possible.push(record);
  }
  return { records, possible, areAll: leftOutOf(before.records) === null && leftOutOf(now.records) === null };
}

/** Milliseconds of a stated time that may cover several runs. */
const COARSE_MS = 60_000;

/** True if a source may have run since, though its last run is stated as before. */
function mayHideRun(lastRun: string, sinceMs: number): boolean {
  const time = timeIn(lastRun);
  if (time === null) return true;
  return time.lastMs - time.firstMs >= COARSE_MS - 1 && time.lastMs + CLOCK_SKEW_MS >= sinceMs;
}
