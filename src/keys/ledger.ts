import type { CounterSnapshot, Note, SharedCounters, Window } from '../cache/store.ts';
import { excerpt, Failure } from '../shared/errors.ts';
import { numberOf } from '../shared/exact-json.ts';

const MINUTE_MS = 60_000;

/** Interval after a monthly 429 at which one call may go out to see if the plan has been upgraded. */
const PROBE_INTERVAL_MS = 15 * MINUTE_MS;

/** If a minute has more calls left, one more makes no difference. */
const PLENTY = 30;

/** Calls that must be left for one ahead of a list: itself, the list beside it, and one more. */
const CALLS_AHEAD = 3;

/** Calls a minute of the smallest plan: no plan allows fewer. */
const SMALLEST_PLAN = 5;

/** Milliseconds for which calls that can't be counted wait for the store. */
const UNCOUNTED_MS = 1_000;

const UNCOUNTED =
  "The store in which gateways count their calls (CACHE_URL) can't be reached, so that none is sent under a plan that others may spend.";

/** Calls that one key has spent, and its plan as the service has stated it. Instants are ISO 8601, UTC. */
export interface QuotaRecord {
  readonly plan: string | null;
  readonly requestsPerMinute: number | null;
  readonly monthlyRequests: number | null;
  readonly callsThisMinute: number;
  readonly callsThisMonth: number;
  readonly minuteResetsAt: string;
  readonly monthResetsAt: string;
  readonly state: 'OK' | 'MINUTE_SPENT' | 'DAY_SPENT' | 'MONTH_SPENT';
}

export interface RateLimit {
  readonly name: 'minute' | 'day' | 'month';
  /** Calls that the plan allows in a window. */
  readonly most: number;
  readonly left: number;
  readonly windowSeconds: number;
  readonly resetSeconds: number;
}

/**
 * Calls that one key has spent, and what is known of its plan. Minutes are fixed windows and months calendar months,
 * both UTC, as the service counts them. Instants are milliseconds since the epoch; `enter` comes before all else.
 */
export class Account {
  #minute: number;
  #callsThisMinute = 0;
  #acceptedThisMinute = 0;
  #isMinuteSpent = false;
  #month: number;
  #callsThisMonth = 0;
  #isMonthSpent = false;
  /** Number of times that the month was found spent. */
  #monthsSpent = 0;
  #plan: string | null = null;
  #requestsPerMinute: number | null = null;
  #monthlyRequests: number | null = null;
  /** True if the service has taken more in a minute than the smallest plan allows. */
  #isPlanLarger = false;
  #nextProbeAtMs = 0;
  /** Until when no call leaves, since the shared counters could not be reached. */
  #uncountedUntilMs = 0;

  constructor(nowMs: number) {
    this.#minute = Math.floor(nowMs / MINUTE_MS);
    this.#month = monthOf(nowMs);
  }

  /** Begins a new minute or month if the last one is over. */
  enter(nowMs: number): this {
    const minute = Math.floor(nowMs / MINUTE_MS);
    if (this.#minute !== minute) {
      this.#minute = minute;
      this.#callsThisMinute = 0;
      this.#acceptedThisMinute = 0;
      this.#isMinuteSpent = false;
      this.#uncountedUntilMs = 0;
      // The clock may have been set back.
      this.#nextProbeAtMs = Math.min(this.#nextProbeAtMs, nowMs + PROBE_INTERVAL_MS);
      const month = monthOf(nowMs);
      if (this.#month !== month) {
        this.#month = month;
        this.#callsThisMonth = 0;
        this.#isMonthSpent = false;
      }
    }
    return this;
  }

