import { createCorners } from '../cache/corners.ts';
import type { CounterSnapshot, SharedCounters, Window } from '../cache/shared-counters.ts';
import { Failure } from '../errors.ts';

const MINUTE_MS = 60_000;

/** How long after a monthly 429 one call may go out to see whether the plan was upgraded meanwhile. */
const PROBE_INTERVAL_MS = 15 * MINUTE_MS;

/** Limits of the plans as the service publishes them, for when its texts name a plan but not all its figures. */
const PUBLISHED_PLANS: Readonly<Record<string, { requestsPerMinute: number; monthlyRequests: number }>> = {
  free: { requestsPerMinute: 5, monthlyRequests: 1_000 },
  analyst: { requestsPerMinute: 60, monthlyRequests: 250_000 },
  team: { requestsPerMinute: 1_000, monthlyRequests: 2_000_000 },
};

/** Keys whose counters are kept at once; the longest unused are closed first. */
const MAX_ACCOUNTS = { proven: 10_000, unproven: 2_000 };

/** No plan allows fewer requests in a minute. */
const SMALLEST_PLAN = 5;

/** What one key has spent and what the service has told of its plan. Instants are ISO 8601, UTC. */
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

export interface Ledger {
  /** When a call for this key may leave (milliseconds since the epoch); not after now if it may at once. */
  opensAtMs(keyDigest: string): number;
  /** Why a call may not leave now. */
  refusal(keyDigest: string): Failure;
  /**
   * Bills one request that is to leave now; false where other gateways, whose counters are shared, have left none: then
   * `opensAtMs` says when there will be. At once where nobody shares counters.
   */
  take(keyDigest: string): boolean | Promise<boolean>;
  /** Learns what other gateways have spent. */
  refresh(keyDigest: string): Promise<void>;
  /** The service took a request of this key. */
  accepted(keyDigest: string): void;
  /** The service answered 429: remembers it, and what `detail` says of the plan. */
  limited(keyDigest: string, detail: string): Failure;
  /**
   * Whether the next call may be the one that a plan nobody has named yet refuses: the smallest plan's minute is spent,
   * and nothing has shown that this key has a larger one.
   */
  isDoubtful(keyDigest: string): boolean;
  quota(keyDigest: string): QuotaRecord;
  /** Share of the minute's requests that is left, from 0 to 1; null where the plan may be the smallest. */
  shareLeft(keyDigest: string): number | null;
}

interface Account {
  minute: number;
  callsThisMinute: number;
  acceptedThisMinute: number;
  month: number;
  callsThisMonth: number;
  plan: string | null;
  requestsPerMinute: number | null;
  monthlyRequests: number | null;
  minuteSpent: boolean;
  /** Whether the service has taken more in a minute than the smallest plan allows. */
  isPlanLarger: boolean;
  monthSpent: boolean;
  nextProbeAtMs: number;
  /** Requests of this minute that may still leave while shared counters can't be reached; null where they could be. */
  leftAlone: number | null;
}

/**
 * Keeps what each key has spent, by key digest. Minutes are fixed windows and months calendar months, both UTC, as the service
 * counts them. Where gateways share counters, those count, and what stands here is a copy to decide by at once. While they
 * can't be reached, a gateway goes by its own count, and takes no more than half of what its copy shows to be left of a
 * minute: another one may be doing the same. What other keys of the same account spend is not seen; the
 * service's 429 tells.
 */
