import type { Demand } from '../../observations/planner/demand.ts';
import { openBill } from '../../service/bill.ts';
import type { Call } from '../../service/call.ts';
import { observations } from '../../service/endpoints.ts';
import { type Payer, payerOf } from '../../service/payer.ts';
import { Failure } from '../../shared/errors.ts';
import type { createFewestCalls } from './fewest-calls.ts';

export interface PricedCall extends Call {
  /** True if a cached value answers it. */
  readonly isCached: boolean;
  /** True if figures that are only supposed have come before it, on which it may depend. */
  readonly isAfterFigures: boolean;
}

interface TallyParts {
  readonly limit: number;
  /** True if only the price is requested, which is computed beyond the limit as well. */
  readonly isExplained: boolean;
  /** True if the service has accepted the key lately. */
  readonly isProven: boolean;
  readonly isCertain: boolean;
  /** True if figures are derived, and so compared with others. */
  readonly isDeriving: boolean;
  /** Counts the figures that are not cached. */
  readonly fewest: ReturnType<typeof createFewestCalls>;
  /** The field that takes the most calls to a route; null if it is unknown. */
  readonly dearest: (route: string) => string | null;
}

/** Prices are exact up to this multiple of the limit, so that callers see by how much to reduce an operation. */
const PRICED_BEYOND = 10;

/** Figures planned for a key that may be made up. Whatever it may run needs smaller plans. */
const MOST_PLANNED_UNPROVEN = 2_500;

export type Tally = ReturnType<typeof openTally>;

export function openTally(parts: TallyParts) {
  const { limit, isExplained, isProven, isDeriving, fewest, dearest } = parts;
  const bill = openBill();
  const unlimited = payerOf(bill);
  const maxPricedCalls = limit * PRICED_BEYOND;
  // Planning figures takes long, unlike counting calls for records.
  const maxFigureCalls = isExplained && isProven ? maxPricedCalls : limit;
  let refusal: Failure | null = null;

  const dataCalls = () => bill.byRoute[observations.route] ?? 0;

  /** The route of most calls so far. */
  function dearestRoute(): string {
    const counts = { ...bill.byRoute, [observations.route]: Math.max(dataCalls(), fewest.calls()) };
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
      if (bill.calls >= maxPricedCalls) throw refuse(bill.calls + 1, 'at least ');
      return unlimited.reserve(route);
    },
  };

  const noted: PricedCall[] = [];
  let { isCertain } = parts;
  let isAfterFigures = false;
  return {
    bill,
    payer,
    isDeriving,
    /** Includes calls that cached values spare. */
    noted,
    note(call: Call, isCached: boolean) {
      noted.push({ ...call, isCached, isAfterFigures });
    },
    figuresCame() {
      isAfterFigures = true;
    },
    /** Demands that cached figures answer. */
    cachedDemands: [] as Demand[],
    /** True if the operation takes exactly these calls, whatever the service answers. */
    isCertain: () => isCertain,
    doubt() {
      isCertain = false;
    },
    /** True if a check of the sources may spare calls for expired figures. */
    mayBeRenewed: false,
    /** True if rows of an unknown list were filtered. */
    hasFiltered: false,
    /** True if figures may be fetched alongside the list of their countries, perhaps in vain. */
    mayGoAhead: false,
    /** Set once the operation is known to take more than it may, which ends pricing. */
    refusal: () => refusal,
    /**
     * Counts a figure that has to be fetched, before it is planned.
     * @throws Failure OPERATION_TOO_EXPENSIVE if no plan could fetch the figures within the limit
     */
    want(demand: Demand) {
      if (refusal !== null) throw refusal;
      fewest.add(demand);
      if (fewest.calls() > maxFigureCalls) {
        const otherCalls = bill.calls - dataCalls();
        throw refuse(otherCalls + Math.max(dataCalls(), fewest.calls()), 'at least ');
      }
      if (!isProven && fewest.figures() > MOST_PLANNED_UNPROVEN) throw refuseUnproven(fewest.figures());
    },
    /** Refuses the operation if it has taken too many calls. */
    close() {
      if (refusal === null && !isExplained && bill.calls > limit) refuse(bill.calls);
    },
  };
}
