import { outgoingProxyIn } from '../config/config.ts';
import { cacheBounds } from '../config/memory-budget.ts';
import { openGivenLists } from '../graphql/cost/given-lists.ts';
import type { ServiceMeans } from '../graphql/live/live-parts.ts';
import type { LoadingMeans } from '../graphql/request/operation-run.ts';
import type { Tenant } from '../keys/tenant.ts';
import { freshnessIn, NO_TENANT_CACHE, openAgelessCache } from '../keys/tenant-cache.ts';
import { createCachedClient, createObservationClient, type FiguresParts } from '../observations/client.ts';
import { createObservationEntries } from '../observations/entries.ts';
import { createCachedNames } from '../observations/loaders/cached-names.ts';
import { noteNamesStage } from '../observations/loaders/listed-names.ts';
import type { TickersLearned } from '../observations/loaders/tickers.ts';
import { createLearned } from '../observations/planner/learned.ts';
import { createRefusedNames } from '../observations/refused-names.ts';
import { cachedStage } from '../service/cached-lists.ts';
import type { Send } from '../service/call.ts';
import { createUpstream } from '../service/client.ts';
import { once } from '../shared/once.ts';
import type { GatewayParts } from './gateway-parts.ts';
import type { Stores } from './open-stores.ts';
import type { Plugin } from './plugin.ts';

/** Opens the way to the service. `given` keeps the lists on it, by which operations are priced. */
export function openService(
  { config, observer, upstreamUrl }: GatewayParts,
  { clock, steadyNow, elapsed, store, tenantCache, inFlight, tenants, lookups }: Stores,
  plugins: readonly Plugin[],
) {
  const endpoints = plugins.flatMap(({ schema = [] }) => schema.flatMap((part) => part.endpoints ?? []));
  const given = openGivenLists(endpoints);
  const upstream = createUpstream({
    baseUrl: upstreamUrl,
    timeoutMs: config.upstreamTimeoutMs,
    bodies: {
      cachedBytes: cacheBounds(config).bodyBytes,
      issuesKeys: plugins.some(({ keys }) => keys !== undefined),
    },
    proxy: outgoingProxyIn(config),
    retries: config.upstreamRetries,
    clock,
    steadyNow,
    elapsed,
    onAttempt: observer.attempt,
    onMinuteWait: observer.minuteWait,
    lookups: lookups.lists,
    stages: plugins.flatMap((plugin) => plugin.call?.bind(plugin) ?? []),
    watchers: plugins.flatMap((plugin) => plugin.attempt?.bind(plugin) ?? []),
    notedListsStage: given.notedListsStage,
    tenantCache,
    inFlight,
    tenants,
    sharedCounters: store?.sharedCounters ?? null,
    freshness: freshnessIn(config),
  });
  return { given, upstream };
}

/** Operations run, and are priced, by the same loaders and planner. */
export function composeService(
  { given, upstream: { ask: askService, send, ledger, outage, gate } }: ReturnType<typeof openService>,
  stores: Stores,
  { config, observer }: GatewayParts,
) {
  const { clock, steadyNow: now, tenantCache, inFlight, lookups } = stores;
  const freshness = freshnessIn(config);
  const learned = createLearned();
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
        given,
        maxUpstreamCalls: config.maxUpstreamCalls,
        maxListItems: config.maxListItems,
      });
    },
    means: {
      ...common,
      ask,
      observations,
      hasPlenty: ledger.hasPlenty,
      mayGoAhead: ledger.mayGoAhead,
      gate,
      cachedNames: createCachedNames(cacheParts, learned),
      offline: () => offline().means,
    },
  };
}

/** For callers on whose behalf nothing is asked: there is no way to the service, and any age counts. */
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
    mayGoAhead: undefined,
    cachedNames: createCachedNames(cacheParts, learned),
    observations: createCachedClient(offline),
  };
  return { figures: offline, means };
}
