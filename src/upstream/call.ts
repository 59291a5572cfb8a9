/**
 * A request to the metered service as a value. It is planned, priced, compared, shared and refused in this form,
 * and only `http.ts` ever sends one.
 */

import type { CancelSignal } from '../async/cancellation.ts';
import type { Stopwatch } from '../async/stopwatch.ts';
import type { Trace } from '../async/trace.ts';
import type { Job } from '../async/yielding.ts';
import type { Failure, FailureCode } from '../errors.ts';
import type { Deadline } from './deadline.ts';

/** One route of the service. `Params` are what the route takes, `Result` what it answers in our own words. */
export interface Endpoint<Params = never, Result = unknown> {
  /** The route's template, such as `/v1/countries/{code}/profile`: its name in bills, errors and metrics. */
  readonly route: string;
  /** Public routes are asked without the caller's key. */
  readonly isPublic: boolean;
  /** Path and query parameters of a call; a parameter that is undefined is not sent. */
  readonly params: (params: Params) => CallParams;
  /**
   * The records in an answer's body.
   * @param receivedAt when the service sent it, in milliseconds since the epoch; records tell it only where `isDated` says so
   * @throws Failure UPSTREAM_INVALID_RESPONSE naming the field that breaks the specification
   */
  readonly decode: (body: unknown, params: Params, receivedAt: number) => Result;
  /** Whether a service may lack the route, since no path is specified for it; see `absentRoutes`. */
  readonly isOptional?: true;
  /** Whether the records tell when they came. */
  readonly isDated?: true;
  /** Whether an answer may be served again: never, for the usual time, or as the service's headers say. */
  readonly caching: 'none' | 'ttl' | 'http';
  /**
   * What pricing takes an answer to hold while it is not known: a list of its documented size, or one of each thing that
   * further calls may hang from. Nothing where it is left out.
   * @param target that of the call
   * @param metricKey an indicator of the catalogue, as far as that is known
   */
  readonly assumed?: (target: string, metricKey: string) => unknown;
}

export interface CallParams {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
}

/** One concrete request. */
export interface Call {
  readonly route: string;
  readonly isPublic: boolean;
  /** Path and query string, parameters in a fixed order: equal calls have equal targets. */
  readonly target: string;
}

/** The only name of a call: two calls with the same key ask for the same thing. */
export function callKey(call: Call): string {
  return call.target;
}

export function makeCall<Params>(endpoint: Endpoint<Params, unknown>, params: Params): Call {
  const { path = {}, query = {} } = endpoint.params(params);
  const pathname = endpoint.route.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(path[name] ?? ''),
  );
  let target = pathname;
  for (const name of Object.keys(query).sort()) {
    const value = query[name];
    if (value !== undefined) target += `${target === pathname ? '?' : '&'}${name}=${encodeList(value)}`;
  }
  return { route: endpoint.route, isPublic: endpoint.isPublic, target };
}

/** What stands for itself in a query. */
const PLAIN = /^[\w,.-]*$/;

/** Commas separate the codes of a list and may stand in a query as they are. */
function encodeList(value: string): string {
  return PLAIN.test(value) ? value : encodeURIComponent(value).replaceAll('%2C', ',');
}

