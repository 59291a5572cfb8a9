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
import {
  EventQueue,
  type LiveParts,
  type Look,
  mergeBill,
  noteCalls,
  type ObservationChangesRecord,
  type SourceRuns,
  type Task,
} from './event-queue.ts';
import { FigureWatch } from './figures.ts';

/** Shares of a month's rest of calls that feeds may take: most of it evenly, some of it at any time. */
const EVEN_SHARE = 0.09;
const BURST_SHARE = 0.01;

const PLANS = Object.values(PUBLISHED_PLANS);
const [SMALLEST, LARGER] = PLANS as [PlanLimits, PlanLimits];

interface Pace {
  /** Calls until the month is over. */
  readonly calls: number;
  /** Calls that may be spent at any time, however little of the month is over. */
  readonly burst: number;
  readonly msPerCall: number;
}

/**
 * Returns a tenth of the calls that the plan leaves. A plan that nobody has named is taken for the smallest one there
 * is, or for the next if the service has shown to allow more.
 * @param isLarger true if it has
 * @param nowMs milliseconds since the epoch
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

/** Slows a pace down to a tenth of the calls that a budget leaves as well. */
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

/** Counts the calls of one feed against its pace. Instants are in milliseconds since the epoch. */
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

  /** Counts calls; calls beyond the rest are waited for. */
  spend(calls: number): void {
    this.#calls = (this.#calls ?? 0) - calls;
  }
}

interface SourceSubscriber {
  /** Keys of its sources, in lower case; null for all. */
  readonly keys: ReadonlySet<string> | null;
  /** Runs that are to be sent, the last one of each source. */
  readonly pending: Map<string, SourceRecord>;
  readonly queue: EventQueue<SourceRecord>;
}

/** Watches the sources of all subscriptions to them under one key. */
class SourceWatch {
  readonly #subscribers = new Set<SourceSubscriber>();

  /** @throws Failure BAD_USER_INPUT if the service is known to have no source of a key */
  subscribe(keys: readonly string[] | null, look: Look | null): EventQueue<SourceRecord> {
    const wanted = keys && new Set(keys.map((key) => key.toLowerCase()));
    if (wanted !== null && look !== null && leftOutOf(look.records) === null) {
      const sourceKeys = new Set(look.records.map(({ key }) => key.toLowerCase()));
      const unknown = keys?.find((key) => !sourceKeys.has(key.toLowerCase()));
      if (unknown !== undefined)
        throw new Failure(
          'BAD_USER_INPUT',
          `The service has no source of the key ${unknown}, so nothing could ever be told of it.`,
        );
    }
    const pending = new Map<string, SourceRecord>();
    const take = () => {
      const [first] = pending.values();
      if (first === undefined) return null;
      pending.delete(first.key);
      return first;
    };
    const queue = new EventQueue<SourceRecord>(
      take,
      () => null,
      () => this.#subscribers.delete(subscriber),
    );
    const subscriber = { keys: wanted, pending, queue };
    this.#subscribers.add(subscriber);
    return queue;
  }

  /** Notes sources that have run; returns the queues that are to be notified. */
  ran(records: readonly SourceRecord[]): EventQueue<SourceRecord>[] {
    const notified: EventQueue<SourceRecord>[] = [];
    for (const { keys, pending, queue } of this.#subscribers) {
      const wanted = records.filter(({ key }) => keys === null || keys.has(key.toLowerCase()));
      for (const record of wanted) {
        // Sources that have waited longest come first, in the order of their last runs.
        pending.delete(record.key);
        pending.set(record.key, record);
      }
      if (wanted.length > 0) notified.push(queue);
    }
    return notified;
  }
}

type OnError = (error: unknown, where: string) => void;

type AnyQueue = EventQueue<ObservationChangesRecord> | EventQueue<SourceRecord>;

