import { Semaphore } from 'async-mutex';
import type { ExecutionResult, OperationDefinitionNode } from 'graphql';
import { openBill } from '../../service/bill.ts';
import type { Caller, NotedOperation } from '../../service/caller.ts';
import { Failure } from '../../shared/errors.ts';
import { parseExactly } from '../../shared/exact-json.ts';
import { runPlan } from '../execution/run.ts';
import { provenBy } from '../request/callers.ts';
import { eventOf } from '../request/operation-events.ts';
import { extensionsOf, type OpenRun, type OperationRun } from '../request/operation-run.ts';
import { ownRequest } from '../request/own-requests.ts';
import type { Wording } from '../request/prefixed.ts';
import { warnedOfPeriods } from '../resolvers/warned.ts';
import { errorOf } from '../schema/errors.ts';
import { runHooks } from '../schema/run-hooks.ts';
import { type EventQueue, type LiveEvent, mergeBill, noteCalls } from './event-queue.ts';
import { asGraphql, liveErrors } from './live-errors.ts';
import type { OperationMeans } from './live-parts.ts';
import type { ReadOperation } from './reading.ts';
import type { LiveRequest, LiveResult, LiveResults, ObservationChangesRecord } from './subscribing.ts';

/** Changes resolved at the same time, over all subscriptions: a run of a source is news for every subscriber. */
const MAX_CHANGES = 5_000;

/** Changes of one unit of that work: fewer take hardly less time. */
const CHANGES_PER_UNIT = 100;

/** Changes above which the length of an event is measured. */
const MANY_CHANGES = 1_000;

export class EventWork {
  readonly #units = new Semaphore(MAX_CHANGES / CHANGES_PER_UNIT);

  /** Waits until there is room for the event; one that takes all of the room runs alone. */
  resolve<Result>(value: unknown, work: () => Promise<Result>): Promise<Result> {
    const units = Math.ceil(Math.min(Math.max(1, changesIn(value).length), MAX_CHANGES) / CHANGES_PER_UNIT);
    return this.#units.runExclusive(work, units);
  }
}

function changesIn(value: unknown): ObservationChangesRecord['changes'] {
  const isOfFigures = typeof value === 'object' && value !== null && 'changes' in value;
  return isOfFigures ? (value as ObservationChangesRecord).changes : [];
}

interface BegunSubscription {
  readonly read: ReadOperation;
  readonly request: LiveRequest;
  /** Translates results for a router with prefixed names. */
  readonly theirs: Wording['theirs'] | undefined;
  readonly caller: Caller;
  readonly run: OperationRun;
  readonly events: EventQueue<unknown>;
  readonly onEnd: () => void;
}

/**
 * The results of one subscription. An event is taken, and its fields are resolved, when the reader is ready for it. This
 * is no generator, because a generator that waits for an event can't be ended.
 */