/** What the service said, undecoded, and when. */
export interface Answer {
  /** 200, 304 or 404; every other status is a Failure. */
  readonly status: 200 | 304 | 404;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON; undefined for a 304. For a 404 `{detail}`, or undefined where the service didn't word it itself. */
  readonly body: unknown;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** On whose behalf calls are made. */
export interface Caller extends Job {
  /** The `Authorization` header as it came; null where there was none. Goes to the service and nowhere else. */
  readonly authorization: string | null;
  /** A keyed digest of it: names the caller in ledgers and caches. */
  readonly keyDigest: string;
}

/** Who pays for a call, and until when it is wanted. */
export interface Sending {
  readonly caller: Caller;
  readonly signal: CancelSignal;
  /** Of an operation: started before it first waits, so that its signal aborts when the time is over. */
  readonly deadline?: Pick<Deadline, 'start'>;
  /** Where answers that took no request are counted. */
  readonly bill: Bill;
  /** Counts what is waited for. */
  readonly waits?: Waits;
  /** Bills the requests. */
  readonly payer: Payer;
  /** Until when (milliseconds since the epoch) the call may wait for a minute window that still has room. */
  readonly waitDeadlineMs: number;
  /** Called when a call has its turn and is about to leave; throws why it must not leave after all. */
  readonly beforeLeaving?: () => void;
  /** The span that calls are made within, where somebody traces. */
  readonly trace?: Trace | undefined;
  /** Called with the status of the answer. */
  readonly onStatus?: (status: number) => void;
  /** Further request headers, such as `if-none-match`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Has the request go over a connection that nothing has gone over before. */
  readonly isAnew?: true;
  /** Called once, at the instant the request leaves; what it throws keeps the request from being sent. */
  readonly onLeaving?: () => void;
  /** Called with the expiry of each cache hit, in milliseconds since the epoch. */
  readonly onHeld?: (freshUntilMs: number) => void;
  /** Called with the time of what has just come, as `onHeld`; 0 where it has none. */
  readonly onFetched?: (freshUntilMs: number) => void;
  /** Called with records that are past their time and served for want of newer ones. */
  readonly onStale?: (records: unknown, why: FailureCode) => void;
  /** Called with rows of an answer that belong to nothing that can be asked for. */
  readonly onLeftOut?: (rows: LeftOutRows) => void;
}

/** What an operation waits for: the service, batching and pacing included, and the store of what is held. */
export interface Waits {
  readonly service: Stopwatch;
  readonly store: Stopwatch;
}

/** Rows of an answer that could not be used. */
export interface LeftOutRows {
  readonly route: string;
  readonly count: number;
  /** What is wrong with the first of them. */
  readonly detail: string;
}

/**
 * Who pays for requests that are about to leave. A request is reserved while it waits for its turn, and charged at the
 * instant it leaves, so that the bills of all operations add up to what the service receives.
 */
export interface Payer {
  /**
   * @throws Failure OPERATION_TOO_EXPENSIVE where one more request would be beyond the operation's limit, DOMException
   * AbortError where nobody waits any more
   */
  reserve(route: string): Reservation;
}

/** Room for one request under a limit; it is either charged or released. */
export interface Reservation {
  /**
   * Bills the request, which leaves now.
   * @throws DOMException AbortError where nobody waits any more; the room is free then
   */
  charge(): void;
  release(): void;
}

/** One ring of the way to the service, or all of them. */
export type Send = (call: Call, sending: Sending) => Promise<Answer>;

/** What one operation has cost, as `extensions.upstream` tells it. */
export interface Bill {
  /** Requests sent for this operation, retries included. */
  calls: number;
  readonly byRoute: Record<string, number>;
  /** Answers taken from a call that another operation in flight had sent. */
  shared: number;
  /** Answers taken from the cache. */
  cached: number;
  /** Requests that it would have taken had each field fetched for itself. */
  naive: number;
  /** Answers that were past their time, served because the service gave none; not there where there were none. */
  stale?: StaleAnswers[];
}

/** Old answers of one route that were served for one reason. */
export interface StaleAnswers {
  readonly route: string;
  /** Why the service gave none: what the operation would have failed with. */
  readonly code: FailureCode;
  answers: number;
  /** When the service sent the oldest of them; ISO 8601, UTC. */
  oldestFetchedAt: string;
  /** How old that is. */
  ageSeconds: number;
  /** When it is worth asking again, where that is known; ISO 8601, UTC. */
  readonly retryAt?: string | undefined;
}

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

/** One attempt at one call, as metrics and logs hear of it. */
export interface Attempt {
  readonly route: string;
  /** `ok`, or the code of the failure. */
  readonly outcome: string;
  readonly durationMs: number;
}
