import { ApolloServer, type ApolloServerPlugin, HeaderMap } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  type OperationDefinitionNode,
} from 'graphql';
import { createDigest } from './cache/partitions.ts';
import { createShelf, EMPTY_SHELF } from './cache/shelf.ts';
import { openStore } from './cache/store.ts';
import type { Config } from './config.ts';
import { Failure } from './errors.ts';
import type { GraphContext } from './graph/context.ts';
import { formatError } from './graph/error-formatting.ts';
import { limitRules } from './graph/limits.ts';
import { createPricing, mostCalls, type Price, type PricedOperation } from './graph/pricing.ts';
import { createSchema, printSdl } from './graph/schema.ts';
import { leadsToFigures, type SelectionScope } from './graph/selection.ts';
import { cachedFigures } from './loaders/cached-figures.ts';
import { createCells } from './loaders/cells.ts';
import { createCompanions, NO_COMPANIONS } from './loaders/companions.ts';
import { createCulprits } from './loaders/culprits.ts';
import { createHolds } from './loaders/holds.ts';
import { createLoaders } from './loaders/loaders.ts';
import { createObservationPool, type Seat } from './loaders/observation-pool.ts';
import { createRenewal } from './loaders/renewal.ts';
import { createLearned } from './planner/learned.ts';
import { entities } from './resolvers/entities.ts';
import { resolvers } from './resolvers/resolvers.ts';
import { type Attempt, type Bill, openBill, type Sending } from './upstream/call.ts';
import { createUpstream } from './upstream/client.ts';
import { type Clock, systemClock } from './upstream/clock.ts';
import { createRehearsal } from './upstream/rehearsed.ts';

export interface Gateway {
  /** The subgraph SDL. */
  readonly sdl: string;
  /** Executes one GraphQL-over-HTTP request; never throws for a caller's fault. */
  handle(request: GatewayRequest): Promise<GatewayResponse>;
  /** Waits for operations in flight, then closes upstream connections. */
  stop(): Promise<void>;
}

export interface GatewayRequest {
  /** In upper case. */
  readonly method: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The raw query string with its `?`, or empty. */
  readonly search: string;
  /** The parsed JSON body; empty for GET. */
  readonly body: unknown;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
}

export interface GatewayResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string | AsyncIterable<string>;
}

/** One operation that is over, as logs and metrics hear of it. */
export interface OperationEvent {
  readonly name: string | null;
  readonly type: 'query' | 'mutation' | 'subscription' | null;
  readonly durationMs: number;
  readonly calls: number;
  readonly shared: number;
  readonly cached: number;
  /** Answers that were past their time, served because the service gave none. */
  readonly stale: number;
  readonly errorCodes: readonly string[];
}

export interface Observer {
  operation(event: OperationEvent): void;
  attempt(event: Attempt): void;
  /** A fault of the gateway itself, whole. */
  problem(error: unknown, where: string): void;
}

export interface GatewayParts {
  readonly config: Config;
  readonly upstreamUrl: string;
  readonly observer: Observer;
  readonly clock?: Clock;
}

/** One request on its way through the gateway. */
interface Passage {
  readonly context: GraphContext;
  readonly seat: Seat;
  readonly bill: Bill;
  readonly startedAtMs: number;
  readonly accepts: string;
  /** Whether the client wants the plan instead of the answer. */
  readonly isExplained: boolean;
  /** Set once a response was made by the pipeline, not refused before it. */
  errors: readonly GraphQLFormattedError[] | null;
}

interface ApolloContext extends GraphContext {
  readonly passage: Passage;
}

