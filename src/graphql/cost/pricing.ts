import type {
  DocumentNode,
  GraphQLError,
  GraphQLFormattedError,
  GraphQLSchema,
  OperationDefinitionNode,
} from 'graphql';
import type { QuotaRecord } from '../../keys/ledger.ts';
import type { Tenant } from '../../keys/tenant.ts';
import { NO_TENANT_CACHE, type TenantCache } from '../../keys/tenant-cache.ts';
import { cachedFiguresStage, type FiguresCache, findCached, isFresh } from '../../observations/cached.ts';
import type { FiguresParts } from '../../observations/client.ts';
import { createDataFetch, gatheredStage } from '../../observations/client.ts';
import type { CallParts } from '../../observations/data-calls.ts';
import { createObservationEntries, createPairReader } from '../../observations/entries.ts';
import { type FetchBatch, type Figures, settleAll } from '../../observations/fetch.ts';
import { createBatchGate } from '../../observations/loaders/batch-gate.ts';
import { createCachedNames } from '../../observations/loaders/cached-names.ts';
import { Effort } from '../../observations/loaders/effort.ts';
import { createLoaders } from '../../observations/loaders/loaders.ts';
import type { TickersLearned } from '../../observations/loaders/tickers.ts';
import { type Demand, pairKey } from '../../observations/planner/demand.ts';
import type { Learned } from '../../observations/planner/learned.ts';
import { limitsOf } from '../../observations/planner/modes.ts';
import { NO_PREFETCH } from '../../observations/prefetch.ts';
import { createRevalidation } from '../../observations/revalidation.ts';
import { openBill } from '../../service/bill.ts';
import { cachedStage } from '../../service/cached-lists.ts';
import { type Call, type Endpoint, makeCall, type Send } from '../../service/call.ts';
import type { Caller } from '../../service/caller.ts';
import { coalescedStage } from '../../service/coalescing.ts';
import * as endpoints from '../../service/endpoints.ts';
import { payerOf } from '../../service/payer.ts';
import type { Sending } from '../../service/sending.ts';
import { yieldToEventLoop } from '../../shared/async/turns.ts';
import { Failure } from '../../shared/errors.ts';
import { createWarnings, type Warning, type Warnings } from '../../shared/warnings.ts';
import { fragmentsIn, type Plan } from '../execution/plan.ts';
import { runPlan } from '../execution/run.ts';
import type { GraphContext } from '../schema/context.ts';
import { formatError, originalOf } from '../schema/errors.ts';
import type { openGivenLists } from './bound.ts';
import { certaintyOf } from './certainty.ts';
import { createFewestCalls, dearestField, openTally } from './tally.ts';

type Tally = ReturnType<typeof openTally>;

interface PricedOperation {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly caller: Caller;
  readonly plan: Plan;
}

const { countries, etlStatus, indicators, observations, tickers } = endpoints;

interface PricingParts {
  readonly figures: FiguresParts;
  readonly schema: GraphQLSchema;
  readonly given: ReturnType<typeof openGivenLists>;
  /** Endpoints of parts of the graph that plugins bring. */
  readonly partEndpoints: readonly Endpoint[];
  readonly tickersLearned: TickersLearned;
  readonly maxUpstreamCalls: number;
  readonly maxListItems: number;
  readonly quota: (tenant: Tenant) => Promise<QuotaRecord>;
}

/**
 * The assumption of a price if nothing is known. `expected`: the service holds every figure, and lists and records of
 * the documented size. `least`: it holds nothing.
 */
type Supposed = 'expected' | 'least';

type Explanation = {
  readonly errors: readonly GraphQLFormattedError[];
  readonly extensions: Record<string, unknown>;
};

/**
 * Prices operations by running them over a stand-in for the service, through the very resolvers, loaders and planner
 * that will run them for real: the price is the calls that it would ask for.
 */
