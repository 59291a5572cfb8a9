import type { Demand } from '../../observations/planner/demand.ts';
import { openBill } from '../../service/bill.ts';
import type { Call } from '../../service/call.ts';
import { observations } from '../../service/endpoints.ts';
import { type Payer, payerOf } from '../../service/payer.ts';
import { Failure } from '../../shared/errors.ts';
import type { createFewestCalls } from './fewest-calls.ts';

interface PricedCall extends Call {
  /** True if a cached value answers it. */
  readonly isCached: boolean;
}

interface Ceilings {
  readonly limit: number;
  /** True if only the price is asked for, which is shown beyond the limit too. */
  readonly isExplained: boolean;
  readonly isProven: boolean;
  readonly isCertain: boolean;
  /** Of figures that are not cached. */
  readonly fewest: ReturnType<typeof createFewestCalls>;
  /** Null if it is unknown. */
  readonly dearest: (route: string) => string | null;
}

/** A price is exact up to this multiple of the limit: callers see how much less to ask for. */
const PRICED_BEYOND = 10;

/** For a made-up key: what may run takes smaller plans. */
const MOST_PLANNED_UNPROVEN = 2_500;

export type Tally = ReturnType<typeof openTally>;

export function openTally(parts: Ceilings) {
  const { limit, isExplained, isProven, fewest, dearest } = parts;
  const bill = openBill();
  const free = payerOf(bill);
  const mostCalls = limit * PRICED_BEYOND;
  // Planning figures is expensive, counting calls for records isn't.
  const mostByFigures = isExplained && isProven ? mostCalls : limit;
  let refusal: Failure | null = null;

  const dataCalls = () => bill.byRoute[observations.route] ?? 0;

  /** As far as the operation has come. */
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

  /** Ends pricing once a refusal is certain. */
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
    /** Includes calls that cached values spare. */
    calls: [] as PricedCall[],
    cachedDemands: [] as Demand[],
    /** True if the operation takes exactly these calls, whatever the service answers. */
    isCertain: parts.isCertain,
    /** True if checking the sources may spare calls for expired figures. */
    mayBeRenewed: false,
    /** True if rows of an unknown list were filtered. */
    hasFiltered: false,
    /** True if figures may be asked for beside the list of their countries, perhaps for nothing. */
    mayGuess: false,
    /** Set if pricing was ended, or the operation takes more than it may. */
    get refusal() {
      return refusal;
    },
    /**
     * Before the figure is planned.
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
    /** Refuses an operation of too many calls. */
    close() {
      if (refusal === null && !isExplained && bill.calls > limit) refuse(bill.calls);
    },
  };
}
