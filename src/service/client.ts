import CachePolicy from 'http-cache-semantics';
import { createObjectMemo, type Lookups, TransientMap } from '../cache/lru.ts';
import type { SharedCounters } from '../cache/store.ts';
import type { OutgoingProxy } from '../config/config.ts';
import { createLedger } from '../keys/ledger.ts';
import { PUBLIC, type Tenant, type Tenants } from '../keys/tenant.ts';
import {
  ALONE,
  type CacheEntry,
  type InFlight,
  NO_TENANT_CACHE,
  type TenantCache,
} from '../keys/tenant-cache.ts';
import type { Clock } from '../shared/async/clock.ts';
import { type PromiseOrValue, untilAborted } from '../shared/async/turns.ts';
import { Failure, type FailureCode } from '../shared/errors.ts';
import { numberOf } from '../shared/exact-json.ts';
import { type Attempt, watchedTransport } from './attempt.ts';
import { billStale } from './bill.ts';
import { PageInstead } from './bodies.ts';
import { type Answer, type Call, type Endpoint, makeCall, type Send } from './call.ts';
import { CallGate } from './gate.ts';
import { createHttp, isForgotten, isUnanswered } from './http.ts';
import { pacedStage } from './pacing.ts';
import { sharedPayer } from './payer.ts';
import { checkRight } from './rights.ts';
import type { Sending } from './sending.ts';
import { tracing } from './trace.ts';

/**
 * Shares calls in flight: equal calls under one key are sent once. The shared call has a signal of its own and is given
 * up only when the last one that waits for it has left. Each request is billed to the first that still waits. Public
 * calls are shared by all.
 */