/** @param before settles once the earlier subscriptions have joined */
type Subscribe<Joined extends AnyQueue> = (task: Task, before: Promise<unknown>) => Promise<Joined>;

interface Join {
  readonly caller: Caller;
  readonly begin: (task: Task, before: Promise<unknown>) => Promise<void>;
  readonly reject: (error: unknown) => void;
}

/** Greatest age of the catalogue that tells which sources bring a metric, in milliseconds. */
const CATALOGUE_MS = 86_400_000;

/** Refusals of the key, after which nothing can be told any more. */
const FINAL = new Set(['UNAUTHENTICATED', 'FORBIDDEN']);

/**
 * Feeds all subscriptions under one key: it looks at the sources now and then, as often as the plan allows, asks for
 * the figures that sources that have run may have brought, and tells each subscriber its news of them. One step is done
 * at a time.
 */
class Feed {
  readonly #parts: LiveParts;
  readonly #onError: OnError;
  readonly #onEmpty: () => void;
  readonly #figures: FigureWatch;
  readonly #sources = new SourceWatch();
  readonly #queues = new Set<AnyQueue>();
  readonly #allowance = new Allowance();
  readonly #ends = new AbortController();
  #caller: Caller;
  readonly #turn = new Mutex();
  /** Subscriptions that begin in the next turn. */
  readonly #joins: Join[] = [];
  #joining = 0;
  #look: Look | null = null;
  #byMetric: SourcesByMetric = new Map();
  #catalogueAtMs = Number.NEGATIVE_INFINITY;
  #pause: LiveWarning | null = null;
  /** Calls that were spent and are on nobody's bill as yet. */
  #unbilled = openBill();
  #cancel: (() => void) | null = null;

  constructor(caller: Caller, parts: LiveParts, onError: OnError, onEmpty: () => void) {
    this.#caller = caller;
    this.#parts = parts;
    this.#onError = onError;
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

  /** Ends all subscriptions, without a word. */
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

  /** Begins all subscriptions that wait: their figures are fetched together, and they are added one by one. */
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

  /**
   * Looks at the sources for the first subscription, so that their runs are known from then on; and also for one that
   * comes when the service has not accepted the key lately.
   */
  async #lookFirst(task: Task): Promise<void> {
    const isAccepted = this.#parts.tenantCache.isAccepted(this.#caller.tenant);
    if (this.#look !== null ? isAccepted : this.#pause !== null) return;
    try {
      const look = await this.#ask(task, this.#parts.pollMs);
      // Sources that have run since the last round are for the next one to find.
      this.#look ??= look;
    } catch (error) {
      if (!(error instanceof Failure) || FINAL.has(error.code)) throw error;
      this.#fail(error);
    }
  }

  /** Looks at the sources once, and follows it up. */
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

  /** @param notified takes in the queues that are to be notified of an event, even if something else fails */
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

  /** Returns the limits of the budget that pays, as they are now; none if it is the key's own. */
  async #budgetLimits(): Promise<readonly RateLimit[]> {
    const { budget } = this.#caller;
    await budget?.quota?.();
    return budget?.limits?.() ?? [];
  }

  /** Returns the next look at the sources, of others who share the store if there is one; null if none is due. */
  async #nextLook(pace: Pace, task: Task): Promise<Look | null> {
    const { clock, pollMs } = this.#parts;
    const mayCall = this.#allowance.mayCall(pace, clock.now());
    const cachedLook = await this.#cachedLook();
    if (cachedLook !== null && cachedLook.atMs > (this.#look?.atMs ?? Number.NEGATIVE_INFINITY)) {
      // It is of the same plan, even if another gateway has paid for it.
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
    // The look of others who share the store has its own time: by ours, figures that they have fetched since would be
    // too old.
    return cachedLook !== null && cachedLook.atMs >= oldestMs ? cachedLook : { records, atMs: steadyNow() };
  }

  /** Learns from the catalogue which sources bring a metric; without it, any may. */
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

  /** Tells subscribers, and bills the first of them the calls that have been spent since the last time. */
  #notify(inboxes: ReadonlySet<AnyQueue>): void {
    for (const [i, queue] of [...inboxes].entries()) {
      if (i === 0) {
        queue.charge(this.#unbilled);
        this.#unbilled = openBill();
      } else queue.charge({ ...openBill(), shared: 1 });
      queue.notify();
    }
  }

  #pauseForMonth({ monthResetsAt }: QuotaRecord): void {
    const resetsAt = monthResetsAt;
    this.#fail(new Failure('MONTHLY_QUOTA_EXCEEDED', 'The requests of this month are spent.', { resetsAt }));
  }

