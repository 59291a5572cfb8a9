import { excerpt, Failure, type FailureCode, type FailureFields } from '../shared/errors.ts';
import { isDeepJson, isObject, type JsonObject, numberOf } from '../shared/exact-json.ts';
import { httpDateIn } from '../shared/periods.ts';
import { unspecified } from './bodies.ts';
import type { Answer, Call } from './call.ts';
import { withoutPiecesOfKey } from './echoed-keys.ts';
import { LASTING_STATUSES, Lasting } from './lasting-failures.ts';
import type { Sending } from './sending.ts';

/* Reads failures of the service: answers with the status of an error, 404s, and failures under a status of success. */

const MAX_WORDS = 20_000;

/** Bound of `Retry-After`, in seconds. */
const MAX_AWAY_SECONDS = 3_600;

/**
 * Makes the failure of an answer with the status of an error. Unless the body has the service's own shape, something on
 * the way has answered, such as a CDN, a proxy or a firewall: that says nothing of the key, its plan or the arguments,
 * and is an outage like any other.
 */
export function refused(
  { status, text, retryAfter }: { status: number; text: string; retryAfter: string | string[] | undefined },
  call: Call,
  sending: Sending,
  nowMs: number,
): Failure {
  const sent = jsonIn(text);
  const isPage = status >= 400 && status < 500 && !isOwnError(sent);
  const page = `Something between the gateway and the service answered in its place, with status ${status}.`;
  // It may take retries for an attack.
  const failure = isPage ? lasting(page, call) : failureOf(status, wordsFor(sent, sending), call);
  return isPage || status === 503 ? failure.with(awayUntil(retryAfter, nowMs)) : failure;
}

function lasting(words: string, { route }: Call, fields: FailureFields = {}): Failure {
  const cause = new Lasting(words);
  return new Failure('UPSTREAM_UNAVAILABLE', words, { route, detail: undefined, ...fields }, { cause });
}

/** Members of a problem document (RFC 9457), which CDNs and proxies send for errors of their own. */
const OF_PROBLEMS = ['type', 'title', 'status'];

/** The service's own errors are objects with a `detail`. */
export function isOwnError(body: unknown): body is JsonObject {
  if (!isObject(body) || OF_PROBLEMS.some((name) => Object.hasOwn(body, name))) return false;
  return typeof body.detail === 'object' ? body.detail !== null : typeof body.detail === 'string';
}

/**
 * Reads a 404: `{detail}`, or undefined if it isn't in the service's own format, so that it may come from something on
 * the way. Unless it names what was asked for, a 404 is no proof that the service doesn't have it.
 */
export function notFound(text: string, call: Call, sending: Sending): Pick<Answer, 'body' | 'stray'> {
  const sent = jsonIn(text);
  const detail = wordsFor(sent, sending) ?? '';
  const body = isOwnError(sent) ? { detail } : undefined;
  if (body !== undefined && namesAsked(call, detail)) return { body };
  const stray = new Failure(
    'UPSTREAM_INVALID_RESPONSE',
    'The service answered 404 without naming what was asked for, so it is not known if it has it.',
    { route: call.route, detail: detail || undefined },
  );
  return { body, stray };
}

/** Null if the body of a 200 tells of no failure. */
export function failureInBody(body: JsonObject, call: Call, sending: Sending): Failure | null {
  const part = failureIn(body);
  if (part === null) return null;
  const detail = wordsFor(part, sending) ?? wordsFor(body, sending);
  // Words of a 429, whatever the status.
  if (/\brate[ _-]?limit|monthly request limit|too many requests/i.test(detail ?? ''))
    return failureOf(429, detail, call);
  const words = 'The service sent a failure as if it were an answer.';
  return new Failure('UPSTREAM_INVALID_RESPONSE', words, { route: call.route, detail });
}

const REFUSED_ARGUMENTS = 'The service refused the arguments';

/** The refusal of a call, with the names that it is for: the service's own words may not say which of many. */
export function refusalFor({ code, fields, cause }: Failure, names: readonly string[]): Failure {
  return new Failure(code, `${REFUSED_ARGUMENTS}, for ${excerpt(names.join(', '))}.`, fields, { cause });
}

const REFUSALS: Readonly<Record<number, readonly [FailureCode, message: string]>> = {
  400: ['BAD_USER_INPUT', `${REFUSED_ARGUMENTS}.`],
  401: ['UNAUTHENTICATED', 'The service does not accept this key.'],
  403: ['FORBIDDEN', 'The service does not permit this key to do this.'],
  422: ['BAD_USER_INPUT', `${REFUSED_ARGUMENTS}.`],
  429: ['RATE_LIMITED', 'The service takes no more requests for now.'],
};

function failureOf(status: number, detail: string | undefined, call: Call): Failure {
  if (LASTING_STATUSES.has(status)) {
    const words = `The service answered with status ${status}, as it would again: check COUNTRY_DATA_URL, and what stands before the service.`;
    return lasting(words, call, { detail, retryable: false });
  }
  const refusal: (typeof REFUSALS)[number] | undefined =
    status >= 500 ? ['UPSTREAM_UNAVAILABLE', 'The service failed.'] : REFUSALS[status];
  if (refusal !== undefined) return new Failure(...refusal, { route: call.route, detail });
  const isRedirect = status >= 300 && status <= 399;
  const redirect = `a redirect (status ${status}), which is not followed, since the key goes to no other address: set COUNTRY_DATA_URL to where the service is`;
  return unspecified(call, detail ?? (isRedirect ? redirect : `unexpected status ${status}`));
}

