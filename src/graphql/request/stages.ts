import type { Caller } from '../../service/caller.ts';
import type { Trace } from '../../service/trace.ts';
import type { PromiseOrValue } from '../../shared/async/promises.ts';
import type { AbsenceNotes, AnswerAdditions } from '../schema/context.ts';
import type { Delivery } from './delivery.ts';
import type { PlainRequest } from './plain-requests.ts';
import type { GatewayRequest } from './requests.ts';
import type { GatewayResponse } from './responses.ts';

/** Answers one request of GraphQL over HTTP; never throws for an error of the client. */
export type HandleRequest = (request: GatewayRequest) => PromiseOrValue<GatewayResponse>;

export interface Incoming {
  readonly request: GatewayRequest;
  readonly caller: Caller;
  readonly plain: PlainRequest | null;
  /** Null if the answer comes whole. */
  readonly delivery: Delivery | null;
  readonly trace?: Trace | undefined;
  /** Set if the client has asked why there are no figures. */
  readonly absences?: AbsenceNotes | undefined;
  readonly additions?: AnswerAdditions | undefined;
}

/**
 * Every operation goes through `answers( admitted( run ))`: one answered before gets the same bytes, others queue, equal
 * ones in flight run once. All run by their plans; Apollo Server reads the requests that aren't plain.
 */
export type Handle = (incoming: Incoming) => PromiseOrValue<GatewayResponse>;

/** Calls back once an answer is executed: at once if it is whole, otherwise with the last of its parts. */
export function onceOver(delivery: Delivery | null, callBack: () => void): void {
  const over = delivery?.over ?? null;
  if (over === null) callBack();
  else void over.finally(callBack);
}
