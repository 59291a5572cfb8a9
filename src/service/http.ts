import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import { type Dispatcher, errors } from 'undici';
import type { OutgoingProxy } from '../config/config.ts';
import { type Clock, systemClock } from '../shared/async/clock.ts';
import { asError, Failure } from '../shared/errors.ts';
import { isObject, type JsonObject } from '../shared/exact-json.ts';
import type { Leaving, Transport } from './attempt.ts';
import { read, textOf, Unreadable, unspecified, wholeBody } from './bodies.ts';
import { type Answer, type Call, isElsewhere } from './call.ts';
import { openConnections } from './connections.ts';
import { withoutEchoedKey } from './echoed-keys.ts';
import { health } from './endpoints.ts';
import { Broken, exchange, Forgotten, Late, type Received } from './exchange.ts';
import { Lasting, lastingReason } from './lasting-failures.ts';
import type { Read } from './repeated-rows.ts';
import type { Sending } from './sending.ts';
import { ENCODINGS } from './unpacking.ts';

/** A full data call of 1,000 rows has half a megabyte. */
const MAX_CACHED_BODY_BYTES = 1024 * 1024;

const OUR_HEADERS = {
  accept: 'application/json',
  'accept-encoding': ENCODINGS,
  'user-agent': 'country-graph',
};

export interface BodyOptions {
  /** Bound of the cached bodies, in bytes as they came. */
  readonly cachedBytes: number;
  /** True if a caller may be answered under a key that isn't the caller's own. */
  readonly issuesKeys: boolean;
}

export interface HttpOptions {
  /** Base address of the service, without a trailing slash. */
  readonly baseUrl: string;
  /** One attempt, headers and body, in milliseconds. */
  readonly timeoutMs: number;
  readonly clock?: Pick<Clock, 'now' | 'after'>;
  /** The clock that tells when an answer came; see `createSteadyClock`. */
  readonly steadyNow?: () => number;
  readonly bodies: BodyOptions;
  /** Proxies to the service; https always goes through a tunnel. */
  readonly proxy?: OutgoingProxy;
}

/**
 * Opens the innermost stage: it sends one request over kept-alive connections and reads the status before the body.
 * Answers with 200, 304 and 404 are answers. Others become a Failure: UNAUTHENTICATED (401), FORBIDDEN (403),
 * RATE_LIMITED (429, as yet without plan and time), BAD_USER_INPUT (400, 422), UPSTREAM_UNAVAILABLE (5xx, broken
 * connection, a 4xx that is not in the service's own words), UPSTREAM_TIMEOUT, UPSTREAM_INVALID_RESPONSE (anything else;
 * redirects are not followed, since the caller's key goes to no other address).
 */
