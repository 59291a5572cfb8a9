import { Failure, type FailureCode, type FailureFields } from '../shared/errors.ts';
import { isDeepJson, numberOf } from '../shared/exact-json.ts';
import { httpDateIn } from '../shared/periods.ts';
import { PageInstead, unspecified } from './bodies.ts';
import type { Answer, Call } from './call.ts';
import { isObject, type JsonObject } from './records/envelope.ts';
import type { Sending } from './sending.ts';

/*
 * Reads answers of the service that bring nothing: those with the status of an error, 404s, and failures that come under a
 * status that says that all is well.
 */

const MAX_WORDS = 20_000;

/** The longest time that a service is believed to be away, in seconds. */
const MAX_AWAY_SECONDS = 3_600;

/** Characters from which a text is a key rather than a word. */
const LEAST_KEY_LENGTH = 8;

/** Characters in a row of a key that are taken for it: services tell of the half of one, too. */
const PIECE_LENGTH = { least: 6, most: 8 };

/** Escapes within escapes that are undone. */
const MAX_ESCAPES = 3;

/** Escapes of JSON and of scripts, of addresses and of HTML. */
const ESCAPE =
  /\\u\{?([\da-f]{2,6})\}?|\\x([\da-f]{2})|%u?(00[\da-f]{2}|[\da-f]{2})|&#x([\da-f]{1,6});?|&#(\d{1,7});?|&([a-z]{2,8});/gi;

/** Reads an escape. Those with a name stand for signs, which no key is found by. */
function unescaped(_: string, ...[unicode, hex, percent, entityHex, entity, name]: (string | undefined)[]) {
  const digits = unicode ?? hex ?? percent ?? entityHex;
  if (digits === undefined && entity === undefined) return name?.toLowerCase() === 'amp' ? '&' : ' ';
  const code = digits === undefined ? Number(entity) : Number.parseInt(digits, 16);
  return code < 128 ? String.fromCharCode(code) : ' ';
}

const lettersOf = (text: string) => text.toLowerCase().replace(/[^a-z\d]+/g, '');

/**
 * Withholds words of the service, which are shown, cached and logged, if the key stands in them or a piece of it, in whichever
 * way it is written there.
 */
function withoutKey(words: string, { caller }: Sending): string {
  const key = lettersOf(caller.authorization?.replace(/^bearer +/i, '') ?? '');
  if (key.length < LEAST_KEY_LENGTH) return words;
  const length = Math.max(PIECE_LENGTH.least, Math.min(PIECE_LENGTH.most, Math.ceil(key.length / 2)));
  const pieces = new Set<string>();
  for (let at = 0; at + length <= key.length; at += 1) pieces.add(key.slice(at, at + length));
  let text = words;
  for (let round = 0; round <= MAX_ESCAPES; round += 1) {
    const letters = lettersOf(text);
    for (let at = 0; at + length <= letters.length; at += 1)
      if (pieces.has(letters.slice(at, at + length))) return '[redacted]';
    text = text.replace(ESCAPE, unescaped);
  }
  return words;
}

/**
 * Makes the failure of an answer with the status of an error, whose body is a text yet. Unless the body has the service's
 * own shape, something on the way has answered, as a CDN, a proxy or a firewall does: that says nothing of the key, its
 * plan or the arguments, and is an outage like any other.
 */
export function refused(
  answer: {
    readonly status: number;
    readonly text: string;
    readonly retryAfter: string | string[] | undefined;
  },
  call: Call,
  sending: Sending,
  nowMs: number,
): Failure {
  const { status, text, retryAfter } = answer;
  const sent = jsonIn(text);
  const isPage = status >= 400 && status < 500 && !isOwnError(sent);
  const failure = isPage ? pageInstead(status, call) : failureOf(status, wordsFor(sent, sending), call);
  return isPage || status === 503 ? failure.with(awayUntil(retryAfter, nowMs)) : failure;
}

function pageInstead(status: number, { route }: Call): Failure {
  const words = `Something between the gateway and the service answered in its place, with status ${status}.`;
  return new Failure(
    'UPSTREAM_UNAVAILABLE',
    words,
    { route, detail: undefined },
    { cause: new PageInstead(words) },
  );
}

/** Members of a problem document (RFC 9457), in which CDNs and proxies tell of errors of their own. */
const OF_PROBLEMS = ['type', 'title', 'status'];

/** True if the body of an error has the shape of the service's own: an object with its words in `detail`. */
export function isOwnError(body: unknown): body is JsonObject {
  if (!isObject(body) || OF_PROBLEMS.some((name) => Object.hasOwn(body, name))) return false;
  return typeof body.detail === 'object' ? body.detail !== null : typeof body.detail === 'string';
}

