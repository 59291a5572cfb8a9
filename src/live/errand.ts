import type { CancelSignal } from '../async/cancellation.ts';
import type { Clock } from '../async/clock.ts';
import type { ObservationClient } from '../observations/client.ts';
import type { Figures } from '../observations/fetch.ts';
import { type Bill, type Caller, openBill, type Sending } from '../upstream/call.ts';
import { Deadline } from '../upstream/deadline.ts';
import { payerOf } from '../upstream/payer.ts';

/** Bill of a feed's calls, as far as events tell it. */
export type FeedBill = Pick<Bill, 'calls' | 'byRoute' | 'shared' | 'cached'>;

export function openFeedBill(): FeedBill {
  return { calls: 0, byRoute: {}, shared: 0, cached: 0 };
}

export function mergeBill(into: FeedBill, { calls, byRoute, shared, cached }: FeedBill): void {
  into.calls += calls;
  into.shared += shared;
  into.cached += cached;
  for (const [route, count] of Object.entries(byRoute))
    into.byRoute[route] = (into.byRoute[route] ?? 0) + count;
}

export interface ErrandParts {
  readonly observations: ObservationClient;
  readonly maxUpstreamCalls: number;
  readonly timeoutMs: number;
  readonly clock: Pick<Clock, 'now'>;
  readonly steadyNow: () => number;
}

/** One round of a feed's calls to the service: it is planned, billed and bounded like an operation. */
export interface Errand {
  readonly sending: Sending;
  readonly figures: Figures;
  readonly bill: Bill;
  close(): void;
}

/**
 * @param ends aborts if the feed is given up
 * @param waitMs milliseconds that it may wait for the next minute window
 */
export function openErrand(caller: Caller, ends: CancelSignal, parts: ErrandParts, waitMs = 0): Errand {
  const { observations, maxUpstreamCalls, timeoutMs, steadyNow: now } = parts;
  const bill = openBill();
  const deadline = new Deadline({ startedAtMs: now(), timeoutMs, now, request: { signal: ends } });
  const { participant, figures } = observations.join(caller);
  const sending: Sending = {
    caller: { ...caller, slices: 0 },
    bill,
    payer: payerOf(bill, maxUpstreamCalls),
    signal: deadline.signal,
    deadline,
    waitDeadlineMs: parts.clock.now() + waitMs,
  };
  return {
    sending,
    figures,
    bill,
    close() {
      deadline.stop();
      participant.leave();
    },
  };
}