export function coalesced(next: Send): Send {
  const inFlight = new TransientMap<ReturnType<typeof send>>();

  function send(name: string, call: Call, sending: Sending) {
    const ends = new AbortController();
    /** The payers, one entry for each operation that waits. */
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
    if (known !== undefined) {
      known.waiting.push(sending.payer);
      // It is ahead of whatever the operation sends from now on.
      sending.payer.onLeave?.(call.route);
    }
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

/** Milliseconds of the longest jitter. */
const MAX_DELAY_MS = 2_000;

/** Retries that a first attempt adds to those of all operations together, and the most of them that are saved up. */
const RETRIES_SHARE = 0.1;
const MOST_RETRIES = 10;

/** Seconds that a call may wait because the service has said when it will be back. */
const MAX_AWAY_SECONDS = 5;

/**
 * Tries again after a 5xx or a broken connection, with exponential backoff and full jitter; after nothing else. In the long
 * run a tenth of all calls are tried again, so that a service in trouble isn't asked several times as much. If the service
 * has said when it will be back, no attempt is made before, and none at all if that is too long to wait. A failure that
 * comes out has the number of its attempts.
 *
 * A call that met a connection which had been closed while it lay idle says nothing of the service: it goes out once
 * more at once, over a new one, and that is no retry.
 * @param retries further attempts after the first
 * @param firstDelayMs milliseconds that the first wait takes at the most; each further one takes up to double the last
 */
export function retried(
  next: Send,
  retries: number,
  outage: ReturnType<typeof createOutage>,
  firstDelayMs = 100,
): Send {
  let retriesLeft = MOST_RETRIES;
  return async (call, sending) => {
    let attempts = 0;
    let resent = 0;
    let isAnew = false;
    retriesLeft = Math.min(MOST_RETRIES, retriesLeft + RETRIES_SHARE);
    for (;;) {
      try {
        if (!isAnew) attempts += 1;
        const answer = await next(call, isAnew ? { ...sending, isAnew } : sending);
        outage.note(null, call);
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
        // Tenths don't add up to a whole.
        if (!mayRetry || retriesLeft < 1 - 1e-9) {
          const last = isUnanswered(error) ? error.with({ attempts: attempts + resent }) : error;
          outage.note(last, call);
          throw last;
        }
        retriesLeft -= 1;
        // Jitter on top of the time that the service has named, so that not all calls are back at once.
        const jitterMs = Math.floor(
          Math.random() * Math.min(MAX_DELAY_MS, firstDelayMs * 2 ** (attempts - 1)),
        );
        await new Promise((resolve) => setTimeout(resolve, awaySeconds(error) * 1000 + jitterMs));
      }
    }
  };
}

/** Tells if a failed call may go well soon. */
function isPassing(error: unknown): error is Failure {
  return (
    error instanceof Failure &&
    error.code === 'UPSTREAM_UNAVAILABLE' &&
    !isUnsent(error) &&
    // What stands in the way stays there for longer than a retry waits, and may take retries for an attack.
    !(error.cause instanceof PageInstead) &&
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
 * few failures already, of which one was on its route: another route may be down alone. A caller with none asks all the
 * same, until the circuit of the route is open ({@link CallGate}).
 */
export function createOutage(now: () => number) {
  let failures = 0;
  /** Routes that these failures were on. */
  const routes = new Set<string>();
  let last: Failure | null = null;
  let seenAtMs = 0;

  return {
    /** Notes the outcome of a call, retries and all: null if there was an answer. */
    note(error: unknown, { route }: Call): void {
      if (error === null) {
        failures = 0;
        routes.clear();
        return;
      }
      if (!isUnanswered(error) || isUnsent(error)) return;
      failures += 1;
      routes.add(route);
      last = error;
      seenAtMs = now();
    },
    /** Returns the failure of calls while the service is down; null if it isn't, and for one caller each pause. */
    failure(route: string): Failure | null {
      if (failures < MIN_FAILURES || !routes.has(route)) return null;
      if (now() - seenAtMs < PAUSE_MS) return last;
      seenAtMs = now();
      return null;
    },
  };
}

/**
 * Asks one endpoint; an answer that is held in this process is returned at once.
 * @param maxAgeMs age of the oldest answer that is served without asking, if less than usual
 * @returns its records; null if the service has nothing of the name in the route's path
 * @throws Failure as the rings of the way throw it, or UPSTREAM_INVALID_RESPONSE from the decoder
 */
export type Ask = <Params, Result>(
  endpoint: Endpoint<Params, Result>,
  params: Params,
  sending: Sending,
  maxAgeMs?: number,
) => PromiseOrValue<Result | null>;

/** The cache of answers, and the times for which it serves them. */
export interface ListCache {
  readonly tenantCache: TenantCache;
  readonly freshness: {
    /** Milliseconds without asking again. */
    readonly ttlMs: number;
    /** Milliseconds past that, if the service gives no answer. */
    readonly staleMs: number;
  };
  readonly now: () => number;
  /** The fetches under way of gateways that share the store; left out if nobody shares it. */
  readonly inFlight?: InFlight;
  /** Counts the hits and misses among held entries. */
  readonly lookups?: Lookups | undefined;
}

/** An answer as it lies in the tenant cache; 422, with {@link RefusedArguments}, for any refusal of arguments. */
interface HeldAnswer {
  readonly status: 200 | 404 | 422;
  readonly body: unknown;
  /** Milliseconds for which the service allows it to be served without asking; null if it doesn't say. */
  readonly allowedMs: number | null;
  readonly etag: string | null;
}

/** The service's words on a call that it refused. */
interface RefusedArguments {
  readonly message: string;
  readonly detail: string | null;
}

/** Failures after which an old answer is better than none. After a refusal of the key none is. */
const BETTER_OLD: ReadonlySet<FailureCode> = new Set([
  'RATE_LIMITED',
  'MONTHLY_QUOTA_EXCEEDED',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_INVALID_RESPONSE',
  'UPSTREAM_INCOMPLETE',
  'OPERATION_TIMEOUT',
]);

/** Tells if a held entry may be served, past its time, instead of this failure. */
export function isBetterOld(failure: unknown): failure is Failure {
  return failure instanceof Failure && BETTER_OLD.has(failure.code);
}

/** Decoded records by their answer: operations that share one decode it once. */
const decoded = createObjectMemo<{ readonly atMs: number; readonly records: unknown }>('decoded');

/** Decoded records by their body, if they don't tell when they came: tenants that were sent the same bytes share them. */
const decodedBodies = createObjectMemo<unknown>('decoded body');

/**
 * Answers from the tenant cache if an entry is fresh there, and asks for the rest; only a body that could be decoded is
 * put on it. Entries are fresh for `ttlMs`, and if an endpoint's headers count, for no longer than they allow. An entry
 * with an entity tag is then asked for by it, and a 304 keeps it. If the service gives no answer, an old one is served
 * and billed as such. Refused arguments are an answer like any other: the call is not made again while it is fresh.
 * @param onHeld called with each call that was answered from the tenant cache
 */
export function cached(
  send: Send,
  { tenantCache, freshness, now, inFlight = ALONE, lookups }: ListCache,
  outage: { failure(route: string): Failure | null },
  onHeld?: (call: Call) => void,
): Ask {
  return (endpoint, params, sending, maxAgeMs = Number.POSITIVE_INFINITY) => {
    checkRight(sending.caller, endpoint.tag);
    const call = makeCall(endpoint, params);
    const tenant = call.isPublic ? PUBLIC : sending.caller.tenant;
    const mayBeHeld = endpoint.caching !== 'none';
    const isHeld = mayBeHeld && tenantCache !== NO_TENANT_CACHE;
    const kept = isHeld ? tenantCache : mayBeHeld ? inFlight.cache : null;
    const reading = isHeld ? heldRecords(endpoint, params, call, tenant, tenantCache) : null;
    sending.waits?.store.timing(reading);
    return reading instanceof Promise ? reading.then(serve) : serve(reading);

    function serve(held: HeldRecords<Result> | null): PromiseOrValue<Result | null> {
      if (held === null || !tenantCache.isAccepted(tenant)) return fetch(held);
      const freshMs = freshMsOf(held);
      if (now() - held.atMs >= freshMs) return fetch(held);
      sending.bill.cached += 1;
      if (lookups !== undefined) lookups.hits += 1;
      sending.onHeld?.(held.atMs + freshMs);
      onHeld?.(call);
      return recordsIn(held, call);
    }

    type Result = ReturnType<(typeof endpoint)['decode']>;

    function freshMsOf({ answer }: HeldRecords<Result>): number {
      return Math.min(answer.allowedMs ?? freshness.ttlMs, freshness.ttlMs, maxAgeMs);
    }

    /** Asks, or has the answer from others who share the store and are asking at the moment. */
    function fetch(held: HeldRecords<Result> | null): Promise<Result | null> {
      if (isHeld && lookups !== undefined) lookups.misses += 1;
      const others = mayBeHeld ? inFlight.cache : null;
      return others === null ? fetchOwn(held) : fetchTogether(held, others);
    }

    async function fetchTogether(
      held: HeldRecords<Result> | null,
      others: TenantCache,
    ): Promise<Result | null> {
      sending.deadline?.start();
      const startedAtMs = now();
      let records: Result | null = null;
      const together = inFlight.together({
        group: tenant.digest,
        names: [nameOf(call)],
        signal: sending.signal,
        async fetch() {
          records = await fetchOwn(held);
        },
        async takeOver(names) {
          const found = await heldRecords(endpoint, params, call, tenant, others);
          if (found === null || !others.isAccepted(tenant)) return names;
          const freshMs = isHeld ? freshMsOf(found) : 0;
          if (found.atMs < startedAtMs && now() - found.atMs >= freshMs) return names;
          sending.bill.shared += 1;
          sending.onFetched?.(freshMs > 0 ? found.atMs + freshMs : 0);
          records = recordsIn(found, call);
          return [];
        },
      });
      sending.waits?.service.timing(together);
      try {
        await together;
        return records;
      } catch (error) {
        if (!sending.signal.aborted) throw error;
        // Nothing is sent any more, but an old answer may be served.
        return fetchOwn(held);
      }
    }

    async function fetchOwn(held: HeldRecords<Result> | null): Promise<Result | null> {
      const usableMs = Math.min(freshness.ttlMs + freshness.staleMs, maxAgeMs);
      const isUsable = () =>
        held !== null &&
        held.answer.status !== 422 &&
        now() - held.atMs <= usableMs &&
        tenantCache.refusal(tenant) === null;
      try {
        const down = isUsable() ? outage.failure(call.route) : null;
        if (down !== null) throw down.with({ route: call.route, attempts: 0 });
        const sent = send(call, conditional(sending, held?.answer));
        sending.waits?.service.timing(sent);
        const answer = await sent;
        const fresh = answer.status === 304 && held !== null ? held.answer : heldOf(endpoint, answer);
        const read = answer.status === 304 ? fresh : answer;
        const records = tracing(sending.trace, 'decode', () =>
          recordsOf(endpoint, params, read, answer.receivedAt),
        );
        decoded.put(fresh, { atMs: answer.receivedAt, records });
        const allowedMs = kept !== null && endpoint.caching === 'http' ? allowanceOf(answer, fresh) : null;
        const isKept = isHeld && allowedMs !== 'no-store';
        const freshMs = isKept ? Math.min(allowedMs ?? freshness.ttlMs, freshness.ttlMs, maxAgeMs) : 0;
        sending.onFetched?.(freshMs > 0 ? answer.receivedAt + freshMs : 0);
        if (kept !== null && allowedMs !== 'no-store') {
          kept.keep(tenant, new Map([[nameOf(call), { ...fresh, allowedMs }]]), answer.receivedAt);
        }
        return records;
      } catch (error) {
        const refused = held === null || held.answer.status === 422 ? refusedAnswer(error, call) : null;
        if (refused !== null) kept?.keep(tenant, new Map([[nameOf(call), refused]]), now());
        if (held === null || !isUsable() || !isBetterOld(error)) throw error;
        billStale(sending.bill, call.route, error, held.atMs, now());
        sending.onStale?.(held.records, error.code);
        return held.records;
      }
    }
  };
}

/** @throws Failure if the service refused the arguments */
function recordsIn<Result>({ records, answer }: HeldRecords<Result>, call: Call): Result | null {
  if (answer.status === 422) throw refusalOf(answer, call);
  return records;
}

/** Makes the entry of a call that was refused for its arguments; null for any other failure, and a call without any. */
function refusedAnswer(error: unknown, { target, route }: Call): HeldAnswer | null {
  if (!(error instanceof Failure) || error.code !== 'BAD_USER_INPUT' || target === route) return null;
  const body: RefusedArguments = { message: error.message, detail: error.fields.detail ?? null };
  return { status: 422, body, allowedMs: null, etag: null };
}

function refusalOf({ body }: HeldAnswer, { route }: Call): Failure {
  const { message, detail } = body as RefusedArguments;
  return new Failure('BAD_USER_INPUT', message, { route, detail: detail ?? undefined });
}

/** Records that are held of an answer, fresh or not. */
interface HeldRecords<Result> {
  readonly records: Result | null;
  readonly atMs: number;
  readonly answer: HeldAnswer;
}

/** Reads the records that are held of an answer; null if there are none, or none that can be read. */
export function heldRecords<Params, Result>(
  endpoint: Endpoint<Params, Result>,
  params: Params,
  call: Call,
  tenant: Tenant,
  tenantCache: TenantCache,
): PromiseOrValue<HeldRecords<Result> | null> {
  const decodedIn = (held: CacheEntry<HeldAnswer> | undefined): HeldRecords<Result> | null => {
    if (held === undefined || !isAnswer(held.value)) return null;
    const { value: answer, atMs } = held;
    try {
      const records = answer.status === 422 ? null : recordsOf(endpoint, params, answer, atMs);
      return { records, atMs, answer };
    } catch {
      return null;
    }
  };
  const held = tenantCache.readOne<HeldAnswer>(tenant, nameOf(call));
  return held instanceof Promise ? held.then(decodedIn) : decodedIn(held);
}

function isAnswer(value: HeldAnswer): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { status, allowedMs, etag } = value;
  const isFit = (part: unknown, type: string) => part === null || typeof part === type;
  if (status === 422) return isRefusal(value.body);
  return (status === 200 || status === 404) && isFit(allowedMs, 'number') && isFit(etag, 'string');
}

function isRefusal(body: unknown): body is RefusedArguments {
  if (typeof body !== 'object' || body === null || !('message' in body && 'detail' in body)) return false;
  return typeof body.message === 'string' && (body.detail === null || typeof body.detail === 'string');
}

/** Names the entry of a call's answer. */
function nameOf(call: Call): string {
  return `answer ${call.target}`;
}

function recordsOf<Params, Result>(
  endpoint: Endpoint<Params, Result>,
  params: Params,
  answer: Pick<Answer, 'body' | 'stray'> & { readonly status: number },
  atMs: number,
): Result | null {
  if (answer.status === 404) {
    if (answer.stray !== undefined) throw answer.stray;
    // 404s that say that an optional route is absent don't come so far.
    if (endpoint.route.includes('{') || endpoint.isOptional) return null;
    throw new Failure('UPSTREAM_INVALID_RESPONSE', 'The service does not have this route.', {
      route: endpoint.route,
    });
  }
  const known = decoded.of(answer);
  if (known?.atMs === atMs) return known.records as Result;
  const records = decodedBody(endpoint, params, answer.body, atMs);
  decoded.put(answer, { atMs, records });
  return records;
}

function decodedBody<Params, Result>(
  endpoint: Endpoint<Params, Result>,
  params: Params,
  body: unknown,
  atMs: number,
): Result {
  if (endpoint.isDated || typeof body !== 'object' || body === null)
    return endpoint.decode(body, params, atMs);
  const known = decodedBodies.of(body) as Result | undefined;
  const records = known ?? endpoint.decode(body, params, atMs);
  if (known === undefined) decodedBodies.put(body, records);
  return records;
}

function conditional(sending: Sending, held: HeldAnswer | undefined): Sending {
  const etag = held?.etag ?? null;
  return etag === null ? sending : { ...sending, headers: { ...sending.headers, 'if-none-match': etag } };
}

function heldOf({ caching }: Endpoint<never>, { status, body, headers }: Answer): HeldAnswer {
  const etag = caching === 'http' ? (headers.etag ?? null) : null;
  return { status: status === 404 ? 404 : 200, body, allowedMs: null, etag };
}

/**
 * Counts the milliseconds for which the headers of an answer allow it to be served without asking; null if they don't
 * say. A 304 says it anew, or leaves it as it was. This is a cache of one key, so `private` and `Authorization` are no
 * hindrance.
 */
function allowanceOf({ status, headers }: Answer, { allowedMs }: HeldAnswer): number | null | 'no-store' {
  const policy = new CachePolicy({ headers: {} }, { status: 200, headers }, { shared: false });
  if (!policy.storable()) return 'no-store';
  if (/max-age|no-cache/i.test(headers['cache-control'] ?? '') || headers.expires !== undefined) {
    return Math.max(0, policy.maxAge() - (numberOf(headers.age ?? '') ?? 0)) * 1000;
  }
  return status === 304 ? allowedMs : null;
}

interface UpstreamParts {
  /** Base address of the service, without a trailing slash. */
  readonly baseUrl: string;
  /** One attempt, headers and body, in milliseconds. */
  readonly timeoutMs: number;
  readonly proxy?: OutgoingProxy;
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
  /** Stages around each call, the outermost first. */
  readonly stages?: readonly ((next: Send) => Send)[];
  /** Hear of each request. */
  readonly watchers?: Parameters<typeof watchedTransport>[1];
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
  const { baseUrl, timeoutMs, proxy = null } = parts;
  const http = createHttp({ baseUrl, timeoutMs, now: clock.now, steadyNow, proxy });
  const outage = createOutage(elapsed);
  const verdicts = parts.inFlight.cache ?? parts.tenantCache;
  const gate = new CallGate(parts.tenants, verdicts, elapsed, clock.now);
  const transport = watchedTransport(gate.hearing(http.transport), parts.watchers ?? []);
  const paced = pacedStage(transport, ledger, clock, parts.onAttempt, parts.onMinuteWait);
  const patient = retried(gate.stopping(paced), parts.retries, outage);
  const staged = (parts.stages ?? []).reduceRight((next, stage) => stage(next), patient);
  const send = coalesced(staged);
  const ask = cached(parts.remembering(send), { ...parts, now: steadyNow }, outage);

  return { ask, send, ledger, gate, outage, close: http.close };
}