/** Reads `Retry-After`: seconds, or a date. */
function awayUntil(header: string | string[] | undefined, nowMs: number): FailureFields {
  const text = String(header ?? '').trim();
  const seconds = Math.ceil(numberOf(text) ?? ((httpDateIn(text) ?? nowMs) - nowMs) / 1000);
  if (!(seconds > 0)) return {};
  const retryAfterSeconds = Math.min(seconds, MAX_AWAY_SECONDS);
  return { retryAfterSeconds, retryAt: new Date(nowMs + retryAfterSeconds * 1000).toISOString() };
}

/** Undefined if the body has no words of a failure. */
function wordsFor(body: unknown, sending: Sending): string | undefined {
  const words = isObject(body) ? wordsIn(body, 2)?.slice(0, MAX_WORDS) : undefined;
  return words === undefined ? undefined : withoutPiecesOfKey(words, sending.caller.authorization);
}

/** Undefined if the text is no JSON, or none that a service would send. */
function jsonIn(text: string): unknown {
  try {
    // Deeply nested texts take long to parse.
    return isDeepJson(text) ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Kinds of things that may be missing, and words that say that the route is. */
const THING =
  /\b(?:countr(?:y|ies)|metrics?|indicators?|measures?|observations?|figures?|series|rows?|records?|profiles?|signals?|tickers?|listings?|government|structures?|offices?|trade|polic(?:y|ies))\b/i;
const OF_ROUTE = /\b(routes?|endpoints?|pages?|paths?|urls?)\b/i;

/**
 * True if a 404 says that what a call asked for is missing, by its name (`country not found: xx`) or its kind (`no
 * observations found`). Any other may come from a proxy, or mean that there is no such route.
 */
function namesAsked({ route, target }: Call, detail: string): boolean {
  // Words with a slash repeat the address.
  const said = detail.replace(/(?<!\S)[^\s/]*\/\S*/g, '');
  const steps = route.split('/');
  const asked = decodeURIComponent(target.replace(/[?&]\w+=/g, ',')).split(/[/,]/);
  const isNamed = asked.some((name) => !steps.includes(name) && isIn(said, name));
  return isNamed || (THING.test(said) && !OF_ROUTE.test(said));
}

/** True if a name is a word of the text. Two letters must look like a code, since they may be any word. */
function isIn(said: string, name: string): boolean {
  const word = name.replace(/[^\w-]/g, '\\$&');
  if (name.length > 2) return new RegExp(`(?<![\\w.-])${word}(?![\\w-])`, 'i').test(said);
  const code = `\\b${name.toUpperCase()}\\b|[:="'\`([]\\s*${name.toLowerCase()}\\b`;
  return /^[a-z]{2}$/i.test(name) && new RegExp(code).test(said);
}

/** Members with the words of a failure, the service's own first. */
const WORDS = ['detail', 'error', 'errors', 'message', 'msg', 'error_message', 'title', 'reason'];

/** Members that are only there for a failure. */
const ERRORS = ['error', 'errors', 'error_message', 'exception'];

/** Members of a body that is nothing but a failure. Elsewhere `code` may be that of anything. */
const OF_FAILURES =
  /^(detail|error.*|exception|message|msg|title|reason|success|ok|status(_?code)?|code|type|instance|time(stamp)?|path|(request|trace)_?id|documentation_url|docs|help|retry_after|meta)$/i;

/** The part of the body of a 200 that tells of a failure; null if none does. */
function failureIn(body: JsonObject): JsonObject | null {
  const { data, meta } = body;
  if (holdsAny(body.detail) || saysFailed(body) || isFailureAlone(body)) return body;
  if (isObject(meta) && saysFailed(meta)) return meta;
  return isObject(data) && isFailureAlone(data) ? data : null;
}

function saysFailed(part: JsonObject): boolean {
  const isNo = part.success === false || part.ok === false;
  const statuses = [part.status, part.status_code, part.statusCode];
  return isNo || ERRORS.some((name) => holdsAny(part[name])) || statuses.some(isFailed);
}

function isFailureAlone(part: JsonObject): boolean {
  const hasOther = Object.keys(part).some((name) => part[name] !== null && !OF_FAILURES.test(name));
  return !hasOther && (WORDS.some((name) => holdsAny(part[name])) || [part.status, part.code].some(isFailed));
}

function isFailed(status: unknown): boolean {
  if (typeof status !== 'string' && typeof status !== 'number') return false;
  return /^\s*([45]\d\d|err(ors?)?|fail(ed|ure)?|exception|fatal)\s*$/i.test(String(status));
}

/** False for empty values, and for those that mean no. */
function holdsAny(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return !/^\s*(undefined|none|null|false|ok|0)?\s*$/i.test(String(value));
}

const MAX_ERRORS = 300;

/**
 * Reads the words of a failure: a text, or those in an object or a list of errors.
 * @param levels levels of objects to look into
 */
function wordsIn(value: unknown, levels: number): string | undefined {
  if (typeof value === 'string') return value || undefined;
  if (Array.isArray(value)) return value.slice(0, MAX_ERRORS).map(errorNameOf).join('; ') || undefined;
  if (!isObject(value) || levels === 0) return undefined;
  return WORDS.map((name) => wordsIn(value[name], levels - 1)).find((words) => words !== undefined);
}

/** One of a list of errors: `{loc, msg}` as the service has it, or a text. */
function errorNameOf(error: unknown): string {
  const { loc, ...words } = isObject(error) ? error : { msg: error };
  const said = wordsIn(words, 1) ?? 'refused';
  return Array.isArray(loc) ? `${loc.join('.')}: ${said}` : said;
}
