import { Semaphore } from 'async-mutex';
import type { ExecutionResult, OperationDefinitionNode } from 'graphql';
import { runPlan } from '../../graphql/execution/run.ts';
import { provenBy } from '../../graphql/request/callers.ts';
import { eventOf } from '../../graphql/request/operation-events.ts';
import { extensionsOf, type OpenRun, type OperationRun } from '../../graphql/request/operation-run.ts';
import type { OperationsParts } from '../../graphql/request/operations-parts.ts';
import { ownRequest } from '../../graphql/request/own-requests.ts';
import { errorOf } from '../../graphql/schema/errors.ts';
import { runHooks } from '../../graphql/schema/run-hooks.ts';
import { type Bill, openBill } from '../../service/bill.ts';
import type { Caller, NotedOperation } from '../../service/caller.ts';
import { Failure } from '../../shared/errors.ts';
import { parseExactly } from '../../shared/exact-json.ts';
import { EventQueue, type LiveEvent, mergeBill, noteCalls } from './event-queue.ts';
import { asGraphql, liveErrors } from './live-errors.ts';
import type { LiveRequest, ReadOperation } from './reading.ts';

/** Changes of events that are resolved at the same time, of all subscriptions together. */
const MAX_CHANGES = 5_000;

/** Changes are counted by so many: resolving fewer takes hardly less. */
const CHANGES_PER_UNIT = 100;

/** Changes of one event for which its length is worth a look. */
const MANY_CHANGES = 1_000;

/** The bill of an operation whose calls have been noted already. */
const NO_CALLS = { calls: 0, shared: 0, cached: 0 };

/** Bounds the events that are resolved at once: when a source has run, there are some for everybody. */
export class EventWork {
  readonly #units = new Semaphore(MAX_CHANGES / CHANGES_PER_UNIT);

  /** Resolves an event once there is room for it; one that takes all of the room, alone. */
  resolve<Result>(value: unknown, work: () => Promise<Result>): Promise<Result> {
    const units = Math.ceil(Math.min(Math.max(1, changesIn(value)), MAX_CHANGES) / CHANGES_PER_UNIT);
    return this.#units.runExclusive(work, units);
  }
}

/** Returns the number of changes that an event tells of. */
function changesIn(value: unknown): number {
  const isOfFigures = typeof value === 'object' && value !== null && 'changes' in value;
  return isOfFigures && Array.isArray(value.changes) ? value.changes.length : 0;
}

/** Results as they are sent: a subscription's client reads them one after the other. */
export type LiveResults = AsyncIterableIterator<ExecutionResult> & {
  return(): Promise<IteratorResult<ExecutionResult>>;
  /** Libraries of transports end nothing that hasn't it, as generators have. */
  throw(error: unknown): Promise<never>;
};

/** What events are resolved with. */
interface EventMeans extends OperationsParts {
  readonly openRun: OpenRun;
}

interface BegunSubscription {
  readonly read: ReadOperation;
  readonly request: LiveRequest;
  readonly caller: Caller;
  readonly run: OperationRun;
  readonly events: AsyncIterator<unknown>;
  /** Called once the subscription is over. */
  readonly onEnd: () => void;
}

/**
 * The results of one subscription: an event is taken when its reader is ready for it, and its fields are resolved then.
 * No generator, since one that waits for an event can't be ended.
 */
export class EventResults implements LiveResults {
  readonly #begun: BegunSubscription;
  readonly #eventWork: EventWork;
  readonly #parts: EventMeans;
  readonly #ends = new AbortController();
  readonly #total = openBill();
  /** Calls that are on no event's bill as yet. */
  #unbilled: Bill;
  /** Errors that have ended it. */
  #errors: ReturnType<typeof liveErrors> = [];
  #isOver = false;

  constructor(begun: BegunSubscription, eventWork: EventWork, parts: EventMeans) {
    this.#begun = begun;
    this.#eventWork = eventWork;
    this.#parts = parts;
    this.#unbilled = begun.run.bill;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<ExecutionResult>> {
    const { reader, theirs } = this.#begun.request;
    await reader.ready?.();
    const result = await this.#next();
    if (result.done) return result;
    reader.onResult?.();
    return theirs === undefined ? result : { done: false, value: theirs(result.value) };
  }

  async #next(): Promise<IteratorResult<ExecutionResult>> {
    if (this.#isOver) return { done: true, value: undefined };
    const { events, request } = this.#begun;
    try {
      const { done, value } = await events.next();
      if (done || this.#isOver) return await this.return();
      const event = value as LiveEvent<unknown>;
      const result = await this.#eventWork.resolve(event.value, () => this.#resultOf(event));
      return { done: false, value: result };
    } catch (error) {
      const errors = liveErrors([asGraphql(error)], request.requestId, this.#parts.onError);
      this.#errors = errors;
      await this.return();
      return { done: false, value: { data: null, errors } };
    }
  }

  async return(): Promise<IteratorResult<ExecutionResult>> {
    if (!this.#isOver) {
      this.#isOver = true;
      this.#ends.abort();
      const { read, request, caller, run, events, onEnd } = this.#begun;
      await events.return?.();
      mergeBill(this.#total, this.#unbilled);
      if (events instanceof EventQueue) mergeBill(this.#total, events.takeBill());
      onEnd();
      const event = {
        ...eventOf(this.#total, read.operation, this.#errors),
        ...provenBy(caller),
        durationMs: this.#parts.now() - run.startedAtMs,
        requestId: request.requestId,
      };
      // Its calls have been noted at the time at which they were sent.
      const note =
        caller.note && ((operation: NotedOperation) => caller.note?.({ ...operation, ...NO_CALLS }));
      this.#parts.onOperation(event, { ...caller, note });
    }
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<never> {
    await this.return();
    throw error;
  }

  /** Resolves the fields of an event, as an operation of its own: bounded and billed like one. */
  async #resultOf(event: LiveEvent<unknown>): Promise<ExecutionResult> {
    const { read, request, caller } = this.#begun;
    const { openRun, onError, config } = this.#parts;
    const run = openRunOf(openRun, { ...request, signal: this.#ends.signal }, caller);
    const before = openBill();
    mergeBill(before, this.#unbilled);
    mergeBill(before, event.bill);
    try {
      mergeBill(run.bill, before);
      this.#unbilled = openBill();
      if (event.warning !== null)
        run.context.warnings.add({ ...event.warning, path: [rootKey(read.operation)] });
      const { data, errors = [] } = await executeEvent(read, event, run);
      mergeBill(this.#total, run.bill);
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
}

/** Resolves the fields of an event, within the work that an operation may be. */
async function executeEvent(
  { plan, variables, onError }: ReadOperation,
  event: LiveEvent<unknown>,
  { context, payer }: OperationRun,
): Promise<ExecutionResult> {
  const { effort } = context;
  try {
    const { data, errors } = await runPlan({
      plan,
      variables,
      context,
      rootValue: event,
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

/** @throws Failure if an event is longer than the gateway sends at once */
function checkLength({ value }: LiveEvent<unknown>, result: ExecutionResult, limit: number): void {
  if (changesIn(value) <= MANY_CHANGES || Buffer.byteLength(JSON.stringify(result)) <= limit) return;
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

/** Returns the name in the result of the one field that a subscription has. */
function rootKey({ selectionSet }: OperationDefinitionNode): string {
  const [field] = selectionSet.selections;
  return field?.kind === 'Field' ? (field.alias ?? field.name).value : 'data';
}
