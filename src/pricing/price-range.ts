import { etlStatus, observations, tickers } from '../upstream/endpoints.ts';
import type { Price } from './price.ts';

/** Calls that an operation takes by itself, if nothing fails: the calls that it sends lie within. */
export interface PriceRange {
  readonly least: number;
  readonly most: number;
}

/**
 * @param limit calls that one operation may send: if the service's answers decide, there is no lower bound that always
 * holds
 */
export function priceRange(expected: Price, least: Price, limit: number): PriceRange {
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
  const leastCalls = inBoth - tickerPieces - (least.mayBeRenewed ? dataCalls - renewalCalls : 0);
  const isCertain =
    expected.isCertain && least.isCertain && !expected.mayBeRenewed && least.bill.calls === calls;
  return { least: Math.min(calls, leastCalls), most: isCertain ? calls : Math.max(calls, limit) };
}
