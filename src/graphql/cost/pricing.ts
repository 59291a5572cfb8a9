import type { GraphQLError, GraphQLFormattedError } from 'graphql';
import { countries, etlStatus, indicators, observations, tickers } from '../../service/endpoints.ts';
import { Failure } from '../../shared/errors.ts';
import type { Warning, Warnings } from '../../shared/warnings.ts';
import { formatError, originalOf } from '../schema/errors.ts';
import { type DryRun, runDry } from './dry-run.ts';
import type { PricedOperation, PricingParts } from './pricing-parts.ts';

type Explanation = {
  readonly errors: readonly GraphQLFormattedError[];
  readonly extensions: Record<string, unknown>;
};

/** Prices operations by running them without sending anything (`runDry`). */
export function createPricing(parts: PricingParts) {
  const limit = parts.maxUpstreamCalls;
  return {
    /**
     * Null if the operation may run. Filters are assumed to let nothing through of an unknown list: an operation isn't
     * refused for what may come, since the run itself is bounded.
     */
    refusalOf: async (priced: PricedOperation) =>
      (await runDry(parts, priced, { supposed: 'expected', share: 0 }, false)).refusal,
    /**
     * Explains the calls, and adds the warnings that the response would have.
     * @returns the failure if the operation is too expensive to be priced
     */
    async explain(priced: PricedOperation, warnings: Warnings): Promise<Explanation | Failure> {
      const expected = await expectedRun(parts, priced);
      if (expected.refusal !== null) return expected.refusal;
      const least = await runDry(parts, priced, { supposed: 'least', share: 0 }, true);
      const { bill, noted, mayGoAhead } = expected.tally;
      const { calls, byRoute, cached } = bill;
      // Of what is only supposed, there is nothing to warn of, nor an error to tell.
      const isCertain = ({ code, route = ROUTE_OF_WARNING[code] ?? '' }: Warning) =>
        byRoute[route] === undefined;
      for (const warning of expected.warnings) if (isCertain(warning)) warnings.add(warning);
      const errors = expected.errors.filter((error) => !isOfRecord(error));
      return {
        errors: errors.map((error) => formatError(error.toJSON(), error, () => {})),
        extensions: {
          explain: {
            calls,
            least: leastCalls(expected, least),
            most: areCertain(expected, least) ? calls : Math.max(calls, limit),
            byRoute,
            cached,
            naive: Math.max(bill.naive, calls),
            limit,
            plan: noted.map(({ route, target, isCached }) => ({ route, target, cached: isCached })),
            ...(mayGoAhead && { ahead: true }),
          },
        },
      };
    },
  };
}

/** Maximum runs until one is within the limit. */
const MOST_TRIES = 6;

/** Assumes that filters let through all rows of an unknown list, or if that is too much, as many as the limit allows. */
async function expectedRun(parts: PricingParts, priced: PricedOperation): Promise<DryRun> {
  let share = 1;
  for (let tries = 1; ; tries += 1) {
    const run = await runDry(parts, priced, { supposed: 'expected', share }, true);
    const { bill, hasFiltered } = run.tally;
    const isTooMuch = run.refusal !== null || bill.calls > parts.maxUpstreamCalls;
    if (!isTooMuch || !hasFiltered || share === 0) return run;
    share = tries < MOST_TRIES ? share * Math.min(0.9, parts.maxUpstreamCalls / bill.calls) : 0;
  }
}

/** True for errors in the records that are made up, which say nothing about the service's. */
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
 * The fewest calls of the operation if nothing fails: those to each route that it makes both if everything exists and if
 * nothing does. A list that is read after figures, for what they name or for why there are none, counts for nothing: if
 * only some exist, it may be read for neither.
 */
function leastCalls({ tally: expected }: DryRun, { tally: least }: DryRun): number {
  const [byRoute, leastBy] = [expected.bill.byRoute, least.bill.byRoute];
  const beforeFigures = (route: string) =>
    least.noted.filter((call) => call.route === route && !call.isCached && !call.isAfterFigures).length;
  const leastTo = (route: string): number => {
    const inBoth = Math.min(leastBy[route] ?? 0, byRoute[route] ?? 0);
    // How many calls complete the list depends on its rows.
    if (route === tickers.route) return Math.min(1, inBoth);
    if (route !== observations.route)
      return route.includes('{') ? inBoth : Math.min(inBoth, beforeFigures(route));
    // One check of the sources may take the place of all data calls, and may be among the calls already.
    if (least.mayBeRenewed) return leastBy[etlStatus.route] === undefined ? Math.min(1, inBoth) : 0;
    // Figures that are fetched ahead of their countries may share a call with others, and so may operands of more figures.
    const alone = expected.mayGoAhead ? 0 : least.isDeriving ? beforeFigures(route) : inBoth;
    return Math.min(alone + 1, inBoth);
  };
  return Object.keys(byRoute).reduce((sum, route) => sum + leastTo(route), 0);
}

/** True if the calls depend on nothing that the service answers. */
function areCertain({ tally: expected }: DryRun, { tally: least }: DryRun): boolean {
  if (!expected.isCertain() || !least.isCertain() || expected.mayBeRenewed) return false;
  return least.bill.calls === expected.bill.calls;
}
