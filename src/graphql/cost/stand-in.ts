import type { Tenant } from '../../keys/tenant.ts';
import type { Learned } from '../../observations/planner/learned.ts';
import { type Call, makeCall, type Send } from '../../service/call.ts';
import * as endpoints from '../../service/endpoints.ts';
import { yieldToEventLoop } from '../../shared/async/turns.ts';
import type { PricingParts, Supposed } from './pricing-parts.ts';
import type { Tally } from './tally.ts';
import type { YearsWanted } from './years-wanted.ts';

/** What the stand-in takes for granted about figures and lists that are unknown. */
export function assumptionsOf(learned: Learned, supposed: Supposed, years: YearsWanted, tally: Tally) {
  const isExpected = supposed === 'expected';
  const routes = new Set<string>();
  const isCachedEmpty = (code: string, key: string) =>
    learned.hasSeriesRows(code, key) && learned.seriesRows(code, key) === 0;
  return {
    /** Years in which the pair is assumed to have figures, so that the fields below them are resolved as well. */
    yearsOf: (code: string, key: string) =>
      isExpected && !isCachedEmpty(code, key) ? years.of(code, key) : [],
    /** True if lists and records have their documented sizes, false if they are empty. */
    areFilled: isExpected,
    /** Routes of lists that were made up. */
    routes,
    onAssumedList(route: string) {
      routes.add(route);
      tally.isCertain = false;
    },
  };
}

/** Characters. Longer targets name so many figures that making them up takes long. */
const LONG_TARGET = 500;

/** The indicator of figures below records, as long as the catalogue is unknown. */
const ASSUMED_METRIC = 'indicator_1';

const NO_RECORD = { detail: 'no record' };

/** Answers calls in place of the service, with lists that it has given the key or by assumptions, and notes them. */
export function createStandIn(
  { given, figures }: PricingParts,
  note: (call: Call) => void,
  assumptions: ReturnType<typeof assumptionsOf>,
): Send {
  return async (call, { caller, payer }) => {
    note(call);
    payer.reserve(call.route).charge();
    if (call.target.length > LONG_TARGET) await yieldToEventLoop(caller);
    const body = given.of(caller.tenant, call) ?? assumed(call, caller.tenant);
    // A 404, so that nothing is fetched below the record.
    return { status: body === NO_RECORD ? 404 : 200, headers: {}, body, receivedAt: figures.cache.now() };
  };

  function assumed(call: Call, tenant: Tenant): unknown {
    const { yearsOf, areFilled } = assumptions;
    if (call.route === endpoints.observations.route)
      return endpoints.observations.assumed?.(call.target, ASSUMED_METRIC, yearsOf);
    const isList = given.routes.has(call.route);
    if (isList) assumptions.onAssumedList(call.route);
    if (!areFilled) return call.route.includes('{') ? NO_RECORD : isList ? [] : {};
    const endpoint = given.endpoints.find(({ route }) => route === call.route);
    return endpoint?.assumed?.(call.target, metricOf(tenant), yearsOf) ?? {};
  }

  /** An indicator of the catalogue: one with sources, if there is any, so that the fields below them are resolved too. */
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
