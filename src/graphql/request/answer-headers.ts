import type { GraphQLFormattedError } from 'graphql';
import { timeIn } from '../../shared/periods.ts';
import type { OperationRun } from './operation-run.ts';
import { VARIES } from './responses.ts';

/** The facts that the headers of a response to an operation state. */
interface AnswerFacts {
  readonly status: number;
  /** Null if there is no answer to an operation. */
  readonly errors: readonly GraphQLFormattedError[] | null;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /** Seconds for which all of the answer is known to hold; null if that isn't known, or the answer isn't whole. */
  readonly maxAgeSeconds: number | null;
  readonly timing: string;
}

/** Sets the headers that every response to an operation has. */
export function setHeaders(
  headers: Map<string, string>,
  { status, errors, nowMs, maxAgeSeconds, timing }: AnswerFacts,
): void {
  const isCacheable = errors?.length === 0;
  const cacheControl = maxAgeSeconds === null ? 'private' : `private, max-age=${maxAgeSeconds}`;
  headers.set('cache-control', isCacheable ? cacheControl : 'no-store');
  // A cache may not take the answer for the plan of the operation, nor for another form of it, fresh or by its tag.
  headers.set('vary', isCacheable ? VARIES : 'Authorization');
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
  if (run.additions !== undefined && errors?.length === 0)
    addHeaders(headers, run.additions.headers(run.context));
}

/** Adds headers of a stage. */
export function addHeaders(headers: Map<string, string>, added: ReadonlyMap<string, string>): void {
  for (const [name, value] of added) headers.set(name, value);
}

/** Returns the value of `Server-Timing`: the time of waits for the service, and for the store of cached answers. */
function timingOf({ service, store }: OperationRun['waits']): string {
  const [upstream, cache] = [service.totalMs, store.totalMs].map(rounded);
  return `upstream;dur=${upstream}, cache;dur=${cache}`;
}

/** Rounds to a tenth of a millisecond. */
export function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** Counts the seconds for which the answer to an operation is fresh; null if that isn't known, or it isn't whole. */
function maxAgeOf(
  { bill, isLasting, freshUntilMs, fetchedUntilMs, context, written }: OperationRun,
  nowMs: number,
): number | null {
  if (!isLasting || bill.stale !== undefined) return null;
  const { warnings } = written?.extensions ?? { warnings: context.warnings.listed() };
  if (warnings !== undefined) return null;
  return secondsUntil(Math.min(freshUntilMs, fetchedUntilMs), nowMs);
}

/** Counts the whole seconds until an instant; null if it has come, or never will. */
export function secondsUntil(untilMs: number, nowMs: number): number | null {
  const seconds = Math.floor((untilMs - nowMs) / 1000);
  return seconds > 0 && seconds < Number.POSITIVE_INFINITY ? seconds : null;
}

/** Counts the seconds until the first time that an error names; null if none names any. */
function earliestRetry(errors: readonly GraphQLFormattedError[], nowMs: number): number | null {
  const times = errors.flatMap(({ extensions }) => {
    const time = extensions?.retryAt ?? extensions?.resetsAt;
    return (time == null ? null : timeIn(String(time)))?.firstMs ?? [];
  });
  if (times.length === 0) return null;
  return Math.max(1, Math.ceil((Math.min(...times) - nowMs) / 1000));
}
