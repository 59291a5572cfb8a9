import type { QuotaRecord, RateLimit } from '../../keys/ledger.ts';
import { type Purse, Unfunded } from '../../service/purse.ts';
import { Flow } from '../../shared/async/turns.ts';
import { Failure } from '../../shared/errors.ts';
import type { IssuedKey } from './key.ts';
import type { Count, KeyStore } from './key-store.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Milliseconds that a count is kept once its window is over: the clocks of others may be behind. */
const KEPT_MS = 10 * MINUTE_MS;

/** Milliseconds for which the store needn't be asked again after it has said that there is none, or could not be asked. */
const REFUSED_MS = 1_000;

const WINDOWS = ['minute', 'day', 'month'] as const;
type BudgetWindow = (typeof WINDOWS)[number];

const LIMITS = { minute: 'perMinute', day: 'perDay', month: 'perMonth' } as const;

const STATES = { minute: 'MINUTE_SPENT', day: 'DAY_SPENT', month: 'MONTH_SPENT' } as const;

/** One count of a window: by a key, or by all members of its group. */
interface WindowCount extends Count {
  readonly window: BudgetWindow;
  readonly isOfGroup: boolean;
}

/** Windows in UTC, as the service has them. Returns the name of the one that an instant lies in, and its bounds. */
function windowAt(window: BudgetWindow, atMs: number) {
  if (window !== 'month') {
    const lengthMs = window === 'minute' ? MINUTE_MS : DAY_MS;
    const at = Math.floor(atMs / lengthMs);
    return { at, startsAtMs: at * lengthMs, endsAtMs: (at + 1) * lengthMs };
  }
  const date = new Date(atMs);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { at: year * 12 + month, startsAtMs: Date.UTC(year, month), endsAtMs: Date.UTC(year, month + 1) };
}

/** Lists the counts that a call of a key at an instant stands in, all of them with the store's own names. */
export function countsOf({ name, group, ...key }: IssuedKey, atMs: number): readonly WindowCount[] {
  return WINDOWS.flatMap((window) => {
    const { at, endsAtMs } = windowAt(window, atMs);
    const common = { window, keptMs: endsAtMs - atMs + KEPT_MS };
    const own = {
      ...common,
      name: `key:${name}:${window}:${at}`,
      most: key[LIMITS[window]],
      isOfGroup: false,
    };
    if (group === null) return [own];
    const most = group[LIMITS[window]];
    return [own, { ...common, name: `group:${group.name}:${window}:${at}`, most, isOfGroup: true }];
  });
}

/**
 * A budget that is counted in a store. Each call is taken from the store's counts before it leaves, so that no gateway
 * sends one too many. A call that doesn't leave, or not in the windows that it was taken in, is put back.
 */
export abstract class CountedPurse<Counted extends Count = Count> implements Purse {
  readonly name: string;
  readonly flow = new Flow();
  readonly #store: KeyStore;
  protected readonly now: () => number;
  /** Calls that were taken and are not spent yet: the names of the counts that each stands in. */
  #units: (readonly string[])[] = [];
  #refusal: { readonly failure: Failure; readonly untilMs: number } | null = null;

  constructor(name: string, store: KeyStore, now: () => number) {
    this.name = name;
    this.#store = store;
    this.now = now;
  }

  /** Lists the counts that a call at an instant stands in. */
  protected abstract countsAt(nowMs: number): readonly Counted[];
  /** Makes the failure of a call for which a count has no room. */
  protected abstract spent(count: Counted, nowMs: number): Failure;
  /** Called with counts as the store tells them. */
  protected see(_counts: readonly Counted[], _calls: readonly number[]): void {}

  take(): () => void {
    const nowMs = this.now();
    const counts = this.countsAt(nowMs);
    const [first] = counts;
    for (let unit = this.#units.pop(); unit !== undefined; unit = this.#units.pop()) {
      const taken = unit;
      if (taken[0] === first?.name) return () => this.#offer(taken);
      this.#putBack(taken);
    }
    if (this.#refusal !== null && nowMs < this.#refusal.untilMs) throw this.#refusal.failure;
    throw new Unfunded(this.#fund(counts, nowMs));
  }

  /** Takes a call from the store: it is there for the next that asks, or the reason for which there is none. */
  async #fund(counts: readonly Counted[], nowMs: number): Promise<void> {
    const refuse = (failure: Failure) => {
      this.#refusal = { failure, untilMs: this.now() + REFUSED_MS };
    };
    try {
      const { calls, full } = await this.#store.take(counts);
      this.see(counts, calls);
      const spent = full === null ? undefined : counts[full];
      if (spent !== undefined) refuse(this.spent(spent, nowMs));
      else this.#offer(counts.map(({ name }) => name));
    } catch {
      refuse(unreachable());
    }
  }

  /** Has a unit at hand for the call that is about to ask for it; one that nobody takes goes back to the store. */
  #offer(unit: readonly string[]): void {
    this.#units.push(unit);
    setImmediate(() => {
      const place = this.#units.indexOf(unit);
      if (place === -1) return;
      this.#units.splice(place, 1);
      this.#putBack(unit);
    });
  }

