import { Failure } from '../shared/errors.ts';
import type { Bill } from './bill.ts';
import { type CallBudget, Unfunded } from './call-budget.ts';

/** A reservation of one request: charged or released, once. */
export interface Reservation {
  /** Bills the request, which leaves now. Throws if nobody waits for it any more: it must not leave. */
  readonly charge: () => void;
  /** Returns the reservation, since the request has not left. */
  readonly release: () => void;
}

/**
 * Pays for requests. A request is reserved while it queues and charged at the instant it leaves, so that the bills of all
 * operations add up to the requests that the service receives.
 */
export interface Payer {
  /**
   * @throws Failure OPERATION_TOO_EXPENSIVE beyond the operation's limit, Unfunded or another Failure if its budget is
   * unknown or spent, DOMException AbortError if nobody waits any more
   */
  reserve(route: string): Reservation;
  /** Called when a call that the operation waits for is about to leave, whoever pays for it. */
  onLeave?(route: string): void;
}

/**
 * Bills one operation, up to a limit of requests, retries included.
 * @param budget is charged as well
 */
export function payerOf(bill: Bill, limit = Number.POSITIVE_INFINITY, budget?: CallBudget) {
  let reserved = 0;
  let isClosed = false;
  return {
    /** Closes the bill: the answer has stated it, so nothing more may be sent at its cost. */
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
 * for it. An operation that has been answered has stated its bill already.
 * @param waiting payers that still wait, in order of arrival
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
