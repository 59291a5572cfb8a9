import type { GraphQLFormattedError, OperationDefinitionNode } from 'graphql';
import type { Trace } from '../async/trace.ts';
import type { TextPieces } from '../execution/text-pieces.ts';
import type { GraphContext } from '../graph/context.ts';
import type { Participant } from '../observations/pool.ts';
import type { Bill, Caller, Waits } from '../upstream/call.ts';
import type { Deadline } from '../upstream/deadline.ts';
import type { OperationPayer } from '../upstream/payer.ts';
import type { Delivery } from './delivery.ts';
import type { OperationEvent } from './events.ts';
import type { FieldTrace } from './field-traces.ts';
import type { GatewayRequest } from './requests.ts';
import type { Extensions } from './responses.ts';

/** The state of one operation's run; the stages that handle it pass it on. */
export interface OperationRun {
  readonly context: GraphContext;
  readonly participant: Participant;
  readonly deadline: Deadline;
  readonly payer: Pick<OperationPayer, 'close'>;
  readonly bill: Bill;
  readonly waits: Waits;
  /** The operation's span, if somebody traces. */
  readonly trace: Trace | undefined;
  /** The trace of its fields for a router; null if none asks for it. */
  readonly fieldTrace: FieldTrace | null;
  readonly startedAtMs: number;
  readonly requestId: string | undefined;
  /** The `Accept` header. */
  readonly accepts: string;
  /** True if the client wants the plan instead of the answer. */
  readonly isExplained: boolean;
  /** The delivery of an answer that may come in parts; null if it comes whole. */
  readonly delivery: Delivery | null;
  /** Generation of the entries that were held for the key when the request came. */
  readonly generation: number;
  /** Set once there is a response to an operation: before that, a request has cost nothing. */
  errors: readonly GraphQLFormattedError[] | null;
  /** The answer that its plan has written; null before, and if it has no plan. */
  written: WrittenAnswer | null;
  /** The time at which the first held answer that was served expires; infinite while none was served. */
  freshUntilMs: number;
  /** The time at which the first fetched answer expires; infinite while none was fetched, 0 if it isn't known. */
  fetchedUntilMs: number;
  /** True if the operation reads the schema and nothing else. */
  isOfSchema: boolean;
  /** True if the answer holds for any later request of the same, while the answers that were read are fresh. */
  isLasting: boolean;
}

export type OpenRun = (
  request: GatewayRequest,
  caller: Caller,
  trace?: Trace,
  delivery?: Delivery | null,
) => OperationRun;

/** The answer to an operation that ran by its plan. */
export interface WrittenAnswer {
  readonly status: number;
  readonly data: TextPieces;
  readonly body: string | Buffer;
  readonly operation: OperationDefinitionNode;
}

/** Tells if the client wants the plan instead of the answer. */
export function isExplained({ headers }: GatewayRequest): boolean {
  return headers['x-explain'] === '1';
}

/** Returns the `extensions` of the answer to an operation. */
export function extensionsOf({ bill, context: { warnings }, fieldTrace }: OperationRun): Extensions {
  return { upstream: shown(bill), warnings: warnings.told(), ftv1: fieldTrace?.written };
}

/**
 * Returns a bill as it is told. Each use of a loader counts as one request of a field that fetches for itself, though
 * some take several: a list that is cut, a call that is tried again. Fields that share nothing take no less than the
 * calls that were sent for all of them together.
 */
export function shown(bill: Bill): Bill {
  return { ...bill, naive: Math.max(bill.naive, bill.calls) };
}

/** Tells if an answer was made of fresh held answers alone. */
export function isLasting({ bill, errors, isLasting, freshUntilMs }: OperationRun): boolean {
  const isFree = bill.calls === 0 && bill.shared === 0 && bill.stale === undefined;
  return isLasting && isFree && errors?.length === 0 && freshUntilMs < Number.POSITIVE_INFINITY;
}

export function eventOf(
  { calls, shared, cached, stale = [] }: Bill,
  operation: OperationDefinitionNode | null,
  errors: readonly Pick<GraphQLFormattedError, 'extensions'>[],
): Omit<OperationEvent, 'durationMs' | 'requestId'> {
  return {
    name: operation?.name?.value ?? null,
    type: operation?.operation ?? null,
    calls,
    shared,
    cached,
    stale: stale.reduce((sum, { answers }) => sum + answers, 0),
    repeated: false,
    errorCodes: errors.map(({ extensions }) => String(extensions?.code)),
  };
}