/**
 * Reads a 404: `{detail}`, or undefined if its words have no format of the service's own, as those from something between
 * it and us may. Unless they name the thing asked for, a 404 is no word on the records that the service holds.
 */
export function notFound(text: string, call: Call, sending: Sending): Pick<Answer, 'body' | 'stray'> {
  const sent = jsonIn(text);
  const detail = wordsFor(sent, sending) ?? '';
  const body = isOwnError(sent) ? { detail } : undefined;
  if (body !== undefined && namesAsked(call, detail)) return { body };
  const stray = new Failure(
    'UPSTREAM_INVALID_RESPONSE',
    'The service answered 404 without naming what was asked for, so it is not known if it has it.',
    { route: call.route, ...(detail === '' ? {} : { detail }) },
  );
  return { body, stray };
}

/** Makes the failure that the body of a 200 tells of; null if it tells of none. */
export function failureInBody(body: JsonObject, call: Call, sending: Sending): Failure | null {
  const part = failureIn(body);
  if (part === null) return null;
  const detail = wordsFor(part, sending) ?? wordsFor(body, sending);
  if (detail !== undefined && isAboutLimit(detail)) return failureOf(429, detail, call);
  const words = 'The service sent a failure as if it were an answer.';
  return new Failure('UPSTREAM_INVALID_RESPONSE', words, {
    route: call.route,
    ...(detail === undefined ? {} : { detail }),
  });
}

const REFUSALS: Readonly<Record<number, readonly [FailureCode, message: string]>> = {
  400: ['BAD_USER_INPUT', 'The service refused the arguments.'],
  401: ['UNAUTHENTICATED', 'The service does not accept this key.'],
  403: ['FORBIDDEN', 'The service does not permit this key to do this.'],
  422: ['BAD_USER_INPUT', 'The service refused the arguments.'],
  429: ['RATE_LIMITED', 'The service takes no more requests for now.'],
};

function failureOf(status: number, detail: string | undefined, call: Call): Failure {
  const refusal =
    status >= 500 ? (['UPSTREAM_UNAVAILABLE', 'The service failed.'] as const) : REFUSALS[status];
  if (refusal === undefined) return unspecified(call, detail ?? `unexpected status ${status}`);
  return new Failure(...refusal, { route: call.route, detail });
}

/** True if words that came with another status are those of a 429. */
function isAboutLimit(words: string): boolean {
  return /\brate[ _-]?limit|monthly request limit|too many requests/i.test(words);
}

/** Reads the time at which an absent service says it will be back: seconds, or a date. */
function awayUntil(header: string | string[] | undefined, nowMs: number): FailureFields {
  const text = String(header ?? '').trim();
  const seconds = Math.ceil(numberOf(text) ?? ((httpDateIn(text) ?? nowMs) - nowMs) / 1000);
  if (!(seconds > 0)) return {};
  const retryAfterSeconds = Math.min(seconds, MAX_AWAY_SECONDS);
  return { retryAfterSeconds, retryAt: new Date(nowMs + retryAfterSeconds * 1000).toISOString() };
}

/** Reads the words of a failure in a body, without the key; undefined if it has none. */
function wordsFor(body: unknown, sending: Sending): string | undefined {
  const words = isObject(body) ? wordsIn(body, 2)?.slice(0, MAX_WORDS) : undefined;
  return words === undefined ? undefined : withoutKey(words, sending);
}

