import type { Failure } from '../errors.ts';
import { numberOf } from '../exact-json.ts';
import type { SharedCounters } from '../store/backing.ts';
import { Account, type QuotaRecord, type RateLimit, type Tenant, type ToldLimits } from './tenant.ts';

/** Limits of the plans as the service publishes them, for texts that name a plan but not all its figures. */
const PUBLISHED_PLANS: Readonly<Record<string, { requestsPerMinute: number; monthlyRequests: number }>> = {
  free: { requestsPerMinute: 5, monthlyRequests: 1_000 },
  analyst: { requestsPerMinute: 60, monthlyRequests: 250_000 },
  team: { requestsPerMinute: 1_000, monthlyRequests: 2_000_000 },
};

/** Tells if words that came with another status are those of a 429. */
export function isAboutLimit(words: string): boolean {
  return /\brate[ _-]?limit|monthly request limit|too many requests/i.test(words);
}

/** Reads the text of a 429, completed by the published limits of the plan that it names. */
function toldLimits(detail: string): ToldLimits {
  const told = readLimitText(detail);
  const published = told.plan === null ? undefined : PUBLISHED_PLANS[told.plan];
  return {
    ...told,
    requestsPerMinute: told.requestsPerMinute ?? published?.requestsPerMinute ?? null,
    monthlyRequests: told.monthlyRequests ?? published?.monthlyRequests ?? null,
  };
}

/** Reads a whole number, with or without marks between its thousands. */
function figureIn(digits: string): number | null {
  return numberOf(digits.replace(/[,_]/g, ''));
}