  #putBack(unit: readonly string[]): void {
    // If it can't be, the budget has one call less, and never one more.
    this.#store.putBack(unit).catch(() => {});
  }

  /** @throws Failure if the store can't be reached */
  protected async read(counts: readonly Counted[]): Promise<readonly number[]> {
    const calls = await this.#store.read(counts.map(({ name }) => name)).catch(() => {
      throw unreachable();
    });
    this.see(counts, calls);
    return calls;
  }
}

/** The budget of an issued key in this process. */
export class KeyPurse extends CountedPurse<WindowCount> {
  key: IssuedKey;
  /** Counts by their names, as the store last told them. */
  #seen: ReadonlyMap<string, number> = new Map();

  constructor(key: IssuedKey, store: KeyStore, now: () => number) {
    super(`issued ${key.name}`, store, now);
    this.key = key;
  }

  protected override countsAt(nowMs: number): readonly WindowCount[] {
    return countsOf(this.key, nowMs);
  }

  protected override spent(count: WindowCount, nowMs: number): Failure {
    return spentFailure(count, nowMs);
  }

  protected override see(counts: readonly WindowCount[], calls: readonly number[]): void {
    this.#seen = new Map(counts.map(({ name }, i) => [name, calls[i] ?? 0]));
  }

  async quota(): Promise<QuotaRecord> {
    const nowMs = this.now();
    const counts = countsOf(this.key, nowMs);
    const calls = await this.read(counts);
    const own = (window: BudgetWindow) =>
      calls[counts.findIndex((count) => count.window === window && !count.isOfGroup)] ?? 0;
    const full = counts.filter(({ most }, i) => most !== null && (calls[i] ?? 0) >= most);
    const spent = [...WINDOWS].reverse().find((window) => full.some((count) => count.window === window));
    return {
      plan: null,
      requestsPerMinute: leastOf(counts, 'minute'),
      monthlyRequests: leastOf(counts, 'month'),
      callsThisMinute: own('minute'),
      callsThisMonth: own('month'),
      minuteResetsAt: new Date(windowAt('minute', nowMs).endsAtMs).toISOString(),
      monthResetsAt: new Date(windowAt('month', nowMs).endsAtMs).toISOString(),
      state: spent === undefined ? 'OK' : STATES[spent],
    };
  }

  limits(): readonly RateLimit[] {
    const nowMs = this.now();
    const counts = countsOf(this.key, nowMs);
    return WINDOWS.flatMap((window) => {
      const most = leastOf(counts, window);
      if (most === null) return [];
      const { startsAtMs, endsAtMs } = windowAt(window, nowMs);
      const left = counts.flatMap((count) =>
        count.window === window && count.most !== null ? count.most - (this.#seen.get(count.name) ?? 0) : [],
      );
      return {
        name: window,
        most,
        left: Math.max(0, Math.min(...left)),
        windowSeconds: (endsAtMs - startsAtMs) / 1000,
        resetSeconds: Math.ceil((endsAtMs - nowMs) / 1000),
      };
    });
  }
}

function leastOf(counts: readonly WindowCount[], window: BudgetWindow): number | null {
  const limits = counts.flatMap((count) => (count.window === window ? (count.most ?? []) : []));
  return limits.length === 0 ? null : Math.min(...limits);
}

function spentFailure({ window, isOfGroup, most }: WindowCount, nowMs: number): Failure {
  const whose = isOfGroup ? "this key's group" : 'this key';
  return new Failure(
    'KEY_BUDGET_SPENT',
    `The ${most} calls a ${window} that ${whose} may send are spent; nothing was sent.`,
    { limit: most ?? undefined, resetsAt: new Date(windowAt(window, nowMs).endsAtMs).toISOString() },
  );
}

/** Makes the failure of a call that can't be counted. */
export function unreachable(): Failure {
  return new Failure(
    'UPSTREAM_UNAVAILABLE',
    "The store of issued keys can't be reached, so nothing was sent.",
    { attempts: 0, retryAfterSeconds: 1 },
  );
}
