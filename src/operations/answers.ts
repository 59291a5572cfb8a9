import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { Cancellation, type CancelSignal } from '../async/cancellation.ts';
import { mapValue, type PromiseOrValue } from '../async/turns.ts';
import { byteLengthOf, type TextPieces } from '../execution/columns.ts';
import type { Bill } from '../service/call.ts';
import { type Lookups, type Shrinkable, shrinkTo, TransientMap } from '../store/lru.ts';
import type { Tenant } from '../tenants/tenant.ts';
import type { TenantCache } from '../tenants/tenant-cache.ts';
import type { FieldTraces } from '../wings/federation/field-traces.ts';
import { mayReadSchema, readsSchemaAlone } from './documents.ts';
import { ChangedRequest, type GatewayRequest, type OperationParams, provenBy } from './requests.ts';
import {
  dataIn,
  type Extensions,
  entityTag,
  type GatewayResponse,
  tagged,
  toldErrors,
  writeBody,
} from './responses.ts';
import {
  describeOperation,
  eventOf,
  extensionsOf,
  type Handle,
  type Incoming,
  isLasting,
  type OperationEvent,
  type OperationRun,
  type PlainRequest,
  type RanOperation,
  rounded,
  secondsUntil,
  setHeaders,
  setRunHeaders,
  shown,
  type WrittenAnswer,
} from './run.ts';

/** Waiters that go on at once. Each further group is twice as large as the one before, up to the largest. */
const FIRST_GROUP = 2;
const LARGEST_GROUP = 64;

/**
 * Lets many who wait for the same thing go on in groups, as they came, with iterations of the event loop in between:
 * work that follows from the first ones isn't kept waiting by all the others, nor is anybody else.
 */
export class InGroups {
  #size = FIRST_GROUP;
  #placesLeft = FIRST_GROUP;
  #turn: Promise<void> | undefined;

  /**
   * Gives each waiter its turn, once the thing that it waits for is there.
   * @returns a promise that resolves when its group goes on; undefined for those that go on at once
   */
  next(): Promise<void> | undefined {
    if (this.#placesLeft === 0) {
      this.#size = Math.min(2 * this.#size, LARGEST_GROUP);
      this.#placesLeft = this.#size;
      this.#turn = (this.#turn ?? setImmediate()).then(pause);
    }
    this.#placesLeft -= 1;
    return this.#turn;
  }
}

/** Waits two iterations: in the first, sockets are read; data written after that waits for its end. */
function pause(): Promise<void> {
  return setImmediate().then(() => setImmediate());
}

/** An answer that took no call, as bytes. It answers the same question again, as long as all of it is fresh. */
interface StoredAnswer {
  readonly body: Buffer;
  /** See {@link entityTag}. */
  readonly tag: () => string;
  /** Compressed forms of the body by their `Content-Encoding`, once somebody has asked for them. */
  readonly encoded: Map<string, Promise<Buffer>>;
  /** Milliseconds since the epoch until which all of it is known to hold; 0 if that isn't known, or it isn't whole. */
  readonly freshUntilMs: number;
  readonly event: Omit<OperationEvent, 'durationMs' | 'requestId'>;
}

/** The question that an answer belongs to. */
interface Question extends Omit<OperationParams, 'isPersisted'> {
  readonly tenant: Tenant;
}

/** Names a question: two questions of one name ask for the same thing. */
function questionName({ tenant, operationName, text, variables }: Question): string {
  return `${tenant.digest}\n${operationName ?? ''}\n${JSON.stringify(variables)}\n${text}`;
}

interface ResponseCache extends Shrinkable {
  /** Returns the answer that still holds; at once, if nobody else can know more of the key. */
  find(question: Question): PromiseOrValue<StoredAnswer | null>;
  /**
   * @param answer with `data` as it stands in the body, and `isWhole` if it lacks nothing
   * @param freshUntilMs when the first of all entries that were read for it is past its time, in milliseconds since the
   * epoch
   * @param generation of the entries that were held for the key before anything was read
   */
  keep(
    question: Question,
    answer: {
      readonly body: string | Buffer;
      readonly data: TextPieces;
      readonly event: StoredAnswer['event'];
      readonly isWhole: boolean;
    },
    freshUntilMs: number,
    generation: number,
  ): void;
}

interface ResponseCacheParts {
  readonly tenantCache: TenantCache;
  readonly maxBytes: number;
  readonly now: () => number;
}

interface KeptAnswer {
  readonly answer: StoredAnswer;
  readonly freshUntilMs: number;
  /**
   * Generation of the entries that were held for the key when the answer was made: once a newer one is, the answer may
   * be another.
   */
  readonly generation: number;
}