  /** The state in which a call leaves, by which its answer is judged. `isShared`: it is in the shared counters. */
  departure(isShared = false) {
    return { minute: this.#minute, month: this.#month, monthsSpent: this.#monthsSpent, isShared };
  }

  isIn({ minute }: { readonly minute: number }): boolean {
    return this.#minute === minute;
  }

  /** Returns the instant at which a call may leave; not after now if it may at once. */
  opensAtMs(nowMs: number): number {
    if (this.#isMonthSpent) return Math.min(this.#nextProbeAtMs, monthEndMs(this.#month));
    return this.#isSpent() ? this.#minuteEndsAtMs() : Math.max(nowMs, this.#uncountedUntilMs);
  }

  /** Returns the failure of a call that may not leave: the month is spent, or else the minute. */
  refusal(nowMs: number, detail?: string, isMonthly = this.#isMonthSpent): Failure {
    const plan = this.#plan ?? undefined;
    if (isMonthly) {
      return new Failure('MONTHLY_QUOTA_EXCEEDED', 'The requests of this month are spent.', {
        detail,
        plan,
        monthlyRequests: this.#monthlyRequests ?? undefined,
        resetsAt: new Date(monthEndMs(this.#month)).toISOString(),
      });
    }
    const isByUs = detail === undefined && !this.#isSpent() && this.#uncountedUntilMs > nowMs;
    const retryAtMs = isByUs ? this.#uncountedUntilMs : this.#minuteEndsAtMs();
    const words = isByUs ? UNCOUNTED : 'The requests of this minute are spent.';
    return new Failure('RATE_LIMITED', words, {
      detail,
      plan,
      requestsPerMinute: this.#requestsPerMinute ?? undefined,
      retryAfterSeconds: Math.max(1, Math.ceil((retryAtMs - nowMs) / 1000)),
      retryAt: new Date(retryAtMs).toISOString(),
    });
  }

  count(calls = 1): void {
    this.#callsThisMinute += calls;
    this.#callsThisMonth += calls;
  }

  /** Takes a call that the shared counters don't count: none of a known plan, since other gateways may spend it. */
  takeUncounted(nowMs: number): boolean {
    if (this.#requestsPerMinute === null) this.count();
    else this.#uncountedUntilMs = Math.min(nowMs + UNCOUNTED_MS, this.#minuteEndsAtMs());
    return this.#requestsPerMinute === null;
  }

  /** Takes over the shared counts. */
  copy({ callsThisMinute, callsThisMonth, note }: CounterSnapshot): void {
    this.#callsThisMinute = callsThisMinute;
    this.#callsThisMonth = callsThisMonth;
    if (note === null) return;
    this.#setMonthSpent(note.spentMonth === this.#month);
    this.#plan = note.plan ?? this.#plan;
    this.#requestsPerMinute = note.requestsPerMinute ?? this.#requestsPerMinute;
    this.#monthlyRequests = note.monthlyRequests ?? this.#monthlyRequests;
    this.#isPlanLarger ||= note.isPlanLarger;
    this.#isMinuteSpent ||= note.spentMinute === this.#minute;
    this.#nextProbeAtMs = note.nextProbeAtMs;
  }

  /** Forgets the plan once a month isn't spent any more: within the month, that takes another plan. */
  #setMonthSpent(isSpent: boolean): void {
    if (isSpent === this.#isMonthSpent) return;
    this.#isMonthSpent = isSpent;
    if (isSpent) this.#monthsSpent += 1;
    else this.#plan = this.#requestsPerMinute = this.#monthlyRequests = null;
  }

  /** What other gateways are to know. */
  note(): Note {
    return {
      plan: this.#plan,
      requestsPerMinute: this.#requestsPerMinute,
      monthlyRequests: this.#monthlyRequests,
      isPlanLarger: this.#isPlanLarger,
      spentMinute: this.#isMinuteSpent ? this.#minute : null,
      spentMonth: this.#isMonthSpent ? this.#month : null,
      nextProbeAtMs: this.#nextProbeAtMs,
    };
  }

  window(nowMs: number): Window {
    return { minute: this.#minute, month: this.#month, nowMs };
  }

  /** Notes that the one call of a spent month is on its way. Returns true if others have to be told. */
  probe(nowMs: number): boolean {
    if (this.#isMonthSpent) this.#nextProbeAtMs = nowMs + PROBE_INTERVAL_MS;
    return this.#isMonthSpent;
  }

  /** Notes that the service took a call. Returns true if others have to be told. */
  accept(departure: Departure): boolean {
    // A call that left before the month was found spent is no proof that it isn't.
    const isNews = this.#isMonthSpent && departure.monthsSpent === this.#monthsSpent;
    const wasLarger = this.#isPlanLarger;
    if (isNews) this.#setMonthSpent(false);
    if (this.isIn(departure)) this.#acceptedThisMinute += 1;
    this.#isPlanLarger ||= this.#acceptedThisMinute > SMALLEST_PLAN;
    return isNews || this.#isPlanLarger !== wasLarger;
  }

  /**
   * Notes that the service refused a call, which says nothing of a minute or month that has begun since.
   * @returns true if the month is spent
   */
  limit(
    { isMonthly, plan, requestsPerMinute, monthlyRequests }: ReturnType<typeof statedLimits>,
    nowMs: number,
    departure: Departure,
  ): boolean {
    this.#plan = plan ?? this.#plan;
    this.#requestsPerMinute = requestsPerMinute ?? this.#requestsPerMinute;
    this.#monthlyRequests = monthlyRequests ?? this.#monthlyRequests;
    const isMonthSpent = isMonthly && departure.month === this.#month;
    if (isMonthSpent) {
      this.#setMonthSpent(true);
      this.#nextProbeAtMs = nowMs + PROBE_INTERVAL_MS;
    } else if (this.isIn(departure)) this.#isMinuteSpent = true;
    return isMonthSpent;
  }

  isDoubtful(): boolean {
    const isPlanUnknown = this.#requestsPerMinute === null && !this.#isPlanLarger;
    return isPlanUnknown && this.#callsThisMinute >= SMALLEST_PLAN;
  }

  shareLeft(): number | null {
    if (this.#isMonthSpent || this.#isMinuteSpent) return 0;
    if (this.#requestsPerMinute === null) return this.#isPlanLarger ? 1 : null;
    return Math.max(0, 1 - this.#callsThisMinute / this.#requestsPerMinute);
  }

  /** True if half of the minute's calls, and more than a few, are left; or if an unknown plan is a larger one. */
  hasPlenty(): boolean {
    if (this.#isMonthSpent || this.#isMinuteSpent) return false;
    const most = this.#requestsPerMinute;
    if (most === null) return this.#isPlanLarger;
    return most - this.#callsThisMinute >= Math.max(PLENTY, most / 2);
  }

  /** True if the minute has room for a call ahead of a list, the list, and one more: also if the plan is the smallest. */
  hasRoomAhead(): boolean {
    if (this.#isMonthSpent || this.#isMinuteSpent) return false;
    const most = this.#requestsPerMinute ?? (this.#isPlanLarger ? Number.POSITIVE_INFINITY : SMALLEST_PLAN);
    return most - this.#callsThisMinute >= CALLS_AHEAD;
  }

  quota(): QuotaRecord {
    return {
      plan: this.#plan,
      requestsPerMinute: this.#requestsPerMinute,
      monthlyRequests: this.#monthlyRequests,
      callsThisMinute: this.#callsThisMinute,
      callsThisMonth: this.#callsThisMonth,
      minuteResetsAt: new Date(this.#minuteEndsAtMs()).toISOString(),
      monthResetsAt: new Date(monthEndMs(this.#month)).toISOString(),
      state: this.#isMonthSpent ? 'MONTH_SPENT' : this.#isSpent() ? 'MINUTE_SPENT' : 'OK',
    };
  }

  limits(nowMs: number): readonly RateLimit[] {
    const limits: RateLimit[] = [];
    const most = { minute: this.#requestsPerMinute, month: this.#monthlyRequests };
    if (most.minute !== null) {
      limits.push({
        name: 'minute',
        most: most.minute,
        left:
          this.#isMonthSpent || this.#isMinuteSpent ? 0 : Math.max(0, most.minute - this.#callsThisMinute),
        windowSeconds: MINUTE_MS / 1000,
        resetSeconds: Math.ceil((this.#minuteEndsAtMs() - nowMs) / 1000),
      });
    }
    if (most.month !== null) {
      const endsAtMs = monthEndMs(this.#month);
      limits.push({
        name: 'month',
        most: most.month,
        left: this.#isMonthSpent ? 0 : Math.max(0, most.month - this.#callsThisMonth),
        windowSeconds: (endsAtMs - monthEndMs(this.#month - 1)) / 1000,
        resetSeconds: Math.ceil((endsAtMs - nowMs) / 1000),
      });
    }
    return limits;
  }

  #isSpent(): boolean {
    const most = this.#requestsPerMinute;
    return this.#isMinuteSpent || (most !== null && this.#callsThisMinute >= most);
  }

  #minuteEndsAtMs(): number {
    return (this.#minute + 1) * MINUTE_MS;
  }
}

type Departure = ReturnType<Account['departure']>;

/** In months since year 0, UTC. */
function monthOf(atMs: number): number {
  const date = new Date(atMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

function monthEndMs(month: number): number {
  return Date.UTC(Math.floor((month + 1) / 12), (month + 1) % 12, 1);
}

/** The owner of an account: the tenant, as far as the ledger sees it. */
type AccountHolder = {
  /** Names the account in shared counters. */
  readonly digest: string;
  /** Null before the first call. */
  account: Account | null;
};

export interface PlanLimits {
  readonly requestsPerMinute: number;
  readonly monthlyRequests: number;
}

/** The plans as the service publishes them, for texts that name a plan but not all its limits. */
export const PUBLISHED_PLANS: Readonly<Record<string, PlanLimits>> = {
  free: { requestsPerMinute: 5, monthlyRequests: 1_000 },
  analyst: { requestsPerMinute: 60, monthlyRequests: 250_000 },
  team: { requestsPerMinute: 1_000, monthlyRequests: 2_000_000 },
};

/** Reads a whole number, with or without marks between its thousands; null for 0, which no plan allows. */
function figureIn(digits: string): number | null {
  return numberOf(digits.replace(/[,_]/g, '')) || null;
}

/**
 * Reads the text of a 429, and completes it by the published limits of the plan that it names. The two kinds of 429
 * differ by the phrase `monthly request limit` alone.
 */
function statedLimits(detail: string) {
  const isMonthly = /monthly request limit/i.test(detail);
  const plan =
    /\b(free|analyst|team)\b/i.exec(detail)?.[1] ??
    /\bplan\b\s*(?:is\s+|key\s+)?[:=]?\s*["'`(]([\w-]+)["'`)]/i.exec(detail)?.[1] ??
    /["'`]([\w-]+)["'`]\s+plan\b/i.exec(detail)?.[1];
  const published = PUBLISHED_PLANS[plan?.toLowerCase() ?? ''];
  const figures = [...detail.matchAll(/\d[\d,_]*/g)].flatMap(([digits]) => figureIn(digits) ?? []);
  const perMinute = /(\d[\d,_]*)\s*(?:requests?|calls?|req)?\s*(?:per|\/|a|each)\s*min/i.exec(detail)?.[1];
  const minutely = perMinute === undefined ? figures[0] : figureIn(perMinute);
  const monthly = figures.length > 0 ? Math.max(...figures) : null;
  return {
    isMonthly,
    plan: plan?.toLowerCase() ?? null,
    requestsPerMinute: (isMonthly ? null : minutely) ?? published?.requestsPerMinute ?? null,
    monthlyRequests: (isMonthly ? monthly : null) ?? published?.monthlyRequests ?? null,
  };
}

export type Ledger = ReturnType<typeof createLedger>;

/**
 * Keeps the calls that each key has spent, on its tenant. If gateways share counters, those count, and the ledger is a
 * copy to decide by at once. If they can't be reached, no call of a known plan leaves. Calls of other keys of the same
 * account are not seen; the service's 429 tells.
 */
export function createLedger(now: () => number, sharedCounters: SharedCounters | null = null) {
  function accountOf(tenant: AccountHolder): Account {
    const nowMs = now();
    tenant.account ??= new Account(nowMs);
    return tenant.account.enter(nowMs);
  }

  /** Tells other gateways what the service has said of the plan. */
  function share({ digest }: AccountHolder, account: Account): void {
    void sharedCounters?.note(digest, account.note());
  }

  function probe(tenant: AccountHolder, account: Account): void {
    if (account.probe(now())) share(tenant, account);
  }

  async function takeShared(counters: SharedCounters, tenant: AccountHolder): Promise<Departure | null> {
    const window = accountOf(tenant).window(now());
    const snapshot = await counters.take(tenant.digest, window);
    const account = accountOf(tenant);
    const isShared = snapshot?.isTaken ?? false;
    // The call must leave in the minute in which it was counted.
    const isInTime = account.isIn(window);
    if (isInTime && snapshot !== null) account.copy(snapshot);
    const mayLeave = isInTime && (snapshot === null ? account.takeUncounted(now()) : isShared);
    if (!mayLeave) {
      if (isShared) void counters.putBack(tenant.digest, window);
      return null;
    }
    probe(tenant, account);
    return account.departure(isShared);
  }

  function limits(tenant: AccountHolder): readonly RateLimit[] {
    const nowMs = now();
    return tenant.account?.enter(nowMs).limits(nowMs) ?? [];
  }

  return {
    /** Returns the instant at which a call may leave, in milliseconds since the epoch; not after now if at once. */
    opensAtMs: (tenant: AccountHolder) => accountOf(tenant).opensAtMs(now()),
    refusal: (tenant: AccountHolder) => accountOf(tenant).refusal(now()),
    /**
     * Bills one call that is to leave now. Null if other gateways have left none, or a new minute has begun, in which
     * another try may succeed at once: `opensAtMs` tells.
     */
    async take(tenant: AccountHolder): Promise<Departure | null> {
      if (sharedCounters !== null) return takeShared(sharedCounters, tenant);
      const account = accountOf(tenant);
      account.count();
      probe(tenant, account);
      return account.departure();
    },
    /** Learns the calls that other gateways have spent. */
    async refresh(tenant: AccountHolder): Promise<void> {
      const window = accountOf(tenant).window(now());
      const snapshot = await sharedCounters?.read(tenant.digest, window);
      const account = accountOf(tenant);
      if (snapshot && account.isIn(window)) account.copy(snapshot);
    },
    /**
     * Books a call that was taken and is over. One that has not left is put back; counters that can't be reached then
     * count one too many. One that the service accepted or refused tells of the plan.
     * @returns its error, if any; of a 429, the failure with the plan and the time
     */
    book(tenant: AccountHolder, departure: Departure, { left, error }: { left: boolean; error?: unknown }) {
      const account = accountOf(tenant);
      if (!left) {
        if (account.isIn(departure)) account.count(-1);
        if (departure.isShared) void sharedCounters?.putBack(tenant.digest, departure);
        return error;
      }
      if (error === undefined && account.accept(departure)) share(tenant, account);
      if (!(error instanceof Failure) || error.code !== 'RATE_LIMITED') return error;
      // The limits are at the beginning of the text.
      const detail = excerpt(error.fields.detail ?? '').replace(/\s+/g, ' ');
      const isMonthSpent = account.limit(statedLimits(detail), now(), departure);
      share(tenant, account);
      return account.refusal(now(), detail, isMonthSpent);
    },
    /** True if a plan that nobody has named may refuse the next call: the smallest plan's minute is spent. */
    isDoubtful: (tenant: AccountHolder) => accountOf(tenant).isDoubtful(),
    quota: (tenant: AccountHolder) => accountOf(tenant).quota(),
    limits,
    recentLimits(tenants: Iterable<AccountHolder>, most: number) {
      const recent: { readonly tenant: AccountHolder; readonly limits: readonly RateLimit[] }[] = [];
      for (const tenant of tenants) {
        if (recent.length === most) break;
        const named = limits(tenant);
        if (named.length > 0) recent.push({ tenant, limits: named });
      }
      return recent;
    },
    /** Returns the share of the minute's calls that is left, from 0 to 1; null if the plan may be the smallest. */
    shareLeft: (tenant: AccountHolder) => accountOf(tenant).shareLeft(),
    /** Returns true if so many of the minute's calls are left that one more makes no difference. */
    hasPlenty: (tenant: AccountHolder) => accountOf(tenant).hasPlenty(),
    /**
     * True if a call may be sent that may turn out needless, to save a round trip: if one more makes no difference; or
     * if no other operation of the key waits to share it, unless it may be the last of the minute. None leaves beside
     * the call that finds out if the service takes a doubtful key.
     */
    mayGoAhead(
      tenant: AccountHolder & { readonly operations: number; readonly isDoubtful: boolean },
    ): boolean {
      const account = accountOf(tenant);
      if (tenant.isDoubtful) return false;
      return account.hasPlenty() || (tenant.operations <= 1 && account.hasRoomAhead());
    },
  };
}
