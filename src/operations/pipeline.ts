import type { PromiseOrValue } from '../async/promise-or-value.ts';
import type { Trace } from '../async/trace.ts';
import type { Caller } from '../upstream/call.ts';
import type { Delivery } from './delivery.ts';
import type { OperationRun } from './operation-run.ts';
import type { PlainRequest } from './plain-requests.ts';
import type { GatewayRequest } from './requests.ts';
import type { GatewayResponse } from './responses.ts';

/** A request, who asks, and what it asks for where that is plain. */
export interface Incoming {
  readonly request: GatewayRequest;
  readonly caller: Caller;
  readonly plain: PlainRequest | null;
  /** How the answer may come in parts; null where it comes whole. */
  readonly delivery: Delivery | null;
  /** The operation's span, where somebody traces. */
  readonly trace?: Trace | undefined;
}

/**
 * A stage that answers requests, once it is known of what operation each is (`received.ts`). The way of every operation is
 * `limitsTold( repeated( admitted( coalesced( opened( prepared( apollo ))))))`: what was answered before is answered by the
 * same bytes, the others wait for their turn, equal ones in flight are run once, what was found valid before is run by its
 * plan, and the rest is read, validated and answered by Apollo Server. `gateway.ts` puts it together.
 */
export type Handle = (incoming: Incoming) => PromiseOrValue<GatewayResponse>;

/** A stage for requests that have begun to run. */
export type HandleRun = (incoming: Incoming, run: OperationRun) => Promise<GatewayResponse>;
