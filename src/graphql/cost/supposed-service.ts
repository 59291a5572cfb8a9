import type { Tenant } from '../../keys/tenant.ts';
import { NO_TENANT_CACHE } from '../../keys/tenant-cache.ts';
import { type CachedNames, ROUTES } from '../../observations/loaders/cached-names.ts';
import { type Demand, pairKey } from '../../observations/planner/demand.ts';
import type { Dimension } from '../../observations/planner/learned.ts';
import { type Call, makeCall, type Send } from '../../service/call.ts';
import * as endpoints from '../../service/endpoints.ts';
import { yieldToEventLoop } from '../../shared/async/turns.ts';
import type { PricingParts, Supposition } from './pricing-parts.ts';
import type { Tally } from './tally.ts';

/** Characters. Longer targets name so many figures that making them up takes long. */
const LONG_TARGET = 500;

/** The indicator of figures below records, as long as the catalogue is unknown. */
const ASSUMED_METRIC = 'indicator_1';

const NO_RECORD = { detail: 'no record' };

export type SupposedService = ReturnType<typeof createSupposedService>;

/** Stands in for the service: has the lists that it has given the key, and what is supposed of all else. */
export function createSupposedService(
  { given, figures: { planning, cache } }: PricingParts,
  { supposed, share }: Supposition,
  tally: Tally,
) {
  const { learned } = planning;
  const isExpected = supposed === 'expected';
  /** By pair, a year of each demanded range: a figure of another year wouldn't settle the demand. */
  const yearsDemanded = new Map<string, number[]>();
  const [madeUpLists, loadedLists] = [new Set<string>(), new Set<string>()];

  /** Years in which the pair has figures, so that the fields below them are resolved as well; null for any. */
  function yearsOf(code: string, key: string): readonly number[] | null {
    return isExpected && learned.seriesRows(code, key) > 0
      ? (yearsDemanded.get(pairKey(code, key)) ?? null)
      : [];
  }

  function supposedBody({ route, target }: Call, tenant: Tenant): unknown {
    if (route === endpoints.observations.route)
      return endpoints.observations.assumed?.(target, ASSUMED_METRIC, yearsOf);
    const isList = given.routes.has(route);
    if (isList) {
      madeUpLists.add(route);
      tally.doubt();
    }
    if (!isExpected) return route.includes('{') ? NO_RECORD : isList ? [] : {};
    const endpoint = given.endpoints.find((one) => one.route === route);
    return endpoint?.assumed?.(target, metricOf(tenant), yearsOf) ?? {};
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

  const send: Send = async (call, { caller, payer }) => {
    payer.reserve(call.route).charge();
    if (call.target.length > LONG_TARGET) await yieldToEventLoop(caller);
    if (given.routes.has(call.route)) loadedLists.add(call.route);
    const body = given.of(caller.tenant, call) ?? supposedBody(call, caller.tenant);
    if (call.route === endpoints.observations.route) tally.figuresCame();
    // A 404, so that nothing is fetched below the record.
    return { status: body === NO_RECORD ? 404 : 200, headers: {}, body, receivedAt: cache.now() };
  };

  return {
    send,
    /** Has figures in the years of the demands. */
    expect(demands: readonly Demand[]): void {
      for (const { pairKey: pair, years } of demands) {
        const year = years && (years.to ?? years.from);
        const before = yearsDemanded.get(pair) ?? [];
        if (year !== null && !before.includes(year)) yearsDemanded.set(pair, [...before, year]);
      }
    },
    /**
     * The names in a list that the operation has loaded itself, if the fewest calls are counted: none, so that what is
     * asked for afterwards is known not to exist. Null if nothing is to be supposed.
     */
    names(dimension: Dimension): CachedNames | null {
      const route = ROUTES[dimension];
      if (isExpected || cache.tenantCache === NO_TENANT_CACHE || !loadedLists.has(route)) return null;
      return {
        route,
        names: [],
        has: () => false,
        freshUntilMs: Number.POSITIVE_INFINITY,
        atMs: cache.now(),
      };
    },
    /** The rows that a filter lets through; null if the list of the route is known, and the filter itself tells. */
    filtered<Row>(route: string, rows: readonly Row[]): readonly Row[] | null {
      if (!madeUpLists.has(route)) return null;
      tally.hasFiltered = true;
      return rows.slice(0, Math.ceil(rows.length * share));
    },
  };
}
