import type { Duplex } from 'node:stream';
import type { GraphQLSchema } from 'graphql';
import { openLookups } from '../cache/lru.ts';
import { openStore } from '../cache/open-store.ts';
import { StoreOutage } from '../cache/outage.ts';
import type { HubLink } from '../cache/store.ts';
import { type Config, outgoingProxyIn } from '../config/config.ts';
import { cacheBounds } from '../config/memory-budget.ts';
import { openGivenLists } from '../graphql/cost/bound.ts';
import { Admission } from '../graphql/request/admission.ts';
import { AnswersTable } from '../graphql/request/answers.ts';
import { openRunning } from '../graphql/request/apollo.ts';
import { createCallers } from '../graphql/request/callers.ts';
import { Execution } from '../graphql/request/execution.ts';
import { received } from '../graphql/request/forms.ts';
import { openKeyDoors } from '../graphql/request/key-doors.ts';
import type { OperationEvent } from '../graphql/request/operation-events.ts';
import { createOpenRun, type LoadingMeans } from '../graphql/request/operation-run.ts';
import type { OperationsParts } from '../graphql/request/operations-parts.ts';
import { createPersisted } from '../graphql/request/persisted.ts';
import { PlainRequests } from '../graphql/request/plain-requests.ts';
import { PreparedOperations } from '../graphql/request/prepared-operations.ts';
import { batches, resolvers } from '../graphql/resolvers/generated.ts';
import { entities } from '../graphql/resolvers/nodes.ts';
import { createSchema, type SchemaPart } from '../graphql/schema/schema.ts';
import { printSdl } from '../graphql/schema/sdl.ts';
import type { Subgraph } from '../graphql/schema/subgraph.ts';
import { openInFlight } from '../keys/open-in-flight.ts';
import { openTenants, type Tenant } from '../keys/tenant.ts';
import { freshnessIn, NO_TENANT_CACHE, openAgelessCache, openTenantCache } from '../keys/tenant-cache.ts';
import type { FiguresParts } from '../observations/client.ts';
import { createCachedClient, createObservationClient } from '../observations/client.ts';
import { createObservationEntries } from '../observations/entries.ts';
import { createCachedNames } from '../observations/loaders/cached-names.ts';
import { noteNamesStage } from '../observations/loaders/listed-names.ts';
import type { TickersLearned } from '../observations/loaders/tickers.ts';
import { createLearned } from '../observations/planner/learned.ts';
import { createRefusedNames } from '../observations/refused-names.ts';
import type { Attempt } from '../service/attempt.ts';
import { cachedStage } from '../service/cached-lists.ts';
import type { Send } from '../service/call.ts';
import { createUpstream } from '../service/client.ts';
import { type Clock, createSteadyClock, systemClock } from '../shared/async/clock.ts';
import { once } from '../shared/once.ts';
import { openPlugins } from './opened-plugins.ts';
import type { ComposedGateway, Plugin, PluginDefinition, PluginHost, ServiceMeans } from './plugin.ts';

export type Gateway = Awaited<ReturnType<typeof createGateway>>;

export interface Observer {
  operation(event: OperationEvent): void;
  attempt(event: Attempt): void;
  /** Called when a batch of figures leaves. */
  readonly batch?: FiguresParts['pooling']['onBatch'];
  /** Called when rows of figures have come, some of which nobody had asked for. */
  rows?(received: number, unwanted: number): void;
  /** Called when a call or a batch has waited for a minute window. */
  minuteWait?(waitedMs: number): void;
  /** Called when an outage of the store begins, and when it is over; left out to have it called a problem. */
  outage?(outage: StoreOutage): void;
  /** Called with words to the operator on what he may not have meant. */
  warn?(words: string): void;
  /** Called with an internal error of the gateway, whole, and the request that met it, if that is known. */
  problem(error: unknown, where: string, requestId?: string): void;
}

interface GatewayParts {
  readonly config: Config;
  /** Those whose settings `config` was read with; left out for none. */
  readonly plugins?: readonly PluginDefinition[];
  readonly upstreamUrl: string;
  readonly observer: Observer;
  /** Connects to a stand-in for the service; left out to connect to the service. */
  readonly connectUpstream?: (() => Duplex) | undefined;
  readonly clock?: Clock;
  /** The link to the state that processes of one program share; left out if there is one alone. */
  readonly link?: HubLink | undefined;
  /** Another way to open the schema: gateways of the same settings may share one. */
  readonly openSchema?: typeof openSchema | undefined;
  /** Returns the share of its memory that the process takes; left out if the process is not the gateway's alone. */
  readonly takenMemory?: () => number;
}

