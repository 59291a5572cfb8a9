import { Semaphore } from 'async-mutex';
import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLErrorOptions,
  getOperationAST,
  getVariableValues,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import type { ErrorBehavior } from '../../graphql/execution/columns.ts';
import { type Plan, planOperation } from '../../graphql/execution/plan.ts';
import { runPlan } from '../../graphql/execution/run.ts';
import type { Admission } from '../../graphql/request/admission.ts';
import { inputRefusal, limitRules, unknownOnError, unlisted } from '../../graphql/request/documents.ts';
import {
  errorBehaviorOf,
  type GatewayRequest,
  isDeepOperation,
  provenBy,
  toldErrors,
  UNPROVEN,
} from '../../graphql/request/messages.ts';
import {
  eventOf,
  extensionsOf,
  type OpenRun,
  type OperationRun,
  type OperationsParts,
} from '../../graphql/request/run.ts';
import { formatError } from '../../graphql/schema/errors.ts';
import type { Tenant } from '../../keys/tenant.ts';
import { type Bill, openBill } from '../../service/bill.ts';
import type { Caller, NotedOperation } from '../../service/caller.ts';
import { Flow, yieldToEventLoop } from '../../shared/async/turns.ts';
import { Failure } from '../../shared/errors.ts';
import { isDeep, TOO_DEEP } from '../../shared/exact-json.ts';
import { createFeeds } from './feed.ts';
import { Inbox, type LiveEvent, type LiveParts, mergeBill, noteCalls } from './inbox.ts';

/** Subscriptions of one key that begin at the same time; the others wait. */
const MAX_BEGINNING = 16;

/**
 * Subscriptions that have begun under keys which the service has not accepted lately, all of these keys together:
 * while it fails, nobody knows which of them are made up.
 */
const MAX_UNPROVEN = 1_000;

/**
 * Characters of subscriptions that wait to be read under such keys, all of these keys together, and the characters that
 * each counts as at the least.
 */
const MAX_UNREAD = 4 * 1024 * 1024;
const LEAST_UNREAD = 1_000;

/** Subscriptions under such keys that are read at the same time: operations under such keys wait behind them. */
const MAX_READING = 2;

/** Changes of events that are resolved at the same time, of all subscriptions together. */
const MAX_CHANGES = 5_000;

/** Changes are counted by so many: resolving fewer takes hardly less. */
const CHANGES_PER_UNIT = 100;

interface KeySubscriptions {
  readonly isProven: () => boolean;
  count: number;
  /** Those of each of its visitors, if it has several. */
  readonly byVisitor: Map<string, number>;
  /** Number of them that have begun. */
  begun: number;
  readonly beginning: Semaphore;
  beginners: number;
  /** Place that those which begin have among operations; null while none does. */
  admitted: { readonly caller: Caller; readonly refusal: ReturnType<Admission['enter']> } | null;
}

type Admitting = Pick<Admission, 'enter' | 'leave'>;

/**
 * Bounds the subscriptions of a key, those that are about to begin among them. All of a key that begin at the same time
 * are one operation under way to the gateway, since one feed does the work for all of them: so the subscriptions of a
 * gateway that is gone can come to another one at once.
 */
export class SubscriptionPlaces {
  readonly #limit: number;
  readonly #admission: Admitting;
  /** Subscriptions by key; under a held one, by the budget of each issued key. */
  readonly #taken = new Map<Tenant | string, KeySubscriptions>();
  /** Number of those that have begun, of all keys. */
  #begun = 0;
  /** Characters of those that wait to be read under keys without proof. */
  #unread = 0;
  readonly #reading = new Semaphore(MAX_READING);

  constructor(limit: number, admission: Admitting) {
    this.#limit = limit;
    this.#admission = admission;
  }

