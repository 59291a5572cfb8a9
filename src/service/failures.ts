import type { Call } from './call.ts';
import { isObject, type JsonObject } from './records/envelope.ts';

/** Characters of the service's words that are looked at. */
const MAX_WORDS = 2_000;

/** Kinds of things that any route may be said to have none of. */
const THINGS = [
  'country',
  'metric',
  'indicator',
  'measure',
  'observation',
  'figure',
  'series',
  'row',
  'record',
];

/** Words of routes and parameters that name no thing that is asked for. */
const BARE = new Set(['v1', 'api', 'platform', 'status', 'code', 'key', 'limit', 'latest', 'q']);

/** Words that are about the route and not about its arguments. */
const OF_ROUTE = /\b(routes?|endpoints?|pages?|paths?|urls?)\b/i;

/**
 * Tells if a 404 says that the thing that a call asked for is missing: by its name (`country not found: xx`), or by its
 * kind (`no observations found`). Any other may come from a proxy, or mean that there is no such route.
 */
export function namesAsked({ route, target }: Call, body: unknown): boolean {
  const { detail } = (body ?? {}) as { readonly detail?: unknown };
  if (typeof detail !== 'string' || detail === '') return false;
  // Words with a slash in them repeat the address.
  const said = detail.slice(0, MAX_WORDS).replace(/\S*\/\S*/g, ' ');
  const [path = '', search = ''] = target.split('?');
  const query = [...new URLSearchParams(search)];
  const values = [...valuesIn(route, path), ...query.flatMap(([, value]) => value.split(','))];
  if (namesValue(said, values)) return true;
  if (OF_ROUTE.test(said)) return false;
  const kinds = new Set(THINGS);
  for (const word of `${route} ${query.map(([name]) => name).join(' ')}`.toLowerCase().split(/[^a-z]+/)) {
    const kind = singular(word);
    if (word.length > 2 && !BARE.has(kind)) kinds.add(kind);
  }
  return lowerCaseWords(said).some((word) => kinds.has(singular(word)));
}

/** Returns the values in the places of a route's template. */
function valuesIn(route: string, path: string): string[] {
  const steps = path.split('/');
  return route
    .split('/')
    .flatMap((step, i) => (step.startsWith('{') ? decodeURIComponent(steps[i] ?? '') : []));
}

