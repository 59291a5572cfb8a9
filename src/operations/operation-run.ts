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

/** What one operation's run knows; the stages that handle it pass it on. */
export interface OperationRun {
  readonly context: GraphContext;
  readonly participant: Participant;
  readonly deadline: Deadline;
  readonly payer: Pick<OperationPayer, 'close'>;
  readonly bill: Bill;
  readonly waits: Waits;
  /** Its span, where somebody traces. */
  readonly trace: Trace | undefined;
  /** What a router that asks for it is told of the fields; null where none does. */
  readonly fieldTrace: FieldTrace | null;
  readonly startedAtMs: number;
  readonly requestId: string | undefined;
  /** The `Accept` header. */
  readonly accepts: string;
  /** Whether the client wants the plan instead of the answer. */
  readonly isExplained: boolean;
  /** How the answer may come in parts; null where it comes whole. */
  readonly delivery: Delivery | null;
  /** Of what was held for the key when the request came. */
  readonly generation: number;
  /** Set once there is a response to an operation: before that, a request has cost nothing. */
  errors: readonly GraphQLFormattedError[] | null;
  /** What its plan has written; null before, and where it has none. */
  written: WrittenAnswer | null;
  /** When the first of what was served as it is held is past its time; infinite while nothing was. */
  freshUntilMs: number;
  /** When the first of what was fetched is past its time; infinite while nothing was, 0 where that isn't known. */
  fetchedUntilMs: number;
  /** Whether the operation reads the schema and nothing else. */
  isOfSchema: boolean;
  /** Whether the answer holds for whoever asks the same while what was read is fresh. */
  isLasting: boolean;
}

export type OpenRun = (
  request: GatewayRequest,
  caller: Caller,
  trace?: Trace,
  delivery?: Delivery | null,
) => OperationRun;

/** What came of an operation that ran by its plan. */
export interface WrittenAnswer {
  readonly status: number;
  readonly data: TextPieces;
  readonly body: string | Buffer;
  readonly operation: OperationDefinitionNode;
}

/** Whether the client wants the plan instead of the answer. */
export function isExplained({ headers }: GatewayRequest): boolean {
  return headers['x-explain'] === '1';
}

/** What the answer to an operation says of itself. */
export function extensionsOf({ bill, context: { warnings }, fieldTrace }: OperationRun): Extensions {
  return { upstream: shown(bill), warnings: warnings.told(), ftv1: fieldTrace?.written };
}

/**
 * A bill as it is told. Each use of a loader counts as one request of a field that fetches for itself, though some take
 * several: a list that is cut, a call that is tried again. Fields that share nothing take no less than what was sent for
 * all of them together.
 */
export function shown(bill: Bill): Bill {
  return { ...bill, naive: Math.max(bill.naive, bill.calls) };
}

/** Whether an answer was made of fresh things that are held, and of nothing else. */
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
