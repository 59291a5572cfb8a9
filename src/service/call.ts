/**
 * A request to the metered service as a value. It is planned, priced, compared, shared and refused in this form,
 * and only `http.ts` ever sends one.
 */

import type { QuotaRecord, RateLimit } from '../keys/ledger.ts';
import type { Tenant } from '../keys/tenant.ts';
import type { Flow, Job } from '../shared/async/turns.ts';
import { Failure, type FailureCode } from '../shared/errors.ts';

/** Parts of the graph that an issued key can be kept out of, as the SDL tags their types. All the rest is `base`. */
export const TAGS = ['figures', 'markets', 'government', 'trade', 'policy'] as const;
export type Tag = (typeof TAGS)[number];

/** One route of the service. `Params` are the parameters that it takes, `Result` its answer in our own words. */
export interface Endpoint<Params = never, Result = unknown> {
  /** The route's template, such as `/v1/countries/{code}/profile`: its name in bills, errors and metrics. */
  readonly route: string;
  /** True if the route is asked without the caller's key. */
  readonly isPublic: boolean;
  /** The part of the graph that its answers are of: whoever may not read that gets none, fetched or held. */
  readonly tag: Tag | 'base';
  /** Makes the path and query parameters of a call; a parameter that is undefined is not sent. */
  readonly params: (params: Params) => CallParams;
  /** Decodes a body; only records with `isDated` tell when it was sent; throws Failure UPSTREAM_INVALID_RESPONSE. */
  readonly decode: (body: unknown, params: Params, receivedAt: number) => Result;
  /** True if a service may lack the route, since no path is specified for it; see `absentRoutes`. */
  readonly isOptional?: true;
  /** True if the records tell when they came. */
  readonly isDated?: true;
  /** The way in which an answer may be served again: never, for the usual time, or as the service's headers say. */
  readonly caching: 'none' | 'ttl' | 'http';
  /**
   * Returns the content that pricing assumes of an answer while it is not known: a list of its documented size, or one
   * of each thing that further calls may hang from. Nothing if it is left out.
   * @param target that of the call
   * @param metricKey an indicator of the catalogue, as far as that is known
   */
  readonly assumed?: (target: string, metricKey: string, yearsOf: YearsOf) => unknown;
}

/** Returns the years of a pair of which pricing assumes figures; null if any year will do. */
export type YearsOf = (countryCode: string, metricKey: string) => readonly number[] | null;

interface CallParams {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
}