export function createLedger(now: () => number, sharedCounters: SharedCounters | null = null): Ledger {
  const accounts = createCorners<Account>(MAX_ACCOUNTS);

  function account(keyDigest: string): Account {
    const at = now();
    const minute = Math.floor(at / MINUTE_MS);
    const month = monthOf(at);
    let held = accounts.get(keyDigest);
    if (held === undefined) {
      held = {
        minute,
        callsThisMinute: 0,
        acceptedThisMinute: 0,
        month,
        callsThisMonth: 0,
        plan: null,
        requestsPerMinute: null,
        monthlyRequests: null,
        minuteSpent: false,
        isPlanLarger: false,
        monthSpent: false,
        nextProbeAtMs: 0,
        leftAlone: null,
      };
      accounts.add(keyDigest, held);
    }
    if (held.minute !== minute) {
      held.minute = minute;
      held.callsThisMinute = 0;
      held.acceptedThisMinute = 0;
      held.minuteSpent = false;
      held.leftAlone = null;
    }
    if (held.month !== month) {
      held.month = month;
      held.callsThisMonth = 0;
      held.monthSpent = false;
    }
    return held;
  }

  const isMinuteSpent = (held: Account) =>
    held.minuteSpent || (held.requestsPerMinute !== null && held.callsThisMinute >= held.requestsPerMinute);

  const minuteEndsAtMs = (held: Account) => (held.minute + 1) * MINUTE_MS;

  function minuteFailure(held: Account, detail?: string): Failure {
    const retryAtMs = minuteEndsAtMs(held);
    return new Failure('RATE_LIMITED', 'The requests of this minute are spent.', {
      detail,
      plan: held.plan ?? undefined,
      requestsPerMinute: held.requestsPerMinute ?? undefined,
      retryAfterSeconds: Math.max(1, Math.ceil((retryAtMs - now()) / 1000)),
      retryAt: new Date(retryAtMs).toISOString(),
    });
  }

  function monthFailure(held: Account, detail?: string): Failure {
    return new Failure('MONTHLY_QUOTA_EXCEEDED', 'The requests of this month are spent.', {
      detail,
      plan: held.plan ?? undefined,
      monthlyRequests: held.monthlyRequests ?? undefined,
      resetsAt: new Date(monthEndMs(held.month)).toISOString(),
    });
  }

  const windowOf = ({ minute, month }: Account): Window => ({ minute, month, nowMs: now() });

  /** Takes over what the shared counters say. */
  function copy(held: Account, { callsThisMinute, callsThisMonth, note }: CounterSnapshot): void {
    held.callsThisMinute = callsThisMinute;
    held.callsThisMonth = callsThisMonth;
    if (note === null) return;
    held.plan = note.plan ?? held.plan;
    held.requestsPerMinute = note.requestsPerMinute ?? held.requestsPerMinute;
    held.monthlyRequests = note.monthlyRequests ?? held.monthlyRequests;
    held.isPlanLarger ||= note.isPlanLarger;
    held.minuteSpent ||= note.spentMinute === held.minute;
    held.monthSpent = note.spentMonth === held.month;
    held.nextProbeAtMs = note.nextProbeAtMs;
  }

  /** Tells the others what the service has told this gateway. */
  function tell(keyDigest: string, held: Account): void {
    void sharedCounters?.note(keyDigest, {
      plan: held.plan,
      requestsPerMinute: held.requestsPerMinute,
      monthlyRequests: held.monthlyRequests,
      isPlanLarger: held.isPlanLarger,
      spentMinute: held.minuteSpent ? held.minute : null,
      spentMonth: held.monthSpent ? held.month : null,
      nextProbeAtMs: held.nextProbeAtMs,
    });
  }

  function count(held: Account): void {
    held.callsThisMinute += 1;
    held.callsThisMonth += 1;
  }

  /** Takes a request without the shared counters, as far as this gateway may by itself. */
  function takeAlone(held: Account): boolean {
    if (held.requestsPerMinute !== null) {
      held.leftAlone ??= Math.floor((held.requestsPerMinute - held.callsThisMinute) / 2);
      if (held.minuteSpent || held.leftAlone <= 0) {
        held.minuteSpent = true;
        return false;
      }
      held.leftAlone -= 1;
    }
    count(held);
    return true;
  }

  /** The one request that a spent month allows is on its way. */
  function probe(keyDigest: string, held: Account): void {
    if (!held.monthSpent) return;
    held.nextProbeAtMs = now() + PROBE_INTERVAL_MS;
    tell(keyDigest, held);
  }

  return {
    opensAtMs(keyDigest) {
      const held = account(keyDigest);
      if (held.monthSpent) return Math.min(held.nextProbeAtMs, monthEndMs(held.month));
      return isMinuteSpent(held) ? minuteEndsAtMs(held) : now();
    },
    refusal(keyDigest) {
      const held = account(keyDigest);
      return held.monthSpent ? monthFailure(held) : minuteFailure(held);
    },
    take(keyDigest) {
      const held = account(keyDigest);
      if (sharedCounters === null) {
        count(held);
        probe(keyDigest, held);
        return true;
      }
      return sharedCounters.take(keyDigest, windowOf(held)).then((snapshot) => {
        const current = account(keyDigest);
        if (snapshot !== null) {
          current.leftAlone = null;
          copy(current, snapshot);
        }
        const isTaken = snapshot?.isTaken ?? takeAlone(current);
        if (isTaken) probe(keyDigest, current);
        return isTaken;
      });
    },
    async refresh(keyDigest) {
      const snapshot = await sharedCounters?.read(keyDigest, windowOf(account(keyDigest)));
      if (snapshot) copy(account(keyDigest), snapshot);
    },
    accepted(keyDigest) {
      const held = account(keyDigest);
      accounts.prove(keyDigest);
      const { monthSpent, isPlanLarger } = held;
      held.monthSpent = false;
      held.acceptedThisMinute += 1;
      held.isPlanLarger ||= held.acceptedThisMinute > SMALLEST_PLAN;
      if (monthSpent || held.isPlanLarger !== isPlanLarger) tell(keyDigest, held);
    },
    limited(keyDigest, detail) {
      const held = account(keyDigest);
      accounts.prove(keyDigest);
      const told = readLimitText(detail);
      const published = told.plan === null ? undefined : PUBLISHED_PLANS[told.plan];
      held.plan = told.plan ?? held.plan;
      held.requestsPerMinute =
        told.requestsPerMinute ?? published?.requestsPerMinute ?? held.requestsPerMinute;
      held.monthlyRequests = told.monthlyRequests ?? published?.monthlyRequests ?? held.monthlyRequests;
      if (told.isMonthly) {
        held.monthSpent = true;
        held.nextProbeAtMs = now() + PROBE_INTERVAL_MS;
        tell(keyDigest, held);
        return monthFailure(held, detail);
      }
      held.minuteSpent = true;
      tell(keyDigest, held);
      return minuteFailure(held, detail);
    },
    isDoubtful(keyDigest) {
      const held = account(keyDigest);
      return held.requestsPerMinute === null && !held.isPlanLarger && held.callsThisMinute >= SMALLEST_PLAN;
    },
    quota(keyDigest) {
      const held = account(keyDigest);
      return {
        plan: held.plan,
        requestsPerMinute: held.requestsPerMinute,
        monthlyRequests: held.monthlyRequests,
        callsThisMinute: held.callsThisMinute,
        callsThisMonth: held.callsThisMonth,
        minuteResetsAt: new Date(minuteEndsAtMs(held)).toISOString(),
        monthResetsAt: new Date(monthEndMs(held.month)).toISOString(),
        state: held.monthSpent ? 'MONTH_SPENT' : isMinuteSpent(held) ? 'MINUTE_SPENT' : 'OK',
      };
    },
    shareLeft(keyDigest) {
      const held = account(keyDigest);
      if (held.monthSpent || held.minuteSpent) return 0;
      if (held.requestsPerMinute === null) return held.isPlanLarger ? 1 : null;
      return Math.max(0, 1 - held.callsThisMinute / held.requestsPerMinute);
    },
  };
}

