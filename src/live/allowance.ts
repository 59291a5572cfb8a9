import type { QuotaRecord } from '../quota/account.ts';
import { timeIn } from '../times.ts';

/**
 * Shares that feeds may take of the calls that a plan leaves until its month is over: most of it evenly, some of it at
 * any time.
 */
const EVEN_SHARE = 0.09;
const BURST_SHARE = 0.01;

/** Calls that the documented plans allow in a month, by the calls that they allow in a minute. */
const DOCUMENTED = [
  { requestsPerMinute: 5, monthlyRequests: 1_000 },
  { requestsPerMinute: 60, monthlyRequests: 250_000 },
  { requestsPerMinute: 1_000, monthlyRequests: 2_000_000 },
] as const;

const [SMALLEST, LARGER] = DOCUMENTED;

/** Calls that a feed may spend. */
export interface Pace {
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
export function paceOf(
  { requestsPerMinute, monthlyRequests, callsThisMonth, monthResetsAt }: QuotaRecord,
  isLarger: boolean,
  nowMs: number,
): Pace {
  const unnamed = isLarger ? LARGER : SMALLEST;
  const perMinute = requestsPerMinute ?? unnamed.requestsPerMinute;
  const documented = DOCUMENTED.findLast((plan) => plan.requestsPerMinute <= perMinute) ?? SMALLEST;
  const left = Math.max(0, (monthlyRequests ?? documented.monthlyRequests) - callsThisMonth);
  return {
    calls: left * (EVEN_SHARE + BURST_SHARE),
    burst: left * BURST_SHARE,
    msPerCall: Math.max(0, (timeIn(monthResetsAt)?.firstMs ?? nowMs) - nowMs) / (left * EVEN_SHARE),
  };
}

/** Counts the calls of one feed against its pace. Instants are in milliseconds since the epoch. */
export class Allowance {
  #calls: number | null = null;
  #atMs = 0;

  /** Returns true if a call may be spent now. */
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
