import { BoundedCache, type Lookups, type Shrinkable, TransientMap } from '../../cache/lru.ts';
import type { Tenant } from '../../keys/tenant.ts';
import type { Bill } from '../../service/bill.ts';
import type { Caller } from '../../service/caller.ts';
import { mapValue, type PromiseOrValue } from '../../shared/async/promises.ts';
import type { ErrorBehavior } from '../execution/field-errors.ts';
import { byteLengthOf, type StringPieces } from '../execution/json-pieces.ts';
import { addHeaders, rounded, secondsUntil, setHeaders, setRunHeaders } from './answer-headers.ts';
import { writeBody } from './body.ts';
import { provenBy } from './callers.ts';
import { entityTag, tagged } from './entity-tags.ts';
import { describeOperation, eventOf } from './operation-events.ts';
import { type OperationRun, type RanOperation, shown, type WrittenAnswer } from './operation-run.ts';
import type { OperationsParts } from './operations-parts.ts';
import type { PlainRequest } from './plain-requests.ts';
import { ChangedRequest, type GatewayRequest } from './requests.ts';
import type { GatewayResponse } from './responses.ts';
import { readsSchemaAlone } from './schema-reads.ts';
import { shownErrors } from './shown-errors.ts';
import type { Handle, Incoming } from './stages.ts';

/** An answer without errors, as bytes. */
class StoredAnswer {
  readonly body: Buffer;
  /** By `Content-Encoding`, made on demand. */
  readonly encoded = new Map<string, Promise<Buffer>>();
  readonly event: ReturnType<typeof eventOf>;
  readonly #dataBytes: number;
  readonly #onError: ErrorBehavior;
  #tag: string | undefined;

  constructor(
    body: string | Buffer,
    data: StringPieces,
    event: StoredAnswer['event'],
    onError: ErrorBehavior,
  ) {
    this.body = typeof body === 'string' ? Buffer.from(body) : body;
    this.event = event;
    this.#onError = onError;
    this.#dataBytes = byteLengthOf(data);
  }

  readonly tag = (): string => {
    this.#tag ??= entityTag(dataIn(this.body, this.#dataBytes), this.#onError);
    return this.#tag;
  };
}

interface CachedAnswer {
  readonly answer: StoredAnswer;
  /** In milliseconds since the epoch. */
  readonly untilMs: number;
  /** The same; 0 if the answer isn't whole. */
  readonly freshUntilMs: number;
  /** Generation of the key's entries: with a newer one, the answer may differ. */
  readonly generation: number;
  readonly added: ReadonlyMap<string, string> | null;
}

/** Compressed forms take this share of the body; the rest of an entry takes the bytes below. */
const ENCODED_SHARE = 0.5;
const ANSWER_BYTES = 1_000;

/** Answers about the schema are the same for every key; a full introspection takes some 100 KB. */
const MAX_SCHEMA_BYTES = 4 * 1024 * 1024;

function createTable(maxBytes: number): BoundedCache<CachedAnswer> {
  return new BoundedCache(
    maxBytes,
    ({ answer: { body } }, name) =>
      ANSWER_BYTES + 2 * name.length + Math.ceil(body.length * (1 + ENCODED_SHARE)),
  );
}

/** A run can be joined for this share of the time limit: its deadline is at most that much earlier. */
const JOINED_SHARE = 0.01;

type RunOperation = (incoming: Incoming) => Promise<RanOperation>;

/** Answers by question: cached ones, those about the schema, and those in flight. */
export class AnswersTable implements Shrinkable {
  readonly #parts: OperationsParts;
  readonly #lookups: Lookups;
  readonly #maxBytes: number;
  readonly #cached: BoundedCache<CachedAnswer>;
  readonly #ofSchema: BoundedCache<CachedAnswer>;
  readonly #inFlight = new TransientMap<SharedRun>();

