import { HeaderMap } from '@apollo/server';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getVariableValues,
  type OperationDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { type Clock, steadied, systemClock } from './async/clock.ts';
import { mapValue, type PromiseOrValue } from './async/promise-or-value.ts';
import { yieldToEventLoop } from './async/yielding.ts';
import { createDigest } from './cache/key-digest.ts';
import { createProvenKeys } from './cache/proven.ts';
import { openStore } from './cache/store.ts';
import { createTenantCache, NO_TENANT_CACHE } from './cache/tenant-cache.ts';
import type { Config } from './config.ts';
import { Failure } from './errors.ts';
import { fragmentsIn, type Plan, planOperation } from './execution/plan.ts';
import { type Executed, runPlan } from './execution/run.ts';
import type { GraphContext } from './graph/context.ts';
import { formatError } from './graph/error-formatting.ts';
import { listRefusal } from './graph/limits.ts';
import { type Bound, boundOf, createPricing, mostCalls, priceRange } from './graph/pricing.ts';
import { createSchema, printSdl } from './graph/schema.ts';
import { leadsToFigures, type SelectionScope } from './graph/selection.ts';
import { cachedFigures } from './loaders/cached-figures.ts';
import { createEffort } from './loaders/effort.ts';
import { createHolds } from './loaders/holds.ts';
import { createNameLists, notingNames } from './loaders/listed-names.ts';
import { createLoaders } from './loaders/loaders.ts';
import { createObservationEntries } from './loaders/observation-entries.ts';
import { createObservationPool, type Seat } from './loaders/observation-pool.ts';
import { createPrefetch, NO_PREFETCH } from './loaders/prefetch.ts';
import { createRefusedNames } from './loaders/refused-names.ts';
import { createRevalidation } from './loaders/revalidation.ts';
import { createTickersLearned } from './loaders/tickers.ts';
import { createAdmission, type Load } from './operations/admission.ts';
import { type Admitted, createApollo, type Explained } from './operations/apollo.ts';
import type { OperationEvent } from './operations/events.ts';
import { isDeepRequest } from './operations/nesting.ts';
import { createOverloaded } from './operations/overloaded.ts';
import { createPersisted, readTrusted } from './operations/persisted.ts';
import { createPreparedOperations, type Ready } from './operations/prepared.ts';
import { type Asked, askedIn, forApollo, type GatewayRequest, hasText } from './operations/requests.ts';
import { createResponseCache } from './operations/response-cache.ts';
import {
  type Extensions,
  entityTag,
  type GatewayResponse,
  mayAccept,
  setHeaders,
  statusOf,
  tagged,
  writeBody,
} from './operations/responses.ts';
import { createSchemaAnswers, mayReadSchema, readsSchemaAlone } from './operations/schema-answers.ts';
import { toldErrors } from './operations/told-errors.ts';
import { createLearned } from './planner/learned.ts';
import { entities } from './resolvers/entities.ts';
import { batches, resolvers } from './resolvers/resolvers.ts';
import { type Attempt, type Bill, type Caller, openBill, type Sending } from './upstream/call.ts';
import { createUpstream } from './upstream/client.ts';
import { Deadline } from './upstream/deadline.ts';
import { createDryRun } from './upstream/dry-run.ts';
import { MAX_NESTING } from './upstream/nesting.ts';
import { payerOf } from './upstream/payer.ts';
import { createWarnings } from './warnings.ts';

export type { GatewayRequest, GatewayResponse, OperationEvent };

export interface Gateway {
  /** The subgraph SDL. */
  readonly sdl: string;
  /** Executes one GraphQL-over-HTTP request; never throws for a caller's fault. */
  handle(request: GatewayRequest): PromiseOrValue<GatewayResponse>;
  /**
   * The refusal of a request whose body hasn't been read, where so many operations of its key are waiting that there is no
   * point in reading it; else null.
   */
  refuseUnread(headers: CallerHeaders): GatewayResponse | null;
  /** What goes on now: always the same object. */
  readonly load: Load;
  /** Waits for operations in flight, then closes upstream connections. */
  stop(): Promise<void>;
}