/** Share of the body that compressed forms take; below it, the bytes of an entry beside its body and its question. */
const ENCODED_SHARE = 0.5;

const OVERHEAD_BYTES = 1_000;

/** Keeps answers that are made of held ones alone, ahead of every stage that would make them again. */
export function createResponseCache({ tenantCache, maxBytes, now }: ResponseCacheParts): ResponseCache {
  if (maxBytes === 0) return NO_ANSWERS;
  const entries = new LRUCache<string, KeptAnswer>({
    maxSize: maxBytes,
    sizeCalculation: ({ answer: { body } }, name) =>
      OVERHEAD_BYTES + 2 * name.length + Math.ceil(body.length * (1 + ENCODED_SHARE)),
  });

  function holding(name: string, { tenant }: Question): StoredAnswer | null {
    const entry = entries.get(name);
    if (entry === undefined) return null;
    if (entry.freshUntilMs <= now() || entry.generation !== tenantCache.generation(tenant)) {
      entries.delete(name);
      return null;
    }
    return tenantCache.isAccepted(tenant) ? entry.answer : null;
  }

  return {
    find(question) {
      const name = questionName(question);
      const answer = holding(name, question);
      if (answer === null || tenantCache.isAtHand) return answer;
      return tenantCache.lookUp(question.tenant).then(() => holding(name, question));
    },
    keep(question, { body, data, event, isWhole }, freshUntilMs, generation) {
      // It would never be found again, but take the place of one that is: a public answer serves any key.
      if (!tenantCache.isAccepted(question.tenant)) return;
      const dataBytes = byteLengthOf(data);
      const answer = storedAnswer(
        body,
        (bytes) => dataIn(bytes, dataBytes),
        event,
        isWhole ? freshUntilMs : 0,
      );
      entries.set(questionName(question), { answer, freshUntilMs, generation });
    },
    shrink: (share) => shrinkTo(entries, share),
  };
}

/** @param dataOf the bytes of the body that name the answer */
function storedAnswer(
  written: string | Buffer,
  dataOf: (body: Buffer) => Buffer,
  event: StoredAnswer['event'],
  freshUntilMs = 0,
): StoredAnswer {
  const body = typeof written === 'string' ? Buffer.from(written) : written;
  let tag: string | undefined;
  return {
    body,
    tag() {
      tag ??= entityTag(dataOf(body));
      return tag;
    },
    encoded: new Map(),
    freshUntilMs,
    event,
  };
}

const NO_ANSWERS: ResponseCache = { find: () => null, keep() {}, shrink() {} };

/** Answers to questions about the schema: the same for every key, for as long as the program runs. */
interface SchemaAnswers {
  find(params: OperationParams): StoredAnswer | null;
  keep(params: OperationParams, body: string | Buffer, event: StoredAnswer['event']): void;
}

/** The introspection of all of the schema takes some 100 KB. */
const MAX_BYTES = 4 * 1024 * 1024;

export function createSchemaAnswers(maxBytes: number): SchemaAnswers {
  if (maxBytes === 0) return { find: () => null, keep() {} };
  const entries = new LRUCache<string, StoredAnswer>({
    maxSize: Math.min(maxBytes, MAX_BYTES),
    sizeCalculation: ({ body }, name) =>
      OVERHEAD_BYTES + 2 * name.length + Math.ceil(body.length * (1 + ENCODED_SHARE)),
  });
  const nameOf = ({ text, operationName, variables }: OperationParams) =>
    `${operationName ?? ''}\n${JSON.stringify(variables)}\n${text}`;
  return {
    find: (params) => entries.get(nameOf(params)) ?? null,
    keep(params, body, event) {
      entries.set(
        nameOf(params),
        storedAnswer(body, (bytes) => bytes, event),
      );
    },
  };
}

interface RepeatedParts {
  readonly responseCache: ResponseCache;
  readonly schemaAnswers: SchemaAnswers;
  readonly fieldTraces: Pick<FieldTraces, 'areWanted'>;
  readonly now: () => number;
  readonly steadyNow: () => number;
  readonly onOperation: (event: OperationEvent) => void;
  /** Counts hits and misses among the answers that are kept. */
  readonly lookups: Lookups;
}