/** Tells if one of the values stands in the text as a word; one of two letters, which may be any word, as a code would. */
function namesValue(said: string, values: readonly string[]): boolean {
  const words = new Set(lowerCaseWords(said));
  const pointed = new Set(
    [...said.matchAll(/[:="'`([]\s*([\w.-]+)/g)].map(([, word = '']) => word.toLowerCase()),
  );
  const isCode = (value: string) => new RegExp(`\\b${value.toUpperCase()}\\b`).test(said);
  return values.some((value) => {
    const folded = value.toLowerCase();
    if (folded.length > 2) return words.has(folded);
    return /^[a-z]{2}$/.test(folded) && (pointed.has(folded) || isCode(folded));
  });
}

function lowerCaseWords(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\w.-]+/)
    .map((word) => word.replace(/^[.-]+|[.-]+$/g, ''));
}

function singular(word: string): string {
  if (word === 'series') return word;
  return word.replace(/ies$/, 'y').replace(/s$/, '');
}

/*
 * A reader of failures in bodies. Services and the proxies before them tell of failures in many envelopes, some of them
 * under a status that says that all is well. It reads the members that are usual for that, at the top of a body, in its
 * `meta`, and under `data`.
 */

/** Members that hold the words of a failure, the service's own first. */
const WORDS = [
  'detail',
  'error',
  'errors',
  'message',
  'msg',
  'error_message',
  'error_description',
  'title',
  'reason',
];

/** Members that are about a failure alone: one that holds anything tells of one. */
const ERRORS = ['error', 'errors', 'error_message', 'error_description', 'exception'];

/** Members that are false if something went wrong. */
const FLAGS = ['success', 'ok'];

/** Members that hold a status. */
const STATUSES = ['status', 'status_code', 'statusCode', 'code'];

/** Members that stand beside the words of a failure, and tell of nothing else. */
const BESIDE = [
  ...[
    'timestamp',
    'time',
    'path',
    'request_id',
    'requestId',
    'trace_id',
    'traceId',
    'type',
    'instance',
    'error_code',
  ],
  ...['errorCode', 'documentation_url', 'docs', 'help', 'retry_after', 'meta', 'data'],
];
const OF_FAILURES = new Set([...WORDS, ...ERRORS, ...FLAGS, ...STATUSES, ...BESIDE]);

const FAILED = /^(error|errors|err|fail|failed|failure|exception|fatal)$/i;

/** Messages of a list of faults, or fields of one, that are looked at. */
const MAX_FAULTS = 300;

/** Returns the words of the failure that a body under a 200 tells of, if it has any; null if it tells of none. */
export function toldFailure(body: unknown): { readonly words: string | undefined } | null {
  if (!isObject(body)) return null;
  const data = isObject(body.data) ? body.data : null;
  const meta = isObject(body.meta) ? body.meta : null;
  const parts = [
    tells(body) || isNothingElse(body) ? body : null,
    meta !== null && tellsPlainly(meta) ? meta : null,
    data !== null && isNothingElse(data) ? data : null,
  ];
  const [told] = parts.filter((part) => part !== null);
  return told === undefined ? null : { words: wordsOf(told) ?? wordsOf(body) };
}

/** Tells if the top of a body is about a failure, with anything else beside it. */
function tells(body: JsonObject): boolean {
  return (
    holdsAny(body.detail) ||
    tellsPlainly(body) ||
    STATUSES.some((name) => name !== 'code' && isFailed(body[name]))
  );
}

function tellsPlainly(part: JsonObject): boolean {
  const saysNo = FLAGS.some((name) => part[name] === false || part[name] === 'false');
  return saysNo || ERRORS.some((name) => holdsAny(part[name]));
}

/** Tells if an object has words, or a status of a failure, and all else in it belongs to those. */
function isNothingElse(part: JsonObject): boolean {
  const names = Object.keys(part).filter((name) => part[name] !== null);
  const hasContent = names.includes('data') || names.some((name) => !OF_FAILURES.has(name));
  if (hasContent) return false;
  return WORDS.some((name) => holdsAny(part[name])) || STATUSES.some((name) => isFailed(part[name]));
}

function isFailed(status: unknown): boolean {
  if (typeof status === 'number') return status >= 400 && status < 600;
  return typeof status === 'string' && (FAILED.test(status.trim()) || /^[45]\d\d$/.test(status.trim()));
}

/** Tells if a member says anything: not if it is empty, or says no. */
function holdsAny(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '' && !/^(none|null|false|ok)$/i.test(value.trim());
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value === true || (typeof value === 'number' && value !== 0);
}

/** Reads the words of a failure: a text, that of an object, or those of a list of faults. */
export function wordsOf(body: unknown): string | undefined {
  if (!isObject(body)) return undefined;
  for (const name of WORDS) {
    const words = wordsIn(body[name]);
    if (words !== undefined) return words;
  }
  return undefined;
}

function wordsIn(value: unknown, isWithin = false): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (Array.isArray(value)) {
    const faults = value.slice(0, MAX_FAULTS).map(faultIn);
    return faults.length === 0 ? undefined : faults.join('; ');
  }
  if (!isObject(value) || isWithin) return undefined;
  for (const name of WORDS) {
    const words = wordsIn(value[name], true);
    if (words !== undefined) return words;
  }
  return undefined;
}

/** Reads one of a list of faults: `{loc, msg}` as the service has them, or a text. */
function faultIn(fault: unknown): string {
  if (typeof fault === 'string') return fault;
  if (!isObject(fault)) return 'refused';
  const place = Array.isArray(fault.loc) ? `${fault.loc.join('.')}: ` : '';
  const words = [fault.msg, fault.message, fault.detail].find((text) => typeof text === 'string');
  return `${place}${words ?? 'refused'}`;
}