/** Puts the program together. Nothing is asked of the service before the first operation needs it. */
export async function createGateway(parts: GatewayParts): Promise<Gateway> {
  const { config, observer, clock = systemClock } = parts;
  const store = await openStore({
    url: config.cacheUrl,
    timeoutMs: config.cacheTimeoutMs,
    maxBytes: config.cacheMaxBytes,
    onFault: (error) => observer.problem(error, 'cache'),
  });
  const digest = await createDigest(config.keyPepper, store);
  const freshness = { ttlMs: config.cacheTtlSeconds * 1000, staleMs: config.staleIfErrorSeconds * 1000 };
  const holdMs = freshness.ttlMs + freshness.staleMs;
  const shelf =
    store === null || holdMs === 0
      ? EMPTY_SHELF
      : createShelf({
          store,
          now: clock.now,
          authTtlMs: config.authTtlSeconds * 1000,
          holdMs,
        });
  const rehearsal = createRehearsal(clock.now);
  const upstream = createUpstream({
    baseUrl: parts.upstreamUrl,
    timeoutMs: config.upstreamTimeoutMs,
    retries: config.upstreamRetries,
    clock,
    onAttempt: observer.attempt,
    remembering: rehearsal.remembering,
    shelf,
    books: store?.books ?? null,
    freshness,
  });
  const { ask, ledger, outage } = upstream;
  const cells = createCells(shelf);
  const figures = {
    send: upstream.send,
    keep: cells.keep,
    learned: createLearned(),
    culprits: createCulprits(clock.now),
    codesPerCall: config.codesPerCall,
    overfetchRows: config.batchOverfetchRows,
  };
  const pool = createObservationPool({
    ...figures,
    ledger,
    clock,
    windowMs: config.batchWindowMs,
    holdMs: config.batchHoldMs,
  });
  const tickersLearned = { needsLimit: false };
  const quota = async (partition: string) => {
    await ledger.refresh(partition);
    return ledger.quota(partition);
  };
  const source = {
    cells,
    shelf,
    outage,
    companions: store === null ? NO_COMPANIONS : createCompanions({ now: clock.now, ttlMs: freshness.ttlMs }),
    freshness,
    now: clock.now,
    planning: figures,
    renewal: createRenewal({ ask, shelf, freshness, now: clock.now, mayAsk: config.cacheRenewal }),
  };

  const schema = createSchema({ resolvers, entities });

  const price = createPricing({
    ...figures,
    schema,
    rehearsal,
    shelf,
    freshness,
    now: clock.now,
    tickersLearned,
    holdMs: config.batchHoldMs,
    quota,
  });

  const apollo = new ApolloServer<ApolloContext>({
    schema,
    introspection: config.introspection,
    hideSchemaDetailsFromClientErrors: !config.introspection,
    includeStacktraceInErrorResponses: false,
    persistedQueries: false,
    stopOnTerminationSignals: false,
    parseOptions: { maxTokens: config.maxTokens },
    validationRules: limitRules(config),
    formatError: (formatted, error) =>
      formatError(formatted, error, (fault) => observer.problem(fault, 'operation')),
    logger: { debug() {}, info() {}, warn() {}, error: (message) => observer.problem(message, 'apollo') },
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      pricePlugin({
        schema,
        price,
        maxCalls: config.maxUpstreamCalls,
        maxRows: () => figures.learned.maxRows,
      }),
      passagePlugin(schema, observer, clock),
    ],
  });
  await apollo.start();

  function enter(request: GatewayRequest): Passage {
    const authorization = request.headers.authorization ?? null;
    const caller = { authorization, partition: authorization === null ? 'none' : digest(authorization) };
    const bill = openBill();
    const startedAtMs = clock.now();
    const sending: Sending = {
      caller,
      bill,
      signal: request.signal,
      patientUntilMs: startedAtMs + config.rateLimitWaitMs,
    };
    const seat = pool.join(sending);
    const holds = createHolds(config.batchHoldMs);
    const loaders = createLoaders({
      ask,
      sending,
      figures: (told) => cachedFigures({ ...source, seat }, told),
      holds,
      tickersLearned,
    });
    return {
      context: { caller, bill, loaders, holds, quota: () => quota(caller.partition) },
      seat,
      bill,
      startedAtMs,
      accepts: request.headers.accept ?? '',
      isExplained: request.headers['x-explain'] === '1',
      errors: null,
    };
  }

  return {
    sdl: printSdl(schema),
    async handle(request) {
      const passage = enter(request);
      try {
        const response = await apollo.executeHTTPGraphQLRequest({
          httpGraphQLRequest: {
            method: request.method,
            headers: new HeaderMap(Object.entries(request.headers)),
            search: request.search,
            body: request.body,
          },
          context: async () => ({ ...passage.context, passage }),
        });
        const { headers } = response;
        headers.set('cache-control', passage.errors?.length === 0 ? 'private' : 'no-store');
        headers.set('vary', 'Authorization');
        const retryAfterSeconds = earliestRetry(passage.errors ?? [], clock.now());
        if (retryAfterSeconds !== null) headers.set('retry-after', String(retryAfterSeconds));
        return {
          status: response.status ?? 200,
          headers,
          body:
            response.body.kind === 'complete'
              ? billed(response.body.string, passage)
              : response.body.asyncIterator,
        };
      } finally {
        passage.seat.leave();
      }
    },
    async stop() {
      await apollo.stop();
      await upstream.close();
      await store?.close();
    },
  };
}

/** A request that was refused before it was an operation has cost nothing, and says so like any other. */
function billed(body: string, { errors, bill }: Passage): string {
  if (errors !== null || !body.startsWith('{')) return body;
  return JSON.stringify({ ...JSON.parse(body), extensions: { upstream: bill } });
}

interface PricePluginParts {
  readonly schema: GraphQLSchema;
  readonly price: (priced: PricedOperation) => Promise<Price>;
  readonly maxCalls: number;
  readonly maxRows: () => number;
}

