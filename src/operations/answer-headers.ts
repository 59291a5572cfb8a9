import type { GraphQLFormattedError } from 'graphql';
import { timeIn } from '../times.ts';
import type { Waits } from '../upstream/call.ts';
import type { OperationRun } from './operation-run.ts';
import { VARIES } from './responses.ts';

/** What the headers of a response to an operation say. */
export interface AnswerFacts {
  readonly status: number;
  /** Null where there is no answer to an operation. */
  readonly errors: readonly GraphQLFormattedError[] | null;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /** For how long all of the answer is known to hold; null where that isn't known, or the answer isn't whole. */
  readonly maxAgeSeconds: number | null;
  /** See {@link timingOf}. */
  readonly timing: string;
}

/** Sets the headers that every response to an operation has. */
export function setHeaders(
  headers: Map<string, string>,
  { status, errors, nowMs, maxAgeSeconds, timing }: AnswerFacts,
): void {
  const isKept = errors?.length === 0 && maxAgeSeconds !== null;
  if (isKept) headers.set('cache-control', `private, max-age=${maxAgeSeconds}`);
  else headers.set('cache-control', errors?.length === 0 ? 'private' : 'no-store');
  // Whoever keeps an answer may not take it for the plan of the operation, nor for another form of it.
  headers.set('vary', isKept ? VARIES : 'Authorization');
  headers.set('server-timing', timing);
  if (status === 401) headers.set('www-authenticate', 'Bearer');
  const retryAfterSeconds = earliestRetry(errors ?? [], nowMs);
  if (retryAfterSeconds !== null) headers.set('retry-after', String(retryAfterSeconds));
}

/**
 * As {@link setHeaders}, for an operation that ran.
 * @param clocks the wall clock, and the one that tells how old things are
 */
export function setRunHeaders(
  headers: Map<string, string>,
  status: number,
  run: OperationRun,
  { now, steadyNow }: { readonly now: () => number; readonly steadyNow: () => number },
): void {
  const { errors, waits } = run;
  const maxAgeSeconds = maxAgeOf(run, steadyNow());
  setHeaders(headers, { status, errors, nowMs: now(), maxAgeSeconds, timing: timingOf(waits) });
}

/** How long an operation waited for the service, and for the store of what is held: the value of `Server-Timing`. */
export function timingOf({ service, store }: Waits): string {
  return `upstream;dur=${rounded(service.totalMs)}, cache;dur=${rounded(store.totalMs)}`;
}

/** To a tenth of a millisecond. */
export function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** For how many seconds what an operation was answered with is fresh; null where that isn't known, or it isn't whole. */
function maxAgeOf(
  { bill, isLasting, freshUntilMs, fetchedUntilMs, context }: OperationRun,
  nowMs: number,
): number | null {
  if (!isLasting || bill.stale !== undefined || context.warnings.told() !== undefined) return null;
  return secondsUntil(Math.min(freshUntilMs, fetchedUntilMs), nowMs);
}

/** Whole seconds until an instant; null where it has come, or never will. */
export function secondsUntil(untilMs: number, nowMs: number): number | null {
  const seconds = Math.floor((untilMs - nowMs) / 1000);
  return seconds > 0 && seconds < Number.POSITIVE_INFINITY ? seconds : null;
}

/** Seconds until the first time that an error names; null where none names any. */
function earliestRetry(errors: readonly GraphQLFormattedError[], nowMs: number): number | null {
  const times = errors.flatMap(({ extensions }) => {
    const time = extensions?.retryAt ?? extensions?.resetsAt;
    return (time == null ? null : timeIn(String(time)))?.firstMs ?? [];
  });
  if (times.length === 0) return null;
  return Math.max(1, Math.ceil((Math.min(...times) - nowMs) / 1000));
}