export function createPricing(parts: PricingParts) {
  return {
    /** Returns the failure of an operation that takes more than it may; null if it doesn't. */
    refusalOf: async (priced: PricedOperation) => (await priceOf(parts, priced, 'expected', false)).refusal,
    /**
     * Tells the price of an operation in place of its answer, and warns as the answer would.
     * @returns its failure if it is too dear to be priced
     */
    async explain(priced: PricedOperation, warnings: Warnings): Promise<Explanation | Failure> {
      const limit = parts.maxUpstreamCalls;
      const expected = await priceOf(parts, priced, 'expected', true);
      if (expected.refusal !== null) return expected.refusal;
      const range = priceRange(expected, await priceOf(parts, priced, 'least', true), limit);
      for (const warning of expected.warnings) warnings.add(warning);
      const { calls, byRoute, cached } = expected.bill;
      const naive = Math.max(expected.bill.naive, calls);
      const plan = expected.calls.map(({ route, target, isCached }) => ({ route, target, cached: isCached }));
      return {
        errors: expected.errors.map((error) => formatError(error.toJSON(), error, () => {})),
        extensions: {
          explain: {
            calls,
            ...range,
            byRoute,
            cached,
            naive,
            limit,
            plan,
            ...(expected.mayGuess && { ahead: true }),
          },
        },
      };
    },
  };
}

async function priceOf(
  parts: PricingParts,
  priced: PricedOperation,
  supposed: Supposed,
  isExplained: boolean,
) {
  const learned = frozen(parts.figures.planning.learned, supposed === 'expected' ? 'untold' : 'unknown');
  const tally = tallyFor(priced, learned, isExplained, parts);
  const { context, fetchCached } = openDryRun(parts, priced, supposed, learned, tally);
  const { effort, warnings, bill } = context;
  const errors = await runDry(priced, context).catch((error: unknown) => {
    if (error !== effort.refusal) throw error;
    return [];
  });
  // Cached values are listed; if that decides nothing, it is left.
  if (isExplained && effort.refusal === null) await fetchCached(tally.cachedDemands);
  const isListed = ({ code, route = ROUTE_OF_WARNING[code] ?? '' }: Warning) =>
    bill.byRoute[route] === undefined;
  if (effort.refusal === null) tally.close();
  return {
    bill,
    calls: tally.calls,
    isCertain: tally.isCertain,
    mayBeRenewed: tally.mayBeRenewed,
    mayGuess: tally.mayGuess,
    /** Errors that the operation would fail with before anything is sent. */
    errors: errors.filter((error) => !isOfRecord(error)),
    /** Warnings that the answer would have, as far as cached values tell. */
    warnings: (warnings.listed() ?? []).filter(isListed),
    /** The failure that ended the pricing before its end, since the operation is too dear; null if none did. */
    refusal: effort.refusal,
  };
}

type Price = Awaited<ReturnType<typeof priceOf>>;

function tallyFor(
  { document, operation, variables, caller }: PricedOperation,
  learned: Learned,
  isExplained: boolean,
  parts: PricingParts,
): Tally {
  const { schema, figures, maxUpstreamCalls: limit } = parts;
  const { isOpenEnded, asksBelowRecords } = certaintyOf(document, schema);
  return openTally({
    limit,
    isExplained,
    isProven: caller.tenant.isProven,
    // Of an object that is found by its identifier, the stand-in knows nothing, and of a record not what figures are below.
    isCertain: !isOpenEnded && !asksBelowRecords,
    fewest: createFewestCalls(
      limitsOf({ ...figures.planning, learned }),
      learned.seriesRows,
      learned.rowsWithin,
    ),
    dearest(route) {
      const scope = { schema, fragments: fragmentsIn(document), variableValues: variables };
      return dearestField(schema, operation, scope, route);
    },
  });
}

