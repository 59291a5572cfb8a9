import { Failure } from '../errors.ts';
import type { Bill, Payer, Reservation } from './call.ts';

/** Bills one operation, up to a limit of requests, retries included. */
export function payerOf(bill: Bill, limit = Number.POSITIVE_INFINITY): Payer {
  let reserved = 0;
  return {
    reserve(route) {
      if (bill.calls + reserved >= limit) throw tooExpensive(route, limit);
      reserved += 1;
      return {
        charge() {
          reserved -= 1;
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
 * @param waiting those that wait at the moment, first come first
 */
export function sharedPayer(waiting: () => readonly Payer[]): Payer {
  function reserveFrom(payers: readonly Payer[], route: string): { payer: Payer; reservation: Reservation } {
    let refusal: unknown;
    for (const payer of payers) {
      try {
        return { payer, reservation: payer.reserve(route) };
      } catch (error) {
        refusal = error;
      }
    }
    throw refusal ?? new DOMException('Nobody waits for this request any more.', 'AbortError');
  }

  return {
    reserve(route) {
      const { payer, reservation } = reserveFrom(waiting(), route);
      return {
        charge() {
          const stillWaiting = waiting();
          if (stillWaiting.includes(payer)) {
            reservation.charge();
            return;
          }
          reservation.release();
          reserveFrom(stillWaiting, route).reservation.charge();
        },
        release: reservation.release,
      };
    },
  };
}

function tooExpensive(route: string, limit: number): Failure {
  return new Failure(
    'OPERATION_TOO_EXPENSIVE',
    `This call would be the first beyond the ${limit} upstream calls that one operation may send (MAX_UPSTREAM_CALLS); it was not sent. Ask for less at once.`,
    { route, planned: limit + 1, limit },
  );
}
