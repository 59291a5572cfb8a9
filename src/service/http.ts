import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import { type Dispatcher, errors } from 'undici';
import { Failure, type FailureFields } from '../errors.ts';
import { numberOf } from '../exact-json.ts';
import { isDeep } from '../nesting.ts';
import { isAboutLimit } from '../tenants/ledger.ts';
import { httpDateIn } from '../times.ts';
import type { Answer, Call, Send, Sending } from './call.ts';
import { health } from './endpoints.ts';
import {
  ACCEPTED_ENCODINGS,
  Broken,
  exchange,
  Forgotten,
  Late,
  openConnections,
  type Received,
  Unreadable,
} from './exchange.ts';
import { toldFailure, wordsOf } from './failures.ts';
import { type Read, read, readText } from './json.ts';

/** Bytes of answers that are remembered, and of one of them: a full data call of 1,000 rows has half a megabyte. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * The last answers of the service by target, as bytes and as read. It mostly sends the same bytes to all that ask for
 * the same thing, or the same rows: then they are not read again, and what was parsed is shared. Nobody is given
 * anything here that the service has not just sent under their own key. Bytes that are kept stand alone in their memory.
 */
type LastBodies = LRUCache<string, Read>;

function createLastBodies(): LastBodies {
  return new LRUCache({
    maxSize: MAX_KEPT_BYTES,
    maxEntrySize: MAX_BODY_BYTES,
    sizeCalculation: ({ bytes }, target) => bytes.length + target.length,
  });
}

/** Bytes beyond which a body is not read: a full data call of 1,000 rows has well under 1 MiB. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** Characters of an error's body that are read, and of its words that are kept. */
const MAX_ERROR_LENGTH = 1_000_000;
const MAX_WORDS = 20_000;

/** Bytes of a body, and of that of an error, that are taken in. */
const MAX_BYTES = { body: MAX_RESPONSE_BYTES, error: 4 * MAX_ERROR_LENGTH };

const OUR_HEADERS = {
  accept: 'application/json',
  'accept-encoding': ACCEPTED_ENCODINGS,
  'user-agent': 'country-graph',
};

/** The longest time that a service is believed to be away, in seconds. */
const MAX_AWAY_SECONDS = 3_600;

/**
 * Opens the innermost ring: it sends one request over kept-alive connections and reads the status before the body.
 *
 * Answers with 200, 304 and 404 are answers. Others become a Failure: UNAUTHENTICATED (401), FORBIDDEN (403),
 * RATE_LIMITED (429, as yet without plan and time), BAD_USER_INPUT (400, 422), UPSTREAM_UNAVAILABLE (5xx, broken
 * connection), UPSTREAM_TIMEOUT, UPSTREAM_INVALID_RESPONSE (anything else; redirects are not followed, since the
 * caller's key goes to no other address).
 *
 * @param steadyNow the clock that tells when an answer came; see `steadied`
 */
export function createHttp(
  baseUrl: string,
  timeoutMs: number,
  now: () => number,
  steadyNow = now,
): { send: Send; close: () => Promise<void> } {
  const connections = openConnections(MAX_RESPONSE_BYTES);
  const { origin, pathname } = new URL(baseUrl);
  const prefix = pathname === '/' ? '' : pathname;
  const bodies = createLastBodies();

  function requestFor({ target, isPublic }: Call, { caller, headers }: Sending) {
    const key = isPublic || caller.authorization === null ? {} : { authorization: caller.authorization };
    return {
      origin,
      path: prefix + target,
      headers: { ...OUR_HEADERS, ...key, ...headers },
      timeoutMs,
      maxBytes: MAX_BYTES,
    };
  }

  /** Sends one request. A request that could not be written at all goes out once more, as if it had not been sent. */
  async function exchanged(call: Call, sending: Sending): Promise<Received> {
    const { signal, onLeaving, isAnew } = sending;
    const request = { ...requestFor(call, sending), signal };
    const over: Dispatcher = isAnew ? connections.anew : connections.kept;
    try {
      return await exchange(over, { ...request, onLeaving });
    } catch (error) {
      if (!(error instanceof Forgotten)) throw error;
      connections.closeIdle(error.connection);
      if (error.mayHaveArrived) throw error;
      return exchange(connections.anew, { ...request, onLeaving: undefined });
    }
  }

  async function answered(call: Call, sending: Sending): Promise<Answer> {
    const { status, headers, body } = await exchanged(call, sending);
    sending.onStatus?.(status);
    if (status === 200) {
      const last = bodies.get(call.target);
      const found = await read(body, sending.caller, last);
      const told = found === last || call.route === health.route ? null : toldFailure(found.body);
      if (told !== null) throw failureTold(told.words?.slice(0, MAX_WORDS), call);
      if (found !== last) bodies.set(call.target, found);
      return { status, headers: plain(headers), body: found.body, receivedAt: steadyNow() };
    }
    const text = await readText(body, sending.caller);
    if (status === 404 || status === 304) {
      const words = status === 404 ? wordsIn(text) : undefined;
      return { status, headers: plain(headers), body: words, receivedAt: steadyNow() };
    }
    const isAway = status === 503;
    throw failureOf(status, text, call).with(isAway ? awayUntil(headers['retry-after'], now()) : {});
  }

  const send: Send = async (call, sending) => {
    sending.signal.throwIfAborted();
    try {
      return await answered(call, sending);
    } catch (error) {
      throw failureIn(error, call);
    }
  };

  return { send, close: connections.close };
}

