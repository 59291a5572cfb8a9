import type { QuotaRecord } from '../quota/account.ts';
import { timeIn } from '../times.ts';

/** What feeds may take of the calls that a plan leaves until its month is over: mostly evenly, some of it whenever it is needed. */
const EVEN_SHARE = 0.09;
const BURST_SHARE = 0.01;

/** Calls that the documented plans allow in a month, by what they allow in a minute. */
const DOCUMENTED = [
  { requestsPerMinute: 5, monthlyRequests: 1_000 },
  { requestsPerMinute: 60, monthlyRequests: 250_000 },
  { requestsPerMinute: 1_000, monthlyRequests: 2_000_000 },
] as const;

const [SMALLEST, LARGER] = DOCUMENTED;

/** What a feed may spend. */
export interface Pace {
  /** Calls until the month is over. */
  readonly calls: number;
  /** Calls that may be spent at any time, however little of the month is over. */
  readonly burst: number;
  readonly msPerCall: number;
}

/**
 * A tenth of what the plan leaves. A plan that nobody has named is taken for the smallest one there is, or for the next where the
 * service has shown to allow more.
 * @param isLarger whether it has
 * @param nowMs in milliseconds since the epoch
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

  /** Whether a call may be spent now. */
  mayCall({ burst, msPerCall }: Pace, nowMs: number): boolean {
    const most = Math.max(1, burst);
    const since = this.#calls === null ? most : this.#calls + Math.max(0, nowMs - this.#atMs) / msPerCall;
    this.#calls = Math.min(most, since);
    this.#atMs = nowMs;
    return this.#calls >= 1;
  }

  /** Counts calls; those beyond what was left are waited for. */
  spend(calls: number): void {
    this.#calls = (this.#calls ?? 0) - calls;
  }
}
