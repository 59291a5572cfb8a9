import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { Failure } from '../errors.ts';
import type { CounterSnapshot, Note, Window } from '../store/backing.ts';
import type { Store } from '../store/store.ts';

const MINUTE_MS = 60_000;

/** Interval after a monthly 429 at which one call may go out, to see if the plan has been upgraded since. */
const PROBE_INTERVAL_MS = 15 * MINUTE_MS;

/** Calls of a minute beyond which one more makes no difference. */
const PLENTY = 30;

/** Calls a minute of the smallest plan: no plan allows fewer. */
const SMALLEST_PLAN = 5;

/** Calls that one key has spent, and its plan as the service has told it. Instants are ISO 8601, UTC. */
export interface QuotaRecord {
  readonly plan: string | null;
  readonly requestsPerMinute: number | null;
  readonly monthlyRequests: number | null;
  readonly callsThisMinute: number;
  readonly callsThisMonth: number;
  readonly minuteResetsAt: string;
  readonly monthResetsAt: string;
  readonly state: 'OK' | 'MINUTE_SPENT' | 'MONTH_SPENT';
}

/** Rest of one limit of a plan. */
export interface RateLimit {
  readonly name: 'minute' | 'month';
  /** Calls that the plan allows in a window. */
  readonly most: number;
  readonly left: number;
  readonly windowSeconds: number;
  /** Seconds until the next window begins. */
  readonly resetSeconds: number;
}

