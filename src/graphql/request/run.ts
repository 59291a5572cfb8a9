import type { GraphQLError, GraphQLFormattedError, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import type { Config } from '../../config/config.ts';
import type { QuotaRecord } from '../../keys/ledger.ts';
import type { Tenant } from '../../keys/tenant.ts';
import { NO_TENANT_CACHE, type TenantCache } from '../../keys/tenant-cache.ts';
import type { ObservationClient } from '../../observations/client.ts';
import { createBatchGate } from '../../observations/loaders/batch-gate.ts';
import { Effort } from '../../observations/loaders/effort.ts';
import { createLoaders, type LoadersParts } from '../../observations/loaders/loaders.ts';
import type { Learned } from '../../observations/planner/learned.ts';
import { type Bill, openBill } from '../../service/bill.ts';
import type { Caller } from '../../service/caller.ts';
import { Deadline } from '../../service/deadline.ts';
import type { CallGate } from '../../service/gate.ts';
import { payerOf } from '../../service/payer.ts';
import type { Sending } from '../../service/sending.ts';
import { Stopwatch } from '../../service/stopwatch.ts';
import type { Trace } from '../../service/trace.ts';
import { Failure } from '../../shared/errors.ts';
import { timeIn } from '../../shared/periods.ts';
import { createWarnings } from '../../shared/warnings.ts';
import type { createPricing } from '../cost/pricing.ts';
import { byteLengthOf, type ErrorBehavior, lengthOf, type StringPieces } from '../execution/columns.ts';
import { planOperation } from '../execution/plan.ts';
import { type Executed, runPlan } from '../execution/run.ts';
import type { GraphContext } from '../schema/context.ts';
import { errorOf, formatError } from '../schema/errors.ts';
import { Ages } from './ages.ts';
import { writeBody } from './body.ts';
import type { Delivery } from './delivery.ts';
import type { PersistedTexts } from './persisted.ts';
import type { PlannedOperation, ValidOperation } from './prepared-operation.ts';
import type { GatewayRequest } from './requests.ts';
import { type GatewayResponse, VARIES } from './responses.ts';
import { shownErrors } from './shown-errors.ts';
import type { Incoming } from './stages.ts';
import { statusOf } from './statuses.ts';

/** The settings, the schema and the means that all stages of an operation have. */
export interface OperationsParts {
  readonly config: Config;
  readonly schema: GraphQLSchema;
  readonly persisted: PersistedTexts;
  readonly tenantCache: TenantCache;
  /** Sizes and limits that the service has shown: operations are bounded by them. */
  readonly learned: Learned;
  /** The wall clock, in milliseconds since the epoch. */
  readonly now: () => number;
  /** The same without steps back, to tell how old things are. */
  readonly steadyNow: () => number;
  readonly onOperation: (event: OperationEvent, caller: Caller) => void;
  /** Called with an error of our own, the place that met it, and the request, if that is known. */
  readonly onError: (error: unknown, where: string, requestId?: string) => void;
}

/** An operation and its cost, for all who get the same answer. */
interface OperationOutcome {
  readonly name: string | null;
  readonly type: 'query' | 'mutation' | 'subscription' | null;
  readonly calls: number;
  readonly shared: number;
  readonly cached: number;
  /** Answers past their time, served because the service gave none. */
  readonly stale: number;
  /** True if the whole answer is cached from an earlier operation. */
  readonly repeated: boolean;
  readonly errorCodes: readonly string[];
  /** Set if it came by a key that the service had accepted lately. */
  readonly isProven?: boolean;
}

/** One operation that is over, as logs and metrics hear of it. */
export interface OperationEvent extends OperationOutcome {
  readonly durationMs: number;
  readonly requestId?: string | undefined;
}

/** The state of one operation's run; the stages that handle it pass it on. */
export interface OperationRun {
  readonly context: GraphContext;
  readonly participant: ReturnType<ObservationClient['join']>['participant'];
  readonly deadline: Deadline;
  readonly payer: ReturnType<typeof payerOf>;
  readonly bill: Bill;
  readonly waits: NonNullable<Sending['waits']>;
  /** The operation's span, if somebody traces. */
  readonly trace: Trace | undefined;
  readonly startedAtMs: number;
  readonly requestId: string | undefined;
  readonly accepts: string;
  readonly delivery: Delivery | null;
  /** Generation of the entries that were cached for the key when the request came. */
  readonly generation: number;
  /** Set once it has been read. */
  onError: ErrorBehavior;
  /** Set once there is a response to an operation: before that, a request has cost nothing. */
  errors: readonly GraphQLFormattedError[] | null;
  /** The answer that its plan has written; null before, and if it has no plan. */
  written: WrittenAnswer | null;
  /** The time at which the first cached answer that was served expires; infinite while none was served. */
  freshUntilMs: number;
  /** The time at which the first fetched answer expires; infinite while none was fetched, 0 if it isn't known. */
  fetchedUntilMs: number;
  /** True if the answer holds for any later request of the same, while the answers that were read are fresh. */
  isLasting: boolean;
  /** The times of the cached answers that it is made of; null if the service could have been asked. */
  readonly ages: Ages | null;
  /** What a stage adds to the answer. */
  readonly additions: Incoming['additions'];
}

export type OpenRun = ReturnType<typeof createOpenRun>;

/** The answer to an operation that ran by its plan. */
export interface WrittenAnswer {
  readonly status: number;
  readonly data: StringPieces;
  readonly body: string | Buffer;
  readonly operation: OperationDefinitionNode;
  readonly extensions: ReturnType<typeof extensionsOf>;
}

/** Returns the `extensions` of the answer to an operation; those that are undefined are left out. */
export function extensionsOf({ bill, context, ages, additions }: OperationRun) {
  const { warnings, absences } = context;
  return {
    upstream: shown(bill),
    warnings: warnings.listed(),
    freshness: ages?.shown(),
    absences: absences?.listed(),
    ...additions?.extensions(context),
  };
}

/** Returns a bill as it is shown: fields that share nothing take no less than the calls for all of them together. */
export function shown(bill: Bill): Bill {
  return { ...bill, naive: Math.max(bill.naive, bill.calls) };
}

export function eventOf(
  { calls, shared, cached, stale = [] }: Bill,
  operation: OperationDefinitionNode | null,
  errors: readonly { readonly extensions?: GraphQLFormattedError['extensions'] }[],
): OperationOutcome {
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

/** The facts that the headers of a response to an operation state. */
interface AnswerFacts {
  readonly status: number;
  /** Null if there is no answer to an operation. */
  readonly errors: readonly GraphQLFormattedError[] | null;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /** Seconds for which all of the answer is known to hold; null if that isn't known, or the answer isn't whole. */
  readonly maxAgeSeconds: number | null;
  readonly timing: string;
}

/** Sets the headers that every response to an operation has. */
export function setHeaders(
  headers: Map<string, string>,
  { status, errors, nowMs, maxAgeSeconds, timing }: AnswerFacts,
): void {
  const isCacheable = errors?.length === 0;
  const cacheControl = maxAgeSeconds === null ? 'private' : `private, max-age=${maxAgeSeconds}`;
  headers.set('cache-control', isCacheable ? cacheControl : 'no-store');
  // A cache may not take the answer for the plan of the operation, nor for another form of it, fresh or by its tag.
  headers.set('vary', isCacheable ? VARIES : 'Authorization');
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
  if (run.additions !== undefined && errors?.length === 0)
    addHeaders(headers, run.additions.headers(run.context));
}

/** Adds headers of a stage. */
export function addHeaders(headers: Map<string, string>, added: ReadonlyMap<string, string>): void {
  for (const [name, value] of added) headers.set(name, value);
}

/** Returns the value of `Server-Timing`: the time of waits for the service, and for the store of cached answers. */
function timingOf({ service, store }: OperationRun['waits']): string {
  const [upstream, cache] = [service.totalMs, store.totalMs].map(rounded);
  return `upstream;dur=${upstream}, cache;dur=${cache}`;
}

/** Rounds to a tenth of a millisecond. */
export function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** Counts the seconds for which the answer to an operation is fresh; null if that isn't known, or it isn't whole. */
function maxAgeOf(
  { bill, isLasting, freshUntilMs, fetchedUntilMs, context, written }: OperationRun,
  nowMs: number,
): number | null {
  if (!isLasting || bill.stale !== undefined) return null;
  const { warnings } = written?.extensions ?? { warnings: context.warnings.listed() };
  if (warnings !== undefined) return null;
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

/** Calls back once an answer is executed: at once if it is whole, otherwise with the last of its parts. */
export function onceOver(delivery: Delivery | null, callBack: () => void): void {
  const over = delivery?.over ?? null;
  if (over === null) callBack();
  else void over.finally(callBack);
}

/** Characters of an operation's name that a span tells. */
const MAX_NAME = 100;

/** Adds the counts and codes of an operation to its span. Variables and text are the caller's own. */
export function describeOperation(
  trace: Trace | undefined,
  { name, type, calls, shared, cached, repeated, errorCodes }: OperationOutcome,
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

/** What loads the lists and the figures of operations. */
export interface LoadingMeans
  extends Pick<LoadersParts, 'ask' | 'tickersLearned' | 'hasPlenty' | 'mayGuess' | 'cachedNames'> {
  readonly observations: ObservationClient;
}

/** Makes the parts of one operation's run: its bill, its deadline, its loaders. */
export function createOpenRun(
  { config, tenantCache, learned, now }: OperationsParts,
  service: LoadingMeans & {
    readonly gate: CallGate;
    readonly quota: (tenant: Tenant) => Promise<QuotaRecord>;
    /** Returns the means of callers on whose behalf nothing is asked. */
    readonly offline: () => LoadingMeans;
  },
) {
  const { gate, quota, offline, ...online } = service;
  const citing = citingOf(config);
  return (
    request: GatewayRequest,
    caller: Caller,
    trace?: Trace,
    delivery: Delivery | null = null,
    { absences, additions }: Pick<Incoming, 'absences' | 'additions'> = {},
  ): OperationRun => {
    const bill = openBill();
    const waits = { service: new Stopwatch(), store: new Stopwatch() };
    const startedAtMs = now();
    const timeoutMs = config.operationTimeoutMs;
    const deadline = new Deadline(timeoutMs, request);
    const payer = payerOf(bill, config.maxUpstreamCalls, caller.budget);
    const sending: Sending = {
      caller,
      bill,
      waits,
      payer,
      signal: deadline.signal,
      deadline,
      trace,
      waitDeadlineMs: startedAtMs + Math.min(config.rateLimitWaitMs, timeoutMs),
      onCached(freshUntilMs, route, oldestAtMs, newestAtMs) {
        if (freshUntilMs < run.freshUntilMs) run.freshUntilMs = freshUntilMs;
        ages?.note(route, oldestAtMs, newestAtMs);
      },
      onFetched(freshUntilMs) {
        if (freshUntilMs < run.fetchedUntilMs) run.fetchedUntilMs = freshUntilMs;
      },
    };
    const isOffline = caller.offline !== undefined;
    const ages = isOffline ? new Ages() : null;
    const { observations, ...lists } = isOffline ? offline() : online;
    const { participant, figures } = observations.join(caller);
    // The others of the batch are about to ask: the first to ask waits until all their demands are known.
    if (request.isBatched) participant.expect();
    const batchGate = createBatchGate(config.batchHoldMs);
    const { tenant } = caller;
    // Offline nobody can prove a key: that it was accepted once is enough.
    const effort = new Effort(isOffline ? whoseKeyIsKnown(tenant) : tenant);
    const run: OperationRun = {
      context: {
        caller,
        bill,
        loaders: createLoaders({ ...lists, learned, sending, figures, batchGate, effort }),
        batchGate,
        effort,
        warnings: createWarnings(),
        absences,
        maxListItems: config.maxListItems,
        citing,
        gate,
        markPassing() {
          run.isLasting = false;
        },
        quota() {
          run.isLasting = false;
          return caller.budget?.quota?.() ?? quota(caller.tenant);
        },
      },
      participant,
      deadline,
      payer,
      bill,
      waits,
      trace,
      startedAtMs,
      requestId: request.requestId,
      accepts: request.headers.accept ?? '',
      delivery,
      onError: 'PROPAGATE',
      errors: null,
      written: null,
      freshUntilMs: Number.POSITIVE_INFINITY,
      fetchedUntilMs: tenantCache === NO_TENANT_CACHE ? 0 : Number.POSITIVE_INFINITY,
      generation: tenantCache.generation(caller.tenant),
      isLasting: true,
      ages,
      additions,
    };
    return run;
  };
}

function whoseKeyIsKnown(tenant: Tenant) {
  return {
    get isProven() {
      return tenant.isKnown;
    },
  };
}

/** An address that others can ask has TLS. A name and a password in it stay here. */
function citingOf({
  sourceNames = new Map(),
  countryDataUrl = '',
}: Config): NonNullable<GraphContext['citing']> {
  const url = URL.parse(countryDataUrl);
  const isPublic = url?.protocol === 'https:';
  return { sourceNames, serviceUrl: isPublic ? `${url.origin}${url.pathname.replace(/\/+$/, '')}` : null };
}

export interface RanOperation {
  readonly response: GatewayResponse;
  readonly run: OperationRun;
}

const NULL: StringPieces = ['null'];

/** @param isOffline true to price what would have to be fetched, if cached answers of any age will do */
type OpenPricing = (isOffline: boolean) => Promise<ReturnType<typeof createPricing>>;

/** Prices and runs operations by their plans. */
export class Execution {
  readonly #parts: OperationsParts;
  readonly #openPricing: OpenPricing;

  /** @param openPricing loads what prices operations: most are never priced */
  constructor(parts: OperationsParts, openPricing: OpenPricing) {
    this.#parts = parts;
    this.#openPricing = openPricing;
  }

  /** Refuses an operation that is too dear to run; null if it isn't. Most are known not to be by their text alone. */
  async refusalOf(
    planned: PlannedOperation,
    { context: { caller } }: OperationRun,
  ): Promise<GraphQLError | null> {
    const { learned, config } = this.#parts;
    const { prepared, variables, bound, plan } = planned;
    if (caller.offline !== undefined || bound(learned.facts().maxRows) <= config.maxUpstreamCalls)
      return null;
    const { document, operation } = prepared;
    const priced = { document, operation, variables, caller, plan };
    const pricing = await this.#openPricing(false);
    const refusal = await pricing.refusalOf(priced);
    return refusal && errorOf(refusal, 400);
  }

  /**
   * Prices an operation, in place of its answer.
   * @throws GraphQLError if it is too dear to be priced
   */
  async explain(
    { document, operation }: ValidOperation,
    variables: PlannedOperation['variables'],
    { context: { caller, warnings } }: OperationRun,
  ) {
    const plan = planOperation(this.#parts.schema, document, operation, variables);
    const pricing = await this.#openPricing(caller.offline !== undefined);
    const explained = await pricing.explain({ document, operation, variables, caller, plan }, warnings);
    if (explained instanceof Failure) throw errorOf(explained, 400);
    return explained;
  }

  async answer(planned: PlannedOperation, run: OperationRun): Promise<WrittenAnswer> {
    const { accepts, requestId } = run;
    const { operation } = planned.prepared;
    const executed = await runBounded(planned, run, this.#inParts(planned, run) ?? runPlan);
    const isLong = this.tooLong(executed.data);
    const data = isLong === null ? executed.data : NULL;
    const errors =
      isLong === null ? executed.errors.map((error) => this.#format(error, requestId)) : [isLong];
    if (isLong === null && this.#deliver(run, operation, data, errors)) {
      run.written = { status: 200, data, body: '', operation, extensions: extensionsOf(run) };
      return run.written;
    }
    this.finish(run, operation, errors);
    const extensions = extensionsOf(run);
    const about = { accepts, errors, data: () => JSON.parse(data.join('')), operation, hadOperation: true };
    run.written = {
      status: statusOf(about, 200),
      data,
      body: writeBody(data, shownErrors(errors, requestId), extensions),
      operation,
      extensions,
    };
    return run.written;
  }

  finish(
    run: OperationRun,
    operation: OperationDefinitionNode | null,
    errors: readonly GraphQLFormattedError[],
  ): void {
    run.errors = errors;
    const event = {
      ...eventOf(run.bill, operation, errors),
      durationMs: this.#parts.now() - run.startedAtMs,
      requestId: run.requestId,
      // Known by now, if it wasn't when the operation began.
      ...(run.context.caller.tenant.isProven ? { isProven: true } : {}),
    };
    if (run.trace !== undefined) describeOperation(run.trace, event);
    this.#parts.onOperation(event, run.context.caller);
  }

  /** Returns the error of an answer that is longer than this gateway sends; null if it isn't. */
  tooLong(text: StringPieces): GraphQLFormattedError | null {
    const { maxAnswerBytes } = this.#parts.config;
    return isLonger(text, maxAnswerBytes) ? this.#format(answerTooLong(maxAnswerBytes)) : null;
  }

  #format(error: GraphQLError, requestId?: string): GraphQLFormattedError {
    const onError = (error: unknown) => this.#parts.onError(error, 'operation', requestId);
    return formatError(error.toJSON(), error, onError);
  }

  /** Returns the function that runs an operation so that it may come in parts; null if it comes whole. */
  #inParts(planned: PlannedOperation, { delivery, requestId }: OperationRun): typeof runPlan | null {
    if (delivery === null) return null;
    const { schema, config } = this.#parts;
    const { maxAnswerBytes } = config;
    const formatErrors = (errors: readonly GraphQLError[]) =>
      shownErrors(
        errors.map((error) => this.#format(error, requestId)),
        requestId,
      );
    return delivery.runner(planned, schema, maxAnswerBytes, formatErrors, () =>
      answerTooLong(maxAnswerBytes),
    );
  }

  /** Leaves an answer to its delivery, if parts of it are to come. */
  #deliver(
    run: OperationRun,
    operation: OperationDefinitionNode,
    data: StringPieces,
    errors: readonly GraphQLFormattedError[],
  ): boolean {
    if (run.delivery === null) return false;
    const formatted = shownErrors(errors, run.requestId);
    const onOver = (all: readonly GraphQLFormattedError[]) => {
      this.finish(run, operation, all);
      return extensionsOf(run);
    };
    if (!run.delivery.begin({ data: data.join(''), errors: formatted, onOver })) return false;
    run.errors = errors;
    run.isLasting = false;
    return true;
  }
}

async function runBounded(
  { plan, variables, leadsToFigures }: PlannedOperation,
  { context, participant, payer, onError }: OperationRun,
  execute: typeof runPlan,
): Promise<Executed> {
  const { caller, effort, batchGate } = context;
  if (leadsToFigures) participant.expect();
  else participant.forgo();
  try {
    return await execute({
      plan,
      context,
      variables,
      onPause: batchGate.pauseDuring,
      onList: (items: number) => effort.list(items),
      onError: () => effort.fail(1),
      errorBehavior: onError,
      onHalt: payer.close,
      job: caller,
    });
  } catch (error) {
    if (effort.refusal === null || error !== effort.refusal) throw error;
    return { data: NULL, errors: [errorOf(effort.refusal)] };
  }
}

function isLonger(text: StringPieces, maxBytes: number): boolean {
  const length = lengthOf(text);
  return length > maxBytes || (length * 3 > maxBytes && byteLengthOf(text) > maxBytes);
}

function answerTooLong(limit: number): GraphQLError {
  const message = `The answer would be longer than the ${limit} bytes that this gateway sends at once (MAX_ANSWER_BYTES). Ask for less at once.`;
  return errorOf(new Failure('OPERATION_TOO_EXPENSIVE', message, { limit }));
}
