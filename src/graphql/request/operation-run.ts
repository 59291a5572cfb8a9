import type { GraphQLFormattedError, OperationDefinitionNode } from 'graphql';
import type { Config } from '../../config/config.ts';
import type { QuotaRecord } from '../../keys/ledger.ts';
import type { Tenant } from '../../keys/tenant.ts';
import { NO_TENANT_CACHE } from '../../keys/tenant-cache.ts';
import type { ObservationClient } from '../../observations/client.ts';
import { createBatchGate } from '../../observations/loaders/batch-gate.ts';
import { Effort } from '../../observations/loaders/effort.ts';
import { createLoaders, type LoadersParts } from '../../observations/loaders/loaders.ts';
import { type Bill, openBill } from '../../service/bill.ts';
import type { Caller } from '../../service/caller.ts';
import { Deadline } from '../../service/deadline.ts';
import type { CallGate } from '../../service/gate.ts';
import { payerOf } from '../../service/payer.ts';
import type { Sending } from '../../service/sending.ts';
import { Stopwatch } from '../../service/stopwatch.ts';
import type { Trace } from '../../service/trace.ts';
import { createWarnings } from '../../shared/warnings.ts';
import type { ErrorBehavior } from '../execution/field-errors.ts';
import type { StringPieces } from '../execution/json-pieces.ts';
import type { GraphContext } from '../schema/context.ts';
import { Ages } from './ages.ts';
import type { Delivery } from './delivery.ts';
import type { OperationsParts } from './operations-parts.ts';
import type { GatewayRequest } from './requests.ts';
import type { GatewayResponse } from './responses.ts';
import type { Incoming } from './stages.ts';

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
    const { asking, onNames } = additions ?? {};
    const ask = asking?.(lists.ask) ?? lists.ask;
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
        loaders: createLoaders({ ...lists, ask, onNames, learned, sending, figures, batchGate, effort }),
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