/** What of a request's headers says who asks, and for what kind of answer. */
interface CallerHeaders {
  readonly authorization?: string | null | undefined;
  readonly accept?: string | undefined;
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
  readonly deadline: Deadline;
  readonly bill: Bill;
  readonly startedAtMs: number;
  readonly accepts: string;
  /** Whether the client wants the plan instead of the answer. */
  readonly isExplained: boolean;
  /** Set once there is a response to an operation: before that, a request has cost nothing. */
  errors: readonly GraphQLFormattedError[] | null;
  /** The answer of an operation that ran by its plan. */
  answer: Answer | null;
  /** When the first of what was served as it is held is past its time; infinite while nothing was. */
  freshUntilMs: number;
  /** Of what was held for the key when the request came. */
  readonly generation: number;
  /** Whether the operation reads the schema and nothing else. */
  isOfSchema: boolean;
  /** Whether the answer holds for whoever asks the same while what was read is fresh. */
  isLasting: boolean;
}

interface Answer {
  readonly status: number;
  readonly data: string;
  readonly body: string;
  readonly operation: OperationDefinitionNode;
}

/** A plain request, and the type that its client takes answers in. */
interface PlainlyAsked {
  readonly asked: Asked;
  readonly contentType: string;
}

interface ApolloContext extends GraphContext {
  readonly passage: Passage;
}

const NOT_ACCEPTABLE = { extensions: { code: 'BAD_REQUEST' } };

/** Kinds of `Accept` headers of which it is remembered what Apollo answers them with. */
const MAX_ACCEPTS = 100;
const MAX_ACCEPT_CHARACTERS = 300;

/** All callers whose keys the service has not accepted lately count as one. */
const UNPROVEN = 'unproven';

/** Characters of operations that take milliseconds to read. */
const LONG_TEXT = 4_000;

