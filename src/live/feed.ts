import { Mutex } from 'async-mutex';
import { Cancellation } from '../async/cancellation.ts';
import type { Clock } from '../async/clock.ts';
import type { TenantCache } from '../cache/tenant-cache.ts';
import { Failure } from '../errors.ts';
import type { LiveSources } from '../graph/live.ts';
import type { ObservationChangesRecord } from '../graph/sources.ts';
import { estimate } from '../observations/estimate.ts';
import { NONE_NAMED, namedIn, type SourcesByMetric } from '../observations/revalidation.ts';
import type { QuotaRecord } from '../quota/account.ts';
import type { Ledger } from '../quota/ledger.ts';
import { type Ask, heldRecords } from '../upstream/cached.ts';
import { type Caller, makeCall } from '../upstream/call.ts';
import { etlStatus, indicators } from '../upstream/endpoints.ts';
import type { SourceRecord } from '../upstream/records/platform.ts';
import type { LiveWarning } from '../warnings.ts';
import { Allowance, type Pace, paceOf } from './allowance.ts';
import { type Errand, type ErrandParts, mergeBill, openErrand, openFeedBill } from './errand.ts';
import { FigureWatch, type FigureWatchParts } from './figures.ts';
import type { Inbox } from './inbox.ts';
import { type Look, runsBetween } from './look.ts';
import { SourceWatch } from './sources.ts';

export interface FeedParts
  extends ErrandParts,
    Pick<FigureWatchParts, 'entries' | 'planning' | 'maxUpstreamCalls'> {
  readonly ask: Ask;
  readonly tenantCache: TenantCache;
  readonly ledger: Pick<Ledger, 'shareLeft'>;
  readonly quota: (keyDigest: string) => Promise<QuotaRecord>;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** Milliseconds after a look at the sources in which there is no other. */
  readonly pollMs: number;
  /** Milliseconds that a new subscription may wait for the next minute window. */
  readonly waitMs: number;
  readonly onFault: (fault: unknown, where: string) => void;
}

type AnyInbox = Inbox<ObservationChangesRecord> | Inbox<SourceRecord>;

/** @param before settles once the earlier subscriptions have joined */
type Subscribe<Joined extends AnyInbox> = (errand: Errand, before: Promise<unknown>) => Promise<Joined>;

/** A subscription that waits for its turn. */
interface Join {
  readonly caller: Caller;
  readonly begin: (errand: Errand, before: Promise<unknown>) => Promise<void>;
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
export class Feed {
  readonly #parts: FeedParts;
  readonly #onEmpty: () => void;
  readonly #figures: FigureWatch;
  readonly #sources = new SourceWatch();
  readonly #inboxes = new Set<AnyInbox>();
  readonly #allowance = new Allowance();
  readonly #ends = new Cancellation();
  #caller: Caller;
  readonly #turn = new Mutex();
  /** Subscriptions that begin in the next turn. */
  readonly #joins: Join[] = [];
  #joining = 0;
  #look: Look | null = null;
  #byMetric: SourcesByMetric = NONE_NAMED;
  #catalogueAtMs = Number.NEGATIVE_INFINITY;
  #pause: LiveWarning | null = null;
  /** Calls that were spent and are on nobody's bill as yet. */
  #unbilled = openFeedBill();
  #cancel: (() => void) | null = null;

