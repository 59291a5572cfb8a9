import type { GraphQLError, GraphQLFormattedError, OperationDefinitionNode } from 'graphql';
import { Failure } from '../../shared/errors.ts';
import type { createPricing } from '../cost/pricing.ts';
import { byteLengthOf, lengthOf, type StringPieces } from '../execution/json-pieces.ts';
import { type Executed, runPlan } from '../execution/run.ts';
import { errorOf, formatError } from '../schema/errors.ts';
import { runHooks } from '../schema/run-hooks.ts';
import { writeBody } from './body.ts';
import { describeOperation, eventOf } from './operation-events.ts';
import { extensionsOf, type OperationRun, type WrittenAnswer } from './operation-run.ts';
import type { OperationsParts } from './operations-parts.ts';
import type { PlannedOperation } from './prepared-operation.ts';
import { shownErrors } from './shown-errors.ts';
import { statusOf } from './statuses.ts';

const NULL: StringPieces = ['null'];

/** @param isOffline true to price what would have to be fetched, if cached answers of any age will do */
type OpenPricing = (isOffline: boolean) => Promise<ReturnType<typeof createPricing>>;

export class Execution {
  readonly #parts: OperationsParts;
  readonly #openPricing: OpenPricing;

  /** @param openPricing loads pricing: most operations are never priced */
  constructor(parts: OperationsParts, openPricing: OpenPricing) {
    this.#parts = parts;
    this.#openPricing = openPricing;
  }

  /** Null unless the operation is too expensive to run, which for most is clear from the text. */
  refusalOf(
    planned: PlannedOperation,
    { context: { caller } }: OperationRun,
  ): Promise<GraphQLError | null> | null {
    if (caller.offline !== undefined || !this.#isWide(planned)) return null;
    const { variables, plan } = planned;
    return this.#openPricing(false)
      .then((pricing) => pricing.refusalOf({ variables, caller, plan }))
      .then((refusal) => refusal && errorOf(refusal, 400));
  }

  /** Returns the error if it is too expensive to be priced. */
  async explain({ variables, plan }: PlannedOperation, { context: { caller, warnings } }: OperationRun) {
    const pricing = await this.#openPricing(caller.offline !== undefined);
    const explained = await pricing.explain({ variables, caller, plan }, warnings);
    return explained instanceof Failure ? errorOf(explained, 400) : explained;
  }

  async answer(planned: PlannedOperation, run: OperationRun): Promise<WrittenAnswer> {
    const wideTurns = run.batch?.wideTurns;
    if (wideTurns === undefined || !this.#isWide(planned)) return this.#answer(planned, run);
    const mustWait = wideTurns.isLocked();
    const turn = wideTurns.acquire();
    try {
      if (mustWait) await run.waitUntil(turn);
      return await this.#answer(planned, run);
    } finally {
      void turn.then((release) => release());
    }
  }

  /** True if its text doesn't show that it takes no more calls than an operation may. */
  #isWide({ bound }: PlannedOperation): boolean {
    const { learned, config } = this.#parts;
    return bound(learned.facts().maxRows) > config.maxUpstreamCalls;
  }

  async #answer(planned: PlannedOperation, run: OperationRun): Promise<WrittenAnswer> {
    const { accepts, requestId } = run;
    const { operation } = planned.prepared;
    const executed = await runBounded(planned, run, this.#inParts(planned, run) ?? runPlan);
    const isLong = this.tooLong(executed.data);
    const data = isLong === null ? executed.data : NULL;
    const errors = isLong === null ? executed.errors.map((error) => this.format(error, requestId)) : [isLong];
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
      body: writeBody(data, shownErrors(errors, requestId), extensions),
      operation,
      extensions,
    };
    return run.written;
  }

  finish(
    run: OperationRun,
    operation: OperationDefinitionNode | null,
    errors: readonly GraphQLFormattedError[],
  ): void {
    run.errors = errors;
    const event = {
      ...eventOf(run.bill, operation, errors),
      durationMs: this.#parts.now() - run.startedAtMs,
      requestId: run.requestId,
      // The key may have been accepted meanwhile.
      ...(run.context.caller.tenant.isProven ? { isProven: true } : {}),
    };
    if (run.trace !== undefined) describeOperation(run.trace, event);
    this.#parts.onOperation(event, run.context.caller);
  }

  /** Null unless the answer is longer than this gateway sends. */
  tooLong(text: StringPieces): GraphQLFormattedError | null {
    const { maxAnswerBytes } = this.#parts.config;
    return isLonger(text, maxAnswerBytes) ? this.format(answerTooLong(maxAnswerBytes)) : null;
  }

  format(error: GraphQLError, requestId?: string): GraphQLFormattedError {
    const onError = (error: unknown) => this.#parts.onError(error, 'operation', requestId);
    return formatError(error.toJSON(), error, onError);
  }

  /** Null if the answer comes whole. */
  #inParts(planned: PlannedOperation, { delivery, requestId }: OperationRun): typeof runPlan | null {
    if (delivery === null) return null;
    const { maxAnswerBytes } = this.#parts.config;
    const formatErrors = (errors: readonly GraphQLError[]) =>
      shownErrors(
        errors.map((error) => this.format(error, requestId)),
        requestId,
      );
    return delivery.runner(planned, maxAnswerBytes, formatErrors, () => answerTooLong(maxAnswerBytes));
  }

  #deliver(
    run: OperationRun,
    operation: OperationDefinitionNode,
    data: StringPieces,
    errors: readonly GraphQLFormattedError[],
  ): boolean {
    if (run.delivery === null) return false;
    const formatted = shownErrors(errors, run.requestId);
    const onOver = (all: readonly GraphQLFormattedError[]) => {
      this.finish(run, operation, all);
      return extensionsOf(run);
    };
    if (!run.delivery.begin({ data: data.join(''), errors: formatted, onOver })) return false;
    run.errors = errors;
    run.isLasting = false;
    return true;
  }
}

async function runBounded(
  { plan, variables, leadsToFigures }: PlannedOperation,
  { context, participant, payer, onError }: OperationRun,
  execute: typeof runPlan,
): Promise<Executed> {
  const { effort } = context;
  if (leadsToFigures) participant.expect();
  else participant.forgo();
  try {
    return await execute({
      plan,
      context,
      variables,
      ...runHooks(context),
      errorBehavior: onError,
      onHalt: payer.close,
    });
  } catch (error) {
    if (effort.refusal === null || error !== effort.refusal) throw error;
    return { data: NULL, errors: [errorOf(effort.refusal)] };
  }
}

function isLonger(text: StringPieces, maxBytes: number): boolean {
  const length = lengthOf(text);
  return length > maxBytes || (length * 3 > maxBytes && byteLengthOf(text) > maxBytes);
}

function answerTooLong(limit: number): GraphQLError {
  const message = `The answer would be longer than the ${limit} bytes that this gateway sends at once (MAX_ANSWER_BYTES). Ask for less at once.`;
  return errorOf(new Failure('OPERATION_TOO_EXPENSIVE', message, { limit }));
}
