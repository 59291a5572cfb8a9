import { Failure } from '../errors.ts';
import type { Demand } from '../planner/demand.ts';
import { type Bill, type Call, openBill, type Payer } from '../upstream/call.ts';
import { payerOf } from '../upstream/payer.ts';

export interface PricedCall extends Call {
  /** Whether it is not sent, since what is held answers it. */
  readonly isHeld: boolean;
}

/** What pricing one operation comes to, while it goes on. */
export interface Tally {
  readonly bill: Bill;
  /** Ends the pricing where the operation is certain to be refused. */
  readonly payer: Payer;
  readonly calls: PricedCall[];
  /** Demands that were met by what is held. */
  readonly heldDemands: Demand[];
  isCertain: boolean;
  mayBeRenewed: boolean;
  /** Why the operation takes more than it may; null where it doesn't. */
  readonly refusal: Failure | null;
  /** @throws Failure OPERATION_TOO_EXPENSIVE where so many calls more make it plain that the operation is refused */
  expect(calls: number): void;
  /** Refuses the operation where it has come to more calls than it may take. */
  close(): void;
}

/** How far beyond the limit a price is still told exactly: then whoever asks knows how much less to ask for. */
const PRICED_BEYOND = 10;

export function openTally(isCertain: boolean, limit: number): Tally {
  const bill = openBill();
  const free = payerOf(bill);
  let refusal: Failure | null = null;

  function refuse(planned: number, orMore = ''): Failure {
    const message = `The operation plans ${planned} upstream calls${orMore}; this gateway allows ${limit} (MAX_UPSTREAM_CALLS).`;
    refusal ??= new Failure('OPERATION_TOO_EXPENSIVE', message, { planned, limit });
    return refusal;
  }

  function expect(calls: number): void {
    const fewest = bill.calls + calls;
    if (fewest > limit * PRICED_BEYOND) throw refuse(fewest, ' or more');
  }

  return {
    bill,
    payer: {
      reserve(route) {
        expect(1);
        return free.reserve(route);
      },
    },
    calls: [],
    heldDemands: [],
    isCertain,
    mayBeRenewed: false,
    get refusal() {
      return refusal;
    },
    expect,
    close() {
      if (refusal === null && bill.calls > limit) refuse(bill.calls);
    },
  };
}