/** Puts the program together. Nothing is asked of the service before the first operation needs it. */
export async function createGateway(parts: GatewayParts): Promise<Gateway> {
  const { config, observer, clock = systemClock } = parts;
  const steadyNow = steadied(clock.now);
  const store = await openStore({
    url: config.cacheUrl,
    timeoutMs: config.cacheTimeoutMs,
    maxBytes: config.cacheMaxBytes,
    now: steadyNow,
    onFault: (error) => observer.problem(error, 'cache'),
  });
  const digest = await createDigest(config.keyPepper, store);
  const freshness = { ttlMs: config.cacheTtlSeconds * 1000, staleMs: config.staleIfErrorSeconds * 1000 };
  const holdMs = freshness.ttlMs + freshness.staleMs;
  const tenantCache =
    store === null || holdMs === 0
      ? NO_TENANT_CACHE
      : createTenantCache({
          store,
          now: steadyNow,
          authTtlMs: config.authTtlSeconds * 1000,
          holdMs,
        });
  const proven = createProvenKeys(steadyNow);
  const dryRun = createDryRun(steadyNow);
  const upstream = createUpstream({
    baseUrl: parts.upstreamUrl,
    timeoutMs: config.upstreamTimeoutMs,
    retries: config.upstreamRetries,
    clock,
    steadyNow,
    onAttempt: observer.attempt,
    remembering: dryRun.remembering,
    tenantCache,
    proven,
    sharedCounters: store?.sharedCounters ?? null,
    freshness,
  });
  const { ledger, outage } = upstream;
  const learned = createLearned(steadyNow);
  const ask = notingNames(upstream.ask, learned);
  const entries = createObservationEntries(tenantCache);
  const refusedNames = createRefusedNames({ now: steadyNow, ttlMs: freshness.ttlMs });
  const figures = {
    send: upstream.send,
    keep: entries.keep,
    learned,
    refusedNames,
    noteNames: createNameLists(ask),
    now: steadyNow,
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
  const tickersLearned = createTickersLearned(steadyNow);
  const quota = async (keyDigest: string) => {
    await ledger.refresh(keyDigest);
    return ledger.quota(keyDigest);
  };
  const source = {
    entries,
    tenantCache,
    outage,
    prefetch:
      tenantCache === NO_TENANT_CACHE
        ? NO_PREFETCH
        : createPrefetch({ now: steadyNow, ttlMs: freshness.ttlMs }),
    freshness,
    now: steadyNow,
    planning: figures,
    refusedNames,
    revalidation: createRevalidation({
      ask,
      tenantCache,
      freshness,
      now: steadyNow,
      mayAsk: config.cacheRenewal,
    }),
  };

  const schema = createSchema({ resolvers, entities, batches });

  const effortFor = ({ keyDigest }: Caller) =>
    createEffort({
      isProven: () => proven.has(keyDigest),
      maxRows: () => learned.maxRows,
      maxCalls: config.maxUpstreamCalls,
    });

  const price = createPricing({
    ...figures,
    schema,
    dryRun,
    tenantCache,
    freshness,
    now: steadyNow,
    tickersLearned,
    holdMs: config.batchHoldMs,
    effortFor,
    quota,
  });

  const operations = createPreparedOperations(schema);
  const persisted =
    config.trustedDocuments === undefined ? createPersisted() : await readTrusted(config.trustedDocuments);
  const responseCache = createResponseCache({
    tenantCache,
    maxBytes: config.answersMaxBytes,
    now: steadyNow,
  });
  const schemaAnswers = createSchemaAnswers(config.answersMaxBytes);
  const admission = createAdmission({ maxOperations: config.maxConcurrentOperations, unproven: UNPROVEN });
  const overloaded = createOverloaded(config.maxConcurrentOperations);
  const contentTypes = new LRUCache<string, string>({ max: MAX_ACCEPTS });
  const tell = (error: GraphQLError) =>
    formatError(error.toJSON(), error, (fault) => observer.problem(fault, 'operation'));

  const apollo = await createApollo<ApolloContext>({
    schema,
    config,
    persisted,
    onFault: observer.problem,
    course: {
      async answer(admitted, { passage }) {
        const { text, operationName, document, operation, variables } = admitted;
        const tooLong = listRefusal(operation, variables, config.maxListItems);
        if (tooLong !== null) throw tooLong;
        const scope = scopeOf(schema, document, operation, variables);
        // Where the variables don't fit, execution says so.
        if (scope === null) return 'execute';
        passage.isOfSchema = readsSchemaAlone(operation);
        if (!mayAccept(passage.accepts))
          throw new GraphQLError('The client takes no answer of ours.', NOT_ACCEPTABLE);
        const { variableValues } = scope;
        // What was parsed and validated in one go is planned in another.
        if (text.length > LONG_TEXT) await yieldToEventLoop(passage.context.caller);
        if (passage.isExplained) return explain(admitted, variableValues, passage);
        const ready = operations
          .prepare(text, operationName, document, operation, proven.has(passage.context.caller.keyDigest))
          .with(variables);
        const bound = ready?.bound ?? boundOf(schema, operation, scope);
        const refusal = await refusalOf(admitted, variableValues, bound, ready?.plan ?? null, passage);
        if (refusal !== null) throw refusal;
        if (ready !== null) {
          passage.answer = await run(ready, passage);
          return 'done';
        }
        const root = schema.getRootType(operation.operation);
        if (root && leadsToFigures(root, operation.selectionSet, scope)) passage.seat.expect();
        return 'execute';
      },
      complete({ operation, errors, data, status, hadOperation }, { passage }) {
        over(passage, operation, errors);
        return {
          status: statusOf(passage.accepts, status, errors, () => data, hadOperation),
          extensions: { ...extensionsOf(passage) },
        };
      },
    },
  });

  /** Why an operation is too dear to run; null where it isn't. Most are known not to be by their text alone. */
  async function refusalOf(
    { document, operation }: Pick<Admitted, 'document' | 'operation'>,
    variables: Ready['variables'],
    bound: Bound,
    plan: Plan | null,
    { context: { caller } }: Passage,
  ): Promise<GraphQLError | null> {
    const limit = config.maxUpstreamCalls;
    if (mostCalls(bound, figures.learned.maxRows) <= limit) return null;
    const { refusal } = await price({ document, operation, variables, caller, plan }, 'expected', limit);
    return refusal && refused(refusal);
  }

  function refused(failure: Failure): GraphQLError {
    return new GraphQLError(failure.message, {
      originalError: failure,
      extensions: { http: { status: 400 } },
    });
  }

  async function explain(
    { document, operation }: Admitted,
    variables: Ready['variables'],
    { context: { caller, warnings } }: Passage,
  ): Promise<Explained> {
    const plan = planOperation(schema, document, operation, variables);
    const priced = { document, operation, variables, caller, plan };
    const limit = config.maxUpstreamCalls;
    const expected = await price(priced, 'expected');
    if (expected.refusal !== null) throw refused(expected.refusal);
    const range = priceRange(expected, await price(priced, 'least'), limit);
    const { bill, calls, errors, warnings: told } = expected;
    for (const warning of told) warnings.add(warning);
    const { byRoute, cached, naive } = shown(bill);
    const planned = calls.map(({ route, target, isHeld }) => ({ route, target, cached: isHeld }));
    return {
      errors: errors.map((error) => formatError(error.toJSON(), error, () => {})),
      extensions: {
        explain: { calls: bill.calls, ...range, byRoute, cached, naive, limit, plan: planned },
      },
    };
  }

  /** Runs a plan; where it comes to more than it may, that is all there is to say. */
  async function runBounded(
    plan: Plan,
    variables: Ready['variables'],
    context: GraphContext,
  ): Promise<Executed> {
    const { caller, effort, holds } = context;
    try {
      return await runPlan({
        plan,
        context,
        variables,
        onPause: holds.during,
        onList: effort.list,
        job: caller,
      });
    } catch (fault) {
      if (effort.refusal === null || fault !== effort.refusal) throw fault;
      return { data: 'null', errors: [refused(effort.refusal)] };
    }
  }

  /** Runs an operation by its plan. */
  async function run(
    { plan, variables, leadsToFigures, prepared }: Ready,
    passage: Passage,
  ): Promise<Answer> {
    const { context, seat, accepts } = passage;
    if (leadsToFigures) seat.expect();
    const executed = await runBounded(plan, variables, context);
    const isLong = isLonger(executed.data, config.maxAnswerBytes);
    const data = isLong ? 'null' : executed.data;
    const errors = (isLong ? [answerTooLong(config.maxAnswerBytes)] : executed.errors).map(tell);
    over(passage, prepared.operation, errors);
    const status = statusOf(accepts, 200, errors, () => JSON.parse(data), true);
    return {
      status,
      data,
      body: writeBody(data, toldErrors(errors), extensionsOf(passage)),
      operation: prepared.operation,
    };
  }

  /** Tells those who keep count that an operation is over. */
  function over(
    passage: Passage,
    operation: OperationDefinitionNode | null,
    errors: readonly GraphQLFormattedError[],
  ): void {
    passage.errors = errors;
    observer.operation({
      ...eventOf(passage.bill, operation),
      durationMs: clock.now() - passage.startedAtMs,
      errorCodes: errors.map(({ extensions }) => String(extensions?.code)),
    });
  }

  /** Requests so far. */
  let since = 0;

  function callerOf({ authorization = null }: CallerHeaders): Caller {
    const keyDigest = authorization === null ? 'none' : digest(authorization);
    since += 1;
    return { authorization, keyDigest, flow: proven.has(keyDigest) ? keyDigest : UNPROVEN, since, slices: 0 };
  }

  function enter(request: GatewayRequest, caller: Caller): Passage {
    const bill = openBill();
    const startedAtMs = clock.now();
    const timeoutMs = config.operationTimeoutMs;
    const deadline = new Deadline({ startedAtMs: steadyNow(), timeoutMs, now: steadyNow, request });
    const sending: Sending = {
      caller,
      bill,
      payer: payerOf(bill, config.maxUpstreamCalls),
      signal: deadline.signal,
      deadline,
      waitDeadlineMs: startedAtMs + Math.min(config.rateLimitWaitMs, timeoutMs),
      onHeld(freshUntilMs) {
        if (freshUntilMs < passage.freshUntilMs) passage.freshUntilMs = freshUntilMs;
      },
    };
    const seat = pool.join(sending);
    const holds = createHolds(config.batchHoldMs);
    const effort = effortFor(caller);
    const loaders = createLoaders({
      ask,
      sending,
      figures: (told) => cachedFigures({ ...source, seat }, told),
      holds,
      effort,
      tickersLearned,
      listed: learned.listed,
    });
    const passage: Passage = {
      context: {
        caller,
        bill,
        loaders,
        holds,
        effort,
        warnings: createWarnings(),
        quota() {
          passage.isLasting = false;
          return quota(caller.keyDigest);
        },
      },
      seat,
      deadline,
      bill,
      startedAtMs,
      accepts: request.headers.accept ?? '',
      isExplained: isExplained(request),
      errors: null,
      answer: null,
      freshUntilMs: Number.POSITIVE_INFINITY,
      generation: tenantCache.generation(caller.keyDigest),
      isOfSchema: false,
      isLasting: true,
    };
    return passage;
  }

  /** What a request asks for, where Apollo has nothing to say about it; else null. */
  function plainlyAsked(request: GatewayRequest, { flow }: Caller): PlainlyAsked | null {
    const contentType = contentTypes.get(request.headers.accept ?? '');
    if (contentType === undefined || isExplained(request)) return null;
    const asked = askedIn(request, persisted, flow !== UNPROVEN);
    return asked && { asked, contentType };
  }

  const preparedOf = ({ text, operationName }: Asked, { context: { caller } }: Passage) =>
    operations.find(text, operationName, proven.has(caller.keyDigest));

  /** Answers an operation that was prepared before; null where Apollo has to see it. */
  async function answerPrepared(
    request: GatewayRequest,
    { asked, contentType }: PlainlyAsked,
    passage: Passage,
  ): Promise<GatewayResponse | null> {
    const known = preparedOf(asked, passage);
    if (known === undefined || listRefusal(known.operation, asked.variables, config.maxListItems) !== null)
      return null;
    const ready = known.with(asked.variables);
    if (ready === null) return null;
    if ((await refusalOf(ready.prepared, ready.variables, ready.bound, ready.plan, passage)) !== null)
      return null;
    const answer = await run(ready, passage);
    const { status, data, body } = answer;
    const headers = new Map([['content-type', contentType]]);
    setHeaders(headers, status, passage.errors, clock.now());
    keepLasting(asked, answer, passage);
    return tagged(request, asked.isPersisted, { status, headers, body }, passage.errors, () =>
      entityTag(data),
    );
  }

  /** Keeps an answer that holds for a while, for when the same is asked again. */
  function keepLasting(asked: Asked, { body, data, operation }: Answer, passage: Passage): void {
    const isOfSchema =
      mayReadSchema(asked.text) && readsSchemaAlone(operation) && passage.errors?.length === 0;
    if (isOfSchema) keepOfSchema(asked, body, passage);
    if (!isLasting(passage)) return;
    const event = { ...eventOf(passage.bill, operation), repeated: true, errorCodes: [] };
    const question = { ...asked, keyDigest: passage.context.caller.keyDigest };
    responseCache.keep(question, { body, data, event }, passage.freshUntilMs, passage.generation);
  }

  /** Keeps what the schema says of itself. */
  function keepOfSchema(asked: Asked, body: string, { bill }: Passage): void {
    const event = { ...eventOf(bill, null), type: 'query' as const, repeated: true, errorCodes: [] };
    schemaAnswers.keep(asked, body, event);
  }

  /** Answers once more what was answered before; null where that doesn't hold any longer. */
  function answerAgain(
    request: GatewayRequest,
    { asked, contentType }: PlainlyAsked,
    keyDigest: string,
  ): PromiseOrValue<GatewayResponse | null> {
    const startedAtMs = clock.now();
    const ofSchema = mayReadSchema(asked.text) ? schemaAnswers.find(asked) : null;
    return mapValue(ofSchema ?? responseCache.find({ ...asked, keyDigest }), (stored) => {
      if (stored === null) return null;
      const { body, tag, encoded, event } = stored;
      const headers = new Map([['content-type', contentType]]);
      setHeaders(headers, 200, [], startedAtMs);
      observer.operation({ ...event, durationMs: clock.now() - startedAtMs });
      return tagged(request, asked.isPersisted, { status: 200, headers, body, encoded }, [], tag);
    });
  }

  /** Lets Apollo read, validate and answer a request. */
  async function admit(
    request: GatewayRequest,
    plain: PlainlyAsked | null,
    passage: Passage,
  ): Promise<GatewayResponse> {
    if (isDeepRequest(request)) return refuseDeep(passage);
    const told = forApollo(request, persisted);
    const admitted = await apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: {
        method: told.method,
        headers: new HeaderMap(Object.entries(told.headers)),
        search: told.search,
        body: told.body,
      },
      context: async () => ({ ...passage.context, isByGraphqlJs: true, passage }),
    });
    const { status = 200, headers, body } = admitted;
    // What the client can't take is not sent, though it may have been made.
    const isTaken = status !== 406;
    const answer = isTaken ? passage.answer : null;
    if (!isTaken) passage.errors = null;
    setHeaders(headers, answer?.status ?? status, passage.errors, clock.now());
    const isOfSchema = passage.isOfSchema && status === 200 && passage.errors?.length === 0;
    if ((answer !== null || isOfSchema) && passage.accepts.length <= MAX_ACCEPT_CHARACTERS)
      contentTypes.set(passage.accepts, headers.get('content-type') ?? '');
    if (answer === null) {
      const text = body.kind === 'complete' ? worded(body.string, passage) : body.asyncIterator;
      if (isOfSchema && plain !== null && typeof text === 'string') keepOfSchema(plain.asked, text, passage);
      return { status, headers, body: text };
    }
    // What has come but once is not kept, and neither is its answer.
    if (plain !== null && preparedOf(plain.asked, passage) !== undefined)
      keepLasting(plain.asked, answer, passage);
    const response = { status: answer.status, headers, body: answer.body };
    return tagged(request, !hasText(request), response, passage.errors, () => entityTag(answer.data));
  }

  /**
   * What Apollo answers, in words that are bounded. A request that was refused before it was an operation has cost
   * nothing, and says so like any other.
   */
  function worded(body: string, { errors, bill }: Passage): string {
    if (isLonger(body, config.maxAnswerBytes)) {
      const told = [tell(answerTooLong(config.maxAnswerBytes))];
      return JSON.stringify({ errors: told, data: null, extensions: { upstream: shown(bill) } });
    }
    const isRefused = errors === null && body.startsWith('{');
    if (!isRefused && !body.startsWith('{"errors"')) return body;
    const said: { errors?: GraphQLFormattedError[]; extensions?: unknown } = JSON.parse(body);
    return JSON.stringify({
      ...said,
      ...(said.errors ? { errors: toldErrors(said.errors) } : {}),
      ...(isRefused ? { extensions: { upstream: bill } } : {}),
    });
  }

  function refuseDeep({ accepts, bill }: Passage): GatewayResponse {
    const extensions = { code: 'BAD_REQUEST', retryable: false };
    const errors = [{ message: `The request is nested more than ${MAX_NESTING} levels deep.`, extensions }];
    const type = accepts.includes('graphql-response') ? 'graphql-response+json' : 'json';
    const headers = new Map([['content-type', `application/${type}; charset=utf-8`]]);
    setHeaders(headers, 400, errors, clock.now());
    return { status: 400, headers, body: JSON.stringify({ errors, extensions: { upstream: bill } }) };
  }

  /** Answers an operation once it may begin. */
  function begin(
    request: GatewayRequest,
    caller: Caller,
    plain: PlainlyAsked | null,
  ): PromiseOrValue<GatewayResponse> {
    return mapValue(admission.enter(caller.flow, request), (refusal) =>
      refusal === null ? answer(request, caller, plain) : overloaded(request.headers.accept ?? ''),
    );
  }

  async function answer(
    request: GatewayRequest,
    caller: Caller,
    plain: PlainlyAsked | null,
  ): Promise<GatewayResponse> {
    let passage: Passage | null = null;
    try {
      passage = enter(request, caller);
      const prepared = plain && (await answerPrepared(request, plain, passage));
      return prepared ?? (await admit(request, plain, passage));
    } finally {
      passage?.deadline.stop();
      passage?.seat.leave();
      admission.leave(caller.flow);
    }
  }

  return {
    sdl: printSdl(schema),
    handle(request) {
      const caller = callerOf(request.headers);
      const plain = plainlyAsked(request, caller);
      const again = plain && answerAgain(request, plain, caller.keyDigest);
      return mapValue<GatewayResponse | null, GatewayResponse>(
        again,
        (response) => response ?? begin(request, caller, plain),
      );
    },
    refuseUnread(headers) {
      if (!admission.isAnyFull || !admission.isFull(callerOf(headers).flow)) return null;
      admission.turnAway();
      return overloaded(headers.accept ?? '');
    },
    load: admission.load,
    async stop() {
      await apollo.stop();
      await upstream.close();
      await store?.close();
    },
  };
}