/** Puts the program together. Nothing is asked of the service before the first operation needs it. */
export async function createGateway(parts: GatewayParts) {
  const { config, observer } = parts;
  const clocks = openClocks(parts.clock);
  const plugins = await openPlugins(parts.plugins ?? [], hostOf(parts, clocks));
  const subgraph = await subgraphIn(config);
  const schemaParts = plugins.all.flatMap((plugin) => plugin.schema ?? []);
  const schema = await (parts.openSchema ?? openSchema)(schemaParts, subgraph);
  const stores = await openStores(parts, clocks);
  const { store, clock, steadyNow, tenantCache, tenants, lookups } = stores;
  const service = openService(parts, stores, plugins.all);
  const names = subgraph?.names(schema) ?? null;
  const { learned, openPricing, means, direct } = composeService(service, stores, parts, schema);
  const stage: OperationsParts = {
    config,
    schema,
    tenantCache,
    learned,
    persisted: await openPersisted(config, observer, plugins.all),
    now: clock.now,
    steadyNow,
    onOperation: notingOperations(observer),
    onError: observer.problem,
  };
  const { persisted } = stage;
  const openRun = createOpenRun(stage, means);
  const callerOf = createCallers(tenants, plugins.offline);
  const admission = new Admission(config.maxConcurrentOperations, parts.takenMemory);
  const caches = {
    plainRequests: new PlainRequests(persisted),
    operations: new PreparedOperations(schema, learned, cacheBounds(config).operationBytes),
    answers: new AnswersTable(stage, lookups.answers),
    execution: new Execution(stage, openPricing),
  };
  const { answers, operations, plainRequests } = caches;
  const running = await openRunning(openRun, { ...stage, ...caches });
  const answered = answers.answersStage(running.run, (next) => admission.admissionStage(next));
  const wording =
    names && (await import('../graphql/request/prefixed.ts')).wordingOf(names, config.maxTokens);
  const kernel = { config, schema, persisted, callerOf, wording, api: plugins.api.bind(plugins) };
  const doors = openKeyDoors(plugins.keys(kernel), callerOf);
  const handle = plugins.operation(answered, kernel);
  let sdl: string | undefined;

  const handleMarked = await received(handle, stage, {
    callerOf,
    plainRequests,
    names,
    ledger: service.upstream.ledger,
  });

  const composed: ComposedGateway = {
    ...kernel,
    ...doors,
    handle: doors.exchanging(plugins.request(handleMarked, kernel)),
    refuseUnread(headers, requestId) {
      // The flow of a plugin's key isn't known before the key has been looked for.
      if (!admission.isAnyFull || doors.owns(headers.authorization ?? undefined)) return null;
      return admission.refusalUnread(callerOf(headers), headers.accept, requestId);
    },
    operations: { ...stage, openRun, admission },
    service: direct,
  };
  await plugins.start(composed);

  return {
    get sdl() {
      // Few ask for it, and the program starts sooner without.
      sdl ??= printSdl(schema, subgraph);
      return sdl;
    },
    schema,
    /** The only documents that may run; null if any may. */
    get trusted() {
      return persisted.trusted;
    },
    handle: composed.handle,
    plugins,
    refuseUnread: composed.refuseUnread,
    /** The operations under way and waiting now: always the same object. */
    load: admission.load,
    state: stateOf(stores, service),
    shrink(share: number) {
      for (const cache of [store, answers, operations]) cache?.shrink(share);
    },
    /** Has those leave who wait for news: operations are still answered. */
    beforeStop: () => plugins.beforeStop(),
    /** Waits for operations in flight, then closes upstream connections. */
    async stop() {
      persisted.stop();
      await plugins.beforeStop();
      await running.stop();
      await service.upstream.close();
      await plugins.close();
      await store?.close();
    },
  };
}

/**
 * The executable schema, with the parts that plugins bring.
 * @throws TypeError naming a field that nothing provides
 */
export async function openSchema(
  parts: readonly SchemaPart[] = [],
  subgraph: Subgraph | null = null,
): Promise<GraphQLSchema> {
  return createSchema({ subgraph, parts, resolvers, entities, batches });
}

/** Loads the subgraph that settings describe; null if routers see what clients see. */
async function subgraphIn(config: Config): Promise<Subgraph | null> {
  const { subgraphIso3, subgraphNode, subgraphOmit, subgraphPrefix } = config;
  if (!subgraphIso3 && !subgraphNode && subgraphOmit.length === 0 && subgraphPrefix === undefined)
    return null;
  return (await import('../graphql/schema/subgraph.ts')).openSubgraph(config);
}

