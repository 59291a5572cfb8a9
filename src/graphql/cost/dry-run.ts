import { NO_TENANT_CACHE, type TenantCache } from '../../keys/tenant-cache.ts';
import { cachedFiguresStage, type FiguresCache, findCached, isFresh } from '../../observations/cached.ts';
import { createPairReader } from '../../observations/cached-pairs.ts';
import { createDataFetch, gatheredStage } from '../../observations/client.ts';
import type { CallParts } from '../../observations/data-calls.ts';
import { createObservationEntries } from '../../observations/entries.ts';
import { type FetchBatch, type Figures, settleAll } from '../../observations/fetch.ts';
import { createBatchGate } from '../../observations/loaders/batch-gate.ts';
import { createCachedNames } from '../../observations/loaders/cached-names.ts';
import { Effort } from '../../observations/loaders/effort.ts';
import { createLoaders } from '../../observations/loaders/loaders.ts';
import type { Demand } from '../../observations/planner/demand.ts';
import type { Learned } from '../../observations/planner/learned.ts';
import { limitsOf } from '../../observations/planner/modes.ts';
import { NO_PREFETCH } from '../../observations/prefetch.ts';
import { createRevalidation } from '../../observations/revalidation.ts';
import { openBill } from '../../service/bill.ts';
import { cachedStage } from '../../service/cached-lists.ts';
import type { Call } from '../../service/call.ts';
import { coalescedStage } from '../../service/coalescing.ts';
import { payerOf } from '../../service/payer.ts';
import type { Sending } from '../../service/sending.ts';
import { createWarnings } from '../../shared/warnings.ts';
import type { GraphContext } from '../schema/context.ts';
import { certaintyOf } from './certainty.ts';
import { createFewestCalls } from './fewest-calls.ts';
import type { PricedOperation, PricingParts, Supposition } from './pricing-parts.ts';
import { assumptionsOf, createStandIn } from './stand-in.ts';
import type { Tally } from './tally.ts';
import { createYearsWanted, type YearsWanted } from './years-wanted.ts';

/**
 * Opens a run of an operation over a stand-in for the service, whose calls are its price. Nothing is sent or cached.
 * @param learned the snapshot that plans go by; names and lengths of series are those of the live `planning.learned`
 */
export function openDryRun(
  parts: PricingParts,
  { caller, plan, variables }: PricedOperation,
  { supposed, share }: Supposition,
  learned: Learned,
  tally: Tally,
) {
  const { planning, cache, pooling } = parts.figures;
  const { bill, payer } = tally;
  const tenantCache = readOnlyCache(cache.tenantCache);
  const years = createYearsWanted();
  const assumptions = assumptionsOf(planning.learned, supposed, years, tally);
  const noteCached = (call: Call) => tally.calls.push({ ...call, isCached: true });
  const outage = { failure: () => null };
  const standIn = createStandIn(parts, (call) => tally.calls.push({ ...call, isCached: false }), assumptions);
  const send = coalescedStage(async (call, sending) => {
    const answer = await standIn(call, sending);
    if (!call.isPublic) tenantCache.accept(caller.tenant);
    return answer;
  });
  const dryCache = { ...cache, tenantCache, entries: createObservationEntries(tenantCache), save() {} };
  const ask = cachedStage(send, dryCache, outage, noteCached);
  const dry: CallParts = {
    planning: { ...planning, learned },
    service: { send, ask, outage },
    cache: { ...dryCache, refusedNames: { ...cache.refusedNames, add() {} } },
    events: {
      onCached: (demand) => tally.cachedDemands.push(demand),
      onExpired() {
        tally.mayBeRenewed = true;
      },
    },
  };
  const { isDeriving } = certaintyOf(plan, variables);
  const mayBeSpared = supposed === 'least' && cache.tenantCache !== NO_TENANT_CACHE;
  const figures = createLoneFigures(dry, (next) => {
    const counting = talliedStage(next, planning.learned, isDeriving, tally);
    return mayBeSpared ? sparedStage(counting) : counting;
  });
  const signal = new AbortController().signal;
  const sending: Sending = { caller, bill, payer, signal, waitDeadlineMs: 0 };
  const effort = new Effort(caller.tenant, () => tally.refusal);
  const batchGate = createBatchGate(pooling.holdMs, pooling.clock.after);
  const loaders = createLoaders({
    ask,
    sending,
    figures: countedFigures(figures, dry.cache, isDeriving, years, tally),
    batchGate,
    effort,
    tickersLearned: { ...parts.tickersLearned },
    learned: planning.learned,
    mayGoAhead(tenant) {
      if (!pooling.ledger.mayGoAhead(tenant)) return false;
      tally.mayGoAhead = true;
      // Until a first list has been seen, the guess may be wrong.
      if (planning.learned.countryCodes.size === 0) tally.isCertain = false;
      return false;
    },
    cachedNames: createCachedNames(dryCache, planning.learned),
  });
  const context: GraphContext = {
    caller,
    bill,
    loaders,
    batchGate,
    effort,
    warnings: createWarnings(),
    maxListItems: parts.maxListItems,
    quota: () => parts.quota(caller.tenant),
    supposedRows(route, rows) {
      if (!assumptions.routes.has(route)) return null;
      tally.hasFiltered = true;
      return rows.slice(0, Math.ceil(rows.length * share));
    },
  };
  return {
    context,
    /** Notes the calls that cached figures spare, unless they are more than an operation may make. */
    async fetchCached(demands: readonly Demand[]): Promise<void> {
      const fewest = createFewestCalls(limitsOf(dry.planning), learned.seriesRows, learned.rowsWithin);
      for (const demand of demands) fewest.add(demand);
      if (fewest.calls > parts.maxUpstreamCalls) return;
      const service = { ...dry.service, send: createStandIn(parts, noteCached, assumptions) };
      const cachedBill = openBill();
      const silent = { onOutcomes() {} };
      const paid = { ...sending, bill: cachedBill, payer: payerOf(cachedBill) };
      return createDataFetch({ ...dry, service })(demands, paid, silent);
    },
  };
}

