import type { Clock } from '../async/clock.ts';
import { untilAborted } from '../async/turns.ts';
import { Failure } from '../errors.ts';
import { type Lookups, TransientMap } from '../store/lru.ts';
import type { SharedCounters } from '../store/store.ts';
import { createLedger } from '../tenants/ledger.ts';
import type { Tenants } from '../tenants/tenant.ts';
import type { InFlight, TenantCache } from '../tenants/tenant-cache.ts';
import type { Trace } from './call.ts';
import {
  type Answer,
  type Attempt,
  type Call,
  faultIn,
  type Payer,
  type Send,
  type Sending,
  sharedPayer,
} from './call.ts';
import { CallGate, rateLimited } from './gate.ts';
import { createHttp, isForgotten, isUnanswered } from './http.ts';
import { cached, type ListCache } from './lists.ts';

/** A call under way that several operations may wait for. */
interface SharedCall {
  readonly answer: Promise<Answer>;
  readonly ends: AbortController;
  /** The payers, one entry for each operation that waits. */
  readonly waiting: Payer[];
}

/**
 * Shares calls in flight: equal calls under one key are sent once. The shared call has a signal of its own and is given
 * up only when the last one that waits for it has left. Each request is billed to the first that still waits. Public
 * calls are shared by all.
 */
export function coalesced(next: Send): Send {
  const inFlight = new TransientMap<SharedCall>();

  function send(name: string, call: Call, sending: Sending): SharedCall {
    const ends = new AbortController();
    const waiting = [sending.payer];
    const payer = sharedPayer(waiting);
    const shared = { answer: next(call, { ...sending, payer, signal: ends.signal }), ends, waiting };
    inFlight.set(name, shared);
    return shared;
  }

  return (call, sending) => {
    sending.deadline?.start();
    // An operation that has been given up sends nothing more.
    if (sending.signal.aborted) return Promise.reject(sending.signal.reason);
    const whose = call.isPublic ? '' : sending.caller.tenant.digest;
    const name = `${whose} ${call.target} ${JSON.stringify(sending.headers ?? null)}`;
    const known = inFlight.get(name);
    known?.waiting.push(sending.payer);
    const shared = known ?? send(name, call, sending);
    return untilAborted(shared.answer, sending.signal, (end) => {
      shared.waiting.splice(shared.waiting.indexOf(sending.payer), 1);
      if (end === 'fulfilled' && known !== undefined) sending.bill.shared += 1;
      const isGivenUp = end === 'aborted' && shared.waiting.length === 0;
      const isOver = end !== 'aborted' || isGivenUp;
      if (isOver && inFlight.get(name) === shared) inFlight.delete(name);
      if (isGivenUp) shared.ends.abort();
    });
  };
}

/** Milliseconds that any wait takes at the most. */
const MAX_DELAY_MS = 2_000;

/** Seconds that a call may wait because the service has said when it will be back. */
const MAX_AWAY_SECONDS = 5;

/**
 * Tries again after a 5xx or a broken connection, with exponential backoff and full jitter; after nothing else, and as
 * long as the budget of all calls has room. If the service has said when it will be back, no attempt is made before,
 * and none at all if that is too long to wait. A failure that comes out has the number of its attempts.
 *
 * A call that met a connection which had been closed while it lay idle says nothing of the service: it goes out once
 * more at once, over a new one, and that is no retry.
 * @param retries further attempts after the first
 * @param firstDelayMs milliseconds that the first wait takes at the most; each further one takes up to double the last
 */
