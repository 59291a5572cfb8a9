import {
  type DocumentNode,
  execute,
  type GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { readOnlyCache, type TenantCache } from '../cache/tenant-cache.ts';
import { Failure } from '../errors.ts';
import type { Plan } from '../execution/plan.ts';
import { runPlan } from '../execution/run.ts';
import { type GraphContext, openContext } from '../graph/context.ts';
import { originalOf } from '../graph/error-formatting.ts';
import { isOpenEnded } from '../graph/field-costs.ts';
import type { Effort } from '../loaders/effort.ts';
import type { TickersLearned } from '../loaders/ticker-lists.ts';
import { createBatchGate } from '../observations/batch-gate.ts';
import { createDataFetch, createLoneFigures } from '../observations/client.ts';
import { createObservationEntries } from '../observations/entries.ts';
import type { Fetch, Figures } from '../observations/fetch.ts';
import type { RefusedNames } from '../observations/refused-names.ts';
import { createRevalidation, type Revalidation } from '../observations/revalidation.ts';
import type { Demand } from '../planner/demand.ts';
import { frozen, type Learned } from '../planner/learned.ts';
import type { QuotaRecord } from '../quota/account.ts';
import { authenticated } from '../upstream/authenticated.ts';
import { cached, type Freshness } from '../upstream/cached.ts';
import { type Bill, type Call, type Caller, openBill, type Sending } from '../upstream/call.ts';
import { coalesced } from '../upstream/coalesced.ts';
import type { Assumptions, DryRun } from '../upstream/dry-run.ts';
import { countries, indicators } from '../upstream/endpoints.ts';
import { payerOf } from '../upstream/payer.ts';
import type { Warning, WarningCode } from '../warnings.ts';
import { openTally, type PricedCall, type Tally } from './tally.ts';

export type { PricedCall };

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
  return async (priced, supposed, limit = Number.POSITIVE_INFINITY) => {
    // Of an object that is found by its identifier, the stand-in knows nothing.
    const tally = openTally(!isOpenEnded(priced.document, parts.schema), limit);
    const { context, fetchHeld } = openDryRun(parts, priced.caller, supposed, tally);
    const { effort, warnings, bill } = context;
    const errors = await runDry(priced, context, parts.schema).catch((fault: unknown) => {
      if (fault !== effort.refusal) throw fault;
      return [];
    });
    // What is held is listed; where that decides nothing, it is left.
    if (limit === Number.POSITIVE_INFINITY) await fetchHeld(tally.heldDemands);
    const isTold = ({ code, route = LISTS_OF_NAMES[code] ?? '' }: Warning) =>
      bill.byRoute[route] === undefined;
    if (effort.refusal === null) tally.close();
    return {
      bill,
      calls: tally.calls,
      isCertain: tally.isCertain,
      mayBeRenewed: tally.mayBeRenewed,
      errors: errors.filter((error) => !isOfRecord(error)),
      warnings: (warnings.told() ?? []).filter(isTold),
      refusal: tally.refusal ?? effort.refusal,
    };
  };
}

