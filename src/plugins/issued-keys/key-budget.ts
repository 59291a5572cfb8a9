import { Failure, type PluginServices, unreachable } from '../../plugin/index.ts';
import type { IssuedKey } from './key.ts';
import type { KeyStore } from './key-store.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Milliseconds that a count outlives its window, for gateways whose clocks are behind. */
const RETENTION_MS = 10 * MINUTE_MS;

const WINDOWS = ['minute', 'day', 'month'] as const;
type BudgetWindow = (typeof WINDOWS)[number];

const LIMITS = { minute: 'perMinute', day: 'perDay', month: 'perMonth' } as const;

const STATES = { minute: 'MINUTE_SPENT', day: 'DAY_SPENT', month: 'MONTH_SPENT' } as const;

type BudgetTerms = Parameters<PluginServices['openBudget']>[0];
type QuotaRecord = Awaited<ReturnType<NonNullable<BudgetTerms['quota']>>>;

interface WindowCount {
  readonly name: string;
  readonly most: number | null;
  readonly retentionMs: number;
  readonly window: BudgetWindow;
  readonly isOfGroup: boolean;
}

/** In UTC, like the windows of the service. `at` names the window. */
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

/** Lists the counts that a call at an instant adds to, by their names in the store. */
export function countsOf({ name, group, ...key }: IssuedKey, atMs: number): readonly WindowCount[] {
  return WINDOWS.flatMap((window) => {
    const { at, endsAtMs } = windowAt(window, atMs);
    const common = { window, retentionMs: endsAtMs - atMs + RETENTION_MS };
    const keyCount = {
      ...common,
      name: `key:${name}:${window}:${at}`,
      most: key[LIMITS[window]],
      isOfGroup: false,
    };
    if (group === null) return [keyCount];
    const most = group[LIMITS[window]];
    return [keyCount, { ...common, name: `group:${group.name}:${window}:${at}`, most, isOfGroup: true }];
  });
}

/** What a key may spend, for a budget of calls. */
export class KeyBudget {
  readonly name: string;
  readonly now: () => number;
  key: IssuedKey;
  readonly #store: Pick<KeyStore, 'read'>;
  /** As the store last had them, by name. */
  #seen: ReadonlyMap<string, number> = new Map();

  constructor(key: IssuedKey, store: Pick<KeyStore, 'read'>, now: () => number) {
    this.name = `issued ${key.name}`;
    this.now = now;
    this.key = key;
    this.#store = store;
  }

  countsAt(nowMs: number): readonly WindowCount[] {
    return countsOf(this.key, nowMs);
  }

  spent({ window, isOfGroup, most }: WindowCount, nowMs: number): Failure {
    const whose = isOfGroup ? "this key's group" : 'this key';
    return new Failure(
      'KEY_BUDGET_SPENT',
      `The ${most} calls a ${window} that ${whose} may send are spent, so nothing was sent.`,
      { limit: most ?? undefined, resetsAt: new Date(windowAt(window, nowMs).endsAtMs).toISOString() },
    );
  }

  see(counts: readonly WindowCount[], calls: readonly number[]): void {
    this.#seen = new Map(counts.map(({ name }, i) => [name, calls[i] ?? 0]));
  }

  /** @throws Failure if the store can't be reached */
  async quota(): Promise<QuotaRecord> {
    const nowMs = this.now();
    const counts = countsOf(this.key, nowMs);
    const calls = await this.#store.read(counts.map(({ name }) => name)).catch(() => {
      throw unreachable();
    });
    this.see(counts, calls);
    const callsIn = (window: BudgetWindow) =>
      calls[counts.findIndex((count) => count.window === window && !count.isOfGroup)] ?? 0;
    const full = counts.filter(({ most }, i) => most !== null && (calls[i] ?? 0) >= most);
    const spent = [...WINDOWS].reverse().find((window) => full.some((count) => count.window === window));
    return {
      plan: null,
      requestsPerMinute: leastOf(counts, 'minute'),
      monthlyRequests: leastOf(counts, 'month'),
      callsThisMinute: callsIn('minute'),
      callsThisMonth: callsIn('month'),
      minuteResetsAt: new Date(windowAt('minute', nowMs).endsAtMs).toISOString(),
      monthResetsAt: new Date(windowAt('month', nowMs).endsAtMs).toISOString(),
      state: spent === undefined ? 'OK' : STATES[spent],
    };
  }

  limits(): ReturnType<NonNullable<BudgetTerms['limits']>> {
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