/**
 * Calls that one key has spent, and the known facts of its plan. Minutes are fixed windows and months calendar months,
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
  #plan: string | null = null;
  #requestsPerMinute: number | null = null;
  #monthlyRequests: number | null = null;
  /** True if the service has taken more in a minute than the smallest plan allows. */
  #isPlanLarger = false;
  #nextProbeAtMs = 0;
  /**
   * Calls of this minute that may still leave without the shared counters; null if they have been reached. A minute is
   * counted by one of both: calls that the counters grant late would come on top of those that were taken without them.
   */
  #leftAlone: number | null = null;
  #isMinuteShared = false;

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
      this.#leftAlone = null;
      this.#isMinuteShared = false;
      const month = monthOf(nowMs);
      if (this.#month !== month) {
        this.#month = month;
        this.#callsThisMonth = 0;
        this.#isMonthSpent = false;
      }
    }
    return this;
  }

  /** Returns the instant at which a call may leave; not after now if it may at once. */
  opensAtMs(nowMs: number): number {
    if (this.#isMonthSpent) return Math.min(this.#nextProbeAtMs, monthEndMs(this.#month));
    return this.#isSpent() ? this.#minuteEndsAtMs() : nowMs;
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
    const retryAtMs = this.#minuteEndsAtMs();
    return new Failure('RATE_LIMITED', 'The requests of this minute are spent.', {
      detail,
      plan,
      requestsPerMinute: this.#requestsPerMinute ?? undefined,
      retryAfterSeconds: Math.max(1, Math.ceil((retryAtMs - nowMs) / 1000)),
      retryAt: new Date(retryAtMs).toISOString(),
    });
  }

  count(): void {
    this.#callsThisMinute += 1;
    this.#callsThisMonth += 1;
  }

  /** True if the shared counters have been reached in this minute, and nothing was taken without them. */
  get isMinuteShared(): boolean {
    return this.#isMinuteShared;
  }

  /**
   * Takes a call without the shared counters, as far as this gateway may by itself: half of the rest, and nothing in a
   * minute in which they have been reached.
   */
  takeAlone(): boolean {
    if (this.#requestsPerMinute !== null) {
      if (!this.#isMinuteShared)
        this.#leftAlone ??= Math.floor((this.#requestsPerMinute - this.#callsThisMinute) / 2);
      if (this.#isMinuteSpent || this.#leftAlone === null || this.#leftAlone <= 0) {
        this.#isMinuteSpent = true;
        return false;
      }
      this.#leftAlone -= 1;
    }
    this.count();
    return true;
  }

  /** Takes over the state of the shared counters. */
  copy({ callsThisMinute, callsThisMonth, note }: CounterSnapshot): void {
    if (this.#leftAlone === null) this.#isMinuteShared = true;
    this.#callsThisMinute = callsThisMinute;
    this.#callsThisMonth = callsThisMonth;
    if (note === null) return;
    this.#plan = note.plan ?? this.#plan;
    this.#requestsPerMinute = note.requestsPerMinute ?? this.#requestsPerMinute;
    this.#monthlyRequests = note.monthlyRequests ?? this.#monthlyRequests;
    this.#isPlanLarger ||= note.isPlanLarger;
    this.#isMinuteSpent ||= note.spentMinute === this.#minute;
    this.#isMonthSpent = note.spentMonth === this.#month;
    this.#nextProbeAtMs = note.nextProbeAtMs;
  }

  /** Returns the facts that other gateways are to know. */
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

  /**
   * Notes that the one call that a spent month allows is on its way. Returns true if that is news to other gateways.
   */
  probe(nowMs: number): boolean {
    if (this.#isMonthSpent) this.#nextProbeAtMs = nowMs + PROBE_INTERVAL_MS;
    return this.#isMonthSpent;
  }

  /** Notes that the service took a call. Returns true if that is news to other gateways. */
  accept(): boolean {
    const isNews = this.#isMonthSpent;
    const wasLarger = this.#isPlanLarger;
    this.#isMonthSpent = false;
    this.#acceptedThisMinute += 1;
    this.#isPlanLarger ||= this.#acceptedThisMinute > SMALLEST_PLAN;
    return isNews || this.#isPlanLarger !== wasLarger;
  }

  /** Notes that the service answered 429. */
  limit({ isMonthly, plan, requestsPerMinute, monthlyRequests }: ToldLimits, nowMs: number): void {
    this.#plan = plan ?? this.#plan;
    this.#requestsPerMinute = requestsPerMinute ?? this.#requestsPerMinute;
    this.#monthlyRequests = monthlyRequests ?? this.#monthlyRequests;
    if (isMonthly) {
      this.#isMonthSpent = true;
      this.#nextProbeAtMs = nowMs + PROBE_INTERVAL_MS;
    } else this.#isMinuteSpent = true;
  }

  /** Returns true if the next call may be the one that a plan nobody has named yet refuses. */
  isDoubtful(): boolean {
    const isPlanUnknown = this.#requestsPerMinute === null && !this.#isPlanLarger;
    return isPlanUnknown && this.#callsThisMinute >= SMALLEST_PLAN;
  }

  shareLeft(): number | null {
    if (this.#isMonthSpent || this.#isMinuteSpent) return 0;
    if (this.#requestsPerMinute === null) return this.#isPlanLarger ? 1 : null;
    return Math.max(0, 1 - this.#callsThisMinute / this.#requestsPerMinute);
  }

  /**
   * Returns true if half of the minute's calls are left, and more than a few; of an unknown plan, if it has shown to be
   * larger.
   */
  hasPlenty(): boolean {
    if (this.#isMonthSpent || this.#isMinuteSpent) return false;
    const most = this.#requestsPerMinute;
    if (most === null) return this.#isPlanLarger;
    return most - this.#callsThisMinute >= Math.max(PLENTY, most / 2);
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

  /** Returns the rest of the limits that the service has named. */
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

/** Returns the month of an instant, in months since year 0, UTC. */
function monthOf(atMs: number): number {
  const date = new Date(atMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

function monthEndMs(month: number): number {
  return Date.UTC(Math.floor((month + 1) / 12), (month + 1) % 12, 1);
}

/** Limits that the service told in a 429. */
export interface ToldLimits {
  readonly isMonthly: boolean;
  readonly plan: string | null;
  readonly requestsPerMinute: number | null;
  readonly monthlyRequests: number | null;
}

interface PauseLengths {
  /** The first pause, in milliseconds; each further one in a row is twice as long. */
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * Keeps calls back for a while after a failure. When the while is over, one call at a time may leave as a probe: its
 * failure begins the next pause, its success ends them.
 */
export class Pause {
  readonly lengths: PauseLengths;
  #failure: Failure | null = null;
  #endsAtMs = 0;
  #probe: object | null = null;
  #onProbeOver: (() => void)[] = [];
  #round = 0;

  constructor(lengths: PauseLengths) {
    this.lengths = lengths;
  }

  /** Number of pauses in a row, this one included; 0 if there is none. */
  get round(): number {
    return this.#round;
  }

  /** The time at which the next probe may leave, in milliseconds. */
  get endsAtMs(): number {
    return this.#endsAtMs;
  }

  /** Returns the reason for which no call may leave now; null if one may as a probe. */
  reason(nowMs: number): Failure | null {
    return nowMs < this.#endsAtMs ? this.#failure : null;
  }

  /**
   * Returns the reason for which a call may not leave now; null if it may. The first that asks after the pause is the
   * probe until it is over.
   */
  keepsBack(call: object, nowMs: number): Failure | null {
    if (this.#failure === null || this.#probe === call) return null;
    if (nowMs < this.#endsAtMs || this.#probe !== null) return this.#failure;
    this.#probe = call;
    return null;
  }

  /** Tells if this call is the probe. */
  isProbedBy(call: object): boolean {
    return this.#probe === call;
  }

  /** Waits until the probe that is under way is over; null if there is none. */
  untilProbed(): Promise<void> | null {
    return this.#probe === null ? null : new Promise((over) => this.#onProbeOver.push(over));
  }

  begin(failure: Failure, nowMs: number): void {
    const { firstMs, longestMs } = this.lengths;
    this.#endsAtMs = nowMs + Math.min(longestMs, firstMs * 2 ** this.#round);
    this.#round += 1;
    this.#failure = failure;
    this.#endProbe();
  }

  /** Ends a call, with any outcome: if it was the probe, another call may be. */
  release(call: object): void {
    if (this.#probe === call) this.#endProbe();
  }

  end(): void {
    this.#round = 0;
    this.#failure = null;
    this.#endProbe();
  }

  #endProbe(): void {
    this.#probe = null;
    for (const over of this.#onProbeOver.splice(0)) over();
  }
}

/** The pauses of one key on one route. */
export interface RoutePauses {
  /** After a 403: the key may be good for other routes. */
  readonly refusal: Pause;
  /** After attempts under the key that got no answer. */
  readonly outage: Pause;
  /** Unanswered attempts in a row. */
  failures: number;
}

/** The pauses of one key. */
export interface KeyPauses {
  /** Of every route, after a 401. */
  readonly all: Pause;
  readonly byRoute: Map<string, RoutePauses>;
}

/** The table that a tenant stands in. */
interface TenantTable {
  /** Milliseconds since the epoch, by a clock that never goes back. */
  readonly now: () => number;
  /** Notes that the service has answered for the tenant's key. */
  prove(tenant: Tenant): void;
}

/** Number of the last generation: never the same twice, so that a key that was forgotten and comes back has none of before. */
let generations = 0;

/** A call that waits for its turn. */
export interface WaitingCall {
  readonly deadlineMs: number;
  readonly wake: () => void;
}

/** Calls under one key. */
export interface CallQueue {
  inFlight: number;
  /** Calls that wait for a free place. */
  readonly forPlace: WaitingCall[];
  /** Calls that wait for a minute window; woken together when it begins, the earliest deadline first. */
  readonly forMinute: WaitingCall[];
}

/** Names of a tenant's values in the store, by the names that the gateway calls them. */
interface StoreNames {
  /** Those that count together with these: when they are too many, all are dropped. */
  readonly among: object;
  readonly keys: Map<string, string>;
}

/** Milliseconds that a key counts as proven after the service's last answer. Longer than anything is fresh: it gives room, not data. */
const PROVEN_MS = 60 * 60_000;

/** The holder of one key, and all that this process knows of it. Each request finds its tenant once. */
export class Tenant {
  /** A keyed digest of the key, which names the tenant in stores and metrics. */
  readonly digest: string;
  readonly #table: TenantTable;
  /** True once the service has answered for the key, so that it can't be one that anybody has made up. */
  isKnown = false;
  /** Calls and operations under way: a tenant that has any is not forgotten. */
  underWay = 0;
  /** True once the table has given its place to another. */
  isForgotten = false;
  /** Calls that the key has spent, and its plan; null before the first. */
  account: Account | null = null;
  /** Calls that wait or are under way; null before the first. */
  queue: CallQueue | null = null;
  /** Pauses after refusals and failures; null before the first. */
  pauses: KeyPauses | null = null;
  /** Instants of the service's last verdicts, its own or told by others who share the store; 0 for never. */
  acceptedAtMs = 0;
  refusedAtMs = 0;
  /** Instant at which the store was last told. */
  writtenAtMs = 0;
  /** The last refusal; null if the service has accepted the key since, or others were told. */
  refusal: Failure | null = null;
  /** Changes each time that anything is held for the key, or that the key is refused. */
  generation = 0;
  /** Names in the store that are at hand. */
  names: StoreNames | null = null;
  /** Instant until which the service's last acceptance gives room; in milliseconds, as `now` of the table. */
  #provenUntilMs = 0;

  constructor(digest: string, table: TenantTable = LONE) {
    this.digest = digest;
    this.#table = table;
    this.renew();
  }

  /**
   * True if the service has accepted the key lately. Anybody can make up keys, so a caller who has not shown a good one
   * gets little of the memory and of the processor, and takes none away from callers who have.
   */
  get isProven(): boolean {
    return this.#provenUntilMs > 0 && this.#table.now() <= this.#provenUntilMs;
  }

  /** Begins a new generation. */
  renew(): void {
    generations += 1;
    this.generation = generations;
  }

  /** Notes that the service has accepted the key. */
  accept(): void {
    this.#provenUntilMs = this.#table.now() + PROVEN_MS;
    this.prove();
  }

  /** Notes that the service has refused the key. */
  refuse(): void {
    this.#provenUntilMs = 0;
  }

  /** Notes that the service has answered for the key. */
  prove(): void {
    if (!this.isKnown) this.#table.prove(this);
  }
}

/** The table of a tenant that stands in none. */
const LONE: TenantTable = {
  now: Date.now,
  prove(tenant) {
    tenant.isKnown = true;
  },
};

/** The owner of data that anybody may read. */
export const PUBLIC = new Tenant('public');
PUBLIC.prove();

/** Digest of callers who bring no key. */
const NO_KEY = 'none';

/** Tenants that are remembered at once. */
const MOST = { known: 10_000, others: 2_000 };

/** Headers whose tenants are at hand: a digest takes as long to make as a kept answer takes to find. */
const MAX_AT_HAND = 256;

/**
 * All tenants of this process, within bounds: keys that the service has answered for apart from keys that anybody can
 * have made up, so that none of the latter takes the place of one of the former. The tenant that was in use the longest
 * ago goes first, with all that is known of it.
 */
export class Tenants implements TenantTable {
  readonly now: () => number;
  readonly #digest: (authorization: string) => string;
  /** Tenants by digest, in the order of their last use. */
  readonly #known = new Map<string, Tenant>();
  readonly #others = new Map<string, Tenant>();
  /** Tenants by the headers that were last in use. */
  readonly #atHand = new Map<string, Tenant>();
  /** The tenant that was last in use: nothing takes its place before another one is. */
  #last: Tenant | null = null;

  /** @param digest makes the digest of an `Authorization` header */
  constructor(digest: (authorization: string) => string, now: () => number) {
    this.#digest = digest;
    this.now = now;
  }

  /** Finds the tenant that an `Authorization` header names; null names nobody. */
  of(authorization: string | null): Tenant {
    if (authorization === null) return this.named(NO_KEY);
    const atHand = this.#atHand.get(authorization);
    if (atHand !== undefined && !atHand.isForgotten) {
      this.#use(atHand);
      return atHand;
    }
    const tenant = this.named(this.#digest(authorization));
    if (this.#atHand.size >= MAX_AT_HAND) this.#atHand.clear();
    this.#atHand.set(authorization, tenant);
    return tenant;
  }

  /** Finds a tenant by its digest, and remembers one that is new. */
  named(digest: string): Tenant {
    const found = this.find(digest);
    if (found !== undefined) return found;
    const tenant = new Tenant(digest, this);
    this.#add(tenant, this.#others, MOST.others);
    return tenant;
  }

  /** Finds a tenant by its digest; undefined if it isn't remembered. */
  find(digest: string): Tenant | undefined {
    if (this.#last?.digest === digest) return this.#last;
    const tenant = this.#known.get(digest) ?? this.#others.get(digest);
    if (tenant !== undefined) this.#use(tenant);
    return tenant;
  }

  prove(tenant: Tenant): void {
    tenant.isKnown = true;
    this.#others.delete(tenant.digest);
    // One that was forgotten may have come back as another.
    if (this.#known.has(tenant.digest)) return;
    tenant.isForgotten = false;
    this.#add(tenant, this.#known, MOST.known);
  }

  /** Forgets the digests of headers, since they are made in another way from now on. */
  rename(): void {
    this.#atHand.clear();
  }

  /** Gives all tenants. */
  *all(): Generator<Tenant, void> {
    yield* this.#known.values();
    yield* this.#others.values();
  }

  /** Lists the tenants that the service has answered for, the most recently used first. */
  known(): readonly Tenant[] {
    return [...this.#known.values()].reverse();
  }

  #use(tenant: Tenant): void {
    if (tenant === this.#last) return;
    const { digest } = tenant;
    const table = tenant.isKnown ? this.#known : this.#others;
    table.delete(digest);
    table.set(digest, tenant);
    this.#last = tenant;
  }

  #add(tenant: Tenant, table: Map<string, Tenant>, most: number): void {
    if (table.size >= most) this.#forgetOne(table);
    table.set(tenant.digest, tenant);
    this.#last = tenant;
  }

  /** Forgets the idle tenant that was in use the longest ago. */
  #forgetOne(table: Map<string, Tenant>): void {
    for (const [digest, tenant] of table) {
      if (tenant.underWay > 0) continue;
      table.delete(digest);
      tenant.isForgotten = true;
      return;
    }
  }
}

/** Bytes of a pepper that nobody chose. */
const PEPPER_BYTES = 32;

/**
 * Opens the table of tenants, named by keyed digests of the `Authorization` header, the same for all spellings of its
 * scheme. Gateways that share a store must agree on the pepper: if none is given, the first of them makes one and
 * leaves it in the store; without a store it lives as long as the process. If the store could not be reached, or has
 * lost it, the pepper is read again as soon as the store is back, since others may have left another there.
 */
export async function openTenants(
  pepper: string | undefined,
  store: Store | null,
  now: () => number,
): Promise<Tenants> {
  let text = pepper ?? randomBytes(PEPPER_BYTES).toString('base64url');
  /** The pepper as a key, since a text would be made one for each digest. */
  let secret = createSecretKey(text, 'utf8');
  const tenants = new Tenants(
    (authorization) => createHmac('sha256', secret).update(sameHowever(authorization)).digest('base64url'),
    now,
  );
  if (pepper === undefined && store !== null) {
    const agree = async () => {
      text = (await store.first('pepper', text)) ?? text;
      secret = createSecretKey(text, 'utf8');
      tenants.rename();
    };
    await agree();
    store.onReturn(() => void agree());
  }
  return tenants;
}

/** Spells the scheme in one way, with one blank before the key. */
function sameHowever(authorization: string): string {
  return authorization.replace(/^bearer +/i, 'Bearer ');
}