/** One concrete call. */
export interface Call {
  readonly route: string;
  readonly isPublic: boolean;
  /** Path and query string, parameters in a fixed order: calls of the same target ask for the same thing. */
  readonly target: string;
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

/** Characters that stand for themselves in a query. */
const PLAIN = /^[\w,.-]*$/;

/** Encodes a list. Commas separate its codes, and may stand in a query as they are. */
function encodeList(value: string): string {
  return PLAIN.test(value) ? value : encodeURIComponent(value).replaceAll('%2C', ',');
}

/** The answer of the service, undecoded, and its time. */
export interface Answer {
  /** 200, 304 or 404; every other status is a Failure. */
  readonly status: 200 | 304 | 404;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON; undefined for a 304. For a 404 `{detail}`, or undefined if the service didn't word it itself. */
  readonly body: unknown;
  /** The reason why a 404 is no word on what the service holds: it doesn't name what was asked for. */
  readonly stray?: Failure;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** One request of a tenant: calls are made on its behalf. */
export interface Caller extends Job {
  /** The `Authorization` header as it came; null if there was none. Goes to the service and nowhere else. */
  readonly authorization: string | null;
  /** The holder of the key. */
  readonly tenant: Tenant;
  /** The budget that its calls are taken out of, if it is not the key's own. */
  readonly purse?: Purse | undefined;
  /** The one of many visitors that it is, whom its key gives a share of all; left out if the key is one caller's. */
  readonly visitor?: Visitor | undefined;
  /** Called with each operation of the request once it is over, if somebody counts. */
  readonly note?: ((operation: NotedOperation) => void) | undefined;
  /** Returns the failure of a document that its key may not read; left out if it may read any. */
  readonly refusalOf?: ((text: string) => Failure | null) | undefined;
  /** The parts of the graph that its key may read; left out if it may read all. */
  readonly rights?: Rights | undefined;
}

/** The parts of the graph that a key may read beside the base. */
export interface Rights {
  /** The same for keys of the same rights: what one of them has been told, the others may be told. */
  readonly name: string;
  readonly tags: ReadonlySet<string>;
}

/**
 * Judges if a caller may have what it is about to reach: an answer of the service, fetched or held, or an object. Every
 * door leads there, so that none has to judge by itself.
 * @throws Failure DOCUMENT_NOT_ALLOWED if the key may not read it
 */
export function checkRight({ rights }: Pick<Caller, 'rights'>, tag: Tag | 'base'): void {
  if (rights === undefined || tag === 'base' || rights.tags.has(tag)) return;
  throw notReadable(rights, tag);
}

/** Makes the failure of a key that may not read a part of the graph. */
export function notReadable({ tags }: Rights, tag: string): Failure {
  return new Failure(
    'DOCUMENT_NOT_ALLOWED',
    `This key may not read ${tag}; it may read ${[...tags].join(', ')}.`,
  );
}

/** One of those who share a key. */
export interface Visitor {
  readonly name: string;
  /** Operations that it may ask for in a minute; null for any number. */
  readonly perMinute: number | null;
}

/** A budget of calls under the key of another. */
export interface Purse {
  /** Names its owner: nothing that the owner is told of its budget is told to others. */
  readonly name: string;
  /** The flow of work that it pays for. */
  readonly flow: Flow;
  /**
   * Takes a call out of the budget.
   * @returns a function that puts it back, if it was not sent
   * @throws Unfunded if it isn't known at once that there is one
   * @throws Failure if there is none
   */
  take(): () => void;
  /** Left out if the caller is told of its key's plan instead. */
  readonly quota?: (() => Promise<QuotaRecord>) | undefined;
  readonly limits?: (() => readonly RateLimit[]) | undefined;
}

/** Joins two budgets: a call is taken out of both, or out of none. The other one tells its caller of itself. */
export function joinedPurse(name: string, takeFirst: Purse['take'], other: Purse): Purse {
  return {
    name,
    flow: other.flow,
    quota: other.quota?.bind(other),
    limits: other.limits?.bind(other),
    take() {
      const putBack = takeFirst();
      try {
        const putBackOther = other.take();
        return () => {
          putBack();
          putBackOther();
        };
      } catch (error) {
        // The first one waits for the other: else each would lack a call while the other has one.
        if (error instanceof Unfunded) throw new Unfunded(error.known.then(putBack));
        putBack();
        throw error;
      }
    },
  };
}

/** The part of an operation that is over which those who count are told. */
export interface NotedOperation {
  readonly name: string | null;
  readonly calls: number;
  readonly shared: number;
  readonly cached: number;
  readonly errorCodes: readonly string[];
  /** Set for calls of an operation that goes on. */
  readonly isPart?: true;
}

/** The reason to wait, and then to reserve again: it isn't known as yet if the budget has room. */
export class Unfunded extends Error {
  /** Settles once it is known; never rejects. */
  readonly known: Promise<void>;

  constructor(known: Promise<void>) {
    super('The budget is being asked.');
    this.known = known;
  }
}

/** The payer of a call, and the end of the demand for it. */
export interface Sending {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** The deadline of an operation: started before it first waits, so that its signal aborts when the time is over. */
  readonly deadline?: Deadline;
  /** The bill that counts answers that took no request. */
  readonly bill: Bill;
  /** The waits of the operation: for the service, batching and pacing included, and for the store. */
  readonly waits?: { readonly service: Stopwatch; readonly store: Stopwatch };
  /** Bills the requests. */
  readonly payer: Payer;
  /** Milliseconds since the epoch until which the call may wait for a minute window that still has room. */
  readonly waitDeadlineMs: number;
  /** Called when a call has its turn and is about to leave. Throws the reason if it must not leave after all. */
  readonly beforeLeaving?: () => void;
  /** The span that calls are made within, if somebody traces. */
  readonly trace?: Trace | undefined;
  /** Called with the status of the answer. */
  readonly onStatus?: (status: number) => void;
  /** Further request headers, such as `if-none-match`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Has the request go over a connection that nothing has gone over before. */
  readonly isAnew?: true;
  /** Called once, at the instant the request leaves; an error that it throws keeps the request from being sent. */
  readonly onLeaving?: () => void;
  /** Called with the expiry of each cache hit, in milliseconds since the epoch. */
  readonly onHeld?: (freshUntilMs: number) => void;
  /** Called with the expiry of each answer that has just come, as `onHeld`; 0 if it has none. */
  readonly onFetched?: (freshUntilMs: number) => void;
  /** Called with records that are past their time and served for want of newer ones. */
  readonly onStale?: (records: unknown, why: FailureCode) => void;
  /** Called with rows of an answer that belong to nothing that can be asked for. */
  readonly onLeftOut?: (rows: LeftOutRows) => void;
}

/** Measures how long something was waited for, in milliseconds; waits that overlap count once. */
export class Stopwatch {
  #running = 0;
  #sinceMs = 0;
  /** Milliseconds of waits that are over. */
  totalMs = 0;