export function retried(
  next: Send,
  retries: number,
  budget: ReturnType<typeof createRetryBudget>,
  outage: ReturnType<typeof createOutage>,
  firstDelayMs = 100,
): Send {
  return async (call, sending) => {
    let attempts = 0;
    let resent = 0;
    let isAnew = false;
    budget.add();
    for (;;) {
      try {
        if (!isAnew) attempts += 1;
        const answer = await next(call, isAnew ? { ...sending, isAnew } : sending);
        outage.note(null);
        return answer;
      } catch (error) {
        const isGivenUp = sending.signal.aborted;
        isAnew = resent === 0 && !isGivenUp && isForgotten(error);
        if (isAnew) {
          resent += 1;
          // One turn later, since the duty of this call to find out is left to others by then, itself included.
          await null;
          continue;
        }
        if (isUnsent(error)) attempts -= 1;
        const mayRetry = attempts <= retries && !isGivenUp && isPassing(error);
        if (!mayRetry || !budget.take()) {
          const last = told(error, attempts + resent);
          outage.note(last);
          throw last;
        }
        // Jitter on top of the time that the service has named, so that not all calls are back at once.
        const jitterMs = Math.floor(
          Math.random() * Math.min(MAX_DELAY_MS, firstDelayMs * 2 ** (attempts - 1)),
        );
        await new Promise((resolve) => setTimeout(resolve, awaySeconds(error) * 1000 + jitterMs));
      }
    }
  };
}

/** Adds the number of attempts to a failure, if the service has not answered any. */
function told(error: unknown, attempts: number): unknown {
  return isUnanswered(error) ? error.with({ attempts }) : error;
}

/** Tells if a failed call may go well soon. */
function isPassing(error: unknown): error is Failure {
  return (
    error instanceof Failure &&
    error.code === 'UPSTREAM_UNAVAILABLE' &&
    !isUnsent(error) &&
    awaySeconds(error) <= MAX_AWAY_SECONDS
  );
}

/** Tells if a call failed without a request, because the service is known to be down. */
function isUnsent(error: unknown): boolean {
  return error instanceof Failure && error.fields.attempts === 0;
}

function awaySeconds({ fields }: Failure): number {
  return fields.retryAfterSeconds ?? 0;
}

/** Calls in a row that must fail before the service is taken to be down. */
const MIN_FAILURES = 3;

/** Milliseconds for which no caller with an old answer at hand asks a service that is down. */
const PAUSE_MS = 5_000;

/**
 * Tells if the service is down. A caller with an old answer at hand need not wait for a timeout to serve it, after a
 * few failures already. A caller with none asks all the same, until the circuit of the route is open ({@link CallGate}).
 */
export function createOutage(now: () => number) {
  let failures = 0;
  let last: Failure | null = null;
  let seenAtMs = 0;

  return {
    /** Notes the outcome of a call, retries and all: null if there was an answer. */
    note(error: unknown): void {
      if (error === null) {
        failures = 0;
        return;
      }
      if (!isUnanswered(error) || isUnsent(error)) return;
      failures += 1;
      last = error;
      seenAtMs = now();
    },
    /**
     * Returns the failure of calls while the service is down; null if it isn't, and for one caller each pause, so that it
     * looks.
     */
    failure(): Failure | null {
      if (failures < MIN_FAILURES) return null;
      if (now() - seenAtMs < PAUSE_MS) return last;
      seenAtMs = now();
      return null;
    },
  };
}

/** Retries that a first attempt adds to the budget. */
const SHARE = 0.1;

/** Retries that may be saved up; a gateway begins with as many. */
const MOST = 10;

/**
 * Bounds the retries of all operations together: in the long run they are a tenth of the calls, so that a service in
 * trouble isn't asked several times as much as when it is well.
 */
export function createRetryBudget(share = SHARE, most = MOST) {
  let left = most;
  return {
    /** Notes that a call is about to be attempted for the first time. */
    add(): void {
      left = Math.min(most, left + share);
    },
    /** Spends a retry. Returns false if none is left. */
    take(): boolean {
      // Tenths don't add up to a whole.
      if (left < 1 - 1e-9) return false;
      left -= 1;
      return true;
    },
  };
}

/** Makes a span for each call with all its attempts and waits; around the ring that tries again. */
function tracedCalls(next: Send): Send {
  return (call, sending) => {
    const trace = sending.trace?.begin('upstream call', { 'url.template': call.route });
    return trace === undefined ? next(call, sending) : ended(trace, next(call, { ...sending, trace }));
  };
}

