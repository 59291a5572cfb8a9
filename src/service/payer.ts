import { Failure } from '../shared/errors.ts';
import type { Bill } from './bill.ts';
import { type CallBudget, Unfunded } from './call-budget.ts';

/** Room for one request: either charged or released, once. */
export interface Reservation {
  /** Bills the request, which leaves now; throws if it must not after all, since nobody waits any more. */
  readonly charge: () => void;
  /** Gives the room back, since the request has not left. */
  readonly release: () => void;
}

/**
 * Pays for requests that are about to leave. A request is reserved while it waits for its turn, and charged at the
 * instant it leaves, so that the bills of all operations add up to the requests that the service receives.
 */
export interface Payer {
  /**
   * @throws Failure OPERATION_TOO_EXPENSIVE if one more request would be beyond the operation's limit, Unfunded or
   * another Failure if its budget has no room, DOMException AbortError if nobody waits any more
   */
  reserve(route: string): Reservation;
  /** Called once a call to the route is about to leave that the operation waits for, whoever pays for it. */
  onLeave?(route: string): void;
}

/**
 * Bills one operation, up to a limit of requests, retries included.
 * @param budget pays besides, if the operation has a budget
 */
export function payerOf(bill: Bill, limit = Number.POSITIVE_INFINITY, budget?: CallBudget) {
  let reserved = 0;
  let isClosed = false;
  return {
    /** Closes the bill, since the operation is over and has shown it: from now on nothing is sent at its cost. */
    close(): void {
      isClosed = true;
    },
    reserve(route: string): Reservation {
      if (isClosed) throw nobodyWaits();
      if (bill.calls + reserved >= limit) throw tooExpensive(route, limit);
      const putBack = budget?.take();
      reserved += 1;
      return {
        charge() {
          if (isClosed) throw nobodyWaits();
          reserved -= 1;
          bill.calls += 1;
          bill.byRoute[route] = (bill.byRoute[route] ?? 0) + 1;
        },
        release() {
          reserved -= 1;
          putBack?.();
        },
      };
    },
  };
}

/**
 * Bills a request that several operations wait for to the first of them that still waits when it leaves and has room
 * for it: an operation that has been answered has shown its bill already.
 * @param waiting the payers that wait at the moment, first come first
 */
export function sharedPayer(waiting: { values(): Iterable<Payer> }): Payer {
  function reserve(route: string): Reservation {
    let refusal: unknown;
    for (const payer of waiting.values()) {
      try {
        return payer.reserve(route);
      } catch (error) {
        if (error instanceof Unfunded) throw error;
        refusal = error;
      }
    }
    throw refusal ?? nobodyWaits();
  }

  return {
    reserve(route) {
      let reserved: Reservation | null = reserve(route);
      for (const payer of waiting.values()) payer.onLeave?.(route);
      return {
        charge() {
          reserved?.release();
          reserved = null;
          reserved = reserve(route);
          reserved.charge();
        },
        release: () => reserved?.release(),
      };
    },
  };
}

function nobodyWaits(): DOMException {
  return new DOMException('Nobody waits for this request any more.', 'AbortError');
}

function tooExpensive(route: string, limit: number): Failure {
  return new Failure(
    'OPERATION_TOO_EXPENSIVE',
    `This call would be the first beyond the ${limit} upstream calls that one operation may send (MAX_UPSTREAM_CALLS); it was not sent. Ask for less at once.`,
    { route, planned: limit + 1, limit },
  );
}
