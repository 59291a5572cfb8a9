import type { Tenant } from '../../keys/tenant.ts';
import type { Learned } from '../../observations/planner/learned.ts';
import { type Call, type Endpoint, makeCall, type Send } from '../../service/call.ts';
import * as endpoints from '../../service/endpoints.ts';
import { yieldToEventLoop } from '../../shared/async/turns.ts';
import type { PricingParts, Supposed } from './pricing-parts.ts';
import type { Tally } from './tally.ts';
import type { YearsWanted } from './years-wanted.ts';

/** The assumptions on answers while they are not known. */
export function assumptionsOf(learned: Learned, supposed: Supposed, years: YearsWanted, tally: Tally) {
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

/** Characters of a data call's target that names many figures: to assume them takes long. */
const LONG_TARGET = 500;

/** The indicator that is asked for below records while the catalogue isn't known. */
const ASSUMED_METRIC = 'indicator_1';

const NO_RECORD = { detail: 'no record' };

/**
 * Makes a stand-in for the service that answers without being asked, with the lists that it has given the key before or
 * with assumptions, and notes the calls that it was asked.
 */
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
    // If there is no record, nothing below it is asked for.
    return { status: body === NO_RECORD ? 404 : 200, headers: {}, body, receivedAt: figures.cache.now() };
  };

  function assumed(call: Call, tenant: Tenant): unknown {
    const { yearsOf, areFilled } = assumptions;
    if (call.route === endpoints.observations.route)
      return endpoints.observations.assumed?.(call.target, ASSUMED_METRIC, yearsOf);
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
    const catalogue = given.of(tenant, makeCall(endpoints.indicators, {}));
    try {
      const records = catalogue === undefined ? [] : endpoints.indicators.decode(catalogue, {}, 0);
      return (records.find(({ sources }) => sources?.length) ?? records[0])?.key ?? ASSUMED_METRIC;
    } catch {
      return ASSUMED_METRIC;
    }
  }
}