/** Parses the body of an error; undefined if that is no JSON, or none that a service would send. */
function jsonIn(text: string): unknown {
  try {
    // A parser takes long for a text that nests deep.
    return isDeepJson(text) ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

const MAX_LOOKED_AT = 2_000;

/** Kinds of things that a route may be said to have none of, and words that are about the route and not about them. */
const THING =
  /\b(?:countr(?:y|ies)|metrics?|indicators?|measures?|observations?|figures?|series|rows?|records?|profiles?|signals?|tickers?|listings?|government|structures?|offices?|trade|polic(?:y|ies))\b/i;
const OF_ROUTE = /\b(routes?|endpoints?|pages?|paths?|urls?)\b/i;

/**
 * True if a 404 says that the thing that a call asked for is missing: by its name (`country not found: xx`), or by its
 * kind (`no observations found`). Any other may come from a proxy, or mean that there is no such route.
 */
function namesAsked({ route, target }: Call, detail: string): boolean {
  // Words with a slash in them repeat the address.
  const said = detail.slice(0, MAX_LOOKED_AT).replace(/\S*\/\S*/g, ' ');
  const { pathname, searchParams } = new URL(target, 'http://service');
  const steps = route.split('/');
  const inPath = pathname.split('/').filter((step) => !steps.includes(step));
  const asked = [
    ...inPath.map(decodeURIComponent),
    ...[...searchParams.values()].flatMap((value) => value.split(',')),
  ];
  return asked.some((value) => names(said, value)) || (THING.test(said) && !OF_ROUTE.test(said));
}

/** True if a value stands in the text as a word; one of two letters, which may be any word, as a code would. */
function names(said: string, value: string): boolean {
  const word = value.replace(/[^\w-]/g, '\\$&');
  if (value.length > 2) return new RegExp(`(?<![\\w.-])${word}(?![\\w-])`, 'i').test(said);
  if (!/^[a-z]{2}$/i.test(value)) return false;
  const isCode = new RegExp(`\\b${value.toUpperCase()}\\b`).test(said);
  return isCode || new RegExp(`[:="'\`([]\\s*${value}\\b`, 'i').test(said);
}

/*
 * Services and the proxies before them tell of failures in many envelopes. The members that are usual for that are read
 * at the top of a body, in its `meta`, and under `data`.
 */

/** Members that hold the words of a failure, the service's own first. */
const WORDS = 'detail error errors message msg error_message error_description title reason'.split(' ');

/** Members that are about a failure alone: one that holds anything tells of one. */
const ERRORS = 'error errors error_message error_description exception'.split(' ');

/** Members with the status of an answer; `code` may be anything's, if other members stand beside it. */
const STATUSES = ['status', 'status_code', 'statusCode'];

/** Members that stand beside the words of a failure, and tell of nothing else. */
const BESIDE =
  'success ok exception code timestamp time path request_id requestId trace_id traceId type instance error_code errorCode documentation_url docs help retry_after meta';
const OF_FAILURES = new Set([...WORDS, ...STATUSES, ...BESIDE.split(' ')]);

/** Messages of a list of errors that are looked at. */
const MAX_ERRORS = 300;

/** Returns the part of a body under a 200 that tells of a failure; null if none does. */
function failureIn(body: JsonObject): JsonObject | null {
  const { data, meta } = body;
  if (holdsAny(body.detail) || saysFailed(body) || isFailureAlone(body)) return body;
  if (isObject(meta) && saysFailed(meta)) return meta;
  return isObject(data) && isFailureAlone(data) ? data : null;
}

function saysFailed(part: JsonObject): boolean {
  return (
    [part.success, part.ok].includes(false) ||
    ERRORS.some((name) => holdsAny(part[name])) ||
    STATUSES.some((name) => isFailed(part[name]))
  );
}

/** True if an object has words, or a status of a failure, and all else in it belongs to those. */
function isFailureAlone(part: JsonObject): boolean {
  const names = Object.keys(part).filter((name) => part[name] !== null);
  if (!names.every((name) => OF_FAILURES.has(name))) return false;
  return (
    WORDS.some((name) => holdsAny(part[name])) || [...STATUSES, 'code'].some((name) => isFailed(part[name]))
  );
}

function isFailed(status: unknown): boolean {
  if (typeof status !== 'string' && typeof status !== 'number') return false;
  return /^\s*([45]\d\d|err|errors?|fail|failed|failure|exception|fatal)\s*$/i.test(String(status));
}

/** True if a member says anything: not if it is empty, or says no. */
function holdsAny(value: unknown): boolean {
  if (typeof value === 'string') return !/^\s*(none|null|false|ok)?\s*$/i.test(value);
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value === true || (typeof value === 'number' && value !== 0);
}

/**
 * Reads the words of a failure: a text, that of an object, or those of a list of errors.
 * @param levels objects within each other that are looked into
 */
function wordsIn(value: unknown, levels: number): string | undefined {
  if (typeof value === 'string') return value || undefined;
  if (Array.isArray(value)) return value.slice(0, MAX_ERRORS).map(errorNameOf).join('; ') || undefined;
  if (!isObject(value) || levels === 0) return undefined;
  for (const name of WORDS) {
    const words = wordsIn(value[name], levels - 1);
    if (words !== undefined) return words;
  }
  return undefined;
}

/** Reads one of a list of errors: `{loc, msg}` as the service has them, or a text. */
function errorNameOf(error: unknown): string {
  if (typeof error === 'string') return error;
  if (!isObject(error)) return 'refused';
  const place = Array.isArray(error.loc) ? `${error.loc.join('.')}: ` : '';
  const words = [error.msg, error.message, error.detail].find((text) => typeof text === 'string');
  return `${place}${words ?? 'refused'}`;
}