/** Prices operations before they run: refuses what is too dear, and tells the plan where that is what is asked for. */
function pricePlugin({
  schema,
  price,
  maxCalls,
  maxRows,
}: PricePluginParts): ApolloServerPlugin<ApolloContext> {
  return {
    async requestDidStart({ contextValue: { passage } }) {
      const { caller } = passage.context;
      return {
        async didResolveOperation({ document, operation, request }) {
          if (operation === undefined || passage.isExplained) return;
          const scope = scopeOf(schema, document, operation, request.variables);
          if (scope === null || mostCalls(schema, operation, scope, maxRows()) <= maxCalls) return;
          const { bill } = await price({ document, operation, variables: scope.variableValues, caller });
          if (bill.calls <= maxCalls) return;
          const message = `The operation plans ${bill.calls} upstream calls; this gateway allows ${maxCalls}.`;
          throw new GraphQLError(message, {
            originalError: new Failure('OPERATION_TOO_EXPENSIVE', message, {
              planned: bill.calls,
              limit: maxCalls,
            }),
            extensions: { http: { status: 400 } },
          });
        },
        async responseForOperation({ document, operation, request }) {
          // Where the request names an operation that isn't there, there is none, whatever the types say.
          if (!passage.isExplained || operation === undefined) return null;
          const scope = scopeOf(schema, document, operation, request.variables);
          if (scope === null) return null;
          const { bill, calls, errors } = await price({
            document,
            operation,
            variables: scope.variableValues,
            caller,
          });
          const { byRoute, cached, naive } = bill;
          const plan = calls.map(({ route, target, isHeld }) => ({ route, target, cached: isHeld }));
          const explain = { calls: bill.calls, byRoute, cached, naive, limit: maxCalls, plan };
          const shown = errors.map((error) => formatError(error.toJSON(), error, () => {}));
          return {
            http: { status: 200, headers: new HeaderMap() },
            body: {
              kind: 'single',
              singleResult: {
                data: null,
                ...(shown.length > 0 ? { errors: shown } : {}),
                extensions: { explain },
              },
            },
          };
        },
      };
    },
  };
}

/** What a look at an operation's selections needs; null where its variables don't fit, which execution will report. */
function scopeOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>> = {},
): SelectionScope | null {
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  if (coerced === undefined) return null;
  const fragments = document.definitions.filter((definition) => definition.kind === 'FragmentDefinition');
  return {
    schema,
    fragments: Object.fromEntries(fragments.map((fragment) => [fragment.name.value, fragment])),
    variableValues: coerced,
  };
}

/** What happens to each operation around its execution. */
function passagePlugin(
  schema: GraphQLSchema,
  observer: Observer,
  clock: Clock,
): ApolloServerPlugin<ApolloContext> {
  return {
    async requestDidStart({ contextValue: { passage } }) {
      return {
        async executionDidStart({ document, operation, request }) {
          if (operation === undefined) return;
          const scope = scopeOf(schema, document, operation, request.variables);
          const root = schema.getRootType(operation.operation);
          if (scope && root && leadsToFigures(root, operation.selectionSet, scope)) passage.seat.expect();
        },
        async willSendResponse({ response, request, document, operationName }) {
          if (response.body.kind !== 'single') return;
          const { singleResult } = response.body;
          const { calls, shared, cached, stale = [] } = passage.bill;
          singleResult.extensions = { ...singleResult.extensions, upstream: passage.bill };
          const errors = singleResult.errors ?? [];
          passage.errors = errors;
          const status = statusOf(
            passage,
            response.http.status,
            singleResult.data,
            request.query !== undefined,
          );
          if (status !== undefined) response.http.status = status;
          if (response.http.status === 401) response.http.headers.set('www-authenticate', 'Bearer');
          const operation = document === undefined ? null : getOperationAST(document, operationName);
          observer.operation({
            name: operation?.name?.value ?? null,
            type: operation?.operation ?? null,
            durationMs: clock.now() - passage.startedAtMs,
            calls,
            shared,
            cached,
            stale: stale.reduce((sum, { answers }) => sum + answers, 0),
            errorCodes: errors.map(({ extensions }) => String(extensions?.code)),
          });
        },
      };
    },
  };
}

/**
 * Clients that accept `application/graphql-response+json` get 401 where nothing could run for want of a valid key.
 * Older ones get 200 for every answer to an operation, as they take any other status for a failure of the network.
 */
function statusOf(
  { accepts, errors }: Passage,
  status: number | undefined,
  data: Readonly<Record<string, unknown>> | null | undefined,
  hadOperation: boolean,
): number | undefined {
  const isModern = accepts.includes('application/graphql-response+json');
  if (!isModern) return status === 400 && hadOperation ? 200 : status;
  const isUnauthenticated =
    errors !== null &&
    errors.length > 0 &&
    errors.every(({ extensions }) => extensions?.code === 'UNAUTHENTICATED');
  return isUnauthenticated && isNothing(data) ? 401 : status;
}

/** Whether an answer, at whatever depth, holds nothing but nulls. */
function isNothing(value: unknown): boolean {
  return value == null || (typeof value === 'object' && Object.values(value).every(isNothing));
}

/** Seconds until the first time that an error names; null where none names any. */
function earliestRetry(errors: readonly GraphQLFormattedError[], nowMs: number): number | null {
  const times = errors.flatMap(({ extensions }) => extensions?.retryAt ?? extensions?.resetsAt ?? []);
  if (times.length === 0) return null;
  return Math.max(1, Math.ceil((Math.min(...times.map((time) => Date.parse(String(time)))) - nowMs) / 1000));
}