/** Months since year 0, UTC. */
function monthOf(atMs: number): number {
  const date = new Date(atMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

function monthEndMs(month: number): number {
  return Date.UTC(Math.floor((month + 1) / 12), (month + 1) % 12, 1);
}

/** What the text of a 429 says. The two kinds differ by the phrase `monthly request limit` alone. */
export function readLimitText(detail: string): {
  readonly isMonthly: boolean;
  readonly plan: string | null;
  readonly requestsPerMinute: number | null;
  readonly monthlyRequests: number | null;
} {
  const isMonthly = /monthly request limit/i.test(detail);
  const plan =
    /\b(free|analyst|team)\b/i.exec(detail)?.[1] ??
    /\bplan\b\s*(?:is\s+|key\s+)?[:=]?\s*["'`(]([\w-]+)["'`)]/i.exec(detail)?.[1] ??
    /["'`]([\w-]+)["'`]\s+plan\b/i.exec(detail)?.[1] ??
    null;
  const figures = [...detail.matchAll(/\d[\d,_]*/g)].map(([digits]) => Number(digits.replace(/[,_]/g, '')));
  const perMinute = /(\d[\d,_]*)\s*(?:requests?|calls?|req)?\s*(?:per|\/|a|each)\s*min/i.exec(detail)?.[1];
  return {
    isMonthly,
    plan: plan?.toLowerCase() ?? null,
    requestsPerMinute: isMonthly
      ? null
      : perMinute !== undefined
        ? Number(perMinute.replace(/[,_]/g, ''))
        : (figures[0] ?? null),
    monthlyRequests: isMonthly && figures.length > 0 ? Math.max(...figures) : null,
  };
}
