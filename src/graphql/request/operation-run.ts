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
import type { GatewayRequest, RequestBatch } from './requests.ts';
import type { GatewayResponse } from './responses.ts';
import { createRooms } from './run-room.ts';
import type { Incoming } from './stages.ts';

export interface OperationRun {
  readonly context: GraphContext;
  readonly participant: ReturnType<ObservationClient['join']>['participant'];
  readonly deadline: Deadline;
  readonly payer: ReturnType<typeof payerOf>;
  readonly bill: Bill;
  readonly waits: NonNullable<Sending['waits']>;
  readonly trace: Trace | undefined;
  readonly startedAtMs: number;
  readonly requestId: string | undefined;
  readonly accepts: string;
  readonly delivery: Delivery | null;
  readonly batch: RequestBatch | undefined;
  /** Waits as long as the operation may, while others don't wait for its demands. Never rejects. */
  readonly waitUntil: (turn: Promise<unknown>) => Promise<void>;
  /** Of the key's cached entries when the request came. */
  readonly generation: number;
  /** Set once it has been read. */
  onError: ErrorBehavior;
  /** Set once there is a response: before that, a request has cost nothing. */
  errors: readonly GraphQLFormattedError[] | null;
  /** Null until its plan has written it, and if it has none. */
  written: WrittenAnswer | null;
  /** Expiry of the first cached answer that was served; infinite if none was. */
  freshUntilMs: number;
  /** Expiry of the first fetched answer; infinite if none was fetched, 0 if unknown. */
  fetchedUntilMs: number;
  /** True if a later identical request gets this answer as long as the entries behind it are fresh. */
  isLasting: boolean;
  /** Ages of the cached answers behind it; null unless offline. */
  readonly ages: Ages | null;
  readonly additions: Incoming['additions'];
}

export type OpenRun = ReturnType<typeof createOpenRun>;

export interface WrittenAnswer {
  readonly status: number;
  readonly data: StringPieces;
  readonly body: string | Buffer;
  readonly operation: OperationDefinitionNode;
  readonly extensions: ReturnType<typeof extensionsOf>;
}

/** Undefined members are left out of the JSON. */
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

/** Fields that share nothing take at least the calls for all of them together. */
export function shown(bill: Bill): Bill {
  return { ...bill, naive: Math.max(bill.naive, bill.calls) };
}

export interface LoadingMeans
  extends Pick<LoadersParts, 'ask' | 'tickersLearned' | 'hasPlenty' | 'mayGoAhead' | 'cachedNames'> {
  readonly observations: ObservationClient;
}

export function createOpenRun(
  { config, tenantCache, learned, now, after }: OperationsParts,
  service: LoadingMeans & {
    readonly gate: CallGate;
    readonly quota: (tenant: Tenant) => Promise<QuotaRecord>;
    /** For callers on whose behalf nothing is asked. */
    readonly offline: () => LoadingMeans;
  },
) {
  const { gate, quota, offline, ...online } = service;
  const citing = citingOf(config);
  const withRoom = createRooms(config, learned);
  return (
    request: GatewayRequest,
    caller: Caller,
    trace?: Trace,
    delivery: Delivery | null = null,
    { absences, additions }: Pick<Incoming, 'absences' | 'additions'> = {},
  ): OperationRun => {
    const { place } = request;
    const batch = place?.batch;
    const bill = openBill();
    const waits = { service: new Stopwatch(), store: new Stopwatch() };
    const startedAtMs = now();
    const timeoutMs = config.operationTimeoutMs;
    const deadline = new Deadline(timeoutMs, request, after);
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
    const { participant: joined, figures } = observations.join(caller);
    const { room, participant, waitUntil } = withRoom({ participant: joined, deadline, caller, batch });
    // Other operations of the batch are about to ask: wait until all demands are known.
    if (batch !== undefined) {
      participant.expect(batch);
      place?.come();
      if (batch.awaitOthers(() => participant.forgo(batch))) participant.expectGroup(batch);
    }
    const batchGate = createBatchGate(config.batchHoldMs, after);
    const { tenant } = caller;
    // Offline no key can be proven; having been accepted once is enough.
    const effort = new Effort(isOffline ? new KnownKey(tenant) : tenant);
    const run: OperationRun = {
      context: {
        caller,
        bill,
        loaders: createLoaders({
          ...lists,
          ask,
          onNames,
          learned,
          sending,
          figures,
          batchGate,
          effort,
          room,
        }),
        batchGate,
        effort,
        warnings: createWarnings(),
        absences,
        maxListItems: config.maxListItems,
        citing,
        gate,
        isOver: () => deadline.isOver,
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
      batch,
      waitUntil,
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

/** A class, since V8 puts a getter of an object literal in the old space, and all that it holds with it. */
class KnownKey {
  readonly #tenant: Tenant;

  constructor(tenant: Tenant) {
    this.#tenant = tenant;
  }

  get isProven(): boolean {
    return this.#tenant.isKnown;
  }
}

/** A public address has TLS; its credentials are never shown. */
function citingOf({
  sourceNames = new Map(),
  attribution,
  countryDataUrl = '',
}: Config): NonNullable<GraphContext['citing']> {
  const url = URL.parse(countryDataUrl);
  const isPublic = url?.protocol === 'https:';
  const serviceUrl = isPublic ? `${url.origin}${url.pathname.replace(/\/+$/, '')}` : null;
  return { sourceNames, attribution, serviceUrl };
}

export interface RanOperation {
  readonly response: GatewayResponse;
  readonly run: OperationRun;
}
