import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import fresh from 'fresh';
import {
  type GraphQLFormattedError,
  Kind,
  Lexer,
  type OperationDefinitionNode,
  Source,
  TokenKind,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Tenants } from '../../keys/tenant.ts';
import type { CallBudget } from '../../service/call-budget.ts';
import type { Caller } from '../../service/caller.ts';
import type { Trace } from '../../service/trace.ts';
import { Flow, type PromiseOrValue } from '../../shared/async/turns.ts';
import { excerpt, type Failure } from '../../shared/errors.ts';
import { isDeep, MAX_NESTING, TOO_DEEP } from '../../shared/exact-json.ts';
import { ERROR_BEHAVIORS, type ErrorBehavior, lengthOf, type StringPieces } from '../execution/columns.ts';
import type { AbsenceNotes, AnswerAdditions } from '../schema/context.ts';
import type { Delivery } from './delivery.ts';
import { type AskedText, bareHash, type PersistedTexts, unknownOnError, unlisted } from './documents.ts';

/** The flow of all callers whose keys the service has not accepted lately: they count as one. */
export const UNPROVEN = new Flow();

/** The key of the service that a request is made with, which may stand behind another, and a budget of its own. */
export interface Exchanged {
  /** Takes the place of the `Authorization` header, if there is one. */
  readonly authorization: string | null;
  /** A budget besides that of the key. */
  readonly budget?: CallBudget | undefined;
  readonly visitor?: Caller['visitor'];
  readonly note?: Caller['note'];
  readonly refusalOf?: Caller['refusalOf'];
  readonly rights?: Caller['rights'];
  /** Has a listener called if the key works no more; returns a function that ends that. Left out if the service says so. */
  readonly watch?: ((onEnd: (failure: Failure) => void) => () => void) | undefined;
}

/** Tells who asks, and by which key of the service. */
export type CallerOf = ReturnType<typeof createCallers>;

/** Has operations answered from what is cached alone: all of them, or those that a header asks that for. */
export interface OfflineMode extends NonNullable<Caller['offline']> {
  readonly isAlways: boolean;
}

interface CallerHeaders {
  readonly authorization?: string | null | undefined;
  readonly 'x-offline'?: string | undefined;
}

/**
 * Opens the place where a key becomes a caller. Each request has a caller of its own, with a number that rises from
 * request to request. Unless it is exchanged, an issued key is no key.
 * @param mode null if any operation may ask the service
 */
export function createCallers(tenants: Tenants, mode: OfflineMode | null = null) {
  let since = 0;
  const always = mode?.isAlways ? mode : undefined;
  const asked = mode ?? undefined;
  return (
    { authorization: given = null, 'x-offline': isAsked }: CallerHeaders,
    exchanged?: Exchanged,
  ): Caller => {
    const borne = exchanged?.authorization ?? given;
    const tenant = tenants.of(borne);
    const authorization = tenant.isNobody ? null : borne;
    const { budget, visitor, note, refusalOf, rights } = exchanged ?? {};
    const flow = tenant.isProven ? (budget ?? tenant).flow : UNPROVEN;
    since += 1;
    const offline = isAsked === '1' ? asked : always;
    return {
      authorization,
      tenant,
      budget,
      visitor,
      note,
      refusalOf,
      rights,
      offline,
      flow,
      since,
      slices: 0,
    };
  };
}

/** Marks the event of an operation if it came by a key that the service had accepted lately. */
export function provenBy({ flow }: Caller): { readonly isProven?: true } {
  return flow === UNPROVEN ? {} : { isProven: true };
}

/** One GraphQL-over-HTTP request, its body parsed. */
export interface GatewayRequest {
  /** Name of the method, in upper case. */
  readonly method: string;
  /** Values by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The raw query string with its `?`, or empty. */
  readonly search: string;
  /** The parsed JSON body; empty for GET. */
  readonly body: unknown;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
  /** Names the request in the log and in errors: up to 128 characters that JSON needn't escape. */
  readonly requestId?: string | undefined;
  /** True if other operations came by the same request, at the same time. */
  readonly isBatched?: boolean;
  /** Address of the client, as far as it is known. */
  readonly address?: string | undefined;
  /** Set if the request came by a key of this gateway's own, or by a tool with a budget. */
  readonly exchanged?: Exchanged | undefined;
}