/** Counts demands before they are planned, and notes if they may take other calls than their plan. */
function talliedStage(next: FetchBatch, learned: Learned, isDeriving: boolean, tally: Tally): FetchBatch {
  /** Then a series takes exactly the calls of its plan. */
  const isLengthKnown = ({ mode, years, countryCode, metricKey }: Demand) =>
    mode === 'series' &&
    years === null &&
    learned.facts().totals === 'true' &&
    learned.hasSeriesRows(countryCode, metricKey);
  return async (demands, sending, listener) => {
    // If several figures match, the service is asked for the latest one, which no plan shows.
    if (isDeriving ? demands.length > 0 : !demands.every(isLengthKnown)) tally.isCertain = false;
    for (const demand of demands) tally.want(demand);
    await next(demands, sending, listener);
  };
}

/** Takes demands as settled whose country and metric an earlier batch named both: its calls may have brought them. */
function sparedStage(next: FetchBatch): FetchBatch {
  const asked: { readonly codes: ReadonlySet<string>; readonly keys: ReadonlySet<string> }[] = [];
  const mayHaveCome = ({ countryCode, metricKey }: Demand) =>
    asked.some(({ codes, keys }) => codes.has(countryCode) && keys.has(metricKey));
  return (demands, sending, listener) => {
    const missing = demands.filter((demand) => !mayHaveCome(demand));
    settleAll(listener, demands.filter(mayHaveCome), []);
    asked.push({
      codes: new Set(missing.map(({ countryCode }) => countryCode)),
      keys: new Set(missing.map(({ metricKey }) => metricKey)),
    });
    return next(missing, sending, listener);
  };
}

/**
 * Counts figures as soon as they are demanded and not cached, before they are gathered and planned. Once the operation
 * is refused, nothing more is fetched.
 * @param isDeriving true if the operation derives figures, and so may demand others to compare them with
 */
function countedFigures(
  figures: Figures,
  { tenantCache, entries, refusedNames, freshness, now }: FiguresCache,
  isDeriving: boolean,
  years: YearsWanted,
  tally: Tally,
): Figures {
  return {
    ...figures,
    find(demands, sending) {
      const { tenant } = sending.caller;
      const outcomes = figures.find(demands, sending);
      if (!tenantCache.isAtHand) return outcomes;
      const cachedEntries = outcomes === null ? entries.atHand(tenant, demands) : [];
      const terms = { freshness, tenant };
      for (const [i, demand] of demands.entries()) {
        const isCached =
          outcomes?.outcomes[i] !== undefined || isFresh(demand, cachedEntries[i], now(), terms);
        if (isCached || refusedNames.of(tenant, demand) !== undefined) continue;
        tally.want(demand);
        // Whether a figure that has nothing to be compared with is fetched depends on the rest of the operation.
        if (isDeriving) tally.isCertain = false;
      }
      return outcomes;
    },
    async fetch(demands, ...sending) {
      if (tally.refusal !== null) throw tally.refusal;
      for (const demand of demands) if (demand.years !== null) years.add(demand);
      return figures.fetch(demands, ...sending);
    },
  };
}

/** Saves nothing. That the stand-in accepts the key counts within this run alone. */
function readOnlyCache(tenantCache: TenantCache): TenantCache {
  if (tenantCache === NO_TENANT_CACHE) return tenantCache;
  let isTakenForAccepted = false;
  return {
    ...tenantCache,
    save() {},
    accept() {
      isTakenForAccepted = true;
    },
    isAccepted: (tenant) => isTakenForAccepted || tenantCache.isAccepted(tenant),
    refuse: () => undefined,
  };
}

/**
 * The stages of figures for an operation by itself: no batches with others, no prefetch.
 * @param watched adds a stage that sees the demands before they are planned
 */
function createLoneFigures(parts: CallParts, watched: (next: FetchBatch) => FetchBatch): Figures {
  const { cache, service } = parts;
  // The stand-in's answer must not renew cached entries.
  const check = createRevalidation({ ...cache, ask: service.ask, mayRenew: false });
  const caching = { ...parts, prefetch: NO_PREFETCH, revalidation: { check, countCalls() {} } };
  const fetch = cachedFiguresStage(gatheredStage(watched(createDataFetch(parts))), caching);
  const cachedPairs = createPairReader(cache.tenantCache, cache.entries.several);
  return { find: findCached(caching), fetch, several: cache.entries.several, cachedPairs };
}

/**
 * A snapshot to plan by.
 * @param totals whether answers are assumed to state totals. `untold`: series of unknown length are planned as long
 * ones. `unknown`: they are requested in the hope that they are short
 */
export function frozen(learned: Learned, totals: 'untold' | 'unknown'): Learned {
  const facts = { ...learned.facts(), totals };
  const fixed = (names: Learned['listed']['metrics']): typeof names => ({
    size: names.size,
    has: (name) => names.has(name),
    add() {},
    [Symbol.iterator]: () => names[Symbol.iterator](),
  });
  const fixedNames = ({ countries, metrics }: Learned['answered']) => ({
    countries: fixed(countries),
    metrics: fixed(metrics),
  });
  return {
    ...learned,
    facts: () => facts,
    learn() {},
    answered: fixedNames(learned.answered),
    listed: fixedNames(learned.listed),
    learnCountryCodes() {},
    noteAnswer: () => facts,
    figured: fixedNames(learned.figured),
    learnSeries() {},
    learnWithin() {},
  };
}
