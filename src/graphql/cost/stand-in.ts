import type { Tenant } from '../../keys/tenant.ts';
import type { Learned } from '../../observations/planner/learned.ts';
import { type Call, type Endpoint, makeCall, type Send } from '../../service/call.ts';
import * as endpoints from '../../service/endpoints.ts';
import { yieldToEventLoop } from '../../shared/async/turns.ts';
import type { PricingParts, Supposed } from './pricing-parts.ts';
import type { Tally } from './tally.ts';
import type { YearsWanted } from './years-wanted.ts';

export function assumptionsOf(learned: Learned, supposed: Supposed, years: YearsWanted, tally: Tally) {
  const isExpected = supposed === 'expected';
  const routes = new Set<string>();
  const isCachedEmpty = (code: string, key: string) =>
    learned.hasSeriesRows(code, key) && learned.seriesRows(code, key) === 0;
  return {
    /** Years of the figures that exist, so that fields below are asked for too. */
    yearsOf: (code: string, key: string) =>
      isExpected && !isCachedEmpty(code, key) ? years.of(code, key) : [],
    /** True for documented sizes, false for empty. */
    areFilled: isExpected,
    /** Of assumed lists. */
    routes,
    onAssumedList(route: string) {
      routes.add(route);
      tally.isCertain = false;
    },
  };
}

/** Length of a target whose many figures take long to make up. */
const LONG_TARGET = 500;

/** Below records, while the catalogue is unknown. */
const ASSUMED_METRIC = 'indicator_1';

const NO_RECORD = { detail: 'no record' };

/** Answers in place of the service, by lists that it has given the key or by assumptions, and notes the calls. */
export function answeringBy(
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
    // Nothing is asked for below a missing record.
    return { status: body === NO_RECORD ? 404 : 200, headers: {}, body, receivedAt: figures.cache.now() };
  };

  function assumed(call: Call, tenant: Tenant): unknown {
    const { yearsOf, areFilled } = assumptions;
    if (call.route === endpoints.observations.route)
      return endpoints.observations.assumed?.(call.target, ASSUMED_METRIC, yearsOf);
    const isList = given.routes.has(call.route);
    if (isList) assumptions.onAssumedList(call.route);
    if (!areFilled) return call.route.includes('{') ? NO_RECORD : isList ? [] : {};
    const endpoint = all.find(({ route }) => route === call.route);
    return endpoint?.assumed?.(call.target, metricOf(tenant), yearsOf) ?? {};
  }

  /** Prefers an indicator with sources, so that fields below it are asked for too. */
  function metricOf(tenant: Tenant): string {
    const catalogue = given.of(tenant, makeCall(endpoints.indicators, {}));
    try {
      const records = catalogue === undefined ? [] : endpoints.indicators.decode(catalogue, {}, 0);
      return (records.find(({ sources }) => sources?.length) ?? records[0])?.key ?? ASSUMED_METRIC;
    } catch {
      return ASSUMED_METRIC;
    }
  }
}
