import type { GraphQLFormattedError } from 'graphql';
import { timeIn } from '../../shared/periods.ts';
import type { OperationRun } from './operation-run.ts';
import { VARIES } from './responses.ts';

interface AnswerFacts {
  readonly status: number;
  /** Null if there is no answer to an operation. */
  readonly errors: readonly GraphQLFormattedError[] | null;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /** Seconds for which all of the answer is fresh; null if unknown, or if it isn't whole. */
  readonly maxAgeSeconds: number | null;
  readonly timing: string;
}

export function setHeaders(
  headers: Map<string, string>,
  { status, errors, nowMs, maxAgeSeconds, timing }: AnswerFacts,
): void {
  const isCacheable = errors?.length === 0;
  const cacheControl = maxAgeSeconds === null ? 'private' : `private, max-age=${maxAgeSeconds}`;
  headers.set('cache-control', isCacheable ? cacheControl : 'no-store');
  // A cache must not confuse the answer with its price, or with another form of it.
  headers.set('vary', isCacheable ? VARIES : 'Authorization');
  headers.set('server-timing', timing);
  if (status === 401) headers.set('www-authenticate', 'Bearer');
  const retryAfterSeconds = earliestRetry(errors ?? [], nowMs);
  if (retryAfterSeconds !== null) headers.set('retry-after', String(retryAfterSeconds));
}

/** @param clocks the wall clock, and the one for ages */
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

export function addHeaders(headers: Map<string, string>, added: ReadonlyMap<string, string>): void {
  for (const [name, value] of added) headers.set(name, value);
}

/** Waits for the service, and for the store. */
function timingOf({ service, store }: OperationRun['waits']): string {
  const [upstream, cache] = [service.totalMs, store.totalMs].map(rounded);
  return `upstream;dur=${upstream}, cache;dur=${cache}`;
}

export function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** Null if unknown, or if the answer isn't whole. */
function maxAgeOf(
  { bill, isLasting, freshUntilMs, fetchedUntilMs, context, written }: OperationRun,
  nowMs: number,
): number | null {
  if (!isLasting || bill.stale !== undefined) return null;
  const { warnings } = written?.extensions ?? { warnings: context.warnings.listed() };
  if (warnings !== undefined) return null;
  return secondsUntil(Math.min(freshUntilMs, fetchedUntilMs), nowMs);
}

/** Null if the instant has passed, or never comes. */
export function secondsUntil(untilMs: number, nowMs: number): number | null {
  const seconds = Math.floor((untilMs - nowMs) / 1000);
  return seconds > 0 && seconds < Number.POSITIVE_INFINITY ? seconds : null;
}

/** Null if no error names a time. */
export function earliestRetry(errors: readonly GraphQLFormattedError[], nowMs: number): number | null {
  const times = errors.flatMap(({ extensions }) => {
    const time = extensions?.retryAt ?? extensions?.resetsAt;
    return (time == null ? null : timeIn(String(time)))?.firstMs ?? [];
  });
  if (times.length === 0) return null;
  return Math.max(1, Math.ceil((Math.min(...times) - nowMs) / 1000));
}
