import type { Config } from '../config.ts';
import { errorBody } from '../errors.ts';
import { openBill } from '../service/call.ts';
import type { Ledger } from '../tenants/ledger.ts';
import type { Delivery } from '../wings/defer/delivery.ts';
import type { PrefixedNames } from '../wings/federation/subgraph.ts';
import type { PersistedTexts } from './documents.ts';
import {
  acceptingInstead,
  type CallerOf,
  ChangedRequest,
  type GatewayRequest,
  type GatewayResponse,
  type Handle,
  type HandleRequest,
  METHODS,
  type PlainRequests,
  textIn,
  VARIES,
} from './messages.ts';
import type { OperationsParts } from './run.ts';

/** Matches an `Accept` header that has the name of a format of tables. */
const TABLE = /text\/csv|application\/x-ndjson|application\/vnd\.apache\.arrow\.stream/i;

/**
 * Opens the stage that sees requests before anything is known of their operations: it tells the number of operations in
 * each, and the form of its answer. Forms that few ask for are loaded by the first who does.
 */
export async function received(
  handle: Handle,
  stage: OperationsParts,
  service: {
    readonly callerOf: CallerOf;
    readonly plainRequests: PlainRequests;
    /** The names that routers have for ours; null if they are the same. */
    readonly names: PrefixedNames | null;
    readonly ledger: Ledger;
  },
): Promise<HandleRequest> {
  const { persisted, config } = stage;
  const { callerOf, plainRequests, names, ledger } = service;

  function answerOne(request: GatewayRequest): ReturnType<HandleRequest> {
    const delivery = deliveryOf(request);
    const caller = callerOf(request.headers, request.exchanged);
    const plain = plainRequests.read(request, caller);
    const told = (response: GatewayResponse) =>
      withLimits(response, caller.purse?.limits?.() ?? ledger.limits(caller.tenant));
    const response = handle({ request, caller, plain, delivery });
    return response instanceof Promise ? response.then(told) : told(response);
  }

  const answerNamed =
    names === null
      ? answerOne
      : (await import('../wings/federation/prefixed.ts')).prefixed(answerOne, names, config.maxTokens);

  /** Answers with JSON: each of several operations, one in parts, or one that is whole. */
  function answer(request: GatewayRequest): ReturnType<HandleRequest> {
    const { method, body, headers } = request;
    const { accept } = headers;
    if (Array.isArray(body))
      return METHODS.get(method)?.hasBody
        ? answerAll(request, body, answerNamed, config)
        : answerNamed(request);
    if (accept !== undefined && MULTIPART.test(accept) && mayDefer(request, persisted))
      return answerInParts(request, accept, answerNamed);
    return answerNamed(request);
  }

  async function answerWithTable(request: GatewayRequest): Promise<GatewayResponse> {
    const { tabled } = await import('../wings/tables/tabled.ts');
    return tabled(request, answer, stage, callerOf(request.headers, request.exchanged));
  }

  return (request) => {
    const { accept } = request.headers;
    return accept !== undefined && TABLE.test(accept) ? answerWithTable(request) : answer(request);
  };
}

/**
 * Adds the `RateLimit` and `RateLimit-Policy` headers of the IETF's draft to an answer: the calls left of the key's plan,
 * as far as the service has named it.
 */
function withLimits(response: GatewayResponse, known: ReturnType<Ledger['limits']>): GatewayResponse {
  if (known.length === 0) return response;
  const left = known.map(({ name, left, resetSeconds }) => `"${name}";r=${left};t=${resetSeconds}`);
  const policy = known.map(({ name, most, windowSeconds }) => `"${name}";q=${most};w=${windowSeconds}`);
  const headers = new Map(response.headers);
  headers.set('ratelimit', left.join(', ')).set('ratelimit-policy', policy.join(', '));
  return { ...response, headers };
}

const MULTIPART = /multipart\/mixed/i;

function mayDefer(request: GatewayRequest, persisted: PersistedTexts): boolean {
  return /@\s*(defer|stream)\b/.test(textIn(request, persisted)?.text ?? '');
}

/**
 * Answers in parts, as `multipart/mixed`, a client that accepts that and defers something (`@defer`, `@stream`). The
 * operation runs like any other, and its late parts come later. To all other clients, directives that defer say
 * nothing.
 */