/** A request of which a stage has changed some. The signal is read only if somebody listens. */
export class ChangedRequest implements GatewayRequest {
  readonly method: string;
  readonly headers: GatewayRequest['headers'];
  readonly search: string;
  readonly body: unknown;
  readonly requestId: string | undefined;
  readonly isBatched: boolean;
  readonly exchanged: Exchanged | undefined;
  readonly #signalled: { readonly signal: AbortSignal };

  constructor(
    whole: GatewayRequest,
    changes: Partial<Omit<GatewayRequest, 'requestId' | 'signal' | 'address'>>,
    signalled: { readonly signal: AbortSignal } = whole,
  ) {
    this.method = changes.method ?? whole.method;
    this.headers = changes.headers ?? whole.headers;
    this.search = changes.search ?? whole.search;
    this.body = 'body' in changes ? changes.body : whole.body;
    this.requestId = whole.requestId;
    this.isBatched = changes.isBatched ?? whole.isBatched ?? false;
    this.exchanged = changes.exchanged ?? whole.exchanged;
    this.#signalled = signalled;
  }

  get signal() {
    return this.#signalled.signal;
  }
}

/**
 * The methods that bring operations: in a body, one or an array of several, or else in the address. By a safe one a client
 * only looks: what it brings back may be cached, and looked at again.
 */
export const METHODS: ReadonlyMap<string, { readonly hasBody: boolean; readonly isSafe: boolean }> = new Map([
  ['GET', { hasBody: false, isSafe: true }],
  ['POST', { hasBody: true, isSafe: false }],
  ['QUERY', { hasBody: true, isSafe: true }],
]);

/**
 * True if a body brings several operations: in an array, or one with a list of variables, for each of which it is to run
 * (variable batching, of the draft of GraphQL over HTTP).
 */
export function isBatch(body: unknown): boolean {
  return Array.isArray(body) || (isObject(body) && Array.isArray(body.variables));
}

interface OperationParams extends AskedText {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly onError: ErrorBehavior;
  /** True if the client named the operation instead of sending its text. */
  readonly isPersisted: boolean;
}

/** Reads `onError` of a request; undefined if nobody knows its value. */
function errorBehaviorIn({ body, search }: GatewayRequest): ErrorBehavior | undefined {
  if (isObject(body)) return errorBehaviorOf(body.onError);
  const [given, ...rest] = search === '' ? [] : new URLSearchParams(search).getAll('onError');
  return rest.length === 0 ? errorBehaviorOf(given) : undefined;
}

/** Reads a value of `onError`; undefined if nobody knows it. */
export function errorBehaviorOf(given: unknown): ErrorBehavior | undefined {
  return given == null ? 'PROPAGATE' : ERROR_BEHAVIORS.find((behavior) => behavior === given);
}

/**
 * Headers of which any one shows that no page of another origin has sent a request without this gateway's leave: browsers
 * ask by a preflight before they let a page set them. By themselves they send `Authorization` for passwords alone, which
 * are no keys.
 */
export const PREFLIGHTED_HEADERS: readonly string[] = [
  'authorization',
  'x-apollo-operation-name',
  'apollo-require-preflight',
];

/** Names of the parameter by which clients name an operation instead of sending it; the last two are Relay's. */
const DOCUMENT_IDS = ['documentId', 'doc_id', 'id'] as const;

/**
 * Reads the operation that a request asks for, if it is of the plain kind that most are. Null if Apollo Server has to
 * look at it: odd forms, any error, operations to be persisted, and requests that a browser could be tricked into
 * sending.
 */