/** Repeats an earlier answer as long as it holds; leaves the rest to the next stage. */
export function repeated(next: Handle, parts: RepeatedParts): Handle {
  const { responseCache, schemaAnswers, fieldTraces, now, steadyNow, onOperation, lookups } = parts;
  return (incoming) => {
    const { request, caller, plain } = incoming;
    if (plain === null || fieldTraces.areWanted(request)) return next(incoming);
    const { params, contentType } = plain;
    const startedAtMs = now();
    const ofSchema = mayReadSchema(params.text) ? schemaAnswers.find(params) : null;
    const lookingSinceMs = performance.now();
    const stored = ofSchema ?? responseCache.find({ ...params, tenant: caller.tenant });
    return mapValue(stored, (answer) => {
      if (answer === null) {
        lookups.misses += 1;
        return next(incoming);
      }
      lookups.hits += 1;
      if (incoming.trace !== undefined) describeOperation(incoming.trace, answer.event);
      const { body, tag, encoded, event, freshUntilMs } = answer;
      const headers = new Map([['content-type', contentType]]);
      setHeaders(headers, {
        status: 200,
        errors: [],
        nowMs: startedAtMs,
        maxAgeSeconds: secondsUntil(freshUntilMs, steadyNow()),
        timing: `upstream;dur=0, cache;dur=${rounded(performance.now() - lookingSinceMs)}`,
      });
      onOperation({ ...event, durationMs: now() - startedAtMs, requestId: request.requestId });
      return tagged(request, params.isPersisted, { status: 200, headers, body, encoded }, [], tag);
    });
  };
}

/** Keeps answers for the next time that the same is asked. */
export interface AnswerKeeping {
  /** Keeps the answer of a run if it holds for a while. */
  keep(params: OperationParams, answer: WrittenAnswer, run: OperationRun): void;
}

export function createAnswerKeeping({
  responseCache,
  schemaAnswers,
}: Pick<RepeatedParts, 'responseCache' | 'schemaAnswers'>): AnswerKeeping {
  return {
    keep(params, { body, data, operation }, run) {
      const { bill, errors, fieldTrace } = run;
      if (readsSchemaAlone(operation) && errors?.length === 0 && fieldTrace === null)
        schemaAnswers.keep(params, body, { ...eventOf(bill, operation, []), name: null, repeated: true });
      if (!isLasting(run)) return;
      const event = { ...eventOf(run.bill, operation, []), ...provenBy(run.context.caller), repeated: true };
      const question = { ...params, tenant: run.context.caller.tenant };
      const isWhole = run.context.warnings.told() === undefined;
      responseCache.keep(question, { body, data, event, isWhole }, run.freshUntilMs, run.generation);
    },
  };
}

interface CoalescedParts extends Pick<RepeatedParts, 'fieldTraces' | 'now' | 'steadyNow' | 'onOperation'> {
  readonly operationTimeoutMs: number;
}

/**
 * Share of the time limit for which a run can be joined: its deadline may be that much earlier than the joiner's own.
 */
const JOINED_SHARE = 0.01;

/**
 * Milliseconds after which requests that have waited for a run are answered in groups. The first of them to ask again
 * begin the next run, and the others still find it under way. A shorter run would be over, and be paid for again.
 */
const GROUPED_MS = 20;

/**
 * Runs equal operations of one key once while they are in flight. The first of them pays, the others have its answers
 * as shared ones. The run is given up when the last one that waits for it has left.
 */
export function coalesced(
  next: (incoming: Incoming) => Promise<RanOperation>,
  parts: CoalescedParts,
): Handle {
  const { operationTimeoutMs, fieldTraces, steadyNow } = parts;
  const joinedMs = operationTimeoutMs * JOINED_SHARE;
  const inFlight = new TransientMap<SharedRun>();

  async function begin(name: string, incoming: Incoming): Promise<GatewayResponse> {
    const shared = new SharedRun(steadyNow(), () => {
      if (inFlight.get(name) === shared) inFlight.delete(name);
    });
    shared.add(incoming.request);
    inFlight.set(name, shared);
    shared.ran = next({ ...incoming, request: new SharedRequest(incoming.request, shared) });
    try {
      return (await shared.ran).response;
    } finally {
      shared.close();
    }
  }

  async function join(shared: SharedRun, plain: PlainRequest, incoming: Incoming): Promise<GatewayResponse> {
    const startedAtMs = parts.now();
    shared.add(incoming.request);
    const { run } = await shared.ran;
    if (steadyNow() - shared.sinceMs >= GROUPED_MS) await shared.groups.next();
    const answer = shared.answer(run);
    // An answer that no plan has written is Apollo's answer to one request.
    if (answer === null) return runAlone(incoming);
    return answerAlike(answer, { incoming, plain, startedAtMs }, run, parts);
  }

  async function runAlone(incoming: Incoming): Promise<GatewayResponse> {
    return (await next(incoming)).response;
  }

  return (incoming) => {
    const { request, caller, plain, delivery } = incoming;
    if (plain === null || delivery !== null || fieldTraces.areWanted(request)) return runAlone(incoming);
    const question = questionName({ ...plain.params, tenant: caller.tenant });
    const name = `${request.headers.accept ?? ''}\n${question}`;
    const shared = inFlight.get(name);
    const isJoined = shared !== undefined && steadyNow() - shared.sinceMs < joinedMs;
    return isJoined ? join(shared, plain, incoming) : begin(name, incoming);
  };
}