  /** Counts the time that a promise takes; anything else takes no time. */
  timing<Value>(value: Value): Value {
    if (!(value instanceof Promise)) return value;
    if (this.#running === 0) this.#sinceMs = performance.now();
    this.#running += 1;
    const end = () => {
      this.#running -= 1;
      if (this.#running === 0) this.totalMs += performance.now() - this.#sinceMs;
    };
    value.then(end, end);
    return value;
  }
}

/** Rows of an answer that could not be used. */
export interface LeftOutRows {
  readonly route: string;
  readonly count: number;
  /** The fault in the first of them. */
  readonly detail: string;
}

/**
 * Pays for requests that are about to leave. A request is reserved while it waits for its turn, and charged at the
 * instant it leaves, so that the bills of all operations add up to the requests that the service receives.
 */
export interface Payer {
  /**
   * Reserves room for one request, which is either charged or released.
   * @throws Failure OPERATION_TOO_EXPENSIVE if one more request would be beyond the operation's limit, Unfunded or
   * another Failure if its budget has no room, DOMException AbortError if nobody waits any more
   */
  reserve(route: string): {
    /** Bills the request, which leaves now; throws DOMException AbortError if nobody waits any more: the room is free. */
    charge(): void;
    release(): void;
  };
  /** Called once a call to the route is about to leave that the operation waits for, whoever pays for it. */
  onLeave?(route: string): void;
}

/** One ring of the way to the service, or all of them. */
export type Send = (call: Call, sending: Sending) => Promise<Answer>;

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

/**
 * The deadline of one operation, which is given up by its client, or because its time is over. Nothing is set up before
 * the operation first waits for the service, since most find all that they need held.
 */
export class Deadline {
  readonly #timeoutMs: number;
  readonly #request: { readonly signal: AbortSignal };
  readonly #startedAtMs = performance.now();
  readonly #ends = new AbortController();
  /** Ends the wait for the client and for the time; null before it has been started. */
  #unwatch: (() => void) | null = null;
  #isOver = false;

  /**
   * @param timeoutMs milliseconds that the operation may take, from now on
   * @param request has the signal that aborts when the client leaves; it is only asked for if somebody waits
   */
  constructor(timeoutMs: number, request: { readonly signal: AbortSignal }) {
    this.#timeoutMs = timeoutMs;
    this.#request = request;
  }

  /** Aborts once the deadline has been started; with a Failure as its reason if the time is over. */
  get signal(): AbortSignal {
    return this.#ends.signal;
  }

  /** Starts the deadline, since the operation is about to wait: from now on the signal tells when it is given up. */
  start(): void {
    if (this.#unwatch !== null || this.#isOver) return;
    const client = this.#request.signal;
    const onLeave = () => this.#ends.abort(client.reason);
    const leftMs = this.#startedAtMs + this.#timeoutMs - performance.now();
    const timer = setTimeout(endLate, Math.max(0, leftMs), this.#ends, this.#timeoutMs);
    client.addEventListener('abort', onLeave, { once: true });
    if (client.aborted) onLeave();
    const unwatch = () => {
      clearTimeout(timer);
      client.removeEventListener('abort', onLeave);
    };
    this.#unwatch = unwatch;
  }

  /** Stops the deadline, since the operation is over. */
  stop(): void {
    this.#isOver = true;
    this.#unwatch?.();
  }
}

function endLate(ends: AbortController, timeoutMs: number): void {
  const message = `The operation took longer than the ${timeoutMs} ms that it may (OPERATION_TIMEOUT_MS), and this had not come by then. Ask again later, or for less at once.`;
  ends.abort(new Failure('OPERATION_TIMEOUT', message));
}

/**
 * Bills one operation, up to a limit of requests, retries included.
 * @param purse pays besides, if the operation has a budget
 */
export function payerOf(bill: Bill, limit = Number.POSITIVE_INFINITY, purse?: Purse) {
  let reserved = 0;
  let isClosed = false;
  return {
    /** Closes the bill, since the operation is over and has shown it: from now on nothing is sent at its cost. */
    close(): void {
      isClosed = true;
    },
    reserve(route: string) {
      if (isClosed) throw nobodyWaits();
      if (bill.calls + reserved >= limit) throw tooExpensive(route, limit);
      const putBack = purse?.take();
      reserved += 1;
      return {
        charge() {
          reserved -= 1;
          if (isClosed) {
            putBack?.();
            throw nobodyWaits();
          }
          bill.calls += 1;
          bill.byRoute[route] = (bill.byRoute[route] ?? 0) + 1;
        },
        release() {
          reserved -= 1;
          putBack?.();
        },
      };
    },
  };
}

/**
 * Bills a request that several operations wait for to the first of them that still waits when it leaves and has room
 * for it: an operation that has been answered has shown its bill already.
 * @param waiting the payers that wait at the moment, first come first
 */
export function sharedPayer(waiting: { values(): Iterable<Payer> }): Payer {
  function reserve(route: string): ReturnType<Payer['reserve']> {
    let refusal: unknown;
    for (const payer of waiting.values()) {
      try {
        return payer.reserve(route);
      } catch (error) {
        if (error instanceof Unfunded) throw error;
        refusal = error;
      }
    }
    throw refusal ?? nobodyWaits();
  }

  return {
    reserve(route) {
      const reservation = reserve(route);
      for (const payer of waiting.values()) payer.onLeave?.(route);
      return {
        charge() {
          reservation.release();
          reserve(route).charge();
        },
        release: reservation.release,
      };
    },
  };
}

function nobodyWaits(): DOMException {
  return new DOMException('Nobody waits for this request any more.', 'AbortError');
}

function tooExpensive(route: string, limit: number): Failure {
  return new Failure(
    'OPERATION_TOO_EXPENSIVE',
    `This call would be the first beyond the ${limit} upstream calls that one operation may send (MAX_UPSTREAM_CALLS); it was not sent. Ask for less at once.`,
    { route, planned: limit + 1, limit },
  );
}

type TraceAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/**
 * One span of a trace, as far as stages have to know: if nobody traces there is none, and nothing is loaded for it. No
 * attribute may hold a key, or anything that a caller has sent but the name of an operation.
 */
export interface Trace {
  /** Spans that have begun below this one. */
  readonly begun: number;
  /** Begins a span below this one. */
  begin(name: string, attributes?: TraceAttributes, isCall?: boolean): Trace;
  set(attributes: TraceAttributes): void;
  /** Links the other span to this one: its work is that of the other, too, and each names the other. */
  link(other: Trace): void;
  /** Returns the headers that have another program go on with the trace. */
  headers(): Readonly<Record<string, string>>;
  /** @param fault code of the failure, never a text */
  end(fault?: string): void;
}

/** Begins traces, or goes on with those of the caller. */
export interface Tracer {
  begin(name: string, headers: Readonly<Record<string, string>>): Trace;
  /** Sends the spans that are left. */
  close(): Promise<void>;
}

/** Names the fault of a span: the code of a failure, or the kind of any other error. */
export function faultIn(error: unknown): string {
  if (error instanceof Failure) return error.code;
  return error instanceof Error ? error.name : 'unknown';
}

/** Makes a span for work that is done at once, if somebody traces. */
export function tracing<Result>(trace: Trace | undefined, name: string, work: () => Result): Result {
  if (trace === undefined) return work();
  const span = trace.begin(name);
  try {
    const result = work();
    span.end();
    return result;
  } catch (error) {
    span.end(faultIn(error));
    throw error;
  }
}