  constructor(caller: Caller, parts: FeedParts, onEmpty: () => void) {
    const { clock, entries, planning, maxUpstreamCalls } = parts;
    this.#caller = caller;
    this.#parts = parts;
    this.#onEmpty = onEmpty;
    const { keyDigest } = caller;
    this.#figures = new FigureWatch({
      keyDigest,
      entries,
      planning,
      maxUpstreamCalls,
      now: clock.now,
    });
  }

  /** Does the work of `figures` of {@link LiveSources}. */
  readonly figures = (caller: Caller, ...[demands, since]: Parameters<LiveSources['figures']>) =>
    this.#join(caller, async (errand, before) => {
      await this.#learnSources(errand);
      const known = { look: this.#look, byMetric: this.#byMetric };
      return this.#figures.subscribe(demands, since, known, errand, before);
    });

  /** Does the work of `sources` of {@link LiveSources}. */
  readonly sources = (caller: Caller, ...[keys]: Parameters<LiveSources['sources']>) =>
    this.#join(caller, async () => this.#sources.subscribe(keys, this.#look));

  /** Ends all subscriptions, without a word. */
  close(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#ends.abort();
    for (const inbox of this.#inboxes) inbox.close();
  }

  async #join<Joined extends AnyInbox>(caller: Caller, subscribe: Subscribe<Joined>): Promise<Joined> {
    this.#joining += 1;
    this.#caller = caller;
    const { promise, resolve, reject } = Promise.withResolvers<Joined>();
    const begin = async (errand: Errand, before: Promise<unknown>) => {
      const inbox = await subscribe(errand, before);
      this.#admit(inbox, errand);
      resolve(inbox);
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

  /**
   * Begins all subscriptions that wait by now: their figures are fetched at the same time, and they are added one by
   * one.
   */
  async #beginAll(): Promise<void> {
    const [first] = this.#joins;
    if (first === undefined) return;
    const looking = this.#errandOf(first);
    try {
      await this.#lookFirst(looking);
    } catch (error) {
      looking.close();
      for (const { reject } of this.#joins.splice(0)) reject(error);
      return;
    }
    let before: Promise<unknown> = Promise.resolve();
    for (const join of this.#joins.splice(0)) {
      const errand = join === first ? looking : this.#errandOf(join);
      const begun = join.begin(errand, before).catch(join.reject).finally(errand.close);
      before = Promise.all([before, begun]);
    }
    await before;
  }

  #errandOf({ caller }: Join): Errand {
    return openErrand(caller, this.#ends, this.#parts, this.#parts.waitMs);
  }

  #admit(inbox: AnyInbox, { bill }: Errand): void {
    this.#inboxes.add(inbox);
    inbox.charge(bill);
    inbox.pause(this.#pause);
    inbox.onceClosed(() => {
      this.#inboxes.delete(inbox);
      this.#leaveIfEmpty();
    });
    this.#cancel ??= this.#nextRound();
  }

  #leaveIfEmpty(): void {
    if (this.#inboxes.size > 0 || this.#joining > 0) return;
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
  async #lookFirst(errand: Errand): Promise<void> {
    const isAccepted = this.#parts.tenantCache.isAccepted(this.#caller.keyDigest);
    if (this.#look !== null ? isAccepted : this.#pause !== null) return;
    try {
      const look = await this.#ask(errand, this.#parts.pollMs);
      // Sources that have run since the last round are for the next one to find.
      this.#look ??= look;
    } catch (error) {
      if (!(error instanceof Failure) || FINAL.has(error.code)) throw error;
      this.#fail(error);
    }
  }

  /** Looks at the sources once, and follows it up. */
  async #round(): Promise<void> {
    if (this.#inboxes.size === 0) return;
    const errand = openErrand(this.#caller, this.#ends, this.#parts);
    const told = new Set<AnyInbox>();
    try {
      await this.#renew(errand, told);
    } catch (error) {
      this.#fail(error);
    } finally {
      errand.close();
      this.#allowance.spend(errand.bill.calls);
      mergeBill(this.#unbilled, errand.bill);
      this.#tell(told);
    }
  }

  /** @param told takes in the inboxes that are to be told of an event, even if something else fails */
  async #renew(errand: Errand, told: Set<AnyInbox>): Promise<void> {
    const { clock, ledger, planning } = this.#parts;
    const { keyDigest } = this.#caller;
    const quota = await this.#parts.quota(keyDigest);
    if (quota.state === 'MINUTE_SPENT') return;
    const pace = paceOf(quota, ledger.shareLeft(keyDigest) !== null, clock.now());
    if (quota.state === 'MONTH_SPENT' || pace.calls < 1) return this.#pauseForMonth(quota);
    const look = await this.#nextLook(pace, errand);
    if (look === null) return;
    const runs = runsBetween(this.#look, look);
    this.#look = look;
    for (const inbox of this.#sources.ran(runs.records)) told.add(inbox);
    const ran = runs.records.length + runs.possible.length;
    if (ran > 0 && this.#figures.isWatching) await this.#learnSources(errand);
    this.#figures.sourcesRan(runs, this.#byMetric);
    const { due } = this.#figures;
    if (due.length > 0 && estimate(due, planning).calls > pace.calls) return this.#pauseForMonth(quota);
    const { behind, failure } = await this.#figures.renew(look.atMs, errand);
    if (failure === null) this.#setPause(null);
    else this.#fail(failure);
    for (const inbox of behind) told.add(inbox);
  }

  /**
   * Returns the next look at the sources: the look of others who share the store, if there is one; null if none is due.
   */
  async #nextLook(pace: Pace, errand: Errand): Promise<Look | null> {
    const { clock, pollMs } = this.#parts;
    const mayCall = this.#allowance.mayCall(pace, clock.now());
    const held = await this.#heldLook();
    if (held !== null && held.atMs > (this.#look?.atMs ?? Number.NEGATIVE_INFINITY)) {
      // It is of the same plan, even if another gateway has paid for it.
      this.#allowance.spend(1);
      return held;
    }
    return mayCall ? this.#ask(errand, pollMs / 2) : null;
  }

  async #heldLook(): Promise<Look | null> {
    const { tenantCache } = this.#parts;
    const { keyDigest } = this.#caller;
    const call = makeCall(etlStatus, {});
    const held = await heldRecords(etlStatus, {}, call, keyDigest, tenantCache);
    if (held === null || held.records === null || !tenantCache.isAccepted(keyDigest)) return null;
    return { records: held.records, atMs: held.atMs };
  }

  async #ask({ sending }: Errand, maxAgeMs: number): Promise<Look> {
    const { ask, steadyNow } = this.#parts;
    const oldestMs = steadyNow() - maxAgeMs;
    const records = (await ask(etlStatus, {}, sending, maxAgeMs)) ?? [];
    const held = await this.#heldLook();
    // The look of others who share the store has its own time: by ours, figures that they have fetched since would be
    // too old.
    return held !== null && held.atMs >= oldestMs ? held : { records, atMs: steadyNow() };
  }

  /** Learns from the catalogue which sources bring a metric; without it, any may. */
  async #learnSources({ sending }: Errand): Promise<void> {
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
  #tell(inboxes: ReadonlySet<AnyInbox>): void {
    for (const [i, inbox] of [...inboxes].entries()) {
      if (i === 0) {
        inbox.charge(this.#unbilled);
        this.#unbilled = openFeedBill();
      } else inbox.charge({ ...openFeedBill(), shared: 1 });
      inbox.notify();
    }
  }

  #pauseForMonth({ monthResetsAt }: QuotaRecord): void {
    const failure = new Failure('MONTHLY_QUOTA_EXCEEDED', 'The requests of this month are spent.', {
      resetsAt: monthResetsAt,
    });
    this.#fail(failure);
  }

  /** Pauses for a failure; if it is one of the key, ends all. A minute that is spent is soon over. */
  #fail(error: unknown): void {
    if (this.#ends.aborted) return;
    if (!(error instanceof Failure)) this.#parts.onFault(error, 'live');
    const failure =
      error instanceof Failure
        ? error
        : new Failure('UPSTREAM_UNAVAILABLE', 'The gateway met a fault of its own.');
    if (failure.code === 'RATE_LIMITED') return;
    if (FINAL.has(failure.code)) {
      for (const inbox of this.#inboxes) inbox.fail(failure);
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
    for (const inbox of this.#inboxes) inbox.pause(pause);
  }
}