/** Makes a span for each request that is sent, which the service is told of; within the ring that bills them. */
function tracedAttempts(next: Send): Send {
  return (call, sending) => {
    const { trace: parent } = sending;
    if (parent === undefined) return next(call, sending);
    const attempt = parent.begun;
    const trace = parent.begin(
      `GET ${call.route}`,
      {
        'http.request.method': 'GET',
        'url.template': call.route,
        ...(attempt > 0 ? { 'http.request.resend_count': attempt } : {}),
      },
      true,
    );
    const headers = { ...sending.headers, ...trace.headers() };
    const onStatus = (status: number) => trace.set({ 'http.response.status_code': status });
    return ended(trace, next(call, { ...sending, trace, headers, onStatus }));
  };
}

async function ended<Result>(trace: Trace, work: Promise<Result>): Promise<Result> {
  try {
    const result = await work;
    trace.end();
    return result;
  } catch (error) {
    trace.end(faultIn(error));
    throw error;
  }
}

/** All that the way to the service is made of. */
interface UpstreamParts {
  /** Base address of the service, without a trailing slash. */
  readonly baseUrl: string;
  /** One attempt, headers and body, in milliseconds. */
  readonly timeoutMs: number;
  /** Further attempts after the first. */
  readonly retries: number;
  readonly clock: Clock;
  /** The clock by which ages are told; see `steadied`. */
  readonly steadyNow?: () => number;
  /** Milliseconds since any instant, by a clock that nobody can set: the one of pauses. */
  readonly elapsed?: () => number;
  readonly tenantCache: TenantCache;
  readonly tenants: Tenants;
  /** Counts of the calls of all gateways that share a store; null if this one is alone. */
  readonly sharedCounters: SharedCounters | null;
  /** The fetches under way of gateways that share the store. */
  readonly inFlight: InFlight;
  readonly freshness: ListCache['freshness'];
  /** Sees the answers of lists and records go by. */
  readonly remembering: (next: Send) => Send;
  readonly onAttempt: (attempt: Attempt) => void;
  /** Called with the milliseconds that a call has waited for a minute window. */
  readonly onMinuteWait?: ((waitedMs: number) => void) | undefined;
  /** True if somebody traces: else nothing is done for it. */
  readonly isTraced?: boolean;
  /** Routes that the service may lack; left out if all are specified. */
  readonly optionalRoutes?: ReadonlySet<string>;
  /** Counts the hits and misses of lists and other answers among held entries. */
  readonly lookups?: Lookups;
}

/**
 * Puts the rings together. Their order is policy. A held answer costs nothing (outermost), and a call in flight is
 * shared. A retry is patient. Nothing is sent under a key that was just refused or to a route that is down. Every
 * attempt is billed, since the service counts attempts, and each tells if the key is good.
 */
export function createUpstream(parts: UpstreamParts) {
  const { clock, steadyNow = clock.now, elapsed = steadyNow } = parts;
  const ledger = createLedger(clock.now, parts.sharedCounters);
  const http = createHttp(parts.baseUrl, parts.timeoutMs, clock.now, steadyNow);
  const outage = createOutage(elapsed);
  const verdicts = parts.inFlight.cache ?? parts.tenantCache;
  const gate = new CallGate(parts.tenants, verdicts, elapsed, clock.now);
  const heard = gate.hearing(http.send);
  const paced = rateLimited(
    parts.isTraced ? tracedAttempts(heard) : heard,
    ledger,
    clock,
    parts.onAttempt,
    parts.onMinuteWait,
  );
  const patient = retried(gate.stopping(paced), parts.retries, createRetryBudget(), outage);
  const watched = parts.isTraced ? tracedCalls(patient) : patient;
  const routes = parts.optionalRoutes ?? new Set();
  const looking =
    routes.size === 0
      ? null
      : import('../wings/absent-routes.ts').then((wing) => wing.absentRoutes(watched, routes, elapsed));
  const there: Send = async (call, sending) =>
    ((routes.has(call.route) && (await looking)) || watched)(call, sending);
  const send = coalesced(looking === null ? watched : there);
  const ask = cached(parts.remembering(send), { ...parts, now: steadyNow }, outage);

  return { ask, send, ledger, gate, outage, close: http.close };
}
