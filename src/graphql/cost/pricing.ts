import type { GraphQLError, GraphQLFormattedError } from 'graphql';
import type { Learned } from '../../observations/planner/learned.ts';
import { limitsOf } from '../../observations/planner/modes.ts';
import { countries, etlStatus, indicators, observations, tickers } from '../../service/endpoints.ts';
import { Failure } from '../../shared/errors.ts';
import type { Warning, Warnings } from '../../shared/warnings.ts';
import { runPlan } from '../execution/run.ts';
import type { GraphContext } from '../schema/context.ts';
import { formatError, originalOf } from '../schema/errors.ts';
import { runHooks } from '../schema/run-hooks.ts';
import { certaintyOf } from './certainty.ts';
import { dearestField } from './dearest-field.ts';
import { frozen, openDryRun } from './dry-run.ts';
import { createFewestCalls } from './fewest-calls.ts';
import type { PricedOperation, PricingParts, Supposition } from './pricing-parts.ts';
import { openTally, type Tally } from './tally.ts';

type Explanation = {
  readonly errors: readonly GraphQLFormattedError[];
  readonly extensions: Record<string, unknown>;
};

/**
 * Prices operations by running them over a stand-in for the service, with the very resolvers, loaders and planner of
 * real runs.
 */
export function createPricing(parts: PricingParts) {
  return {
    /**
     * Null if the operation may run. Filters are assumed to let nothing through of an unknown list: an operation isn't
     * refused for what may come, since the run itself is bounded.
     */
    refusalOf: async (priced: PricedOperation) =>
      (await priceOf(parts, priced, { supposed: 'expected', share: 0 }, false)).refusal,
    /**
     * Explains the calls, and adds the warnings that the response would have.
     * @returns the failure if the operation is too expensive to be priced
     */
    async explain(priced: PricedOperation, warnings: Warnings): Promise<Explanation | Failure> {
      const limit = parts.maxUpstreamCalls;
      const expected = await expectedPrice(parts, priced);
      if (expected.refusal !== null) return expected.refusal;
      const least = await priceOf(parts, priced, { supposed: 'least', share: 0 }, true);
      const range = priceRange(expected, least, limit);
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
            ...(expected.mayGoAhead && { ahead: true }),
          },
        },
      };
    },
  };
}

/** Maximum prices computed until one is within the limit. */
const MOST_TRIES = 6;

/** Assumes that filters let through all rows of an unknown list, or if that is too much, as many as the limit allows. */
async function expectedPrice(parts: PricingParts, priced: PricedOperation): Promise<Price> {
  let share = 1;
  for (let tries = 1; ; tries += 1) {
    const price = await priceOf(parts, priced, { supposed: 'expected', share }, true);
    const { calls } = price.bill;
    const isTooMuch = price.refusal !== null || calls > parts.maxUpstreamCalls;
    if (!isTooMuch || !price.hasFiltered || share === 0) return price;
    share = tries < MOST_TRIES ? share * Math.min(0.9, parts.maxUpstreamCalls / calls) : 0;
  }
}

async function priceOf(
  parts: PricingParts,
  priced: PricedOperation,
  supposition: Supposition,
  isExplained: boolean,
) {
  const { supposed } = supposition;
  const learned = frozen(parts.figures.planning.learned, supposed === 'expected' ? 'untold' : 'unknown');
  const tally = tallyFor(priced, learned, isExplained, parts);
  const { context, fetchCached } = openDryRun(parts, priced, supposition, learned, tally);
  const { effort, warnings, bill } = context;
  const errors = await runDry(priced, context).catch((error: unknown) => {
    if (error !== effort.refusal) throw error;
    return [];
  });
  if (isExplained && effort.refusal === null) await fetchCached(tally.cachedDemands);
  const isListed = ({ code, route = ROUTE_OF_WARNING[code] ?? '' }: Warning) =>
    bill.byRoute[route] === undefined;
  if (effort.refusal === null) tally.close();
  return {
    bill,
    calls: tally.calls,
    isCertain: tally.isCertain,
    mayBeRenewed: tally.mayBeRenewed,
    mayGoAhead: tally.mayGoAhead,
    hasFiltered: tally.hasFiltered,
    /** Those of the operation itself, which occur before anything is sent. */
    errors: errors.filter((error) => !isOfRecord(error)),
    /** As far as cached values show. */
    warnings: (warnings.listed() ?? []).filter(isListed),
    /** The failure that ended pricing early; null if none did. */
    refusal: effort.refusal,
  };
}

type Price = Awaited<ReturnType<typeof priceOf>>;

function tallyFor(
  { plan, variables, caller }: PricedOperation,
  learned: Learned,
  isExplained: boolean,
  parts: PricingParts,
): Tally {
  const { figures, maxUpstreamCalls: limit } = parts;
  const { isOpenEnded, asksBelowRecords } = certaintyOf(plan, variables);
  return openTally({
    limit,
    isExplained,
    isProven: caller.tenant.isProven,
    // The stand-in doesn't know the objects of identifiers, nor which figures are below a record.
    isCertain: !isOpenEnded && !asksBelowRecords,
    fewest: createFewestCalls(
      limitsOf({ ...figures.planning, learned }),
      learned.seriesRows,
      learned.rowsWithin,
    ),
    dearest: (route) => dearestField(plan, variables, route),
  });
}

async function runDry(
  { variables, plan }: PricedOperation,
  context: GraphContext,
): Promise<readonly GraphQLError[]> {
  const { errors } = await runPlan({ plan, context, variables, ...runHooks(context), isDry: true });
  return errors;
}

/** True for errors in the records that the stand-in makes up, which say nothing about the service's. */
function isOfRecord(error: GraphQLError): boolean {
  const original = originalOf(error);
  return original instanceof Failure && original.code === 'UPSTREAM_INVALID_RESPONSE';
}

/** The route that a warning depends on. */
const ROUTE_OF_WARNING: Readonly<Partial<Record<Warning['code'], string>>> = {
  UNKNOWN_COUNTRY: countries.route,
  UNKNOWN_INDICATOR: indicators.route,
  NOT_COMPARABLE: observations.route,
  UNREADABLE_PERIOD: observations.route,
  SEVERAL_FIGURES: observations.route,
  REVISED_SINCE: observations.route,
};

/**
 * Bounds the calls of the operation if nothing fails.
 * @param least the price if nothing exists. It includes lists that are loaded to find out why, and that `expected` lacks
 * @param limit calls that one operation may make; the upper bound if the service's answers decide
 */
function priceRange(expected: Price, least: Price, limit: number) {
  const { calls, byRoute } = expected.bill;
  const leastBy = least.bill.byRoute;
  const leastTo = (route: string): number => {
    const inBoth = Math.min(leastBy[route] ?? 0, byRoute[route] ?? 0);
    // How many calls complete the list depends on its rows.
    if (route === tickers.route) return Math.min(1, inBoth);
    if (route !== observations.route) return inBoth;
    // One check of the sources may take the place of all data calls, and may be among the calls already.
    if (least.mayBeRenewed) return leastBy[etlStatus.route] === undefined ? Math.min(1, inBoth) : 0;
    // Figures that are fetched ahead of their countries may share a call with others.
    return expected.mayGoAhead ? Math.min(1, inBoth) : inBoth;
  };
  const isCertain =
    expected.isCertain && least.isCertain && !expected.mayBeRenewed && least.bill.calls === calls;
  return {
    least: Object.keys(byRoute).reduce((sum, route) => sum + leastTo(route), 0),
    most: isCertain ? calls : Math.max(calls, limit),
  };
}