export function createHttp(options: HttpOptions) {
  const { baseUrl, timeoutMs, clock: { now, after } = systemClock, steadyNow = now, proxy = null } = options;
  const { cachedBytes, issuesKeys } = options.bodies;
  const connections = openConnections(proxy, timeoutMs);
  const { origin, pathname } = new URL(baseUrl);
  const prefix = pathname === '/' ? '' : pathname;
  /**
   * The last body of each target, as bytes and parsed. The service mostly sends the same bytes to everyone who asks for the
   * same thing; those are not parsed again, and the parsed rows are shared. This shares work, not data: a caller only
   * gets what the service has just sent under its own key. Cached bytes are copies, so that they pin no socket buffers.
   */
  const bodies = new LRUCache<string, Read>({
    maxSize: cachedBytes,
    maxEntrySize: MAX_CACHED_BODY_BYTES,
    sizeCalculation: ({ bytes }, target) => bytes.length + target.length,
  });

  function addressOf(call: Call) {
    if (!isElsewhere(call)) return { origin, path: prefix + call.target };
    const other = new URL(call.target);
    return { origin: other.origin, path: other.pathname + other.search };
  }

  /** Sends one request; one that could not be written at all is sent again, over a new connection. */
  async function exchanged(call: Call, sending: Sending, { charge, isAnew }: Leaving): Promise<Received> {
    const { signal } = sending;
    const { authorization } = sending.caller;
    const key = call.isPublic || authorization === null ? {} : { authorization };
    const headers = { ...OUR_HEADERS, ...key, ...call.headers };
    const request = { ...addressOf(call), headers, timeoutMs, after, signal };
    const over: Dispatcher = isAnew ? connections.anew : connections.persistent;
    try {
      return await exchange(over, { ...request, onLeaving: charge });
    } catch (error) {
      if (!(error instanceof Forgotten)) throw error;
      connections.closeIdle(error.connection);
      if (error.mayHaveArrived) throw error;
      return exchange(connections.anew, { ...request, onLeaving: undefined });
    }
  }

  async function answerOf(call: Call, sending: Sending, received: Received): Promise<Answer> {
    const { status, headers, chunks } = received;
    const bytes = await wholeBody(chunks, sending.caller);
    if (status === 200) {
      const last = bodies.get(call.target);
      const mayRepeatKey = issuesKeys && !call.isPublic;
      const shown = mayRepeatKey ? withoutEchoedKey(bytes, sending.caller.authorization) : bytes;
      const result = await read(shown, sending.caller, last, call.mostRows);
      if (result !== last && call.route !== health.route && mayBeFailure(result.body)) {
        const failure = (await failedAnswers()).failureInBody(result.body, call, sending);
        if (failure !== null) throw failure;
      }
      if (result !== last) bodies.set(call.target, result);
      return { status, headers: plain(headers), body: result.body, receivedAt: steadyNow() };
    }
    if (status === 304) return { status, headers: plain(headers), body: undefined, receivedAt: steadyNow() };
    const { notFound, refused } = await failedAnswers();
    const text = textOf(bytes);
    if (status !== 404)
      throw refused({ status, text, retryAfter: headers['retry-after'] }, call, sending, now());
    return { status, headers: plain(headers), ...notFound(text, call, sending), receivedAt: steadyNow() };
  }

  /** Makes an attempt, and reports whether its request left, which alone decides if it is billed. */
  const transport: Transport = async (call, sending, leaving) => {
    let left = false;
    let status: number | undefined;
    const charge = () => {
      leaving.charge();
      left = true;
    };
    try {
      sending.signal.throwIfAborted();
      const received = await exchanged(call, sending, { ...leaving, charge });
      status = received.status;
      return { left, status, answer: await answerOf(call, sending, received) };
    } catch (error) {
      return { left, status, error: failureIn(error, call) };
    }
  };

  return { transport, close: connections.close };
}

/** Loaded by the first answer that is none. */
const failedAnswers = () => import('./failed-answers.ts');

/** Members of a list's `meta` that may report a failure. */
const FAILURE_MEMBER = /^(?:error|exception|success$|ok$)/;

/** True if the body of a 200 may report a failure: any object may, unless it holds just a list and its counts. */
function mayBeFailure(body: unknown): body is JsonObject {
  if (!isObject(body)) return false;
  const { data, meta = null, ...rest } = body;
  const isList = Array.isArray(data) && Object.keys(rest).length === 0;
  return !isList || (isObject(meta) && Object.keys(meta).some((name) => FAILURE_MEMBER.test(name)));
}

/** Turns an error of the transport into a Failure; any other error stays as it is. */
function failureIn(error: unknown, call: Call): unknown {
  const { route } = call;
  if (error instanceof Late)
    return new Failure('UPSTREAM_TIMEOUT', 'The service gave no full answer in time.', { route });
  if (error instanceof Unreadable) return unspecified(call, error.message, error);
  if (!(error instanceof Broken)) return error;
  const cause = error instanceof Forgotten ? error : error.cause;
  if (cause instanceof errors.ResponseExceededMaxSizeError)
    return unspecified(call, 'the body is too large', cause);
  const reason = lastingReason(asError(cause, 'The connection broke.'));
  if (reason === null)
    return new Failure('UPSTREAM_UNAVAILABLE', 'The connection to the service broke.', { route }, { cause });
  const words = `The service can't be reached. ${reason}.`;
  const lasting = new Lasting(words, { cause });
  return new Failure('UPSTREAM_UNAVAILABLE', words, { route, retryable: false }, { cause: lasting });
}

/** Joins repeated headers: one value per name. */
function plain(headers: IncomingHttpHeaders): Answer['headers'] {
  for (const name in headers) if (typeof headers[name] !== 'string') return joined(headers);
  return headers as Answer['headers'];
}

function joined(headers: IncomingHttpHeaders): Answer['headers'] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value = '']) => [name, [value].flat().join(', ')]),
  );
}

/** True if a call failed because its idle connection had been closed, which says nothing about the service. */
export function isForgotten(error: unknown): boolean {
  return error instanceof Failure && error.cause instanceof Forgotten;
}

/** True if the service gave no answer of its own. */
export function isUnanswered(error: unknown): error is Failure {
  return (
    error instanceof Failure && (error.code === 'UPSTREAM_UNAVAILABLE' || error.code === 'UPSTREAM_TIMEOUT')
  );
}