function paramsIn(
  { method, headers, search, body }: GatewayRequest,
  persisted: PersistedTexts,
  isProven: boolean,
): OperationParams | null {
  if (METHODS.get(method)?.hasBody) {
    const isJson = headers['content-type']?.startsWith('application/json');
    return isJson && search === '' && isObject(body) ? paramsOf(body, persisted, isProven) : null;
  }
  if (method !== 'GET' || !isPreflighted(headers)) return null;
  const params = new URLSearchParams(search);
  if (new Set(params.keys()).size < params.size) return null;
  try {
    const json = (name: string) => (params.has(name) ? objectIn(params.get(name) ?? '') : undefined);
    const [variables, extensions] = [json('variables'), json('extensions')];
    return paramsOf({ ...Object.fromEntries(params), variables, extensions }, persisted, isProven);
  } catch {
    return null;
  }
}

/**
 * Translates a request for Apollo Server, or refuses it. An operation that is named by an identifier becomes one that is
 * named by a hash. Apollo doesn't know QUERY, whose body is that of a POST.
 */
export function forApollo(given: GatewayRequest, { allows }: PersistedTexts) {
  const { method, headers, search, body } = given;
  const params = givenIn(given);
  const { query } = params;
  if (isDeepRequest(body, params)) return { refusal: { code: 'BAD_REQUEST', message: TOO_DEEP } } as const;
  const hasText = typeof query === 'string' && query !== '';
  if (hasText && !allows(query)) return { refusal: unlisted() };
  const onError = errorBehaviorIn(given);
  if (onError === undefined) return { refusal: unknownOnError() };
  const request = { method: method === 'QUERY' ? 'POST' : method, headers, search, body };
  const id = hasText ? null : documentIdOf(params);
  return { onError, isNamed: !query, request: id === null ? request : { ...request, ...namedBy(id, given) } };
}

/** Returns the address and the body of a request with the hash of its operation in place of other names. */
function namedBy(sha256Hash: string, { search, body }: GatewayRequest) {
  const extensions = { persistedQuery: { version: 1, sha256Hash } };
  if (isObject(body)) {
    const { query: _, documentId: __, doc_id: ___, id: ____, ...rest } = body;
    return { search, body: { ...rest, extensions } };
  }
  const params = new URLSearchParams(search);
  for (const name of ['query', ...DOCUMENT_IDS]) params.delete(name);
  params.set('extensions', JSON.stringify(extensions));
  return { search: `?${params}`, body };
}

/** The parameters of a request, by its body or its address: texts in the latter, of which the first of several counts. */
function givenIn({ body, search }: GatewayRequest): Readonly<Record<string, unknown>> {
  return isObject(body) ? body : Object.fromEntries([...new URLSearchParams(search)].reverse());
}

/** Returns the identifier by which a request names an operation; null if it names none by one. */
function documentIdOf(params: Readonly<Record<string, unknown>>): string | null {
  const id = DOCUMENT_IDS.map((name) => params[name]).find((value) => typeof value === 'string');
  return typeof id === 'string' ? bareHash(id) : null;
}

/** Returns the operation that a request asks for, by its text or by a name that is known; null if it is neither. */
export function textIn(request: GatewayRequest, persisted: PersistedTexts): AskedText | null {
  const params = givenIn(request);
  const { query, operationName, extensions } = params;
  const hash = hashIn(isObject(request.body) ? params : { ...params, extensions: jsonIn(extensions) });
  const named = hash === null ? undefined : persisted.get(hash);
  const text = typeof query === 'string' && query !== '' ? query : named;
  if (text === undefined) return null;
  return { text, operationName: typeof operationName === 'string' ? operationName : undefined };
}

