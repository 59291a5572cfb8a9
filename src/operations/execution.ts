import {
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { PromiseOrValue } from '../async/turns.ts';
import { Failure } from '../errors.ts';
import { planOperation } from '../execution/plan.ts';
import { byteLengthOf, type Executed, lengthOf, runPlan, type TextPieces } from '../execution/run.ts';
import { formatError } from '../graph/errors.ts';
import { listRefusal } from '../graph/limits.ts';
import type { Learned } from '../plan/learned.ts';
import { mostCalls } from '../price/bound.ts';
import { type Pricing, priceRange } from '../price/price.ts';
import type { AnswersTable } from './answers.ts';
import type { Explanation, PlannedOperation, PreparedOperations, ValidOperation } from './documents.ts';
import type { GatewayRequest, PlainRequest } from './requests.ts';
import { entityTag, type GatewayResponse, statusOf, tagged, toldErrors, writeBody } from './responses.ts';
import {
  describeOperation,
  eventOf,
  extensionsOf,
  type HandleRun,
  type Incoming,
  type OpenRun,
  type OperationEvent,
  type OperationRun,
  onceOver,
  type RanOperation,
  setRunHeaders,
  shown,
  type WrittenAnswer,
} from './run.ts';

interface ExecutionParts {
  readonly schema: GraphQLSchema;
  readonly maxUpstreamCalls: number;
  readonly maxAnswerBytes: number;
  readonly price: Pricing;
  readonly learned: Learned;
  readonly now: () => number;
  readonly onOperation: (event: OperationEvent) => void;
  readonly onFault: (fault: unknown, where: string, requestId?: string) => void;
}

/** Data of an answer that has none. */
const NULL: TextPieces = ['null'];

/** Prices and runs operations by their plans. */
export class Execution {
  readonly #parts: ExecutionParts;

  constructor(parts: ExecutionParts) {
    this.#parts = parts;
  }

  /** Refuses an operation that is too dear to run; null if it isn't. Most are known not to be by their text alone. */
  refusalOf(
    { prepared: { document, operation }, variables, bound, plan }: PlannedOperation,
    { context: { caller }, delivery }: OperationRun,
  ): PromiseOrValue<GraphQLError | null> {
    const { schema, learned, maxUpstreamCalls, price } = this.#parts;
    const fault = delivery?.refusalOf(schema, document, variables) ?? null;
    if (fault !== null) return fault;
    if (mostCalls(bound, learned.maxRows) <= maxUpstreamCalls) return null;
    const pricing = price({ document, operation, variables, caller, plan }, 'expected', false);
    return pricing.then(({ refusal }) => refusal && refused(refusal));
  }

  /**
   * Prices an operation, in place of its answer.
   * @throws GraphQLError if it is too dear to be priced
   */
  async explain(
    { document, operation }: ValidOperation,
    variables: PlannedOperation['variables'],
    { context: { caller, warnings } }: OperationRun,
  ): Promise<Explanation> {
    const { schema, maxUpstreamCalls: limit, price } = this.#parts;
    const plan = planOperation(schema, document, operation, variables);
    const priced = { document, operation, variables, caller, plan };
    const expected = await price(priced, 'expected', true);
    if (expected.refusal !== null) throw refused(expected.refusal);
    const range = priceRange(expected, await price(priced, 'least', true), limit);
    const { bill, calls, errors, warnings: told } = expected;
    for (const warning of told) warnings.add(warning);
    const { byRoute, cached, naive } = shown(bill);
    const planned = calls.map(({ route, target, isHeld }) => ({ route, target, cached: isHeld }));
    return {
      errors: errors.map((error) => formatError(error.toJSON(), error, () => {})),
      extensions: {
        explain: { calls: bill.calls, ...range, byRoute, cached, naive, limit, plan: planned },
      },
    };
  }

  /** Runs an operation by its plan, and writes the answer. */
  async answer(planned: PlannedOperation, run: OperationRun): Promise<WrittenAnswer> {
    const { accepts, requestId } = run;
    const { operation } = planned.prepared;
    const executed = await runBounded(planned, run, this.#inParts(planned, run) ?? runPlan);
    const isLong = this.tooLong(executed.data);
    const data = isLong === null ? executed.data : NULL;
    const errors = isLong === null ? executed.errors.map((error) => this.#tell(error, requestId)) : [isLong];
    if (isLong === null && this.#deliver(run, operation, data, errors)) {
      run.written = { status: 200, data, body: '', operation, extensions: extensionsOf(run) };
      return run.written;
    }
    this.finish(run, operation, errors);
    const extensions = extensionsOf(run);
    const about = { accepts, errors, data: () => JSON.parse(data.join('')), operation, hadOperation: true };
    run.written = {
      status: statusOf(about, 200),
      data,
      body: writeBody(data, toldErrors(errors, requestId), extensions),
      operation,
      extensions,
    };
    return run.written;
  }

  /** Reports that an operation is over. */
  finish(
    run: OperationRun,
    operation: OperationDefinitionNode | null,
    errors: readonly GraphQLFormattedError[],
  ): void {
    run.errors = errors;
    run.fieldTrace?.end(errors);
    const event = {
      ...eventOf(run.bill, operation, errors),
      durationMs: this.#parts.now() - run.startedAtMs,
      requestId: run.requestId,
      // Known by now, if it wasn't when the operation began.
      ...(run.context.caller.tenant.isProven ? { isProven: true } : {}),
    };
    if (run.trace !== undefined) describeOperation(run.trace, event);
    this.#parts.onOperation(event);
  }

  /** Returns the error of an answer that is longer than this gateway sends; null if it isn't. */
  tooLong(text: TextPieces): GraphQLFormattedError | null {
    const { maxAnswerBytes } = this.#parts;
    return isLonger(text, maxAnswerBytes) ? this.#tell(answerTooLong(maxAnswerBytes)) : null;
  }

  #tell(error: GraphQLError, requestId?: string): GraphQLFormattedError {
    const onFault = (fault: unknown) => this.#parts.onFault(fault, 'operation', requestId);
    return formatError(error.toJSON(), error, onFault);
  }

  /** Returns the function that runs an operation so that it may come in parts; null if it comes whole. */
  #inParts(planned: PlannedOperation, { delivery, requestId }: OperationRun): typeof runPlan | null {
    if (delivery === null) return null;
    const { schema, maxAnswerBytes } = this.#parts;
    const told = (errors: readonly GraphQLError[]) =>
      toldErrors(
        errors.map((error) => this.#tell(error, requestId)),
        requestId,
      );
    return delivery.runner(planned, schema, maxAnswerBytes, told, () => answerTooLong(maxAnswerBytes));
  }

  /** Leaves an answer to its delivery, if parts of it are to come. */
  #deliver(
    run: OperationRun,
    operation: OperationDefinitionNode,
    data: TextPieces,
    errors: readonly GraphQLFormattedError[],
  ): boolean {
    if (run.delivery === null) return false;
    const told = toldErrors(errors, run.requestId);
    const onOver = (all: readonly GraphQLFormattedError[]) => {
      this.finish(run, operation, all);
      return extensionsOf(run);
    };
    if (!run.delivery.begin({ data: data.join(''), errors: told, onOver })) return false;
    run.errors = errors;
    run.isLasting = false;
    return true;
  }
}

/** Runs an operation by its plan. */
async function runBounded(
  { plan, variables, leadsToFigures }: PlannedOperation,
  { context, participant, fieldTrace }: OperationRun,
  execute: typeof runPlan,
): Promise<Executed> {
  const { caller, effort, batchGate } = context;
  if (leadsToFigures) participant.expect();
  else participant.forgo();
  try {
    return await execute({
      plan,
      context,
      variables,
      onPause: batchGate.closeDuring,
      onList: (items: number) => effort.list(items),
      onError: () => effort.fail(1),
      job: caller,
      observer: fieldTrace ?? undefined,
    });
  } catch (fault) {
    if (effort.refusal === null || fault !== effort.refusal) throw fault;
    return { data: NULL, errors: [wholeRefused(effort.refusal)] };
  }
}

/** Makes the only error of an operation that comes to more than it may. */
function wholeRefused(refusal: Failure): GraphQLError {
  return new GraphQLError(refusal.message, { originalError: refusal });
}

function refused(failure: Failure): GraphQLError {
  return new GraphQLError(failure.message, {
    originalError: failure,
    extensions: { http: { status: 400 } },
  });
}

function isLonger(text: TextPieces, maxBytes: number): boolean {
  const length = lengthOf(text);
  return length > maxBytes || (length * 3 > maxBytes && byteLengthOf(text) > maxBytes);
}

function answerTooLong(limit: number): GraphQLError {
  const message = `The answer would be longer than the ${limit} bytes that this gateway sends at once (MAX_ANSWER_BYTES). Ask for less at once.`;
  const failure = new Failure('OPERATION_TOO_EXPENSIVE', message, { limit });
  return wholeRefused(failure);
}

export interface PreparedParts {
  readonly operations: PreparedOperations;
  readonly execution: Execution;
  readonly answers: AnswersTable;
  readonly maxListItems: number;
  readonly now: () => number;
  readonly steadyNow: () => number;
}

/**
 * Opens the run of an operation, and closes it once all of the answer is there. Operations that were found valid before
 * run by their plans; the rest is left to the next stage.
 */
export function ran(
  next: HandleRun,
  openRun: OpenRun,
  parts: PreparedParts,
): (incoming: Incoming) => Promise<RanOperation> {
  return async (incoming) => {
    const { request, caller, plain, trace, delivery } = incoming;
    const run = openRun(request, caller, trace, delivery);
    try {
      const answered = plain && (await answerByPlan(request, plain, run, parts));
      return { response: answered ?? (await next(incoming, run)), run };
    } finally {
      if (delivery === null) close(run);
      else onceOver(delivery, () => close(run));
    }
  };
}

/** Closes a run. Calls that it asked for and nobody waited for are not sent any more: its bill is shown. */
function close({ deadline, participant, payer }: OperationRun): void {
  deadline.stop();
  participant.leave();
  payer.close();
}

/** Returns null if the operation has no plan yet, or is to be refused. */
async function answerByPlan(
  request: GatewayRequest,
  plain: PlainRequest,
  run: OperationRun,
  parts: PreparedParts,
): Promise<GatewayResponse | null> {
  const { execution, answers, maxListItems } = parts;
  const { params, contentType } = plain;
  const known = parts.operations.find(params, run.context.caller.flow);
  if (known === undefined || listRefusal(known.operation, params.variables, maxListItems) !== null)
    return null;
  const planned = known.with(params.variables);
  if (planned === null) return null;
  const refusing = execution.refusalOf(planned, run);
  const refusal = refusing instanceof Promise ? await refusing : refusing;
  if (refusal !== null) return null;
  const executed = await execution.answer(planned, run);
  const { status, data, body } = executed;
  const headers = new Map([['content-type', contentType]]);
  setRunHeaders(headers, status, run, parts);
  answers.keep(plain, executed, run);
  return tagged(request, params.isPersisted, { status, headers, body }, run.errors, () => entityTag(data));
}
