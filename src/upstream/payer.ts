import { Failure } from '../errors.ts';
import type { Bill, Payer, Reservation } from './call.ts';

/** Pays for one operation. */
export interface OperationPayer extends Payer {
  /** Closes the bill, since the operation is over and has shown it: from now on nothing is sent at its cost. */
  close(): void;
}

/** Bills one operation, up to a limit of requests, retries included. */
export function payerOf(bill: Bill, limit = Number.POSITIVE_INFINITY): OperationPayer {
  let reserved = 0;
  let isClosed = false;
  return {
    close() {
      isClosed = true;
    },
    reserve(route) {
      if (isClosed) throw nobodyWaits();
      if (bill.calls + reserved >= limit) throw tooExpensive(route, limit);
      reserved += 1;
      return {
        charge() {
          reserved -= 1;
          if (isClosed) throw nobodyWaits();
          bill.calls += 1;
          bill.byRoute[route] = (bill.byRoute[route] ?? 0) + 1;
        },
        release() {
          reserved -= 1;
        },
      };
    },
  };
}

/**
 * Bills a request that several operations wait for to the first of them that still waits when it leaves and has room
 * for it: an operation that has been answered has shown its bill already.
 *
 * @param waiting the payers that wait at the moment, first come first
 */
export function sharedPayer(waiting: () => readonly Payer[]): Payer {
  function reserveFrom(payers: readonly Payer[], route: string): Reservation {
    let refusal: unknown;
    for (const payer of payers) {
      try {
        return payer.reserve(route);
      } catch (error) {
        refusal = error;
      }
    }
    throw refusal ?? nobodyWaits();
  }

  return {
    reserve(route) {
      const reservation = reserveFrom(waiting(), route);
      return {
        charge() {
          reservation.release();
          reserveFrom(waiting(), route).charge();
        },
        release: reservation.release,
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