  /** Pauses for a failure; if it is one of the key, ends all. A minute that is spent is soon over. */
  #fail(error: unknown): void {
    if (this.#ends.signal.aborted) return;
    if (!(error instanceof Failure)) this.#onError(error, 'live');
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

export type LiveSources = ReturnType<ReturnType<typeof createFeeds>['of']>;

/** Opens the feeds of all keys, one each, and of each budget under the gateway's own, as long as anybody subscribes under it. */
export function createFeeds(parts: LiveParts, onError: OnError) {
  const feeds = new Map<Tenant | string, Feed>();

  function feedOf(caller: Caller): Feed {
    const { tenant, budget, rights } = caller;
    // A feed asks on behalf of any of its subscribers, so that all of them have the same rights.
    const whose = budget === undefined ? tenant : `${budget.name} ${rights?.name ?? ''}`;
    let feed = feeds.get(whose);
    if (feed === undefined) {
      const opened: Feed = new Feed(caller, parts, onError, () => {
        if (feeds.get(whose) === opened && feeds.delete(whose)) tenant.underWay -= 1;
      });
      tenant.underWay += 1;
      feed = opened;
      feeds.set(whose, feed);
    }
    return feed;
  }

  return {
    /** Returns the sources of events for a caller's subscriptions. */
    of: (caller: Caller) => ({
      /**
       * Changes of the figures that answer these demands, from now on.
       * @param since the revision that the subscriber has; null if it has none and wants none
       * @throws Failure if the present figures can't be known
       */
      async figures(demands: readonly Demand[], since: string | null) {
        checkRight(caller, observations.tag);
        return feedOf(caller).figures(caller, demands, since);
      },
      /**
       * Runs of sources, from now on.
       * @param keys null for all sources
       * @throws Failure if the service refuses the key, or knows no such source
       */
      sources: (keys: readonly string[] | null) => feedOf(caller).sources(caller, keys),
    }),
    stop() {
      for (const feed of feeds.values()) feed.close();
      feeds.clear();
    },
  };
}

/**
 * @param ends aborts if the feed is given up
 * @param waitMs milliseconds that it may wait for the next minute window
 */
function openTask(caller: Caller, ends: AbortSignal, parts: LiveParts, waitMs = 0): Task {
  const { observations, maxUpstreamCalls, timeoutMs } = parts;
  const bill = openBill();
  const deadline = new Deadline(timeoutMs, { signal: ends });
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

/**
 * Returns the sources that have run between two looks, by the service's word on their last runs: no clock of ours is
 * asked. If that is a day, or no time that can be read, a source may have run again and is said to have run when it
 * had: until the day is over, each look may miss a run.
 * @param before null if this is the first look
 */
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

/** Milliseconds below which times name an instant: longer ones may be those of several runs. */
const COARSE_MS = 60_000;

/** True if a source may have run since an instant, though its last run has the same time as before. */
function mayHideRun(lastRun: string, sinceMs: number): boolean {
  const time = timeIn(lastRun);
  if (time === null) return true;
  return time.lastMs - time.firstMs >= COARSE_MS - 1 && time.lastMs + CLOCK_SKEW_MS >= sinceMs;
}