/** Opens the texts that clients may name: the trusted documents, or any that they have sent. */
async function openPersisted(
  { trustedDocuments: path, trustedDocumentsFor }: Config,
  observer: Observer,
  plugins: readonly Plugin[],
) {
  if (path === undefined) return createPersisted();
  const { besideOtherDocuments, openTrusted } = await import('../graphql/request/trusted.ts');
  const builtIn = plugins.flatMap(({ documents = [] }) => documents);
  const onProblem = (problem: unknown) => observer.problem(problem, 'trusted documents');
  const trusted = await openTrusted(path, onProblem, undefined, builtIn);
  return trustedDocumentsFor === 'issued' ? besideOtherDocuments(trusted, createPersisted()) : trusted;
}

/** Tells operations that are over to those who count them by their own keys as well. */
function notingOperations({ operation }: Observer): OperationsParts['onOperation'] {
  return (event, { note }) => {
    operation(event);
    note?.(event);
  };
}

/** The state of caches, plans and circuits, for metrics. */
function stateOf({ lookups, tenants }: Stores, { upstream }: ReturnType<typeof openService>) {
  return {
    /** Hits and misses among cached entries: always the same object. */
    lookups,
    /** Lists the calls that are left of the plans of the keys that were last in use, so many at the most. */
    recentLimits: (most: number) => upstream.ledger.recentLimits(tenants.accepted(), most),
    openCircuits: () => upstream.gate.open(),
  };
}

type Stores = Awaited<ReturnType<typeof openStores>>;

/** The means that plugins are opened with. */
function hostOf(
  { config, observer }: GatewayParts,
  { clock: { now }, elapsed }: ReturnType<typeof openClocks>,
): PluginHost {
  return { config, now, elapsed, problem: observer.problem, warn: (words) => observer.warn?.(words) };
}

function openClocks(givenClock: Clock | undefined) {
  const clock = givenClock ?? systemClock;
  const steadyNow = createSteadyClock(clock.now);
  // Nobody can set the engine's own clock, so it tells the ages of what this process alone knows.
  const elapsed = givenClock === undefined ? performance.now.bind(performance) : steadyNow;
  return { clock, steadyNow, elapsed };
}

/** Opens the stores, and all that lives longer than an operation. */
async function openStores({ config, observer, link }: GatewayParts, clocks: ReturnType<typeof openClocks>) {
  const { clock, steadyNow } = clocks;
  const store = await openStore({
    url: config.cacheUrl,
    timeoutMs: config.cacheTimeoutMs,
    maxBytes: config.cacheMaxBytes,
    now: steadyNow,
    link,
    onError(error) {
      if (error instanceof StoreOutage && observer.outage !== undefined) observer.outage(error);
      else observer.problem(error, 'cache');
    },
  });
  const tenants = await openTenants(config.keyPepper, store, steadyNow);
  const tenantCache = openTenantCache(store, config, tenants);
  const inFlight = openInFlight(store, tenantCache, { config, clock, tenants });
  return { ...clocks, store, tenants, tenantCache, inFlight, lookups: openLookups() };
}

/** Opens the way to the service, and keeps the lists on it that operations are priced by. */
function openService(
  { config, observer, upstreamUrl, connectUpstream }: GatewayParts,
  { clock, steadyNow, elapsed, store, tenantCache, inFlight, tenants, lookups }: Stores,
  plugins: readonly Plugin[],
) {
  const endpoints = plugins.flatMap(({ schema = [] }) => schema.flatMap((part) => part.endpoints ?? []));
  const given = openGivenLists(endpoints);
  const upstream = createUpstream({
    baseUrl: upstreamUrl,
    timeoutMs: config.upstreamTimeoutMs,
    proxy: outgoingProxyIn(config),
    connect: connectUpstream,
    retries: config.upstreamRetries,
    clock,
    steadyNow,
    elapsed,
    onAttempt: observer.attempt,
    onMinuteWait: observer.minuteWait,
    lookups: lookups.lists,
    stages: plugins.flatMap((plugin) => plugin.call?.bind(plugin) ?? []),
    watchers: plugins.flatMap((plugin) => plugin.attempt?.bind(plugin) ?? []),
    remembering: given.remembering,
    tenantCache,
    inFlight,
    tenants,
    sharedCounters: store?.sharedCounters ?? null,
    freshness: freshnessIn(config),
  });
  return { given, upstream, endpoints };
}