/** Whether the client wants the plan instead of the answer. */
function isExplained({ headers }: GatewayRequest): boolean {
  return headers['x-explain'] === '1';
}

/** What the answer to an operation says of itself. */
function extensionsOf({ bill, context: { warnings } }: Passage): Extensions {
  return { upstream: shown(bill), warnings: warnings.told() };
}

/**
 * Each use of a loader counts as one request of a field that fetches for itself, though some take several: a list that is
 * cut, a call that is tried again. Fields that share nothing take no less than what was sent for all of them together.
 */
function shown(bill: Bill): Bill {
  return { ...bill, naive: Math.max(bill.naive, bill.calls) };
}

/** Whether an answer was made of fresh things that are held, and of nothing else. */
function isLasting({ bill, errors, isLasting, freshUntilMs }: Passage): boolean {
  const isFree = bill.calls === 0 && bill.shared === 0 && bill.stale === undefined;
  return isLasting && isFree && errors?.length === 0 && freshUntilMs < Number.POSITIVE_INFINITY;
}

function eventOf(
  { calls, shared, cached, stale = [] }: Bill,
  operation: OperationDefinitionNode | null,
): Omit<OperationEvent, 'durationMs' | 'errorCodes'> {
  return {
    name: operation?.name?.value ?? null,
    type: operation?.operation ?? null,
    calls,
    shared,
    cached,
    stale: stale.reduce((sum, { answers }) => sum + answers, 0),
    repeated: false,
  };
}

function isLonger(text: string, maxBytes: number): boolean {
  return text.length > maxBytes || (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes);
}

function answerTooLong(limit: number): GraphQLError {
  const message = `The answer would be longer than the ${limit} bytes that this gateway sends at once (MAX_ANSWER_BYTES). Ask for less at once.`;
  const failure = new Failure('OPERATION_TOO_EXPENSIVE', message, { limit });
  return new GraphQLError(message, { originalError: failure });
}

/** What a look at an operation's selections needs; null where its variables don't fit. */
function scopeOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): SelectionScope | null {
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  return coerced === undefined ? null : { schema, fragments: fragmentsIn(document), variableValues: coerced };
}