/** Reads JSON; undefined if it is none. */
function jsonIn(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

/** True if a page of another origin could send the request only with this gateway's leave. */
function isPreflighted(headers: GatewayRequest['headers']): boolean {
  const type = headers['content-type'];
  if (type !== undefined) return /^application\/json *(;|$)/.test(type);
  return PREFLIGHTED_HEADERS.some((name) => Boolean(headers[name]));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @throws Error if it is none */
function objectIn(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new Error('It is no object.');
  return value;
}

function paramsOf(
  params: Readonly<Record<string, unknown>>,
  persisted: PersistedTexts,
  isProven: boolean,
): OperationParams | null {
  const { query, operationName = undefined, variables = undefined, extensions = undefined } = params;
  if (operationName != null && (typeof operationName !== 'string' || !/^\w+$/.test(operationName)))
    return null;
  if (variables != null && (!isObject(variables) || isDeep(variables))) return null;
  const onError = errorBehaviorOf(params.onError);
  if (onError === undefined) return null;
  const common = { operationName: operationName ?? undefined, variables: variables ?? {}, onError };
  const hash = hashIn(params);
  if (typeof query === 'string' && query !== '') {
    // A text that comes with its hash has to be checked, and cached. Clients tell of themselves in extensions, too.
    const isPlain = hash === null && (extensions == null || namesNoDocument(extensions));
    const isAllowed = persisted.trusted === null || persisted.allows(query);
    return isPlain && isAllowed ? { ...common, text: query, isPersisted: false } : null;
  }
  const text = hash === null || query != null ? undefined : persisted.get(hash, isProven);
  return text === undefined ? null : { ...common, text, isPersisted: true };
}

function namesNoDocument(extensions: unknown): boolean {
  return isObject(extensions) && extensions.persistedQuery === undefined && !isDeep(extensions);
}

/** Returns the hash by which a request names an operation; null if it names none, or not in a known way. */
function hashIn(params: Readonly<Record<string, unknown>>): string | null {
  const documentId = documentIdOf(params);
  if (documentId !== null) return documentId;
  const { extensions } = params;
  const named = isObject(extensions) ? extensions.persistedQuery : undefined;
  if (!isObject(named) || named.version !== 1 || typeof named.sha256Hash !== 'string') return null;
  return named.sha256Hash;
}

/** True if the text of the operation, or any value that comes with it, nests deeper than the limit. */
function isDeepRequest(body: unknown, { query, variables, extensions }: ReturnType<typeof givenIn>): boolean {
  if (isDeepOperation(query)) return true;
  return isObject(body) ? isDeep(body) : [variables, extensions].some((text) => isDeep(jsonIn(text)));
}

const OPENING: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/** True if the text of an operation nests deeper than the limit: a parser would run out of stack. */
export function isDeepOperation(text: unknown): boolean {
  if (typeof text !== 'string' || (text.match(/[{[(]/g)?.length ?? 0) <= MAX_NESTING) return false;
  const lexer = new Lexer(new Source(text));
  let levels = 0;
  try {
    for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
      if (OPENING.has(token.kind)) levels += 1;
      else if (CLOSING.has(token.kind)) levels -= 1;
      if (levels > MAX_NESTING) return true;
    }
  } catch {
    // The parser words the error, and comes no further than this.
  }
  return false;
}

/** True if a value, at any depth, holds a number such as 1e999, which JSON can spell and not write. */
function hasInfinite(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasInfinite);
}

/** True if a text may ask about the schema at all: most don't, and needn't be looked up. */
export function mayReadSchema(text: string): boolean {
  return (
    text.includes('__schema') ||
    text.includes('_service') ||
    (text.includes('__type') && /__type(?!name)/.test(text))
  );
}

/** True if the client wants the plan instead of the answer. */
export function isExplained({ headers }: GatewayRequest): boolean {
  return headers['x-explain'] === '1';
}

/** A request that nobody needs to interpret, and the type that its client takes answers in. */
export interface PlainRequest {
  readonly params: OperationParams;
  /** Names the operation with its variables: two requests of one name ask for the same. */
  readonly question: string;
  readonly mayReadSchema: boolean;
  readonly contentType: string;
}

/** Kinds of `Accept` headers whose type of content is cached. */
const MAX_ACCEPTS = 100;
const MAX_ACCEPT_CHARACTERS = 300;

export class PlainRequests {
  readonly #persisted: PersistedTexts;
  /** Types of content by `Accept` headers. */
  readonly #contentTypes = new LRUCache<string, string>({ max: MAX_ACCEPTS });

  constructor(persisted: PersistedTexts) {
    this.#persisted = persisted;
  }

  /** Reads the operation that a request asks for; null if Apollo has to look at it. */
  read(request: GatewayRequest, { flow }: Caller): PlainRequest | null {
    const contentType = this.#contentTypes.get(request.headers.accept ?? '');
    if (contentType === undefined || isExplained(request)) return null;
    const params = paramsIn(request, this.#persisted, flow !== UNPROVEN);
    if (params === null) return null;
    const { text, operationName = '', variables, onError } = params;
    const given = JSON.stringify(variables);
    // A number beyond all numbers would be named as null is.
    if (given.includes('null') && hasInfinite(variables)) return null;
    const question = `${onError} ${operationName}\n${given}\n${text}`;
    return { params, question, mayReadSchema: mayReadSchema(text), contentType };
  }

  /** Learns the type of content that Apollo answers an `Accept` header with. */
  learn(accepts: string, contentType: string): void {
    if (accepts.length <= MAX_ACCEPT_CHARACTERS) this.#contentTypes.set(accepts, contentType);
  }
}

export type HandleRequest = (request: GatewayRequest) => PromiseOrValue<GatewayResponse>;

/** A request, its caller, and the operation that it asks for if that is plain. */
export interface Incoming {
  readonly request: GatewayRequest;
  readonly caller: Caller;
  readonly plain: PlainRequest | null;
  /** The delivery of an answer that may come in parts; null if it comes whole. */
  readonly delivery: Delivery | null;
  /** The operation's span, if somebody traces. */
  readonly trace?: Trace | undefined;
  /** Notes why there are no figures, if the client has asked for that. */
  readonly absences?: AbsenceNotes | undefined;
  /** What a stage adds to the answer. */
  readonly additions?: AnswerAdditions | undefined;
}

/**
 * A stage that answers requests, once the operation of each is known. The way of every operation is
 * `answers( admitted( run( plan | apollo )))`. An operation that was answered before gets the same bytes, and the others
 * wait for their turn. Equal ones in flight are run once. An operation that was found valid before runs by its plan.
 * Apollo Server reads and validates the rest. `gateway.ts` puts it together.
 */
export type Handle = (incoming: Incoming) => PromiseOrValue<GatewayResponse>;

const MAX_ERRORS = 1_000;

/**
 * Bounds the errors that an answer tells: not all of very many, and not all of a very long text of another's choice. If
 * some are left out, a last one says how many, by code. Each names the request, so that it is found in the log.
 */
export function shownErrors(
  errors: readonly GraphQLFormattedError[],
  requestId?: string,
): readonly GraphQLFormattedError[] {
  const shown = errors.slice(0, MAX_ERRORS).map(shortened);
  const rest = errors.slice(MAX_ERRORS);
  if (rest.length > 0) shown.push(summaryOf(rest));
  if (requestId === undefined) return shown;
  return shown.map((error) => ({ ...error, extensions: { ...error.extensions, requestId } }));
}

function shortened(error: GraphQLFormattedError): GraphQLFormattedError {
  const message = excerpt(error.message);
  const { detail } = error.extensions ?? {};
  if (typeof detail !== 'string') return { ...error, message };
  return { ...error, message, extensions: { ...error.extensions, detail: excerpt(detail) } };
}

/** Sums up the others under the code of the first of them, so that a reader of codes finds one that is known. */
function summaryOf(errors: readonly GraphQLFormattedError[]): GraphQLFormattedError {
  const [first] = errors;
  return {
    message: `There are ${errors.length} errors more than an answer lists.`,
    extensions: {
      code: first?.extensions?.code,
      retryable: first?.extensions?.retryable ?? false,
      leftOut: countsOf(errors.map(({ extensions }) => String(extensions?.code))),
    },
  };
}

/** Counts how often each code occurs. */
export function countsOf(codes: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

/** The request headers that the form of an answer depends on, if it may be cached. */
export const VARIES = 'Authorization, Accept, X-Explain, X-Absences';

export interface GatewayResponse {
  readonly status: number;
  /** Values by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  /** Texts if it comes in parts; chunks of bytes if it is written while it is sent. */
  readonly body: string | Buffer | AsyncIterable<string> | WrittenBody;
  /** Compressed forms of the body by their `Content-Encoding`, if both are cached. */
  readonly encoded?: Map<string, Promise<Buffer>>;
}

/** A body that is written while it is sent, no faster than it is read: each chunk is made when it is asked for. */
export class WrittenBody implements AsyncIterable<Uint8Array> {
  readonly #chunks: AsyncGenerator<Uint8Array>;
  /** Bytes that are reserved for it until it is sent, roughly. */
  readonly retainedBytes: number;

  constructor(chunks: AsyncGenerator<Uint8Array>, retainedBytes: number) {
    this.#chunks = chunks;
    this.retainedBytes = retainedBytes;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    return this.#chunks;
  }
}

/** Returns the whole of a body as text, for use in this process. */
export async function wholeBody(body: GatewayResponse['body']): Promise<string> {
  return typeof body === 'string' || Buffer.isBuffer(body) ? String(body) : text(Readable.from(body));
}

/** Names an answer by its data. The tag is weak, since bodies of one name differ in `extensions.upstream`. */
export function entityTag(data: StringPieces | Buffer, onError: ErrorBehavior = 'PROPAGATE'): string {
  const hash = createHash('sha256');
  if (onError !== 'PROPAGATE') hash.update(onError);
  for (const piece of Buffer.isBuffer(data) ? [data] : data) hash.update(piece);
  return `W/"${hash.digest('base64url').slice(0, 27)}"`;
}

/** Characters of data beyond which a body is put together as bytes: to join long texts takes longer than to encode them. */
const LONG_DATA = 16_384;

/** Writes an answer's body around the data of a plan. */
export function writeBody(
  data: StringPieces,
  errors: readonly GraphQLFormattedError[],
  extensions: object,
): string | Buffer {
  const errorsMember = errors.length === 0 ? '' : `"errors":${JSON.stringify(errors)},`;
  const start = `{${errorsMember}"data":`;
  const end = `,"extensions":${JSON.stringify(extensions)}}`;
  return lengthOf(data) > LONG_DATA ? bytesOf([start, ...data, end]) : start + data.join('') + end;
}

/** Spare bytes for characters that take more than one: a long text is written in less time than measured. */
const SPARE_BYTES = 1_024;

/** Bytes that the longest character takes: a text that ends further from the end of its room was written whole. */
const LONGEST_CHARACTER = 4;

function bytesOf(texts: readonly string[]): Buffer {
  const bytes = Buffer.allocUnsafe(texts.reduce((sum, { length }) => sum + length, SPARE_BYTES));
  let at = 0;
  for (const text of texts) {
    at += bytes.write(text, at);
    if (bytes.length - at < LONGEST_CHARACTER) return Buffer.from(texts.join(''));
  }
  return bytes.subarray(0, at);
}

/** True if a client may take JSON, so that an answer is worth while. Apollo finds out which types exactly it takes. */
export function mayAccept(accepts: string): boolean {
  return accepts === '' || takes(accepts, /json|\/\*/i);
}

/** True if a client knows `application/graphql-response+json`, as its `Accept` header shows. */
export function isModern(accepts: string): boolean {
  return takes(accepts, /^ *application\/graphql-response\+json *(;|$)/i);
}

/** True if an `Accept` header has a range of types that fits, and doesn't rule it out by a weight of 0. */
function takes(accepts: string, type: RegExp): boolean {
  return accepts.split(',').some((range) => type.test(range) && !RULED_OUT.test(range));
}

/** The pattern of a range that its weight of 0 rules out. */
export const RULED_OUT = /; *q *= *0(\.0*)? *(;|$)/i;

/**
 * Returns the status of an answer. Clients that accept `application/graphql-response+json` get 401 if nothing could run
 * for want of a valid key. Older ones get 200 for every answer to an operation, as they take any other status for a
 * failure of the network. Routers that ask for entities get 200 too, since most of them drop the errors of an answer
 * with another status.
 * @param status that the answer would be sent with otherwise
 */
export function statusOf<Status extends number | undefined>(
  {
    accepts,
    errors,
    data,
    operation,
    hadOperation,
  }: {
    readonly accepts: string;
    readonly errors: readonly GraphQLFormattedError[];
    readonly data: () => unknown;
    /** Null if the request holds none that could be found. */
    readonly operation: OperationDefinitionNode | null;
    readonly hadOperation: boolean;
  },
  status: Status,
): Status | 200 | 401 {
  if (errors.length > 0 && operation !== null && asksForEntities(operation)) return 200;
  if (!isModern(accepts)) return status === 400 && hadOperation ? 200 : status;
  const isUnauthenticated =
    errors.length > 0 && errors.every(({ extensions }) => extensions?.code === 'UNAUTHENTICATED');
  return isUnauthenticated && isNothing(data()) ? 401 : status;
}

/** True if an operation asks for entities. Only routers do, and they ask at the root, under any alias. */
function asksForEntities({ selectionSet }: OperationDefinitionNode): boolean {
  return selectionSet.selections.some(
    (selection) => selection.kind === Kind.FIELD && selection.name.value === '_entities',
  );
}

/** Statuses by code, for tables. An answer of JSON would be sent with 200 though nothing came. */
const STATUSES: Readonly<Record<string, number>> = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  RATE_LIMITED: 429,
  MONTHLY_QUOTA_EXCEEDED: 429,
  KEY_BUDGET_SPENT: 429,
  KEY_EXPIRED: 401,
  OVERLOADED: 503,
  BAD_USER_INPUT: 400,
  OPERATION_TOO_EXPENSIVE: 400,
  DOCUMENT_NOT_ALLOWED: 403,
  PERSISTED_QUERY_NOT_FOUND: 404,
  UPSTREAM_UNAVAILABLE: 503,
  UPSTREAM_INVALID_RESPONSE: 502,
  UPSTREAM_INCOMPLETE: 502,
  UPSTREAM_ROUTE_ABSENT: 502,
  NOT_HELD: 404,
  UPSTREAM_TIMEOUT: 504,
  OPERATION_TIMEOUT: 504,
};

export function statusOfError(error: unknown): number {
  const extensions = isObject(error) ? error.extensions : undefined;
  return (isObject(extensions) ? STATUSES[String(extensions.code)] : undefined) ?? 500;
}

/** True if an answer, at any depth, holds nothing but nulls. */
export function isNothing(value: unknown): boolean {
  return value == null || (typeof value === 'object' && Object.values(value).every(isNothing));
}

/**
 * Tags an answer if a client can make use of that: to a GET or a QUERY, and to an operation that was asked for by its
 * hash. A client that has got it already gets 304 instead, if it asked with one of these methods.
 */
export function tagged(
  { method, headers: asked }: { readonly method: string; readonly headers: Readonly<Record<string, string>> },
  isPersisted: boolean,
  response: GatewayResponse,
  errors: readonly GraphQLFormattedError[] | null,
  tag: () => string,
): GatewayResponse {
  const isSafe = METHODS.get(method)?.isSafe ?? false;
  if (errors?.length !== 0 || (!isSafe && !isPersisted)) return response;
  const headers = new Map(response.headers).set('etag', tag());
  if (isSafe && hasCopy(asked['if-none-match'], headers.get('etag')))
    return { status: 304, headers, body: '' };
  return { ...response, headers };
}

/**
 * True if a client has the answer that a tag names, by the tag alone. `fetch` adds `Cache-Control: no-cache` to each
 * request that has an `If-None-Match`, so that no cache in between answers it, and means nothing else by that.
 */
export function hasCopy(ifNoneMatch: string | undefined, etag: string | undefined): boolean {
  return etag !== undefined && fresh({ 'if-none-match': ifNoneMatch }, { etag });
}
