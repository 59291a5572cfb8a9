import type { Demand } from '../../observations/planner/demand.ts';
import { openBill } from '../../service/bill.ts';
import type { Call } from '../../service/call.ts';
import { observations } from '../../service/endpoints.ts';
import { type Payer, payerOf } from '../../service/payer.ts';
import { Failure } from '../../shared/errors.ts';
import type { createFewestCalls } from './fewest-calls.ts';

interface PricedCall extends Call {
  /** True if it is not sent, since a cached value answers it. */
  readonly isCached: boolean;
}

interface Ceilings {
  readonly limit: number;
  /** True if only the price is asked for: then it is shown beyond the limit, too. */
  readonly isExplained: boolean;
  /** True if the service has accepted the key lately. */
  readonly isProven: boolean;
  readonly isCertain: boolean;
  /** Counts the fewest calls for the figures that are not cached. */
  readonly fewest: ReturnType<typeof createFewestCalls>;
  /** Names the field that takes the most calls to a route; null if none can be told. */
  readonly dearest: (route: string) => string | null;
}

/** Times the limit up to which a price is still exact: then the caller knows how much less to ask for. */
const PRICED_BEYOND = 10;

/** Figures that are planned for a made-up key: an operation that may run takes a plan of fewer, or none. */
const MOST_PLANNED_UNPROVEN = 2_500;

export type Tally = ReturnType<typeof openTally>;

/** Opens the state of pricing one operation, while it goes on. */
export function openTally(parts: Ceilings) {
  const { limit, isExplained, isProven, fewest, dearest } = parts;
  const bill = openBill();
  const free = payerOf(bill);
  const mostCalls = limit * PRICED_BEYOND;
  // A plan of figures is dear, a count of calls for single records is not.
  const mostByFigures = isExplained && isProven ? mostCalls : limit;
  let refusal: Failure | null = null;

  const dataCalls = () => bill.byRoute[observations.route] ?? 0;

  /** Returns the route that the operation takes the most calls to, as far as it has come. */
  function dearestRoute(): string {
    const counts = { ...bill.byRoute, [observations.route]: Math.max(dataCalls(), fewest.calls) };
    return Object.entries(counts).reduce((most, one) => (one[1] > most[1] ? one : most))[0];
  }

  function refuse(planned: number, orMore = ''): Failure {
    if (refusal !== null) return refusal;
    const route = dearestRoute();
    const field = dearest(route) ?? undefined;
    const where = `most of them to ${route}${field === undefined ? '' : ` for ${field}`}`;
    const message = `The operation plans ${orMore}${planned} upstream calls, ${where}; this gateway allows ${limit} (MAX_UPSTREAM_CALLS).`;
    refusal = new Failure('OPERATION_TOO_EXPENSIVE', message, { planned, limit, route, field });
    return refusal;
  }

  function refuseUnproven(figures: number): Failure {
    const field = dearest(observations.route) ?? undefined;
    const message = `The operation takes a plan of more figures than the ${MOST_PLANNED_UNPROVEN} that this gateway plans under a key that the service has not accepted lately. Ask for something small first, so that the key is known.`;
    const fields = { planned: figures, limit: MOST_PLANNED_UNPROVEN, route: observations.route, field };
    refusal ??= new Failure('OPERATION_TOO_EXPENSIVE', message, fields);
    return refusal;
  }

  /** Ends the pricing if the operation is certain to be refused. */
  const payer: Payer = {
    reserve(route) {
      if (refusal !== null) throw refusal;
      if (bill.calls >= mostCalls) throw refuse(bill.calls + 1, 'at least ');
      return free.reserve(route);
    },
  };

  return {
    bill,
    payer,
    /** Calls that it takes, and calls that are spared since cached values answer them. */
    calls: [] as PricedCall[],
    /** Demands that were met by cached figures. */
    cachedDemands: [] as Demand[],
    /** True if the operation takes just these calls, for any answers of the service. */
    isCertain: parts.isCertain,
    /** True if a look at the sources may spare the operation the calls for figures that are past their time. */
    mayBeRenewed: false,
    /** True if figures leave beside the list that tells of which countries they are: then their call may be for nothing. */
    mayGuess: false,
    /** The failure for which the operation is not priced to the end, or takes more than it may; null if neither is so. */
    get refusal() {
      return refusal;
    },
    /**
     * Counts a figure that is not cached, before it is planned.
     * @throws Failure OPERATION_TOO_EXPENSIVE if no plan can do any more
     */
    want(demand: Demand) {
      if (refusal !== null) throw refusal;
      fewest.add(demand);
      if (fewest.calls > mostByFigures) {
        const otherCalls = bill.calls - dataCalls();
        throw refuse(otherCalls + Math.max(dataCalls(), fewest.calls), 'at least ');
      }
      if (!isProven && fewest.figures > MOST_PLANNED_UNPROVEN) throw refuseUnproven(fewest.figures);
    },
    /** Refuses the operation if it has come to more calls than it may take. */
    close() {
      if (refusal === null && !isExplained && bill.calls > limit) refuse(bill.calls);
    },
  };
}