async function answerInParts(
  request: GatewayRequest,
  accepts: string,
  next: HandleRequest,
): Promise<GatewayResponse> {
  const opened = (await import('../wings/defer/delivery.ts')).openDelivery(accepts);
  if (opened === null) return next(request);
  const { delivery, accept } = opened;
  const response = await next(new DeferringRequest(request, accept, delivery));
  const headers = new Map(response.headers).set('vary', VARIES);
  const { over, contentType } = delivery;
  if (over === null) return { ...response, headers };
  headers.set('content-type', contentType).set('cache-control', 'no-store');
  // Proxies would else hold parts back until all of them are there.
  headers.set('x-accel-buffering', 'no');
  headers.delete('etag');
  return { status: 200, headers, body: delivery.body() };
}

/** Returns the delivery of a request whose answer may come in parts; null if it comes whole. */
function deliveryOf(request: GatewayRequest): Delivery | null {
  return request instanceof DeferringRequest ? request.delivery : null;
}

class DeferringRequest extends ChangedRequest {
  readonly delivery: Delivery;

  constructor(whole: GatewayRequest, accept: string, delivery: Delivery) {
    super(whole, { headers: acceptingInstead(whole.headers, accept) });
    this.delivery = delivery;
  }
}

function faultOf(count: number, most: number): string | null {
  if (most === 0)
    return 'This gateway takes no batches (MAX_BATCHED_OPERATIONS is 0). Send each operation as a request of its own.';
  if (count === 0) return 'The batch has no operations.';
  if (count <= most) return null;
  return `The batch has ${count} operations; this gateway takes up to ${most} in one request (MAX_BATCHED_OPERATIONS). Nothing was run. Send fewer at once: Apollo's BatchHttpLink has \`batchMax\` for that.`;
}

/**
 * Answers a request that brings several operations in an array, as Apollo's BatchHttpLink and routers send them, with an
 * array of their answers. Each operation is admitted, run and billed by itself, beside the others. So they share their
 * calls as operations do that come at the same time. A request of too many is refused before any is run.
 */
async function answerAll(
  request: GatewayRequest,
  operations: readonly unknown[],
  next: HandleRequest,
  { maxBatchedOperations, maxAnswerBytes }: Config,
): Promise<GatewayResponse> {
  const fault = faultOf(operations.length, maxBatchedOperations);
  if (fault !== null) return refused(fault, request.requestId);
  let leftBytes = maxAnswerBytes;
  const answers = await Promise.all(
    operations.map(async (body) => {
      const answer = await next(
        // No answer of several has a tag of its own, as one to a QUERY would.
        new ChangedRequest(request, { method: 'POST', body, search: '', isBatched: operations.length > 1 }),
      );
      const text = textOf(answer.body);
      leftBytes -= text?.length ?? 0;
      return { ...answer, body: text === null || leftBytes < 0 ? tooLong(maxAnswerBytes, request) : text };
    }),
  );
  const statuses = new Set(answers.map(({ status }) => status));
  const [common = 200] = statuses;
  return {
    status: statuses.size === 1 ? common : 200,
    headers: headersOf(answers),
    body: `[${answers.map(({ body }) => body).join(',')}]`,
  };
}

/** Returns null if the body comes in parts. No answer of a batch does. */
function textOf(body: GatewayResponse['body']): string | null {
  return typeof body === 'string' || Buffer.isBuffer(body) ? String(body) : null;
}

/** Joins the headers of all answers. */
function headersOf(answers: readonly GatewayResponse[]): ReadonlyMap<string, string> {
  const headers = new Map(answers.flatMap((answer) => [...answer.headers]));
  const valuesOf = (name: string) => answers.flatMap((answer) => answer.headers.get(name) ?? []);
  headers.delete('etag');
  headers.set('cache-control', valuesOf('cache-control').includes('no-store') ? 'no-store' : 'private');
  headers.set('vary', 'Authorization');
  const timings = valuesOf('server-timing');
  if (timings.length > 0) headers.set('server-timing', timings.join(', '));
  const waits = valuesOf('retry-after').map(Number);
  if (waits.length > 0) headers.set('retry-after', String(Math.max(...waits)));
  return headers;
}

function tooLong(limit: number, { requestId }: GatewayRequest): string {
  const message = `The answers of the batch would be longer together than the ${limit} bytes that this gateway sends at once (MAX_ANSWER_BYTES). Ask for less at once.`;
  return errorBody('OPERATION_TOO_EXPENSIVE', message, { limit, requestId }, { data: null });
}

function refused(message: string, requestId: string | undefined): GatewayResponse {
  return {
    status: 400,
    headers: new Map([
      ['content-type', 'application/json; charset=utf-8'],
      ['cache-control', 'no-store'],
      ['vary', 'Authorization'],
    ]),
    body: errorBody('BAD_REQUEST', message, { requestId }, { extensions: { upstream: openBill() } }),
  };
}
