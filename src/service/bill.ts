import type { Failure, FailureCode } from '../shared/errors.ts';

/** The cost of one operation, as `extensions.upstream` tells it. */
export interface Bill {
  /** Requests sent for this operation, retries included. */
  calls: number;
  readonly byRoute: Record<string, number>;
  /** Answers taken from a call that another operation in flight had sent. */
  shared: number;
  /** Answers taken from the cache. */
  cached: number;
  /** Requests that it would have taken if each field had fetched for itself. */
  naive: number;
  /**
   * Answers that were past their time, served because the service gave none, by their routes and the codes that the
   * operation would have failed with; left out if there were none. Times are ISO 8601, UTC.
   */
  stale?: {
    readonly route: string;
    readonly code: FailureCode;
    answers: number;
    /** The time at which the service sent the oldest of them. */
    oldestFetchedAt: string;
    /** The age of the oldest. */
    ageSeconds: number;
    /** The time from which it is worth asking again, if that is known. */
    readonly retryAt?: string | undefined;
  }[];
}

/** A bill without calls. */
export function openBill(): Bill {
  return { calls: 0, byRoute: {}, shared: 0, cached: 0, naive: 0 };
}

/** Bills an answer that is served although it is past its time. */
export function billStale(bill: Bill, route: string, why: Failure, fetchedAtMs: number, nowMs: number): void {
  bill.stale ??= [];
  let entry = bill.stale.find((other) => other.route === route && other.code === why.code);
  const fetchedAt = new Date(fetchedAtMs).toISOString();
  if (entry === undefined) {
    const retryAt = why.fields.retryAt ?? why.fields.resetsAt;
    entry = {
      route,
      code: why.code,
      answers: 0,
      oldestFetchedAt: fetchedAt,
      ageSeconds: 0,
      ...(retryAt === undefined ? {} : { retryAt }),
    };
    bill.stale.push(entry);
  }
  entry.answers += 1;
  if (fetchedAt < entry.oldestFetchedAt) entry.oldestFetchedAt = fetchedAt;
  entry.ageSeconds = Math.max(entry.ageSeconds, Math.round((nowMs - fetchedAtMs) / 1000));
}
