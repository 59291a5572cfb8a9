/** Limits of a plan; the quota and the limit are shared by all keys of an account. */
export interface PlanLimits {
  requestsPerMinute: number;
  /** A calendar month, UTC. */
  monthlyRequests: number;
}

/** The plans of the service. */
const PLANS: Readonly<Record<string, PlanLimits>> = {
  free: { requestsPerMinute: 5, monthlyRequests: 1_000 },
  analyst: { requestsPerMinute: 60, monthlyRequests: 250_000 },
  team: { requestsPerMinute: 1_000, monthlyRequests: 2_000_000 },
};

/** The demo keys by name. `analyst` and `analystSecond` are keys of one account. */
export const keys = {
  free: 'demo-free',
  analyst: 'demo-analyst',
  analystSecond: 'demo-analyst-2',
  team: 'demo-team',
  /** Valid and permitted nothing: 403 on every protected route. */
  forbidden: 'demo-forbidden',
  /** Key of the free plan, with nothing left of the month in which the sandbox started. */
  spent: 'demo-spent',
} as const;

export type KeyName = keyof typeof keys;

interface Account {
  readonly plan: string;
  minute: number;
  inMinute: number;
  month: string;
  inMonth: number;
}

export interface Refusal {
  readonly status: 401 | 403 | 429;
  readonly detail: string;
}

const monthOf = (now: number) => new Date(now).toISOString().slice(0, 7);
const minuteOf = (now: number) => Math.floor(now / 60_000);

/** Accepted keys, and their counters. Windows are fixed: the minute and the calendar month, both UTC. */
export class Access {
  readonly #plans: Readonly<Record<string, PlanLimits>>;
  readonly #now: () => number;
  #accounts = new Map<string, Account>();

  constructor(now: () => number, plans: Record<string, PlanLimits> = {}) {
    this.#now = now;
    this.#plans = { ...PLANS, ...plans };
    this.reset();
  }

  /** Puts all counters back to their start; the spent key is spent again, in this month. */
  reset(): void {
    const account = (plan: string, inMonth = 0): Account => {
      if (!this.#plans[plan]) throw new Error(`no such plan: ${plan}`);
      return { plan, minute: -1, inMinute: 0, month: monthOf(this.#now()), inMonth };
    };
    const analyst = account('analyst');
    this.#accounts = new Map([
      [keys.free, account('free')],
      [keys.analyst, analyst],
      [keys.analystSecond, analyst],
      [keys.team, account('team')],
      [keys.forbidden, account('team')],
      [keys.spent, account('free', this.#plans.free?.monthlyRequests)],
    ]);
  }

  /** The name of the key that a header bears: `unknown` for one nobody has, null for none. */
  nameOf(authorization: string | undefined): KeyName | 'unknown' | null {
    const token = tokenOf(authorization);
    if (token === null) return null;
    const found = Object.entries(keys).find(([, key]) => key === token);
    return found ? (found[0] as KeyName) : 'unknown';
  }

  /** Requests counted against the account of a key, in this minute and in this month. */
  usageOf(name: KeyName): { minute: number; month: number } {
    const account = this.#current(keys[name]);
    return { minute: account?.inMinute ?? 0, month: account?.inMonth ?? 0 };
  }

  /** Counts a request, or says why it isn't let in. A refused one isn't counted. */
  admit(authorization: string | undefined): Refusal | null {
    const account = this.#current(tokenOf(authorization));
    if (!account) return { status: 401, detail: 'Not authenticated' };
    if (tokenOf(authorization) === keys.forbidden)
      return { status: 403, detail: 'Not permitted for this key' };
    const limits = this.#plans[account.plan] as PlanLimits;
    // The month comes first: a client told to wait for the next minute would wait for nothing.
    if (account.inMonth >= limits.monthlyRequests) {
      return {
        status: 429,
        detail:
          `request blocked: the monthly request limit for plan '${account.plan}' ` +
          `(${limits.monthlyRequests} requests) was reached; upgrade the plan to continue`,
      };
    }
    if (account.inMinute >= limits.requestsPerMinute) {
      return {
        status: 429,
        detail: `rate limit exceeded for plan '${account.plan}': ${limits.requestsPerMinute} requests per minute`,
      };
    }
    account.inMinute++;
    account.inMonth++;
    return null;
  }

  #current(token: string | null): Account | undefined {
    const account = token === null ? undefined : this.#accounts.get(token);
    if (!account) return undefined;
    const minute = minuteOf(this.#now());
    const month = monthOf(this.#now());
    if (account.minute !== minute) Object.assign(account, { minute, inMinute: 0 });
    if (account.month !== month) Object.assign(account, { month, inMonth: 0 });
    return account;
  }
}

function tokenOf(authorization: string | undefined): string | null {
  return /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? null;
}