export function eventResults(
  { read, request, theirs, caller, run: { bill, startedAtMs }, events, onEnd }: BegunSubscription,
  eventWork: EventWork,
  { openRun, onError, onOperation, now, config }: OperationMeans,
): LiveResults {
  const ends = new AbortController();
  const total = openBill();
  /** Calls that are not yet on the bill of an event. */
  let unbilled = bill;
  /** The errors that ended it. */
  let finalErrors: ReturnType<typeof liveErrors> = [];
  let isOver = false;

  async function end(): Promise<IteratorResult<LiveResult>> {
    if (isOver) return { done: true, value: undefined };
    isOver = true;
    ends.abort();
    events.close();
    mergeBill(total, unbilled);
    mergeBill(total, events.takeBill());
    onEnd();
    const event = {
      ...eventOf(total, read.operation, finalErrors),
      ...provenBy(caller),
      durationMs: now() - startedAtMs,
      requestId: request.requestId,
    };
    // Its calls were noted when they were sent.
    const noCalls = { calls: 0, shared: 0, cached: 0 };
    const note = caller.note && ((operation: NotedOperation) => caller.note?.({ ...operation, ...noCalls }));
    onOperation(event, { ...caller, note });
    return { done: true, value: undefined };
  }

  /** Runs an event as an operation of its own, bounded and billed like one. */
  async function resultOf(event: LiveEvent<unknown>): Promise<LiveResult> {
    const run = openRunOf(openRun, { ...request, signal: ends.signal }, caller);
    const before = openBill();
    mergeBill(before, unbilled);
    mergeBill(before, event.bill);
    try {
      mergeBill(run.bill, before);
      unbilled = openBill();
      const key = rootKey(read.operation);
      if (event.warning !== null) run.context.warnings.add({ ...event.warning, path: [key] });
      const figures = changesIn(event.value).map(({ observation }) => observation);
      warnedOfPeriods(run.context, () => ({ prev: undefined, key, typename: undefined }), figures);
      const { data, errors = [] } = await executeEvent(read, event, run);
      mergeBill(total, run.bill);
      const { upstream, warnings } = extensionsOf(run);
      const result = {
        data: data ?? null,
        ...(errors.length === 0 ? {} : { errors: liveErrors(errors, request.requestId, onError) }),
        extensions: { upstream, ...(warnings === undefined ? {} : { warnings }) },
      };
      checkLength(event, result, config.maxAnswerBytes);
      return result;
    } finally {
      noteCalls(caller, run.bill, before);
      run.deadline.stop();
      run.participant.leave();
    }
  }

  async function nextResult(): Promise<IteratorResult<LiveResult>> {
    if (isOver) return { done: true, value: undefined };
    try {
      const { done, value } = await events.next();
      if (done || isOver) return await end();
      return { done: false, value: await eventWork.resolve(value.value, () => resultOf(value)) };
    } catch (error) {
      const errors = liveErrors([asGraphql(error)], request.requestId, onError);
      finalErrors = errors;
      await end();
      return { done: false, value: { data: null, errors } };
    }
  }

  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      const { reader } = request;
      await reader.ready?.();
      const result = await nextResult();
      if (result.done) return result;
      reader.onResult?.();
      return theirs === undefined ? result : { done: false, value: theirs(result.value) };
    },
    return: end,
    async throw(error) {
      await end();
      throw error;
    },
  };
}

async function executeEvent(
  { plan, variables, onError }: ReadOperation,
  { value }: LiveEvent<unknown>,
  { context, payer }: OperationRun,
): Promise<ExecutionResult> {
  const { effort } = context;
  try {
    const { data, errors } = await runPlan({
      plan,
      variables,
      context,
      rootValue: { value },
      ...runHooks(context),
      errorBehavior: onError,
      onHalt: payer.close,
    });
    return { data: parseExactly(data.join('')) as Record<string, unknown> | null, errors };
  } catch (error) {
    if (effort.refusal === null || error !== effort.refusal) throw error;
    return { data: null, errors: [errorOf(effort.refusal)] };
  }
}

function checkLength({ value }: LiveEvent<unknown>, result: LiveResult, limit: number): void {
  if (changesIn(value).length <= MANY_CHANGES || Buffer.byteLength(JSON.stringify(result)) <= limit) return;
  throw new Failure(
    'OPERATION_TOO_EXPENSIVE',
    `The event would be longer than the ${limit} bytes that this gateway sends at once (MAX_ANSWER_BYTES). Subscribe to less at once.`,
    { limit },
  );
}

export function openRunOf(
  openRun: OpenRun,
  { query, variables, requestId, signal }: LiveRequest,
  caller: Caller,
): OperationRun {
  return openRun(ownRequest({ query, variables }, { requestId, signal }), caller);
}

function rootKey({ selectionSet }: OperationDefinitionNode): string {
  const [field] = selectionSet.selections;
  return field?.kind === 'Field' ? (field.alias ?? field.name).value : 'data';
}
