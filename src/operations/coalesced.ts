import { Cancellation, type CancelSignal } from '../async/cancellation.ts';
import { InGroups } from '../async/in-groups.ts';
import { TransientMap } from '../async/transient-map.ts';
import type { Bill } from '../upstream/call.ts';
import { rounded, setRunHeaders } from './answer-headers.ts';
import { provenBy } from './callers.ts';
import type { RanOperation } from './opened.ts';
import { eventOf, extensionsOf, type OperationRun, shown, type WrittenAnswer } from './operation-run.ts';
import type { Handle, Incoming } from './pipeline.ts';
import type { PlainRequest } from './plain-requests.ts';
import type { RepeatedParts } from './repeated.ts';
import { ChangedRequest, type GatewayRequest } from './requests.ts';
import { questionName, type StoredAnswer, storedAnswer } from './response-cache.ts';
import { type Extensions, type GatewayResponse, tagged, writeBody } from './responses.ts';
import { toldErrors } from './told-errors.ts';
import { describeOperation } from './traced.ts';

export interface CoalescedParts
  extends Pick<RepeatedParts, 'fieldTraces' | 'now' | 'steadyNow' | 'onOperation'> {
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
    const question = questionName({ ...plain.params, keyDigest: caller.keyDigest });
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
