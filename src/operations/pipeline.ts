import type { PromiseOrValue } from '../async/promise-or-value.ts';
import type { Trace } from '../async/trace.ts';
import type { Caller } from '../upstream/call.ts';
import type { Delivery } from './delivery.ts';
import type { OperationRun } from './operation-run.ts';
import type { PlainRequest } from './plain-requests.ts';
import type { GatewayRequest } from './requests.ts';
import type { GatewayResponse } from './responses.ts';

/** A request, its caller, and the operation that it asks for if that is plain. */
export interface Incoming {
  readonly request: GatewayRequest;
  readonly caller: Caller;
  readonly plain: PlainRequest | null;
  /** The delivery of an answer that may come in parts; null if it comes whole. */
  readonly delivery: Delivery | null;
  /** The operation's span, if somebody traces. */
  readonly trace?: Trace | undefined;
}

/**
 * A stage that answers requests, once the operation of each is known (`received.ts`). The way of every operation is
 * `limitsTold( repeated( admitted( coalesced( opened( prepared( apollo ))))))`. An operation that was answered before
 * gets the same bytes, and the others wait for their turn. Equal ones in flight are run once. An operation that was
 * found valid before runs by its plan. Apollo Server reads, validates and answers the rest. `gateway.ts` puts it
 * together.
 */
export type Handle = (incoming: Incoming) => PromiseOrValue<GatewayResponse>;

/** A stage for requests that have begun to run. */
export type HandleRun = (incoming: Incoming, run: OperationRun) => Promise<GatewayResponse>;

/** Calls back once an answer is executed: at once if it is whole, else with the last of its parts. */
export function onceOver(delivery: Delivery | null, callBack: () => void): void {
  const over = delivery?.over ?? null;
  if (over === null) callBack();
  else void over.finally(callBack);
}
