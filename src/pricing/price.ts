import {
  type DocumentNode,
  execute,
  type GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import { readOnlyCache, type TenantCache } from '../cache/tenant-cache.ts';
import { Failure } from '../errors.ts';
import type { Plan } from '../execution/plan.ts';
import { runPlan } from '../execution/run.ts';
import type { GraphContext } from '../graph/context.ts';
import { originalOf } from '../graph/error-formatting.ts';
import type { Effort } from '../loaders/effort.ts';
import { createLoaders } from '../loaders/loaders.ts';
import type { TickersLearned } from '../loaders/tickers.ts';
import { createBatchGate } from '../observations/batch-gate.ts';
import { type CachedFiguresParts, cachedFigures, type Figures } from '../observations/cached.ts';
import { createDataFetch } from '../observations/client.ts';
import { createObservationEntries } from '../observations/entries.ts';
import type { Fetch } from '../observations/fetch.ts';
import { NO_PREFETCH } from '../observations/prefetch.ts';
import type { RefusedNames } from '../observations/refused-names.ts';
import { createRevalidation } from '../observations/revalidation.ts';
import type { Demand } from '../planner/demand.ts';
import { frozen, type Learned } from '../planner/learned.ts';
import { authenticated } from '../upstream/authenticated.ts';
import { cached, type Freshness } from '../upstream/cached.ts';
import { type Bill, type Call, type Caller, openBill, type Sending } from '../upstream/call.ts';
import { coalesced } from '../upstream/coalesced.ts';
import type { Assumptions, DryRun } from '../upstream/dry-run.ts';
import { countries, indicators } from '../upstream/endpoints.ts';
import type { QuotaRecord } from '../upstream/ledger.ts';
import { payerOf } from '../upstream/payer.ts';
import { createWarnings, type Warning, type WarningCode } from '../warnings.ts';

/** An operation with its variables coerced, ready to run. */
export interface PricedOperation {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly caller: Caller;
  /** Null where graphql-js has to run it. */
  readonly plan: Plan | null;
}

export interface Price {
  readonly bill: Bill;
  /** The calls it takes, and those that what is held would answer. */
  readonly calls: readonly PricedCall[];
  /** Whether the operation takes just these calls, whatever the service answers. */
  readonly isCertain: boolean;
  /** Whether a look at the sources may spare the operation the calls for figures that are past their time. */
  readonly mayBeRenewed: boolean;
  /** What the operation would fail with before anything is sent. */
  readonly errors: readonly GraphQLError[];
  /** What the answer would warn of, as far as what is held tells. */
  readonly warnings: readonly Warning[];
  /** Why the pricing was ended before all was priced: the operation takes more than it may; null where it wasn't. */
  readonly refusal: Failure | null;
}

export interface PricedCall extends Call {
  /** Whether it is not sent, since what is held answers it. */
  readonly isHeld: boolean;
}

export interface PricingParts {
  readonly schema: GraphQLSchema;
  readonly dryRun: DryRun;
  readonly tenantCache: TenantCache;
  readonly freshness: Freshness;
  readonly now: () => number;
  readonly learned: Learned;
  readonly refusedNames: RefusedNames;
  readonly tickersLearned: TickersLearned;
  readonly codesPerCall: number;
  readonly overfetchRows: number;
  readonly holdMs: number;
  readonly effortFor: (caller: Caller) => Effort;
  readonly quota: (keyDigest: string) => Promise<QuotaRecord>;
}

/**
 * What a price goes by where nothing is known. `expected`: the service holds every figure, and lists and records of the
 * documented size. `least`: it holds nothing.
 */
export type Supposed = 'expected' | 'least';

/**
 * Prices operations by running them over a stand-in for the service, through the very resolvers, loaders and planner
 * that will run them for real: what it would ask for is what it costs.
 */
export type Pricing = (
  priced: PricedOperation,
  supposed: Supposed,
  /** Calls beyond which the operation is not priced to the end. */
  limit?: number,
) => Promise<Price>;

export function createPricing(parts: PricingParts): Pricing {
  const { freshness, now, learned } = parts;
  const isKnownEmpty = (code: string, key: string) =>
    learned.knowsSeries(code, key) && learned.seriesRows(code, key) === 0;
  /** A series whose length is known takes just the calls of its plan. */
  const isLengthKnown = ({ mode, countryCode, metricKey }: Demand) =>
    mode === 'series' && learned.totals === 'true' && learned.knowsSeries(countryCode, metricKey);
  return async (
    { document, operation, variables, caller, plan },
    supposed,
    limit = Number.POSITIVE_INFINITY,
  ) => {
    const isExpected = supposed === 'expected';
    // Of an object that is found by its identifier, the stand-in knows nothing.
    let isCertain = !selectsNodes(document);
    let mayBeRenewed = false;
    const assumptions: Assumptions = {
      hasFigure: (code, key) => isExpected && !isKnownEmpty(code, key),
      areFilled: isExpected,
      onAssumedList() {
        isCertain = false;
      },
    };
    const bill = openBill();
    const effort = parts.effortFor(caller);
    let tooExpensive: Failure | null = null;
    const calls: PricedCall[] = [];
    const heldDemands: Demand[] = [];
    const tenantCache = readOnlyCache(parts.tenantCache);
    const note = (call: Call) => calls.push({ ...call, isHeld: false });
    const noteHeld = (call: Call) => calls.push({ ...call, isHeld: true });
    const free = payerOf(bill);
    function reserve(route: string) {
      if (bill.calls >= limit * PRICED_BEYOND) throw refuse(bill.calls + 1, ' or more');
      return free.reserve(route);
    }
    function refuse(planned: number, orMore = ''): Failure {
      const message = `The operation plans ${planned} upstream calls${orMore}; this gateway allows ${limit} (MAX_UPSTREAM_CALLS).`;
      tooExpensive ??= new Failure('OPERATION_TOO_EXPENSIVE', message, { planned, limit });
      return tooExpensive;
    }
    const send = coalesced(authenticated(parts.dryRun.answering(note, assumptions), tenantCache));
    const outage = { failure: () => null };
    const ask = cached(send, { tenantCache, freshness, now, outage, onHeld: noteHeld });
    const sending: Sending = {
      caller,
      bill,
      payer: { reserve },
      signal: new AbortController().signal,
      waitDeadlineMs: 0,
    };
    const refusedNames = { of: parts.refusedNames.of, remember() {} };
    const figures = {
      ...parts,
      send,
      learned: frozen(learned, isExpected ? 'untold' : 'unknown'),
      refusedNames,
      keep() {},
    };
    const fetchData = createDataFetch(figures);
    const fetch: Fetch = async (demands, told, settle) => {
      if (!demands.every(isLengthKnown)) isCertain = false;
      const fewest = bill.calls + fewestCalls(demands, figures.learned);
      if (fewest > limit * PRICED_BEYOND) throw refuse(fewest, ' or more');
      await fetchData(demands, told, settle);
    };
    const batchGate = createBatchGate(parts.holdMs);
    const revalidation = createRevalidation({ ask, tenantCache, freshness, now, mayAsk: false });
    const source: CachedFiguresParts = {
      next: fetch,
      tenantCache,
      freshness,
      now,
      outage,
      prefetch: NO_PREFETCH,
      refusedNames,
      entries: createObservationEntries(tenantCache),
      revalidation: {
        ...revalidation,
        check(entries, ...others) {
          if (entries.length > 0) mayBeRenewed = true;
          return revalidation.check(entries, ...others);
        },
      },
      planning: figures,
      onHeld: (demand) => heldDemands.push(demand),
    };
    const loaders = createLoaders({
      ask,
      sending,
      figures: (told) => untilRefused(cachedFigures(source, told), () => tooExpensive ?? effort.refusal),
      batchGate,
      effort,
      tickersLearned: { ...parts.tickersLearned },
      listed: parts.learned.listed,
    });
    const warnings = createWarnings();
    const context: GraphContext = {
      caller,
      bill,
      loaders,
      batchGate,
      effort,
      warnings,
      quota: () => parts.quota(caller.keyDigest),
    };
    const errors = await runDry().catch((fault: unknown) => {
      if (fault !== effort.refusal) throw fault;
      return [];
    });
    async function runDry(): Promise<readonly GraphQLError[]> {
      if (plan !== null) {
        const run = {
          plan,
          context,
          variables,
          onPause: batchGate.closeDuring,
          onList: effort.list,
          isDry: true,
          job: caller,
        };
        return (await runPlan(run)).errors;
      }
      const result = await execute({
        schema: parts.schema,
        document,
        operationName: operation.name?.value,
        variableValues: variables,
        contextValue: { ...context, isByGraphqlJs: true },
      });
      return result.errors ?? [];
    }
    const asIfMissing = { ...figures, send: parts.dryRun.answering(noteHeld, assumptions) };
    const heldBill = openBill();
    const unbilled = { ...sending, bill: heldBill, payer: payerOf(heldBill) };
    // What is held is listed; where that decides nothing, it is left.
    if (limit === Number.POSITIVE_INFINITY)
      await createDataFetch(asIfMissing)(heldDemands, unbilled, () => {});
    const isTold = ({ code, route = LISTS_OF_NAMES[code] ?? '' }: Warning) =>
      bill.byRoute[route] === undefined;
    if (tooExpensive === null && effort.refusal === null && bill.calls > limit) refuse(bill.calls);
    return {
      bill,
      calls,
      isCertain,
      mayBeRenewed,
      errors: errors.filter((error) => !isOfRecord(error)),
      warnings: (warnings.told() ?? []).filter(isTold),
      refusal: tooExpensive ?? effort.refusal,
    };
  };
}

/** Whether something is wrong with a record: the stand-in's own say nothing of the service's. */
function isOfRecord(error: GraphQLError): boolean {
  const original = originalOf(error);
  return original instanceof Failure && original.code === 'UPSTREAM_INVALID_RESPONSE';
}

/** How far beyond the limit a price is still told exactly: then whoever asks knows how much less to ask for. */
const PRICED_BEYOND = 10;

/** Figures, none of which are looked for once it is known that the operation is refused. */
function untilRefused(figures: Figures, refusal: () => Failure | null): Figures {
  return {
    ...figures,
    async load(wants) {
      const known = refusal();
      if (known !== null) throw known;
      return figures.load(wants);
    },
  };
}

/** No plan for these figures takes fewer calls, as their rows alone show. */
function fewestCalls(demands: readonly Demand[], { maxRows, seriesRows }: Learned): number {
  let [latest, series] = [0, 0];
  for (const { mode, countryCode, metricKey } of demands) {
    if (mode === 'latest') latest += 1;
    else series += Math.min(maxRows, seriesRows(countryCode, metricKey));
  }
  // Latest figures may all stand in the series.
  return Math.ceil(Math.max(latest > 0 && series === 0 ? latest : 0, series) / maxRows);
}

function selectsNodes(document: DocumentNode): boolean {
  let isSelected = false;
  visit(document, {
    Field({ name }) {
      if (name.value === 'node' || name.value === 'nodes') isSelected = true;
    },
  });
  return isSelected;
}

/** The list that tells which names there are. */
const LISTS_OF_NAMES: Readonly<Partial<Record<WarningCode, string>>> = {
  UNKNOWN_COUNTRY: countries.route,
  UNKNOWN_INDICATOR: indicators.route,
};