  constructor(parts: OperationsParts, lookups: Lookups) {
    this.#parts = parts;
    this.#lookups = lookups;
    this.#maxBytes = parts.config.answersMaxBytes;
    this.#cached = createTable(this.#maxBytes);
    this.#ofSchema = createTable(Math.min(this.#maxBytes, MAX_SCHEMA_BYTES));
  }

  /**
   * Repeats cached answers; runs other operations once for all who ask at the same time.
   * @param admit lets operations in that no cached answer answers
   */
  answersStage(run: RunOperation, admit: (next: Handle) => Handle): Handle {
    const { now } = this.#parts;
    const begun = admit((incoming) => this.#share(run, incoming));
    return (incoming) => {
      const { caller, plain } = incoming;
      if (plain === null) return begun(incoming);
      const since = { startedAtMs: now(), lookingMs: performance.now() };
      const answer = (cachedAnswer: CachedAnswer | null) => {
        this.#lookups[cachedAnswer === null ? 'misses' : 'hits'] += 1;
        return cachedAnswer === null ? begun(incoming) : this.#repeat(cachedAnswer, incoming, plain, since);
      };
      const cachedAnswer = this.#find(plain, caller);
      return cachedAnswer instanceof Promise ? cachedAnswer.then(answer) : answer(cachedAnswer);
    };
  }

  /** Caches the answer of a run if it stays valid for a while. */
  save(
    { question, mayReadSchema }: PlainRequest,
    { body, data, operation, extensions }: WrittenAnswer,
    run: OperationRun,
  ): void {
    const { tenantCache } = this.#parts;
    const { bill, context, errors, freshUntilMs, generation, additions } = run;
    const { tenant } = context.caller;
    if (this.#maxBytes === 0) return;
    if (mayReadSchema && readsSchemaAlone(operation)) {
      if (errors?.length !== 0) return;
      const event = { ...eventOf(bill, operation, []), name: null, repeated: true };
      const answer = new StoredAnswer(body, data, event, run.onError);
      this.#ofSchema.set(question, {
        answer,
        untilMs: Number.POSITIVE_INFINITY,
        freshUntilMs: 0,
        generation,
        added: null,
      });
      return;
    }
    // Under a key that isn't accepted it would never be found, and take another's place.
    if (!isLasting(run) || !tenantCache.isAccepted(tenant)) return;
    const event = { ...eventOf(bill, operation, []), ...provenBy(context.caller), repeated: true };
    const isWhole = extensions.warnings === undefined;
    this.#cached.set(nameOfAnswer(question, context.caller), {
      answer: new StoredAnswer(body, data, event, run.onError),
      untilMs: freshUntilMs,
      freshUntilMs: isWhole ? freshUntilMs : 0,
      generation,
      added: additions?.headers(context) ?? null,
    });
  }

  shrink(share: number): void {
    this.#cached.shrink(share);
  }

  /** Synchronous if no other gateway can know more about the key. */
  #find({ question, mayReadSchema }: PlainRequest, caller: Caller): PromiseOrValue<CachedAnswer | null> {
    const { tenantCache } = this.#parts;
    const schemaAnswer = mayReadSchema ? this.#ofSchema.get(question) : undefined;
    if (schemaAnswer !== undefined) return schemaAnswer;
    const { tenant } = caller;
    const name = nameOfAnswer(question, caller);
    const cachedAnswer = this.#cachedAnswer(name, tenant);
    if (cachedAnswer === null || tenantCache.isAllHere) return cachedAnswer;
    return mapValue(tenantCache.lookUp(tenant), () => this.#cachedAnswer(name, tenant));
  }

  #cachedAnswer(name: string, tenant: Tenant): CachedAnswer | null {
    const { tenantCache, steadyNow } = this.#parts;
    const entry = this.#cached.get(name);
    if (entry === undefined) return null;
    if (entry.untilMs <= steadyNow() || entry.generation !== tenantCache.generation(tenant)) {
      this.#cached.delete(name);
      return null;
    }
    return tenantCache.isAccepted(tenant) ? entry : null;
  }

  #repeat(
    { answer, freshUntilMs, added }: CachedAnswer,
    { request, caller, trace }: Incoming,
    { params, contentType }: PlainRequest,
    since: { readonly startedAtMs: number; readonly lookingMs: number },
  ): GatewayResponse {
    const { now, steadyNow, onOperation } = this.#parts;
    const { body, tag, encoded, event } = answer;
    if (trace !== undefined) describeOperation(trace, event);
    const headers = new Map([['content-type', contentType]]);
    setHeaders(headers, {
      status: 200,
      errors: [],
      nowMs: since.startedAtMs,
      maxAgeSeconds: secondsUntil(freshUntilMs, steadyNow()),
      timing: `upstream;dur=0, cache;dur=${rounded(performance.now() - since.lookingMs)}`,
    });
    if (added !== null) addHeaders(headers, added);
    onOperation({ ...event, durationMs: now() - since.startedAtMs, requestId: request.requestId }, caller);
    return tagged(request, params.isPersisted, { status: 200, headers, body, encoded }, [], tag);
  }

  /** Equal operations of one key share a run, which ends when the last of them leaves. */
  #share(run: RunOperation, incoming: Incoming): Promise<GatewayResponse> {
    const { config, steadyNow } = this.#parts;
    const { request, caller, plain, delivery } = incoming;
    if (plain === null || delivery !== null) return alone(run, incoming);
    const name = `${request.headers.accept ?? ''}\n${caller.budget?.name ?? ''}\n${nameOfAnswer(plain.question, caller)}`;
    const shared = this.#inFlight.get(name);
    if (shared !== undefined && steadyNow() - shared.sinceMs < config.operationTimeoutMs * JOINED_SHARE)
      return this.#join(shared, plain, run, incoming);
    return this.#begin(name, run, incoming);
  }

  async #begin(name: string, run: RunOperation, incoming: Incoming): Promise<GatewayResponse> {
    const shared = new SharedRun(this.#parts.steadyNow(), () => {
      if (this.#inFlight.get(name) === shared) this.#inFlight.delete(name);
    });
    shared.add(incoming.request);
    this.#inFlight.set(name, shared);
    shared.ran = run({ ...incoming, request: new ChangedRequest(incoming.request, {}, shared) });
    try {
      return (await shared.ran).response;
    } finally {
      shared.close();
    }
  }

  async #join(
    shared: SharedRun,
    plain: PlainRequest,
    run: RunOperation,
    incoming: Incoming,
  ): Promise<GatewayResponse> {
    const startedAtMs = this.#parts.now();
    shared.add(incoming.request);
    incoming.request.place?.come();
    const ran = await shared.ran;
    const answer = shared.answer(ran.run);
    // A refusal is worded for one request.
    if (answer === null) return alone(run, incoming);
    return this.#answerAlike(answer, ran.run, incoming, plain, startedAtMs);
  }

  #answerAlike(
    { status, data, errors, extensions, event, stored }: SharedAnswer,
    run: OperationRun,
    { request, caller, trace }: Incoming,
    { params, contentType }: PlainRequest,
    startedAtMs: number,
  ): GatewayResponse {
    const { now, onOperation } = this.#parts;
    const durationMs = now() - startedAtMs;
    if (trace !== undefined) describeOperation(trace, event);
    onOperation({ ...event, durationMs, requestId: request.requestId }, caller);
    const headers = new Map([['content-type', contentType]]);
    setRunHeaders(headers, status, run, this.#parts);
    headers.set('server-timing', `upstream;dur=${rounded(durationMs)}, cache;dur=0`);
    const body = stored?.body ?? writeBody(data, shownErrors(errors, request.requestId), extensions);
    const response = { status, headers, body, ...(stored && { encoded: stored.encoded }) };
    return tagged(request, params.isPersisted, response, errors, stored?.tag ?? (() => ''));
  }
}

