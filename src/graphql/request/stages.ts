import type { Caller } from '../../service/caller.ts';
import type { Trace } from '../../service/trace.ts';
import type { PromiseOrValue } from '../../shared/async/turns.ts';
import type { AbsenceNotes, AnswerAdditions } from '../schema/context.ts';
import type { Delivery } from './delivery.ts';
import type { PlainRequest } from './plain-requests.ts';
import type { GatewayRequest } from './requests.ts';
import type { GatewayResponse } from './responses.ts';

export type HandleRequest = (request: GatewayRequest) => PromiseOrValue<GatewayResponse>;

/** A request, its caller, and the operation that it asks for if that is plain. */
export interface Incoming {
  readonly request: GatewayRequest;
  readonly caller: Caller;
  readonly plain: PlainRequest | null;
  /** The delivery of an answer that may come in parts; null if it comes whole. */
  readonly delivery: Delivery | null;
  /** The operation's span, if somebody traces. */
  readonly trace?: Trace | undefined;
  /** Notes why there are no figures, if the client has asked for that. */
  readonly absences?: AbsenceNotes | undefined;
  /** What a stage adds to the answer. */
  readonly additions?: AnswerAdditions | undefined;
}

/**
 * A stage that answers requests, once the operation of each is known. The way of every operation is
 * `answers( admitted( run( plan | apollo )))`. An operation that was answered before gets the same bytes, and the others
 * wait for their turn. Equal ones in flight are run once. An operation that was found valid before runs by its plan.
 * Apollo Server reads and validates the rest. `gateway.ts` puts it together.
 */
export type Handle = (incoming: Incoming) => PromiseOrValue<GatewayResponse>;
