import type { GraphQLError } from 'graphql';
import { NO_TENANT_CACHE } from '../../keys/tenant-cache.ts';
import type { CallParts } from '../../observations/called.ts';
import { createDataFetch } from '../../observations/client.ts';
import { createObservationEntries } from '../../observations/entries.ts';
import type { Figures } from '../../observations/fetch.ts';
import { createBatchGate } from '../../observations/loaders/batch-gate.ts';
import { createCachedNames } from '../../observations/loaders/cached-names.ts';
import { Effort } from '../../observations/loaders/effort.ts';
import { createLoaders } from '../../observations/loaders/loaders.ts';
import { limitsOf, type Planning } from '../../observations/planner/modes.ts';
import { openBill } from '../../service/bill.ts';
import { cachedStage } from '../../service/cached-lists.ts';
import type { Caller } from '../../service/caller.ts';
import { coalescedStage } from '../../service/coalescing.ts';
import { payerOf } from '../../service/payer.ts';
import type { Sending } from '../../service/sending.ts';
import { mapValue } from '../../shared/async/promises.ts';
import { createWarnings } from '../../shared/warnings.ts';
import { runPlan } from '../execution/run.ts';
import type { GraphContext } from '../schema/context.ts';
import { runHooks } from '../schema/run-hooks.ts';
import { certaintyOf } from './certainty.ts';
import { dearestField } from './dearest-field.ts';
import { createDryFigures } from './dry-figures.ts';
import { createFewestCalls } from './fewest-calls.ts';
import type { PricedOperation, PricingParts, Supposition } from './pricing-parts.ts';
import { frozen, readOnlyCache } from './read-only.ts';
import { createSupposedService, type SupposedService } from './supposed-service.ts';
import { openTally, type Tally } from './tally.ts';

export type DryRun = Awaited<ReturnType<typeof runDry>>;

/**
 * Runs an operation with the stages of real runs, up to the gate: behind it, the service is only supposed. So nothing is
 * sent or saved, and the calls on the tally are the price.
 * @param isExplained true to go on beyond the limit, and to note the calls that cached figures spare
 */
export async function runDry(
  parts: PricingParts,
  { caller, plan, variables }: PricedOperation,
  supposition: Supposition,
  isExplained: boolean,
) {
  const { planning, cache } = parts.figures;
  const isExpected = supposition.supposed === 'expected';
  const learned = frozen(planning.learned, isExpected ? 'untold' : 'unknown');
  const countFewest = () => createFewestCalls(limitsOf({ ...planning, learned }), learned.rowsWithin);
  const { isOpenEnded, isDeriving, asksBelowRecords } = certaintyOf(plan, variables);
  const tally = openTally({
    limit: parts.maxUpstreamCalls,
    isExplained,
    isProven: caller.tenant.isProven,
    // It isn't known what the identifiers name, nor which figures are below a record.
    isCertain: !isOpenEnded && !asksBelowRecords,
    isDeriving,
    fewest: countFewest(),
    dearest: (route) => dearestField(plan, variables, route),
  });
  const service = createSupposedService(parts, supposition, tally);
  const stages = dryStages(parts, caller, { ...planning, learned }, service, tally);
  const mayComeAlong = !isExpected && cache.tenantCache !== NO_TENANT_CACHE;
  const figures = createDryFigures(stages, { tally, service, learned: planning.learned, mayComeAlong });
  const signal = new AbortController().signal;
  const sending: Sending = { caller, bill: tally.bill, payer: tally.payer, signal, waitDeadlineMs: 0 };
  const context = dryContext(parts, sending, stages, figures, service, tally);
  // The effort's refusal is the tally's, if that has one: `close` may still set it.
  const { effort, warnings } = context;

  let errors: readonly GraphQLError[] = [];
  try {
    ({ errors } = await runPlan({ plan, context, variables, ...runHooks(context), isDry: true }));
  } catch (error) {
    if (error !== effort.refusal) throw error;
  }
  if (isExplained && effort.refusal === null) {
    const fewest = countFewest();
    for (const demand of tally.cachedDemands) fewest.add(demand);
    // More than an operation may make aren't told one by one.
    if (fewest.calls() <= parts.maxUpstreamCalls) await noteSpared(stages, service, sending, tally);
  }
  if (effort.refusal === null) tally.close();
  return {
    tally,
    errors,
    warnings: warnings.listed() ?? [],
    /** The failure that ended it early; null if none did. */
    refusal: effort.refusal,
  };
}

/** What the stages of figures and lists work with: nothing is saved, and calls end at the supposed service. */
function dryStages(
  { figures: { cache } }: PricingParts,
  { tenant }: Caller,
  planning: Planning,
  service: SupposedService,
  tally: Tally,
): CallParts {
  const tenantCache = readOnlyCache(cache.tenantCache);
  const send = coalescedStage(async (call, sending) => {
    tally.note(call, false);
    const answer = await service.send(call, sending);
    if (!call.isPublic) tenantCache.accept(tenant);
    return answer;
  });
  const outage = { failure: () => null };
  const dryCache = {
    ...cache,
    tenantCache,
    entries: createObservationEntries(tenantCache),
    refusedNames: { ...cache.refusedNames, add() {} },
    save() {},
  };
  const ask = cachedStage(send, dryCache, outage, (call) => tally.note(call, true));
  return {
    planning,
    service: { send, ask, outage },
    cache: dryCache,
    events: {
      onCached: (demand) => tally.cachedDemands.push(demand),
      onExpired() {
        tally.mayBeRenewed = true;
      },
    },
  };
}

function dryContext(
  { figures: { planning, pooling }, tickersLearned, maxListItems, quota }: PricingParts,
  sending: Sending,
  { service: { ask }, cache }: CallParts,
  figures: Figures,
  service: SupposedService,
  tally: Tally,
): GraphContext {
  const { caller, bill } = sending;
  const { learned } = planning;
  const effort = new Effort(caller.tenant, tally.refusal);
  const batchGate = createBatchGate(pooling.holdMs, pooling.clock.after);
  const cachedNames = createCachedNames(cache, learned);
  return {
    caller,
    bill,
    loaders: createLoaders({
      ask,
      sending,
      figures,
      batchGate,
      effort,
      tickersLearned: { ...tickersLearned },
      learned,
      mayGoAhead(tenant) {
        if (!pooling.ledger.mayGoAhead(tenant)) return false;
        tally.mayGoAhead = true;
        // Until a first list has been seen, the guess may be wrong.
        if (learned.countryCodes.size === 0) tally.doubt();
        return false;
      },
      cachedNames: (dimension, tenant) =>
        mapValue(cachedNames(dimension, tenant), (names) => names ?? service.names(dimension)),
    }),
    batchGate,
    effort,
    warnings: createWarnings(),
    maxListItems,
    quota: () => quota(caller.tenant),
    supposedRows: service.filtered,
  };
}

/** Notes the calls that would fetch what is cached, beside the bill. */
function noteSpared(stages: CallParts, { send }: SupposedService, sending: Sending, tally: Tally) {
  const fetch = createDataFetch({
    ...stages,
    service: {
      ...stages.service,
      send(call, paid) {
        tally.note(call, true);
        return send(call, paid);
      },
    },
  });
  const bill = openBill();
  return fetch(tally.cachedDemands, { ...sending, bill, payer: payerOf(bill) }, { onOutcomes() {} });
}
