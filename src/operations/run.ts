import type { GraphQLFormattedError, OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { Stopwatch, type Trace, type Tracer } from '../async/trace.ts';
import { mapValue, type PromiseOrValue } from '../async/turns.ts';
import type { Config } from '../config.ts';
import { errorBody, type Failure } from '../errors.ts';
import type { TextPieces } from '../execution/columns.ts';
import type { ObservationClient } from '../figures/client.ts';
import type { Participant } from '../figures/pool.ts';
import { type GraphContext, openContext } from '../graph/context.ts';
import { CountedEffort } from '../loaders/effort.ts';
import { createBatchGate, type LoadersParts } from '../loaders/observations.ts';
import {
  type Bill,
  type Caller,
  Deadline,
  faultIn,
  type OperationPayer,
  openBill,
  payerOf,
  type Sending,
  type Waits,
} from '../service/call.ts';
import type { QuotaRecord } from '../tenants/account.ts';
import type { Ledger } from '../tenants/ledger.ts';
import type { Tenant } from '../tenants/tenant.ts';
import { NO_TENANT_CACHE, type TenantCache } from '../tenants/tenant-cache.ts';
import { timeIn } from '../times.ts';
import type { Delivery } from '../wings/defer/delivery.ts';
import type { FieldTrace, FieldTraces } from '../wings/federation/field-traces.ts';
import {
  ChangedRequest,
  type GatewayRequest,
  type OperationParams,
  type PersistedTexts,
  paramsIn,
  UNPROVEN,
} from './requests.ts';
import { type Extensions, type GatewayResponse, VARIES } from './responses.ts';

/** One operation that is over, as logs and metrics hear of it. */
export interface OperationEvent {
  readonly name: string | null;
  readonly type: 'query' | 'mutation' | 'subscription' | null;
  readonly durationMs: number;
  readonly calls: number;
  readonly shared: number;
  readonly cached: number;
  /** Answers past their time, served because the service gave none. */
  readonly stale: number;
  /** True if the whole answer was kept from an earlier operation. */
  readonly repeated: boolean;
  readonly errorCodes: readonly string[];
  /** Set if it came by a key that the service had accepted lately. */
  readonly isProven?: boolean;
  /** Identifier of its request; undefined if that has none. */
  readonly requestId?: string | undefined;
}

/** The state of one operation's run; the stages that handle it pass it on. */
export interface OperationRun {
  readonly context: GraphContext;
  readonly participant: Participant;
  readonly deadline: Deadline;
  readonly payer: Pick<OperationPayer, 'close'>;
  readonly bill: Bill;
  readonly waits: Waits;
  /** The operation's span, if somebody traces. */
  readonly trace: Trace | undefined;
  /** The trace of its fields for a router; null if none asks for it. */
  readonly fieldTrace: FieldTrace | null;
  readonly startedAtMs: number;
  readonly requestId: string | undefined;
  /** The `Accept` header. */
  readonly accepts: string;
  /** True if the client wants the plan instead of the answer. */
  readonly isExplained: boolean;
  /** The delivery of an answer that may come in parts; null if it comes whole. */
  readonly delivery: Delivery | null;
  /** Generation of the entries that were held for the key when the request came. */
  readonly generation: number;
  /** Set once there is a response to an operation: before that, a request has cost nothing. */
  errors: readonly GraphQLFormattedError[] | null;
  /** The answer that its plan has written; null before, and if it has no plan. */
  written: WrittenAnswer | null;
  /** The time at which the first held answer that was served expires; infinite while none was served. */
  freshUntilMs: number;
  /** The time at which the first fetched answer expires; infinite while none was fetched, 0 if it isn't known. */
  fetchedUntilMs: number;
  /** True if the answer holds for any later request of the same, while the answers that were read are fresh. */
  isLasting: boolean;
}

export type OpenRun = (
  request: GatewayRequest,
  caller: Caller,
  trace?: Trace,
  delivery?: Delivery | null,
) => OperationRun;

/** The answer to an operation that ran by its plan. */
export interface WrittenAnswer {
  readonly status: number;
  readonly data: TextPieces;
  readonly body: string | Buffer;
  readonly operation: OperationDefinitionNode;
}

/** Tells if the client wants the plan instead of the answer. */
export function isExplained({ headers }: GatewayRequest): boolean {
  return headers['x-explain'] === '1';
}

/** Returns the `extensions` of the answer to an operation. */
export function extensionsOf({ bill, context: { warnings }, fieldTrace }: OperationRun): Extensions {
  return { upstream: shown(bill), warnings: warnings.told(), ftv1: fieldTrace?.written };
}

/**
 * Returns a bill as it is told. Each use of a loader counts as one request of a field that fetches for itself, though
 * some take several: a list that is cut, a call that is tried again. Fields that share nothing take no less than the
 * calls that were sent for all of them together.
 */
export function shown(bill: Bill): Bill {
  return { ...bill, naive: Math.max(bill.naive, bill.calls) };
}

/** Tells if an answer was made of fresh held answers alone. */
export function isLasting({ bill, errors, isLasting, freshUntilMs }: OperationRun): boolean {
  const isFree = bill.calls === 0 && bill.shared === 0 && bill.stale === undefined;
  return isLasting && isFree && errors?.length === 0 && freshUntilMs < Number.POSITIVE_INFINITY;
}

export function eventOf(
  { calls, shared, cached, stale = [] }: Bill,
  operation: OperationDefinitionNode | null,
  errors: readonly Pick<GraphQLFormattedError, 'extensions'>[],
): Omit<OperationEvent, 'durationMs' | 'requestId'> {
  return {
    name: operation?.name?.value ?? null,
    type: operation?.operation ?? null,
    calls,
    shared,
    cached,
    stale: stale.reduce((sum, { answers }) => sum + answers, 0),
    repeated: false,
    errorCodes: errors.map(({ extensions }) => String(extensions?.code)),
  };
}

/** A request that nobody needs to interpret, and the type that its client takes answers in. */
export interface PlainRequest {
  readonly params: OperationParams;
  readonly contentType: string;
}

export interface PlainRequests {
  /** Reads the operation that a request asks for; null if Apollo has to look at it. */
  read(request: GatewayRequest, caller: Caller): PlainRequest | null;
  /** Learns the type of content that Apollo answers an `Accept` header with. */
  learn(accepts: string, contentType: string): void;
}

/** Kinds of `Accept` headers whose type of content is remembered. */
const MAX_ACCEPTS = 100;
const MAX_ACCEPT_CHARACTERS = 300;

export function createPlainRequests(persisted: PersistedTexts): PlainRequests {
  const contentTypes = new LRUCache<string, string>({ max: MAX_ACCEPTS });
  return {
    read(request, { flow }) {
      const contentType = contentTypes.get(request.headers.accept ?? '');
      if (contentType === undefined || isExplained(request)) return null;
      const params = paramsIn(request, persisted, flow !== UNPROVEN);
      return params && { params, contentType };
    },
    learn(accepts, contentType) {
      if (accepts.length <= MAX_ACCEPT_CHARACTERS) contentTypes.set(accepts, contentType);
    },
  };
}

/** The facts that the headers of a response to an operation state. */
interface AnswerFacts {
  readonly status: number;
  /** Null if there is no answer to an operation. */
  readonly errors: readonly GraphQLFormattedError[] | null;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /** Seconds for which all of the answer is known to hold; null if that isn't known, or the answer isn't whole. */
  readonly maxAgeSeconds: number | null;
  /** See {@link timingOf}. */
  readonly timing: string;
}

/** Sets the headers that every response to an operation has. */
export function setHeaders(
  headers: Map<string, string>,
  { status, errors, nowMs, maxAgeSeconds, timing }: AnswerFacts,
): void {
  const isKept = errors?.length === 0 && maxAgeSeconds !== null;
  if (isKept) headers.set('cache-control', `private, max-age=${maxAgeSeconds}`);
  else headers.set('cache-control', errors?.length === 0 ? 'private' : 'no-store');
  // A cache may not take the answer for the plan of the operation, nor for another form of it.
  headers.set('vary', isKept ? VARIES : 'Authorization');
  headers.set('server-timing', timing);
  if (status === 401) headers.set('www-authenticate', 'Bearer');
  const retryAfterSeconds = earliestRetry(errors ?? [], nowMs);
  if (retryAfterSeconds !== null) headers.set('retry-after', String(retryAfterSeconds));
}

/**
 * As {@link setHeaders}, for an operation that ran.
 * @param clocks the wall clock, and the one that tells how old things are
 */
export function setRunHeaders(
  headers: Map<string, string>,
  status: number,
  run: OperationRun,
  { now, steadyNow }: { readonly now: () => number; readonly steadyNow: () => number },
): void {
  const { errors, waits } = run;
  const maxAgeSeconds = maxAgeOf(run, steadyNow());
  setHeaders(headers, { status, errors, nowMs: now(), maxAgeSeconds, timing: timingOf(waits) });
}

/**
 * Returns the value of `Server-Timing`: the time that an operation waited for the service, and for the store of held
 * answers.
 */
function timingOf({ service, store }: Waits): string {
  return `upstream;dur=${rounded(service.totalMs)}, cache;dur=${rounded(store.totalMs)}`;
}

/** Rounds to a tenth of a millisecond. */
export function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** Counts the seconds for which the answer to an operation is fresh; null if that isn't known, or it isn't whole. */
function maxAgeOf(
  { bill, isLasting, freshUntilMs, fetchedUntilMs, context }: OperationRun,
  nowMs: number,
): number | null {
  if (!isLasting || bill.stale !== undefined || context.warnings.told() !== undefined) return null;
  return secondsUntil(Math.min(freshUntilMs, fetchedUntilMs), nowMs);
}

/** Counts the whole seconds until an instant; null if it has come, or never will. */
export function secondsUntil(untilMs: number, nowMs: number): number | null {
  const seconds = Math.floor((untilMs - nowMs) / 1000);
  return seconds > 0 && seconds < Number.POSITIVE_INFINITY ? seconds : null;
}

/** Counts the seconds until the first time that an error names; null if none names any. */
function earliestRetry(errors: readonly GraphQLFormattedError[], nowMs: number): number | null {
  const times = errors.flatMap(({ extensions }) => {
    const time = extensions?.retryAt ?? extensions?.resetsAt;
    return (time == null ? null : timeIn(String(time)))?.firstMs ?? [];
  });
  if (times.length === 0) return null;
  return Math.max(1, Math.ceil((Math.min(...times) - nowMs) / 1000));
}

/** A request, its caller, and the operation that it asks for if that is plain. */
export interface Incoming {
  readonly request: GatewayRequest;
  readonly caller: Caller;
  readonly plain: PlainRequest | null;
  /** The delivery of an answer that may come in parts; null if it comes whole. */
  readonly delivery: Delivery | null;
  /** The operation's span, if somebody traces. */
  readonly trace?: Trace | undefined;
}

/**
 * A stage that answers requests, once the operation of each is known (`forms.ts`). The way of every operation is
 * `limitsTold( repeated( admitted( coalesced( opened( prepared( apollo ))))))`. An operation that was answered before
 * gets the same bytes, and the others wait for their turn. Equal ones in flight are run once. An operation that was
 * found valid before runs by its plan. Apollo Server reads, validates and answers the rest. `gateway.ts` puts it
 * together.
 */
export type Handle = (incoming: Incoming) => PromiseOrValue<GatewayResponse>;

/** A stage for requests that have begun to run. */
export type HandleRun = (incoming: Incoming, run: OperationRun) => Promise<GatewayResponse>;

/** Calls back once an answer is executed: at once if it is whole, else with the last of its parts. */
export function onceOver(delivery: Delivery | null, callBack: () => void): void {
  const over = delivery?.over ?? null;
  if (over === null) callBack();
  else void over.finally(callBack);
}

/** Answers requests of one operation. */
export type HandleRequest = (request: GatewayRequest) => PromiseOrValue<GatewayResponse>;

export interface BatchedParts {
  /** Operations that one request may bring; 0 for none. */
  readonly maxBatchedOperations: number;
  /** Bytes of all answers of one request together. */
  readonly maxAnswerBytes: number;
}

/**
 * Answers requests that bring several operations in an array, as Apollo's BatchHttpLink and routers send them, with an
 * array of their answers. Each operation is admitted, run and billed by itself, beside the others. So they share their
 * calls as operations do that come at the same time. A request of too many is refused before any is run.
 */
export function batched(next: HandleRequest, parts: BatchedParts): HandleRequest {
  return (request) => {
    const { method, body, requestId } = request;
    if (method !== 'POST' || !Array.isArray(body)) return next(request);
    const fault = faultOf(body.length, parts.maxBatchedOperations);
    return fault === null ? answerAll(request, body, next, parts) : refused(fault, requestId);
  };
}

function faultOf(count: number, most: number): string | null {
  if (most === 0)
    return 'This gateway takes no batches (MAX_BATCHED_OPERATIONS is 0). Send each operation as a request of its own.';
  if (count === 0) return 'The batch has no operations.';
  if (count <= most) return null;
  return `The batch has ${count} operations; this gateway takes up to ${most} in one request (MAX_BATCHED_OPERATIONS). Nothing was run. Send fewer at once: Apollo's BatchHttpLink has \`batchMax\` for that.`;
}

async function answerAll(
  request: GatewayRequest,
  operations: readonly unknown[],
  next: HandleRequest,
  { maxAnswerBytes }: BatchedParts,
): Promise<GatewayResponse> {
  let leftBytes = maxAnswerBytes;
  const answers = await Promise.all(
    operations.map(async (body) => {
      const answer = await next(
        new ChangedRequest(request, { body, search: '', isBatched: operations.length > 1 }),
      );
      const text = textOf(answer.body);
      leftBytes -= text?.length ?? 0;
      return { ...answer, body: text === null || leftBytes < 0 ? tooLong(maxAnswerBytes, request) : text };
    }),
  );
  const statuses = new Set(answers.map(({ status }) => status));
  const [common = 200] = statuses;
  return {
    status: statuses.size === 1 ? common : 200,
    headers: headersOf(answers),
    body: `[${answers.map(({ body }) => body).join(',')}]`,
  };
}

/** Returns null if the body comes in parts. No answer of a batch does. */
function textOf(body: GatewayResponse['body']): string | null {
  return typeof body === 'string' || Buffer.isBuffer(body) ? String(body) : null;
}

/** Joins the headers of all answers. */
function headersOf(answers: readonly GatewayResponse[]): ReadonlyMap<string, string> {
  const headers = new Map(answers.flatMap((answer) => [...answer.headers]));
  const valuesOf = (name: string) => answers.flatMap((answer) => answer.headers.get(name) ?? []);
  headers.delete('etag');
  headers.set('cache-control', valuesOf('cache-control').includes('no-store') ? 'no-store' : 'private');
  headers.set('vary', 'Authorization');
  const timings = valuesOf('server-timing');
  if (timings.length > 0) headers.set('server-timing', timings.join(', '));
  const waits = valuesOf('retry-after').map(Number);
  if (waits.length > 0) headers.set('retry-after', String(Math.max(...waits)));
  return headers;
}

function tooLong(limit: number, { requestId }: GatewayRequest): string {
  const message = `The answers of the batch would be longer together than the ${limit} bytes that this gateway sends at once (MAX_ANSWER_BYTES). Ask for less at once.`;
  return errorBody('OPERATION_TOO_EXPENSIVE', message, { limit, requestId }, { data: null });
}

function refused(message: string, requestId: string | undefined): GatewayResponse {
  return {
    status: 400,
    headers: new Map([
      ['content-type', 'application/json; charset=utf-8'],
      ['cache-control', 'no-store'],
      ['vary', 'Authorization'],
    ]),
    body: errorBody('BAD_REQUEST', message, { requestId }, { extensions: { upstream: openBill() } }),
  };
}

/**
 * Adds the `RateLimit` and `RateLimit-Policy` headers of the IETF's draft to every answer: the calls left of the key's
 * plan, as far as the service has named it.
 */
export function limitsTold(next: Handle, { limits }: Pick<Ledger, 'limits'>): Handle {
  return (incoming) =>
    mapValue(next(incoming), (response) => {
      const known = limits(incoming.caller.tenant);
      if (known.length === 0) return response;
      const left = known.map(({ name, left, resetSeconds }) => `"${name}";r=${left};t=${resetSeconds}`);
      const policy = known.map(({ name, most, windowSeconds }) => `"${name}";q=${most};w=${windowSeconds}`);
      const headers = new Map(response.headers);
      headers.set('ratelimit', left.join(', ')).set('ratelimit-policy', policy.join(', '));
      return { ...response, headers };
    });
}

/** Characters of an operation's name that a span tells. */
const MAX_NAME = 100;

/** Begins a span for each operation, or goes on with the trace of its client. */
export function traced(next: Handle, tracer: Tracer): Handle {
  return (incoming) => {
    const trace = tracer.begin('graphql.operation', incoming.request.headers);
    const end = (response: GatewayResponse) => {
      trace.set({ 'http.response.status_code': response.status });
      trace.end(response.status >= 500 ? String(response.status) : undefined);
      return response;
    };
    /** Ends an operation that is answered in parts with the last of them. */
    const endsWith = (response: GatewayResponse) => {
      onceOver(incoming.delivery, () => end(response));
      return response;
    };
    const fail = (error: unknown): never => {
      trace.end(faultIn(error));
      throw error;
    };
    try {
      const response = next({ ...incoming, trace });
      return response instanceof Promise ? response.then(endsWith, fail) : mapValue(response, end);
    } catch (error) {
      return fail(error);
    }
  };
}

/** Adds the counts and codes of an operation to its span. Variables and text are the caller's own. */
export function describeOperation(
  trace: Trace | undefined,
  { name, type, calls, shared, cached, repeated, errorCodes }: Omit<OperationEvent, 'durationMs'>,
): void {
  trace?.set({
    ...(name === null ? {} : { 'graphql.operation.name': name.slice(0, MAX_NAME) }),
    ...(type === null ? {} : { 'graphql.operation.type': type }),
    'country_graph.calls': calls,
    'country_graph.shared': shared,
    'country_graph.cached': cached,
    'country_graph.repeated': repeated,
    ...(errorCodes.length === 0 ? {} : { 'country_graph.error_codes': [...new Set(errorCodes)] }),
  });
}

interface OpenRunParts
  extends Pick<LoadersParts, 'ask' | 'tickersLearned' | 'learned' | 'hasPlenty' | 'heldNames'> {
  readonly config: Config;
  readonly observations: ObservationClient;
  readonly tenantCache: TenantCache;
  readonly fieldTraces: FieldTraces;
  readonly keyRefusal: (tenant: Tenant) => Failure | null;
  readonly quota: (tenant: Tenant) => Promise<QuotaRecord>;
  readonly now: () => number;
  readonly steadyNow: () => number;
}

/** Makes the parts of one operation's run: its bill, its deadline, its loaders. */
export function createOpenRun(parts: OpenRunParts): OpenRun {
  const { config, observations, tenantCache, fieldTraces, quota, now, steadyNow } = parts;
  return (request, caller, trace, delivery = null) => {
    const bill = openBill();
    const waits = { service: new Stopwatch(), store: new Stopwatch() };
    const startedAtMs = now();
    const timeoutMs = config.operationTimeoutMs;
    const deadline = new Deadline({ startedAtMs: steadyNow(), timeoutMs, now: steadyNow, request });
    const payer = payerOf(bill, config.maxUpstreamCalls);
    const sending: Sending = {
      caller,
      bill,
      waits,
      payer,
      signal: deadline.signal,
      deadline,
      trace,
      waitDeadlineMs: startedAtMs + Math.min(config.rateLimitWaitMs, timeoutMs),
      onHeld(freshUntilMs) {
        if (freshUntilMs < run.freshUntilMs) run.freshUntilMs = freshUntilMs;
      },
      onFetched(freshUntilMs) {
        if (freshUntilMs < run.fetchedUntilMs) run.fetchedUntilMs = freshUntilMs;
      },
    };
    const fieldTrace = delivery === null ? fieldTraces.begin(request) : null;
    const { participant, figures } = observations.join(caller);
    // The others of the batch are about to ask: the first to ask waits until all their demands are known.
    if (request.isBatched) participant.expect();
    const run: OperationRun = {
      context: openContext({
        ask: parts.ask,
        sending,
        figures,
        batchGate: createBatchGate(config.batchHoldMs),
        effort: new CountedEffort(caller.tenant),
        tickersLearned: parts.tickersLearned,
        learned: parts.learned,
        hasPlenty: parts.hasPlenty,
        heldNames: parts.heldNames,
        maxListItems: config.maxListItems,
        keyRefusal: () => parts.keyRefusal(caller.tenant),
        quota() {
          run.isLasting = false;
          return quota(caller.tenant);
        },
      }),
      participant,
      deadline,
      payer,
      bill,
      waits,
      trace,
      fieldTrace,
      startedAtMs,
      requestId: request.requestId,
      accepts: request.headers.accept ?? '',
      isExplained: isExplained(request),
      delivery,
      errors: null,
      written: null,
      freshUntilMs: Number.POSITIVE_INFINITY,
      fetchedUntilMs: tenantCache === NO_TENANT_CACHE ? 0 : Number.POSITIVE_INFINITY,
      generation: tenantCache.generation(caller.tenant),
      // A trace is of one run. It would be of no other that got the same answer.
      isLasting: fieldTrace === null,
    };
    return run;
  };
}

/** The response to an operation, and its run. */
export interface RanOperation {
  readonly response: GatewayResponse;
  readonly run: OperationRun;
}

/** Opens the run of an operation, and closes it once all of the answer is there. */
export function opened(
  next: HandleRun,
  { openRun }: { readonly openRun: OpenRun },
): (incoming: Incoming) => Promise<RanOperation> {
  return async (incoming) => {
    const { request, caller, trace, delivery } = incoming;
    const run = openRun(request, caller, trace, delivery);
    try {
      return { response: await next(incoming, run), run };
    } finally {
      onceOver(delivery, () => close(run));
    }
  };
}

/** Closes a run. Calls that it asked for and nobody waited for are not sent any more: its bill is shown. */
function close({ deadline, participant, payer }: OperationRun): void {
  deadline.stop();
  participant.leave();
  payer.close();
}