/** Reads the text of a 429. The two kinds differ by the phrase `monthly request limit` alone. */
export function readLimitText(detail: string): ToldLimits {
  const isMonthly = /monthly request limit/i.test(detail);
  const plan =
    /\b(free|analyst|team)\b/i.exec(detail)?.[1] ??
    /\bplan\b\s*(?:is\s+|key\s+)?[:=]?\s*["'`(]([\w-]+)["'`)]/i.exec(detail)?.[1] ??
    /["'`]([\w-]+)["'`]\s+plan\b/i.exec(detail)?.[1] ??
    null;
  const figures = [...detail.matchAll(/\d[\d,_]*/g)].flatMap(([digits]) => figureIn(digits) ?? []);
  const perMinute = /(\d[\d,_]*)\s*(?:requests?|calls?|req)?\s*(?:per|\/|a|each)\s*min/i.exec(detail)?.[1];
  return {
    isMonthly,
    plan: plan?.toLowerCase() ?? null,
    requestsPerMinute: isMonthly
      ? null
      : perMinute !== undefined
        ? figureIn(perMinute)
        : (figures[0] ?? null),
    monthlyRequests: isMonthly && figures.length > 0 ? Math.max(...figures) : null,
  };
}

export interface Ledger {
  /**
   * Returns the instant at which a call for this key may leave, in milliseconds since the epoch; not after now if it
   * may at once.
   */
  opensAtMs(tenant: Tenant): number;
  /** Returns the failure of a call that may not leave now. */
  refusal(tenant: Tenant): Failure;
  /**
   * Bills one call that is to leave now; false if other gateways, whose counters are shared, have left none: then
   * `opensAtMs` says when there will be. At once if nobody shares counters.
   */
  take(tenant: Tenant): boolean | Promise<boolean>;
  /** Learns the calls that other gateways have spent. */
  refresh(tenant: Tenant): Promise<void>;
  /** Notes that the service took a call of this key. */
  accepted(tenant: Tenant): void;
  /** Notes that the service answered 429, and the plan that `detail` tells. */
  limited(tenant: Tenant, detail: string): Failure;
  /**
   * Returns true if the next call may be the one that a plan nobody has named yet refuses: the smallest plan's minute
   * is spent, and nothing has shown that this key has a larger one.
   */
  isDoubtful(tenant: Tenant): boolean;
  quota(tenant: Tenant): QuotaRecord;
  /** Returns the rest of the limits that the service has named for the key; none if it has named none. */
  limits(tenant: Tenant): readonly RateLimit[];
  /** Returns the share of the minute's calls that is left, from 0 to 1; null if the plan may be the smallest. */
  shareLeft(tenant: Tenant): number | null;
  /** Returns true if so many of the minute's calls are left that one more makes no difference. */
  hasPlenty(tenant: Tenant): boolean;
}

/**
 * Keeps the calls that each key has spent, on its tenant. If gateways share counters, those count, and the ledger is a
 * copy to decide by at once. If they can't be reached any more, a gateway takes nothing for the rest of the minute,
 * since others may go on with the rest of its calls. In a minute in which it never reached them, it goes by its own
 * count, and takes no more than half of the calls that its copy shows to be left: another one may be doing the same.
 * Calls of other keys of the same account are not seen; the service's 429 tells.
 */
export function createLedger(now: () => number, sharedCounters: SharedCounters | null = null): Ledger {
  function accountOf(tenant: Tenant): Account {
    const nowMs = now();
    tenant.account ??= new Account(nowMs);
    return tenant.account.enter(nowMs);
  }

  /** Has other gateways know the plan that the service has told this one. */
  function share({ digest }: Tenant, account: Account): void {
    void sharedCounters?.note(digest, account.note());
  }

  function probe(tenant: Tenant, account: Account): void {
    if (account.probe(now())) share(tenant, account);
  }

  async function takeShared(counters: SharedCounters, tenant: Tenant): Promise<boolean> {
    const snapshot = await counters.take(tenant.digest, accountOf(tenant).window(now()));
    const account = accountOf(tenant);
    if (snapshot !== null) account.copy(snapshot);
    const isTaken = snapshot !== null && account.isMinuteShared ? snapshot.isTaken : account.takeAlone();
    if (isTaken) probe(tenant, account);
    return isTaken;
  }

  return {
    opensAtMs: (tenant) => accountOf(tenant).opensAtMs(now()),
    refusal: (tenant) => accountOf(tenant).refusal(now()),
    take(tenant) {
      if (sharedCounters !== null) return takeShared(sharedCounters, tenant);
      const account = accountOf(tenant);
      account.count();
      probe(tenant, account);
      return true;
    },
    async refresh(tenant) {
      const snapshot = await sharedCounters?.read(tenant.digest, accountOf(tenant).window(now()));
      if (snapshot) accountOf(tenant).copy(snapshot);
    },
    accepted(tenant) {
      const account = accountOf(tenant);
      tenant.prove();
      if (account.accept()) share(tenant, account);
    },
    limited(tenant, detail) {
      const account = accountOf(tenant);
      tenant.prove();
      const told = toldLimits(detail);
      account.limit(told, now());
      share(tenant, account);
      return account.refusal(now(), detail, told.isMonthly);
    },
    isDoubtful: (tenant) => accountOf(tenant).isDoubtful(),
    quota: (tenant) => accountOf(tenant).quota(),
    limits(tenant) {
      const nowMs = now();
      return tenant.account?.enter(nowMs).limits(nowMs) ?? [];
    },
    shareLeft: (tenant) => accountOf(tenant).shareLeft(),
    hasPlenty: (tenant) => accountOf(tenant).hasPlenty(),
  };
}

/** Rest of the limits of one key. */
export interface KeyLimits {
  readonly tenant: Tenant;
  readonly limits: readonly RateLimit[];
}

/** Lists the rest of the limits of the first so many tenants of which anything was named. */
export function recentLimits(
  tenants: Iterable<Tenant>,
  ledger: Pick<Ledger, 'limits'>,
  most: number,
): readonly KeyLimits[] {
  const recent: KeyLimits[] = [];
  for (const tenant of tenants) {
    if (recent.length === most) break;
    const limits = ledger.limits(tenant);
    if (limits.length > 0) recent.push({ tenant, limits });
  }
  return recent;
}