/** The answer to all requests that have joined a run. */
interface SharedAnswer extends WrittenAnswer {
  readonly extensions: Extensions;
  readonly errors: NonNullable<OperationRun['errors']>;
  readonly event: StoredAnswer['event'];
  /** The stored answer for all of them; null if it tells errors, since each error names its own request. */
  readonly stored: StoredAnswer | null;
}

/** A run that several requests may wait for. */
class SharedRun {
  /** The time at which it began, in milliseconds. */
  readonly sinceMs: number;
  ran!: Promise<RanOperation>;
  /** Closes it: from now on nobody can join. */
  readonly close: () => void;
  /** The groups in which requests that have joined are answered. */
  readonly groups = new InGroups();
  readonly #waiting: GatewayRequest[] = [];
  #left = 0;
  #ends: Cancellation | undefined;
  #answer: SharedAnswer | null = null;

  constructor(sinceMs: number, close: () => void) {
    this.sinceMs = sinceMs;
    this.close = close;
  }

  add(request: GatewayRequest): void {
    this.#waiting.push(request);
    if (this.#ends !== undefined) this.#listenTo(request, this.#ends);
  }

  /** Aborts when all requests have left. Made only if somebody listens. */
  get signal(): CancelSignal {
    if (this.#ends === undefined) {
      this.#ends = new Cancellation();
      for (const request of this.#waiting) this.#listenTo(request, this.#ends);
    }
    return this.#ends;
  }

  #listenTo({ signal }: GatewayRequest, ends: Cancellation): void {
    const onLeave = () => {
      this.#left += 1;
      if (this.#left < this.#waiting.length) return;
      this.close();
      ends.abort(signal.reason);
    };
    if (signal.aborted) onLeave();
    else signal.addEventListener('abort', onLeave, { once: true });
  }

  /** Returns null if no plan has written it. */
  answer(run: OperationRun): SharedAnswer | null {
    this.#answer ??= sharedAnswer(run);
    return this.#answer;
  }
}

/** A request as its run sees it: given up when nobody waits for the run any more. */
class SharedRequest extends ChangedRequest {
  readonly #shared: SharedRun;

  constructor(request: GatewayRequest, shared: SharedRun) {
    super(request, {});
    this.#shared = shared;
  }

  override get signal(): CancelSignal {
    return this.#shared.signal;
  }
}

function sharedAnswer(run: OperationRun): SharedAnswer | null {
  const { written, errors } = run;
  if (written === null || errors === null) return null;
  const extensions = { ...extensionsOf(run), upstream: sharedBill(run.bill) };
  const { data, operation } = written;
  const event = { ...eventOf(extensions.upstream, operation, errors), ...provenBy(run.context.caller) };
  if (errors.length > 0) return { ...written, errors, extensions, event, stored: null };
  const stored = storedAnswer(writeBody(data, [], extensions), () => Buffer.from(data.join('')), event);
  return { ...written, errors, extensions, event, stored };
}

/** Makes the bill of a request that has joined: it has sent nothing, and shares the calls of the run. */
function sharedBill(bill: Bill): Bill {
  return { ...shown(bill), calls: 0, byRoute: {}, shared: bill.shared + bill.calls };
}

/** One request that has joined a run. */
interface Joined {
  readonly incoming: Incoming;
  readonly plain: PlainRequest;
  /** The time at which it came, in milliseconds. */
  readonly startedAtMs: number;
}

/** Answers a request that has joined a run, and reports its event. */
function answerAlike(
  { status, data, errors, extensions, event, stored }: SharedAnswer,
  { incoming: { request, trace }, plain, startedAtMs }: Joined,
  run: OperationRun,
  parts: CoalescedParts,
): GatewayResponse {
  const durationMs = parts.now() - startedAtMs;
  if (trace !== undefined) describeOperation(trace, event);
  parts.onOperation({ ...event, durationMs, requestId: request.requestId });
  const headers = new Map([['content-type', plain.contentType]]);
  setRunHeaders(headers, status, run, parts);
  headers.set('server-timing', `upstream;dur=${rounded(durationMs)}, cache;dur=0`);
  const { body, encoded } = stored ?? {
    body: writeBody(data, toldErrors(errors, request.requestId), extensions),
  };
  const response = { status, headers, body, ...(encoded && { encoded }) };
  return tagged(request, plain.params.isPersisted, response, errors, stored?.tag ?? (() => ''));
}