/** Makes the means that operations run with, and are priced with: the same loaders and planner. */
function composeService(
  {
    given,
    endpoints,
    upstream: { ask: askService, send, ledger, outage, gate },
  }: ReturnType<typeof openService>,
  stores: Stores,
  { config, observer }: GatewayParts,
  schema: GraphQLSchema,
) {
  const { clock, steadyNow: now, elapsed, tenantCache, inFlight, lookups } = stores;
  const freshness = freshnessIn(config);
  const learned = createLearned(elapsed);
  const ask = noteNamesStage(askService, learned);
  const entries = createObservationEntries(tenantCache);
  const sharedEntries = createObservationEntries(inFlight.cache ?? tenantCache, entries.several);
  const cacheParts = { tenantCache, freshness, now };
  const isCaching = tenantCache !== NO_TENANT_CACHE;
  const figures: FiguresParts = {
    planning: { learned, codesPerCall: config.codesPerCall, overfetchRows: config.batchOverfetchRows },
    service: { send, ask, outage },
    cache: {
      ...cacheParts,
      entries,
      save: sharedEntries.save,
      refusedNames: createRefusedNames(now, freshness.ttlMs),
    },
    pooling: {
      ledger,
      clock,
      windowMs: config.batchWindowMs,
      holdMs: config.batchHoldMs,
      onBatch: observer.batch,
      onMinuteWait: observer.minuteWait,
    },
    leasing: { inFlight, entries: sharedEntries, ttlMs: isCaching ? freshness.ttlMs : 0, now },
    renewal: {
      mayRenew: config.cacheRenewal,
      maxAskedLately: isCaching ? cacheBounds(config).askedLately : 0,
    },
    events: { lookups: lookups.figures, onRows: observer.rows },
  };
  const observations = createObservationClient(figures);
  const tickersLearned: TickersLearned = { needsLimit: false };
  const offline = once(() => composeOffline(figures, learned, tickersLearned, stores));
  const quota = async (tenant: Tenant) => {
    await ledger.refresh(tenant);
    return ledger.quota(tenant);
  };
  const common = { tickersLearned, quota };
  const direct: ServiceMeans = {
    ask,
    observations,
    entries,
    tenantCache,
    ledger,
    quota,
    clock,
    steadyNow: now,
    planning: figures.planning,
  };
  return {
    learned,
    direct,
    openPricing: async (isOffline: boolean) => {
      const { createPricing } = await import('../graphql/cost/pricing.ts');
      return createPricing({
        ...common,
        figures: isOffline ? offline().figures : figures,
        schema,
        given,
        partEndpoints: endpoints,
        maxUpstreamCalls: config.maxUpstreamCalls,
        maxListItems: config.maxListItems,
      });
    },
    means: {
      ...common,
      ask,
      observations,
      hasPlenty: ledger.hasPlenty,
      mayGuess: ledger.mayGuess,
      gate,
      cachedNames: createCachedNames(cacheParts, learned),
      offline: () => offline().means,
    },
  };
}

/** Makes the means of callers on whose behalf nothing is asked: they have no way to the service, and take any age. */
function composeOffline(
  figures: FiguresParts,
  learned: ReturnType<typeof createLearned>,
  tickersLearned: TickersLearned,
  { store, tenants, tenantCache: written, steadyNow: now, lookups }: Stores,
) {
  const tenantCache = openAgelessCache(store, tenants, written);
  const freshness = { ttlMs: Number.POSITIVE_INFINITY, staleMs: 0 };
  const cacheParts = { tenantCache, freshness, now };
  const outage = { failure: () => null };
  const send: Send = async (call, { caller: { offline } }) => {
    throw offline?.ofCall(call) ?? new Error('This caller may ask the service.');
  };
  const ask = noteNamesStage(cachedStage(send, { ...cacheParts, lookups: lookups.lists }, outage), learned);
  const offline: FiguresParts = {
    ...figures,
    service: { send, ask, outage },
    cache: {
      ...cacheParts,
      entries: createObservationEntries(tenantCache, figures.cache.entries.several),
      save() {},
      refusedNames: createRefusedNames(now, 0),
    },
  };
  const means: LoadingMeans = {
    ask,
    tickersLearned,
    hasPlenty: undefined,
    mayGuess: undefined,
    cachedNames: createCachedNames(cacheParts, learned),
    observations: createCachedClient(offline),
  };
  return { figures: offline, means };
}