/** Words the failure of a request. An error that is no failure of the service stays as it is. */
function failureIn(error: unknown, call: Call): unknown {
  if (error instanceof Late) {
    return new Failure('UPSTREAM_TIMEOUT', 'The service gave no full answer in time.', {
      route: call.route,
    });
  }
  if (error instanceof Unreadable) return invalid(call, error.message, error);
  if (!(error instanceof Broken)) return error;
  const cause = error instanceof Forgotten ? error : error.cause;
  if (cause instanceof errors.ResponseExceededMaxSizeError)
    return invalid(call, 'the body is too large', cause);
  return new Failure(
    'UPSTREAM_UNAVAILABLE',
    'The connection to the service broke.',
    { route: call.route },
    { cause },
  );
}

/** Makes headers as an answer has them: one value a name. */
function plain(headers: IncomingHttpHeaders): Answer['headers'] {
  for (const name in headers) {
    if (typeof headers[name] !== 'string') return joined(headers);
  }
  return headers as Answer['headers'];
}

function joined(headers: IncomingHttpHeaders): Answer['headers'] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value = '']) => [name, [value].flat().join(', ')]),
  );
}

function invalid(call: Call, detail: string, cause?: unknown): Failure {
  return new Failure(
    'UPSTREAM_INVALID_RESPONSE',
    'The service sent an answer that breaks its specification.',
    { route: call.route, detail },
    { cause },
  );
}

function failureOf(status: number, text: string, call: Call): Failure {
  const fields = { route: call.route, detail: detailIn(text) };
  switch (status) {
    case 401:
      return new Failure('UNAUTHENTICATED', 'The service does not accept this key.', fields);
    case 403:
      return new Failure('FORBIDDEN', 'The service does not permit this key to do this.', fields);
    case 429:
      return new Failure('RATE_LIMITED', 'The service takes no more requests for now.', fields);
    case 400:
    case 422:
      // A proxy between the service and us refuses in its own words.
      if (isHtml(text)) return invalid(call, `a page in place of JSON, with status ${status}`);
      return new Failure('BAD_USER_INPUT', 'The service refused the arguments.', fields);
    default:
      return status >= 500
        ? new Failure('UPSTREAM_UNAVAILABLE', 'The service failed.', fields)
        : invalid(call, fields.detail ?? `unexpected status ${status}`);
  }
}

/** Makes the failure that a body tells of although its status says otherwise. */
function failureTold(words: string | undefined, call: Call): Failure {
  if (words !== undefined && isAboutLimit(words)) {
    return new Failure('RATE_LIMITED', 'The service takes no more requests for now.', {
      route: call.route,
      detail: words,
    });
  }
  return new Failure('UPSTREAM_INVALID_RESPONSE', 'The service sent a failure as if it were an answer.', {
    route: call.route,
    ...(words === undefined ? {} : { detail: words }),
  });
}

function isHtml(text: string): boolean {
  return text.trimStart().startsWith('<');
}

/**
 * Reads the service's words on a thing that it doesn't have; undefined if they have no format of its own, as words from
 * something between it and us may.
 */
function wordsIn(text: string): { readonly detail: string } | undefined {
  const body = jsonIn(text);
  return typeof body === 'object' && body !== null ? { detail: detailIn(text) ?? '' } : undefined;
}

/** Parses the body of an error; undefined if that is no JSON, or none that a service would send. */
function jsonIn(text: string): unknown {
  if (text.length > MAX_ERROR_LENGTH) return undefined;
  try {
    const body: unknown = JSON.parse(text);
    return isDeep(body) ? undefined : body;
  } catch {
    return undefined;
  }
}

/** Reads the time at which an absent service says it will be back: seconds, or a date. */
function awayUntil(header: string | string[] | undefined, nowMs: number): FailureFields {
  const text = String(header ?? '').trim();
  const seconds = Math.ceil(numberOf(text) ?? ((httpDateIn(text) ?? nowMs) - nowMs) / 1000);
  if (!(seconds > 0)) return {};
  const retryAfterSeconds = Math.min(seconds, MAX_AWAY_SECONDS);
  return { retryAfterSeconds, retryAt: new Date(nowMs + retryAfterSeconds * 1000).toISOString() };
}

/** Reads the service's own words in an error body. */
function detailIn(text: string): string | undefined {
  return wordsOf(jsonIn(text))?.slice(0, MAX_WORDS);
}