/** An answer is valid for one key, its rights, and either online or offline. */
function nameOfAnswer(question: string, { tenant: { digest }, rights, offline }: Caller): string {
  if (offline !== undefined) return `${digest} offline ${rights?.name ?? ''}\n${question}`;
  return rights === undefined ? `${digest}\n${question}` : `${digest} ${rights.name}\n${question}`;
}

function isLasting({ bill, errors, isLasting, freshUntilMs }: OperationRun): boolean {
  const isFree = bill.calls === 0 && bill.shared === 0 && bill.stale === undefined;
  return isLasting && isFree && errors?.length === 0 && freshUntilMs < Number.POSITIVE_INFINITY;
}

async function alone(run: RunOperation, incoming: Incoming): Promise<GatewayResponse> {
  return (await run(incoming)).response;
}

interface SharedAnswer extends WrittenAnswer {
  readonly errors: NonNullable<OperationRun['errors']>;
  readonly event: StoredAnswer['event'];
  /** Null if there are errors, since each names its own request. */
  readonly stored: StoredAnswer | null;
}

class SharedRun {
  /** In milliseconds. */
  readonly sinceMs: number;
  ran!: Promise<RanOperation>;
  readonly #onClose: () => void;
  readonly #waiting: GatewayRequest[] = [];
  /** Signals may outlive their requests. */
  readonly #unlisten: (() => void)[] = [];
  #left = 0;
  #ends: AbortController | undefined;
  #answer: SharedAnswer | null = null;