/** Opens the context that one operation is priced in, over a stand-in for the service. */
function openDryRun(
  parts: PricingParts,
  { caller, document }: PricedOperation,
  supposed: Supposed,
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
  const answering = answeringBy(parts, (call) => tally.calls.push({ ...call, isCached: false }), assumptions);
  const send = coalescedStage(async (call, sending) => {
    const answer = await answering(call, sending);
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
  const { isDeriving } = certaintyOf(document, parts.schema);
  const isSharedCacheable = supposed === 'least' && cache.tenantCache !== NO_TENANT_CACHE;
  const lone = createLoneFigures(dry, (next) => {
    const counting = talliedStage(next, planning.learned, isDeriving, tally);
    return isSharedCacheable ? sparedStage(counting) : counting;
  });
  const signal = new AbortController().signal;
  const sending: Sending = { caller, bill, payer, signal, waitDeadlineMs: 0 };
  const effort = new Effort(caller.tenant, () => tally.refusal);
  const batchGate = createBatchGate(pooling.holdMs);
  const loaders = createLoaders({
    ask,
    sending,
    figures: counted(lone, dry.cache, isDeriving, years, tally),
    batchGate,
    effort,
    tickersLearned: { ...parts.tickersLearned },
    learned: planning.learned,
    mayGuess(tenant) {
      if (!pooling.ledger.mayGuess(tenant)) return false;
      tally.mayGuess = true;
      // Before any list has come, the guess may be wrong whatever the list will be.
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
  };
  return {
    context,
    /** Lists the calls that would bring these demands, were they not cached, if an operation might send so many. */
    async fetchCached(demands: readonly Demand[]): Promise<void> {
      const fewest = createFewestCalls(limitsOf(dry.planning), learned.seriesRows, learned.rowsWithin);
      for (const demand of demands) fewest.add(demand);
      if (fewest.calls > parts.maxUpstreamCalls) return;
      const service = { ...dry.service, send: answeringBy(parts, noteCached, assumptions) };
      const cachedBill = openBill();
      const silent = { onOutcomes() {} };
      const paid = { ...sending, bill: cachedBill, payer: payerOf(cachedBill) };
      return createDataFetch({ ...dry, service })(demands, paid, silent);
    },
  };
}

/** Notes a year that is wanted of each series of which some years are: a figure of another year doesn't answer the demand. */
function createYearsWanted() {
  const wanted = new Map<string, number[]>();
  return {
    of: (countryCode: string, metricKey: string) => wanted.get(pairKey(countryCode, metricKey)) ?? null,
    add({ pairKey: key, years }: Demand) {
      const year = years && (years.to ?? years.from);
      const before = wanted.get(key) ?? [];
      if (year !== null && !before.includes(year)) wanted.set(key, [...before, year]);
    },
  };
}

type YearsWanted = ReturnType<typeof createYearsWanted>;

/** The assumptions on answers while they are not known. */
function assumptionsOf(learned: Learned, supposed: Supposed, years: YearsWanted, tally: Tally) {
  const isExpected = supposed === 'expected';
  const isCachedEmpty = (code: string, key: string) =>
    learned.hasSeriesRows(code, key) && learned.seriesRows(code, key) === 0;
  return {
    /** Returns the years of the figures that the service holds: fields below them are asked for too. */
    yearsOf: (code: string, key: string) =>
      isExpected && !isCachedEmpty(code, key) ? years.of(code, key) : [],
    /** True if lists and records have their documented size, rather than nothing in them. */
    areFilled: isExpected,
    onAssumedList() {
      tally.isCertain = false;
    },
  };
}

/** Looks at demands about to be planned: if they take just the calls of their plan, and too many. */
function talliedStage(next: FetchBatch, learned: Learned, isDeriving: boolean, tally: Tally): FetchBatch {
  /** True if a demand is for a series whose length is known: it takes just the calls of its plan. */
  const isLengthKnown = ({ mode, years, countryCode, metricKey }: Demand) =>
    mode === 'series' &&
    years === null &&
    learned.facts().totals === 'true' &&
    learned.hasSeriesRows(countryCode, metricKey);
  return async (demands, sending, listener) => {
    // If several figures go with another one, the service is asked for the latest.
    if (isDeriving ? demands.length > 0 : !demands.every(isLengthKnown)) tally.isCertain = false;
    for (const demand of demands) tally.want(demand);
    await next(demands, sending, listener);
  };
}

/**
 * Spares demands that a call before may have brought, and the operation has cached by then: figures of any country with
 * any metric that were asked for together.
 */
function sparedStage(next: FetchBatch): FetchBatch {
  const asked: { readonly codes: ReadonlySet<string>; readonly keys: ReadonlySet<string> }[] = [];
  const isBrought = ({ countryCode, metricKey }: Demand) =>
    asked.some(({ codes, keys }) => codes.has(countryCode) && keys.has(metricKey));
  return (demands, sending, listener) => {
    const missing = demands.filter((demand) => !isBrought(demand));
    settleAll(listener, demands.filter(isBrought), []);
    asked.push({
      codes: new Set(missing.map(({ countryCode }) => countryCode)),
      keys: new Set(missing.map(({ metricKey }) => metricKey)),
    });
    return next(missing, sending, listener);
  };
}

/** @returns the errors that the operation would fail with */
async function runDry(
  { variables, caller, plan }: PricedOperation,
  context: GraphContext,
): Promise<readonly GraphQLError[]> {
  const { batchGate, effort } = context;
  const { errors } = await runPlan({
    plan,
    context,
    variables,
    onPause: batchGate.pauseDuring,
    onList: (items: number) => effort.list(items),
    onError: () => effort.fail(1),
    isDry: true,
    job: caller,
  });
  return errors;
}

/** Returns true if the error is of a record: errors of the stand-in's own records say nothing of the service's. */
function isOfRecord(error: GraphQLError): boolean {
  const original = originalOf(error);
  return original instanceof Failure && original.code === 'UPSTREAM_INVALID_RESPONSE';
}

/**
 * Wraps figures so that they are counted as soon as they are wanted and seen not to be cached, before any are gathered,
 * looked up or planned. None are looked for once it is known that the operation is refused.
 * @param isDeriving true if figures are asked for that others may be compared with
 */
function counted(
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
      for (const [i, demand] of demands.entries()) {
        const isCached =
          outcomes?.outcomes[i] !== undefined || isFresh(demand, cachedEntries[i], now(), freshness);
        if (isCached || refusedNames.of(tenant, demand) !== undefined) continue;
        tally.want(demand);
        // A figure without any to compare it with leaves or not, as the rest of the operation lasts.
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

/** Route that tells the names that there are, or the figures, by the warning that needs it. */
const ROUTE_OF_WARNING: Readonly<Partial<Record<Warning['code'], string>>> = {
  UNKNOWN_COUNTRY: countries.route,
  UNKNOWN_INDICATOR: indicators.route,
  NOT_COMPARABLE: observations.route,
  UNREADABLE_PERIOD: observations.route,
  SEVERAL_FIGURES: observations.route,
  REVISED_SINCE: observations.route,
};

/**
 * Bounds the calls that an operation takes by itself, if nothing fails: the calls that it sends lie within.
 * @param limit calls that one operation may send: if the service's answers decide, there is no lower bound that always
 * holds
 */
function priceRange(expected: Price, least: Price, limit: number) {
  const { calls, byRoute } = expected.bill;
  const leastBy = least.bill.byRoute;
  // If nothing is there, a list may be looked at to tell why.
  const inBoth = Object.keys(leastBy).reduce(
    (sum, route) => sum + Math.min(leastBy[route] ?? 0, byRoute[route] ?? 0),
    0,
  );
  const dataCalls = leastBy[observations.route] ?? 0;
  // One call to the sources may stand for all data calls, and the operation may take it anyway.
  const renewalCalls = leastBy[etlStatus.route] === undefined ? Math.min(1, dataCalls) : 0;
  // The pieces by which a list of listings is completed depend on the rows that come.
  const tickerPieces = Math.max(0, (leastBy[tickers.route] ?? 0) - 1);
  // Figures that are asked for ahead may share the call of others, which the dry run has them come after.
  const fewestDataCalls = expected.mayGuess ? Math.min(1, dataCalls) : dataCalls;
  const sparedCalls = dataCalls - (least.mayBeRenewed ? renewalCalls : fewestDataCalls);
  const leastCalls = Math.max(0, inBoth - tickerPieces - sparedCalls);
  const isCertain =
    expected.isCertain && least.isCertain && !expected.mayBeRenewed && least.bill.calls === calls;
  return { least: Math.min(calls, leastCalls), most: isCertain ? calls : Math.max(calls, limit) };
}

/** Wraps the cache for a dry run: nothing is put on it or taken off, and the service's word on a key is forgotten. */
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
 * Puts the same stages together for one operation alone: it meets no other, and nothing goes along.
 * @param watched looks at the demands before they are planned
 */
function createLoneFigures(parts: CallParts, watched: (next: FetchBatch) => FetchBatch): Figures {
  const { cache, service } = parts;
  // The calls are none that the key sends.
  const check = createRevalidation({ ...cache, ask: service.ask, mayRenew: false });
  const caching = { ...parts, prefetch: NO_PREFETCH, revalidation: { check, countCalls() {} } };
  const fetch = cachedFiguresStage(gatheredStage(watched(createDataFetch(parts))), caching);
  const cachedPairs = createPairReader(cache.tenantCache, cache.entries.several);
  return { find: findCached(caching), fetch, several: cache.entries.several, cachedPairs };
}

/**
 * The present knowledge, to plan by and not to add to.
 * @param totals `untold` has series of unknown length be taken for long, `unknown` has them asked for in hope
 */
function frozen(learned: Learned, totals: 'untold' | 'unknown'): Learned {
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

/** Characters of a data call's target that names many figures: to assume them takes long. */
const LONG_TARGET = 500;

/** The indicator that is asked for below records while the catalogue isn't known. */
const ASSUMED_METRIC = 'indicator_1';

const NO_RECORD = { detail: 'no record' };

/**
 * Makes a stand-in for the service that answers without being asked, with the lists that it has given the key before or
 * with assumptions, and notes the calls that it was asked.
 */
function answeringBy(
  { given, partEndpoints, figures }: PricingParts,
  note: (call: Call) => void,
  assumptions: ReturnType<typeof assumptionsOf>,
): Send {
  const all: readonly Endpoint[] = [...Object.values(endpoints), ...partEndpoints];

  return async (call, { caller, payer }) => {
    note(call);
    payer.reserve(call.route).charge();
    if (call.target.length > LONG_TARGET) await yieldToEventLoop(caller);
    const body = given.of(caller.tenant, call) ?? assumed(call, caller.tenant);
    // If there is no record, nothing below it is asked for.
    return { status: body === NO_RECORD ? 404 : 200, headers: {}, body, receivedAt: figures.cache.now() };
  };

  function assumed(call: Call, tenant: Tenant): unknown {
    const { yearsOf, areFilled } = assumptions;
    if (call.route === observations.route)
      return observations.assumed?.(call.target, ASSUMED_METRIC, yearsOf);
    const isList = given.routes.has(call.route);
    if (isList) assumptions.onAssumedList();
    if (!areFilled) return call.route.includes('{') ? NO_RECORD : isList ? [] : {};
    const endpoint = all.find(({ route }) => route === call.route);
    return endpoint?.assumed?.(call.target, metricOf(tenant), yearsOf) ?? {};
  }

  /**
   * Returns an indicator of the key's own catalogue that has sources, as far as it is known, so that the fields below an
   * indicator of a record are asked for as well.
   */
  function metricOf(tenant: Tenant): string {
    const catalogue = given.of(tenant, makeCall(indicators, {}));
    try {
      const records = catalogue === undefined ? [] : indicators.decode(catalogue, {}, 0);
      return (records.find(({ sources }) => sources?.length) ?? records[0])?.key ?? ASSUMED_METRIC;
    } catch {
      return ASSUMED_METRIC;
    }
  }
}