  /**
   * Takes the place of one subscription.
   * @param lengthOf returns the characters of its text and variables
   * @throws Failure if the key has as many as it may, or all that may be made up have
   */
  take(caller: Caller, lengthOf = () => 0) {
    const { tenant } = caller;
    const whose = caller.purse?.name ?? tenant;
    const taken = this.#taken.get(whose) ?? {
      isProven: () => tenant.isProven,
      count: 0,
      byVisitor: new Map(),
      begun: 0,
      beginning: new Semaphore(MAX_BEGINNING),
      beginners: 0,
      admitted: null,
    };
    if (taken.count >= this.#limit) throw tooMany(taken.count + 1, this.#limit);
    const noteOfVisitor = placeOfVisitor(taken, caller.visitor, this.#limit);
    if (!tenant.isProven && this.#begunUnproven() >= MAX_UNPROVEN) throw overloaded();
    const isUnproven = caller.flow === UNPROVEN;
    let unread = isUnproven ? LEAST_UNREAD + lengthOf() : 0;
    if (isUnproven && this.#unread + unread > MAX_UNREAD) throw overloaded();
    this.#unread += unread;
    const noteRead = () => {
      this.#unread -= unread;
      unread = 0;
    };
    taken.count += 1;
    noteOfVisitor(1);
    tenant.underWay += 1;
    this.#taken.set(whose, taken);
    const reading = this.#reading;
    let isGiven = false;
    let begun = 0;
    return {
      /**
       * Does the work of beginning it, once few enough others of the key are at that.
       * @throws Failure if the gateway is overloaded
       */
      begin: <Result>(work: () => Promise<Result>): Promise<Result> =>
        taken.beginning.runExclusive(async () => {
          const result = await this.#admitted(taken, caller, work);
          if (isGiven) return result;
          begun = 1;
          this.#note(taken, begun);
          return result;
        }),
      /** Reads it in a slice of its own: anybody may send many, and each may take milliseconds. */
      async read<Result>(work: () => Result): Promise<Result> {
        const inTurn = () => yieldToEventLoop(caller).then(work);
        try {
          return await (isUnproven ? reading.runExclusive(inTurn) : inTurn());
        } finally {
          noteRead();
        }
      },
      /** Frees the place: called once the subscription has failed to begin, or is over. */
      giveBack: () => {
        if (isGiven) return;
        isGiven = true;
        noteRead();
        this.#note(taken, -begun);
        taken.count -= 1;
        noteOfVisitor(-1);
        tenant.underWay -= 1;
        if (taken.count === 0) this.#taken.delete(whose);
      },
    };
  }

  #note(taken: KeySubscriptions, begun: number): void {
    taken.begun += begun;
    this.#begun += begun;
  }

  #begunUnproven(): number {
    // Fewer than so many in all: nothing to look for.
    if (this.#begun < MAX_UNPROVEN) return 0;
    let count = 0;
    for (const { isProven, begun } of this.#taken.values()) if (!isProven()) count += begun;
    return count;
  }

  async #admitted<Result>(
    taken: KeySubscriptions,
    caller: Caller,
    work: () => Promise<Result>,
  ): Promise<Result> {
    // It isn't given up with the client that it was taken for, since others wait for it too.
    taken.admitted ??= {
      caller,
      refusal: this.#admission.enter(caller, { signal: new AbortController().signal }),
    };
    const { admitted } = taken;
    taken.beginners += 1;
    try {
      if ((await admitted.refusal) !== null) throw overloaded();
      return await work();
    } finally {
      taken.beginners -= 1;
      if (taken.beginners === 0) {
        taken.admitted = null;
        if ((await admitted.refusal) === null) this.#admission.leave(admitted.caller);
      }
    }
  }
}

/** Share of a key's subscriptions that one of its visitors may have. */
const VISITOR_SHARE = 1 / 4;

/**
 * Looks for a place for one more subscription of a visitor.
 * @returns a function that adds to the number of the visitor's subscriptions
 * @throws Failure if the visitor has its share of them
 */
function placeOfVisitor(
  { byVisitor }: KeySubscriptions,
  visitor: Caller['visitor'],
  limit: number,
): (added: number) => void {
  if (visitor === undefined) return () => {};
  const { name, perMinute } = visitor;
  const share = Math.max(1, Math.min(Math.floor(limit * VISITOR_SHARE), perMinute ?? limit));
  const count = () => byVisitor.get(name) ?? 0;
  if (count() >= share) {
    const message = `One visitor may have ${share} subscriptions by this key at once. End one first, or ask for more in one.`;
    throw new Failure('OPERATION_TOO_EXPENSIVE', message, { planned: count() + 1, limit: share });
  }
  return (added) => {
    const left = count() + added;
    if (left > 0) byVisitor.set(name, left);
    else byVisitor.delete(name);
  };
}

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

function tooMany(planned: number, limit: number): Failure {
  const message = `There are ${limit} subscriptions under this key already, which is as many as one may have here (MAX_SUBSCRIPTIONS). End one first, or ask for more in one.`;
  return new Failure('OPERATION_TOO_EXPENSIVE', message, { planned, limit });
}

function overloaded(): Failure {
  return new Failure('OVERLOADED', 'The gateway is overloaded. Nothing was run; ask again a little later.', {
    retryAfterSeconds: 2,
  });
}

/** One operation that came by a transport of subscriptions. */
type LiveRequest = {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  readonly onError?: unknown;
  readonly requestId: string;
  /** Aborts when the client leaves before the subscription has begun. */
  readonly signal: AbortSignal;
};

type EnteredSubscriber = {
  readonly caller: Caller;
  /** Has a listener called if the key works no more; returns a function that ends that. Left out if the service says so. */
  readonly watch?: ((onEnd: (failure: Failure) => void) => () => void) | undefined;
};

/** Results as they are sent: a subscription's client reads them one after the other. */
export type LiveResults = AsyncIterableIterator<ExecutionResult> & {
  return(): Promise<IteratorResult<ExecutionResult>>;
};

/** A subscription that has begun, or the errors for which none has. */
type Opened =
  | { readonly args: SubscriptionArgs; readonly results: LiveResults }
  | { readonly errors: readonly GraphQLError[] };

type SubscriptionArgs = Pick<ExecutionArgs, 'schema' | 'document' | 'operationName' | 'variableValues'>;

export type Subscriptions = ReturnType<typeof openSubscriptions>;

interface LiveMeans extends OperationsParts {
  readonly feedParts: LiveParts;
  readonly openRun: OpenRun;
  readonly admission: Admission;
}

/** The bill of an operation whose calls have been noted already. */
const NO_CALLS = { calls: 0, shared: 0, cached: 0 };

/** Changes of one event for which its length is worth a look. */
const MANY_CHANGES = 1_000;

/** Opens subscriptions and their feeds. Only loaded if they are on. */
export function openSubscriptions(parts: LiveMeans) {
  const { config, admission, openRun, onFault } = parts;
  const feeds = createFeeds(parts.feedParts, onFault);
  const rules = [...specifiedRules, ...limitRules(config)];
  const places = new SubscriptionPlaces(config.maxSubscriptions, admission);
  const eventWork = new EventWork();
  /** Looks at texts of which nobody knows as yet who may run them. */
  const looks = new Flow();
  let openCount = 0;

  async function begin(
    read: ReadOperation,
    request: LiveRequest,
    { caller, watch }: EnteredSubscriber,
    onEnd: () => void,
  ): Promise<Opened> {
    const run = openRunOf(openRun, request, caller);
    try {
      const contextValue = { ...run.context, isByGraphqlJs: true, live: feeds.of(caller) };
      const stream = await createSourceEventStream({ ...read.args, contextValue });
      if (!(Symbol.asyncIterator in stream)) return { errors: stream.errors ?? [] };
      const events: AsyncIterable<unknown> = stream;
      openCount += 1;
      const unwatch = watch?.((failure) => {
        if (stream instanceof Inbox) stream.fail(failure);
      });
      const end = () => {
        openCount -= 1;
        unwatch?.();
        onEnd();
      };
      const begun = { read, request, caller, run, events: events[Symbol.asyncIterator](), onEnd: end };
      return { args: read.args, results: new EventResults(begun, eventWork, parts) };
    } finally {
      noteCalls(caller, run.bill);
      run.deadline.stop();
      run.participant.leave();
    }
  }

  async function take(request: LiveRequest, entering: Promise<EnteredSubscriber>): Promise<Opened> {
    const { caller, watch } = await entering;
    if (isDeep(request.variables)) return refused('BAD_REQUEST', TOO_DEEP);
    const place = places.take(caller, () => lengthOf(request));
    let isBegun = false;
    try {
      const opened = await place.begin(async () => {
        const read = await place.read(() => readOperation(request, rules, parts));
        if ('errors' in read) return read;
        return begin(read, request, { caller: named(caller, read.operation), watch }, place.giveBack);
      });
      isBegun = 'results' in opened;
      return opened;
    } finally {
      if (!isBegun) place.giveBack();
    }
  }

  return {
    /**
     * Begins a subscription; an error that keeps it from beginning is told, never thrown.
     * @param entering rejected with the reason for which its caller may not subscribe
     */
    async open(request: LiveRequest, entering: Promise<EnteredSubscriber>): Promise<Opened> {
      const opened = await take(request, entering).catch((error: unknown) => ({
        errors: [asGraphql(error)],
      }));
      return 'results' in opened ? opened : { errors: told(opened.errors, request.requestId, onFault) };
    },
    /**
     * Tells if a text that was sent has a subscription of the name, or as its only operation: at once if it can't have
     * one, else in a turn of its own.
     */
    isSubscription(query: unknown, name: unknown): false | Promise<boolean> {
      if (typeof query !== 'string' || !/\bsubscription\b/.test(query)) return false;
      return yieldToEventLoop({ flow: looks }).then(() => isSubscription(query, name, config.maxTokens));
    },
    /** Returns the number of open subscriptions. */
    count: () => openCount,
    stop: feeds.stop,
  };
}

function isSubscription(query: string, operationName: unknown, maxTokens: number): boolean {
  try {
    const name = typeof operationName === 'string' ? operationName : null;
    return getOperationAST(parse(query, { maxTokens }), name)?.operation === 'subscription';
  } catch {
    return false;
  }
}

/** Has the calls of a caller noted by the name of an operation, if somebody counts. */
function named(caller: Caller, { name }: OperationDefinitionNode): Caller {
  const { note } = caller;
  if (note === undefined) return caller;
  return { ...caller, note: (operation) => note({ ...operation, name: name?.value ?? null }) };
}

interface ReadOperation {
  readonly operation: OperationDefinitionNode;
  readonly args: SubscriptionArgs;
  readonly onError: ErrorBehavior;
  /** The plan of its events; null if graphql-js executes them. */
  readonly plan: Plan | null;
  /** Coerced. */
  readonly variables: Readonly<Record<string, unknown>>;
}

function lengthOf({ query, variables }: LiveRequest): number {
  return query.length + (variables == null ? 0 : JSON.stringify(variables).length);
}

/** Reads an operation, and checks all of it that takes no call. */
function readOperation(
  { query, operationName, variables, onError: asked, signal }: LiveRequest,
  rules: Parameters<typeof validate>[2],
  { config, schema, persisted }: LiveMeans,
): ReadOperation | { readonly errors: readonly GraphQLError[] } {
  if (signal.aborted) return refused('BAD_REQUEST', 'The client has left.');
  if (!persisted.allows(query)) return refusedAs(unlisted());
  const onError = errorBehaviorOf(asked);
  if (onError === undefined) return refusedAs(unknownOnError());
  if (isDeepOperation(query)) return refused('BAD_REQUEST', TOO_DEEP);
  let document: DocumentNode;
  try {
    document = parse(query, { maxTokens: config.maxTokens });
  } catch (error) {
    return { errors: [withCode(error, 'GRAPHQL_PARSE_FAILED')] };
  }
  const faults = validate(schema, document, rules);
  if (faults.length > 0) {
    return {
      errors: faults.map((fault) => withCode(fault, 'GRAPHQL_VALIDATION_FAILED', config.introspection)),
    };
  }
  const operation = getOperationAST(document, operationName);
  if (operation == null)
    return refused(
      'OPERATION_RESOLUTION_FAILURE',
      'The request names no operation, or one that is not there.',
    );
  if (operation.operation !== 'subscription')
    return refused(
      'BAD_REQUEST',
      `Only subscriptions are taken here. Send a ${operation.operation} to /graphql by POST.`,
    );
  const tooLong = inputRefusal(operation, variables ?? {}, config.maxListItems);
  if (tooLong !== null) return { errors: [tooLong] };
  const { errors, coerced = {} } = getVariableValues(
    schema,
    operation.variableDefinitions ?? [],
    variables ?? {},
  );
  if (errors !== undefined) return { errors: errors.map((error) => withCode(error, 'BAD_USER_INPUT')) };
  return {
    operation,
    onError,
    plan: onError === 'PROPAGATE' ? null : planOperation(schema, document, operation, coerced),
    variables: coerced,
    args: { schema, document, operationName: operationName ?? null, variableValues: variables ?? {} },
  };
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
class EventResults implements LiveResults {
  readonly #begun: BegunSubscription;
  readonly #eventWork: EventWork;
  readonly #parts: LiveMeans;
  readonly #ends = new AbortController();
  readonly #total = openBill();
  /** Calls that are on no event's bill as yet. */
  #unbilled: Bill;
  /** Errors that have ended it. */
  #errors: ReturnType<typeof told> = [];
  #isOver = false;

  constructor(begun: BegunSubscription, eventWork: EventWork, parts: LiveMeans) {
    this.#begun = begun;
    this.#eventWork = eventWork;
    this.#parts = parts;
    this.#unbilled = begun.run.bill;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<ExecutionResult>> {
    if (this.#isOver) return { done: true, value: undefined };
    const { events, request } = this.#begun;
    try {
      const { done, value } = await events.next();
      if (done || this.#isOver) return await this.return();
      const event = value as LiveEvent<unknown>;
      const result = await this.#eventWork.resolve(event.value, () => this.#resultOf(event));
      return { done: false, value: result };
    } catch (error) {
      const errors = told([asGraphql(error)], request.requestId, this.#parts.onFault);
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
      if (events instanceof Inbox) mergeBill(this.#total, events.takeBill());
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

  /** Resolves the fields of an event, as an operation of its own: bounded and billed like one. */
  async #resultOf(event: LiveEvent<unknown>): Promise<ExecutionResult> {
    const { read, request, caller } = this.#begun;
    const { openRun, onFault, config } = this.#parts;
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
        ...(errors.length === 0 ? {} : { errors: told(errors, request.requestId, onFault) }),
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

/** Resolves the fields of an event. An error that isn't to propagate is one for our own executor. */
async function executeEvent(
  { args, onError, plan, variables }: ReadOperation,
  event: LiveEvent<unknown>,
  { context, payer }: OperationRun,
): Promise<ExecutionResult> {
  if (plan === null)
    return execute({ ...args, rootValue: event, contextValue: { ...context, isByGraphqlJs: true } });
  const { data, errors } = await runPlan({
    plan,
    variables,
    context,
    rootValue: event,
    job: context.caller,
    onPause: context.batchGate.closeDuring,
    errorBehavior: onError,
    onHalt: payer.close,
  });
  return { data: JSON.parse(data.join('')), errors };
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

function openRunOf(
  openRun: OpenRun,
  { query, variables, requestId, signal }: LiveRequest,
  caller: Caller,
): OperationRun {
  const request: GatewayRequest = {
    method: 'POST',
    headers: {},
    search: '',
    body: { query, variables },
    requestId,
    signal,
  };
  return openRun(request, caller);
}

/** Returns the name in the result of the one field that a subscription has. */
function rootKey({ selectionSet }: OperationDefinitionNode): string {
  const [field] = selectionSet.selections;
  return field?.kind === 'Field' ? (field.alias ?? field.name).value : 'data';
}

/** Makes errors as they are told, as objects that the libraries of the transports know. */
function told(
  errors: readonly GraphQLError[],
  requestId: string,
  onFault: LiveMeans['onFault'],
): readonly GraphQLError[] {
  const formatted = errors.map((error) =>
    formatError(error.toJSON(), error, (fault) => onFault(fault, 'subscription', requestId)),
  );
  return toldErrors(formatted, requestId).map(({ message, path, extensions }, i) =>
    reworded(errors[i], message, { path: path ?? null, extensions: extensions ?? null }),
  );
}

/** Makes an error at the same place of a document. */
function reworded(
  error: GraphQLError | undefined,
  message: string,
  options: GraphQLErrorOptions,
): GraphQLError {
  const { nodes = null, source = null, positions = null } = error ?? {};
  return new GraphQLError(message, { nodes, source, positions, ...options });
}

function asGraphql(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  const originalError = error instanceof Error ? error : new Error(String(error));
  return new GraphQLError(originalError.message, { originalError });
}

/** Makes an error of a document, with its code, and without its suggestions if the schema is not told. */
function withCode(error: unknown, code: string, tellsSchema = true): GraphQLError {
  const known = asGraphql(error);
  if (known.originalError instanceof Failure) return known;
  const { message } = known;
  const text = tellsSchema ? message : message.replace(/ ?Did you mean(.+?)\?$/, '');
  return reworded(known, text, { extensions: { code } });
}

const refusedAs = ({ code, message }: Failure) => refused(code, message);

function refused(code: string, message: string): { readonly errors: readonly GraphQLError[] } {
  return { errors: [new GraphQLError(message, { extensions: { code } })] };
}