  constructor(sinceMs: number, onClose: () => void) {
    this.sinceMs = sinceMs;
    this.#onClose = onClose;
  }

  /** From here on nobody can join, and it makes no difference who leaves. */
  close(): void {
    this.#onClose();
    for (const unlisten of this.#unlisten.splice(0)) unlisten();
  }

  add(request: GatewayRequest): void {
    this.#waiting.push(request);
    if (this.#ends !== undefined) this.#listenTo(request, this.#ends);
  }

  /** Aborts when all requests have left. Made only if somebody listens. */
  get signal(): AbortSignal {
    if (this.#ends === undefined) {
      this.#ends = new AbortController();
      for (const request of this.#waiting) this.#listenTo(request, this.#ends);
    }
    return this.#ends.signal;
  }

  #listenTo({ signal }: GatewayRequest, ends: AbortController): void {
    const onLeave = () => {
      this.#left += 1;
      if (this.#left < this.#waiting.length) return;
      this.close();
      ends.abort(signal.reason);
    };
    signal.addEventListener('abort', onLeave, { once: true });
    this.#unlisten.push(() => signal.removeEventListener('abort', onLeave));
    if (signal.aborted) onLeave();
  }

  /** Null if no plan has written it. */
  answer(run: OperationRun): SharedAnswer | null {
    this.#answer ??= sharedAnswer(run);
    return this.#answer;
  }
}

function sharedAnswer(run: OperationRun): SharedAnswer | null {
  const { written, errors } = run;
  if (written === null || errors === null) return null;
  const extensions = { ...written.extensions, upstream: sharedBill(run.bill) };
  const { data, operation } = written;
  const event = { ...eventOf(extensions.upstream, operation, errors), ...provenBy(run.context.caller) };
  const body = () => writeBody(data, [], extensions);
  const stored = errors.length > 0 ? null : new StoredAnswer(body(), data, event, run.onError);
  return { ...written, errors, extensions, event, stored };
}

/** A request that joined has sent nothing, and shares the run's calls. */
function sharedBill(bill: Bill): Bill {
  return { ...shown(bill), calls: 0, byRoute: {}, shared: bill.shared + bill.calls };
}

/** Of a body without errors. */
function dataIn(body: Buffer, dataBytes: number): Buffer {
  const start = '{"data":'.length;
  return body.subarray(start, start + dataBytes);
}