/** What one operation is priced with: the context that it runs in, over a stand-in for the service. */
function openDryRun(parts: PricingParts, caller: Caller, supposed: Supposed, tally: Tally) {
  const { freshness, now } = parts;
  const { bill, payer } = tally;
  const tenantCache = readOnlyCache(parts.tenantCache);
  const assumptions = assumptionsOf(parts.learned, supposed, tally);
  const note = (call: Call) => tally.calls.push({ ...call, isHeld: false });
  const noteHeld = (call: Call) => tally.calls.push({ ...call, isHeld: true });
  const outage = { failure: () => null };
  const send = coalesced(authenticated(parts.dryRun.answering(note, assumptions), tenantCache));
  const ask = cached(send, { tenantCache, freshness, now, outage, onHeld: noteHeld });
  const observations = {
    ...parts,
    send,
    tenantCache,
    outage,
    learned: frozen(parts.learned, supposed === 'expected' ? 'untold' : 'unknown'),
    refusedNames: { of: parts.refusedNames.of, remember() {} },
    keep() {},
    entries: createObservationEntries(tenantCache),
    revalidation: notingRenewals(
      createRevalidation({ ask, tenantCache, freshness, now, mayAsk: false }),
      tally,
    ),
    onHeld: (demand: Demand) => tally.heldDemands.push(demand),
  };
  const figures = createLoneFigures(observations, (next) =>
    tallied(next, parts.learned, observations.learned, tally),
  );
  const signal = new AbortController().signal;
  const sending: Sending = { caller, bill, payer, signal, waitDeadlineMs: 0 };
  const effort = parts.effortFor(caller);
  const context = openContext({
    ask,
    sending,
    figures: untilRefused(figures, () => tally.refusal ?? effort.refusal),
    batchGate: createBatchGate(parts.holdMs),
    effort,
    tickersLearned: { ...parts.tickersLearned },
    listed: parts.learned.listed,
    quota: () => parts.quota(caller.keyDigest),
  });
  return {
    context,
    /** Lists the calls that would bring these demands, were they not held. */
    fetchHeld(demands: readonly Demand[]): Promise<void> {
      const fetch = createDataFetch({ ...observations, send: parts.dryRun.answering(noteHeld, assumptions) });
      const heldBill = openBill();
      return fetch(demands, { ...sending, bill: heldBill, payer: payerOf(heldBill) }, () => {});
    },
  };
}

function assumptionsOf(learned: Learned, supposed: Supposed, tally: Tally): Assumptions {
  const isExpected = supposed === 'expected';
  const isKnownEmpty = (code: string, key: string) =>
    learned.knowsSeries(code, key) && learned.seriesRows(code, key) === 0;
  return {
    hasFigure: (code, key) => isExpected && !isKnownEmpty(code, key),
    areFilled: isExpected,
    onAssumedList() {
      tally.isCertain = false;
    },
  };
}

/**
 * Looks at what is about to be planned: whether it takes just the calls of its plan, and whether those are too many.
 * @param planned what is planned by
 */
function tallied(next: Fetch, learned: Learned, planned: Learned, tally: Tally): Fetch {
  /** A series whose length is known takes just the calls of its plan. */
  const isLengthKnown = ({ mode, countryCode, metricKey }: Demand) =>
    mode === 'series' && learned.totals === 'true' && learned.knowsSeries(countryCode, metricKey);
  return async (demands, sending, settle) => {
    if (!demands.every(isLengthKnown)) tally.isCertain = false;
    tally.expect(fewestCalls(demands, planned));
    await next(demands, sending, settle);
  };
}

function notingRenewals(revalidation: Revalidation, tally: Tally): Revalidation {
  return {
    ...revalidation,
    check(entries, ...others) {
      if (entries.length > 0) tally.mayBeRenewed = true;
      return revalidation.check(entries, ...others);
    },
  };
}

/** @returns what the operation would fail with */
async function runDry(
  { document, operation, variables, caller, plan }: PricedOperation,
  context: GraphContext,
  schema: GraphQLSchema,
): Promise<readonly GraphQLError[]> {
  if (plan !== null) {
    const { batchGate, effort } = context;
    const onPause = batchGate.closeDuring;
    const run = { plan, context, variables, onPause, onList: effort.list, isDry: true, job: caller };
    return (await runPlan(run)).errors;
  }
  const result = await execute({
    schema,
    document,
    operationName: operation.name?.value,
    variableValues: variables,
    contextValue: { ...context, isByGraphqlJs: true },
  });
  return result.errors ?? [];
}

/** Whether something is wrong with a record: the stand-in's own say nothing of the service's. */
function isOfRecord(error: GraphQLError): boolean {
  const original = originalOf(error);
  return original instanceof Failure && original.code === 'UPSTREAM_INVALID_RESPONSE';
}

/** Figures, none of which are looked for once it is known that the operation is refused. */
function untilRefused(figures: Figures, refusal: () => Failure | null): Figures {
  return {
    ...figures,
    async fetch(demands, sending, settle) {
      const known = refusal();
      if (known !== null) throw known;
      return figures.fetch(demands, sending, settle);
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

/** The list that tells which names there are. */
const LISTS_OF_NAMES: Readonly<Partial<Record<WarningCode, string>>> = {
  UNKNOWN_COUNTRY: countries.route,
  UNKNOWN_INDICATOR: indicators.route,
};
