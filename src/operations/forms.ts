import type { PrefixedNames } from '../graph/federation.ts';
import type { Caller } from '../service/call.ts';
import type { Delivery } from '../wings/defer/delivery.ts';
import { prefixed } from '../wings/federation/prefixed.ts';
import { type TabledParts, tabled } from '../wings/tables/tabled.ts';
import {
  acceptingInstead,
  type CallerHeaders,
  ChangedRequest,
  type GatewayRequest,
  type PersistedTexts,
  textIn,
} from './requests.ts';
import { type GatewayResponse, VARIES } from './responses.ts';
import { type BatchedParts, batched, type Handle, type HandleRequest, type PlainRequests } from './run.ts';

/**
 * Answers in parts, as `multipart/mixed`, if a client accepts that and defers something (`@defer`, `@stream`). The
 * operation runs like any other, and its late parts come later. To all other clients, directives that defer say
 * nothing.
 */
function incremental(next: HandleRequest, persisted: PersistedTexts): HandleRequest {
  return (request) => {
    const { accept } = request.headers;
    if (accept === undefined || !MULTIPART.test(accept)) return next(request);
    return mayDefer(request, persisted) ? inParts(request, accept, next) : next(request);
  };
}

const MULTIPART = /multipart\/mixed/i;

function mayDefer(request: GatewayRequest, persisted: PersistedTexts): boolean {
  if (Array.isArray(request.body)) return false;
  return /@\s*(defer|stream)\b/.test(textIn(request, persisted)?.text ?? '');
}

async function inParts(
  request: GatewayRequest,
  accepts: string,
  next: HandleRequest,
): Promise<GatewayResponse> {
  const { openDelivery, withoutMultipart, deliveryFormatFor } = await import('../wings/defer/delivery.ts');
  const format = deliveryFormatFor(accepts);
  if (format === null) return next(request);
  const delivery = openDelivery(format);
  const response = await next(new DeferringRequest(request, withoutMultipart(accepts), delivery));
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

interface ReceivedParts extends BatchedParts, Omit<TabledParts, 'jobOf'> {
  readonly callerOf: (headers: CallerHeaders) => Caller;
  readonly plainRequests: PlainRequests;
  /** The names that routers have for ours; null if they are the same. */
  readonly names: PrefixedNames | null;
}

/**
 * Joins the stages that see requests before anything is known of their operations: they tell the number of operations
 * in each, and the form of its answer.
 */
export function received(handle: Handle, parts: ReceivedParts): HandleRequest {
  const { callerOf, plainRequests, persisted, names, maxTokens } = parts;
  const one: HandleRequest = (request) => {
    const caller = callerOf(request.headers);
    const plain = plainRequests.read(request, caller);
    return handle({ request, caller, plain, delivery: deliveryOf(request) });
  };
  const each = batched(names === null ? one : prefixed(one, { names, maxTokens }), parts);
  return tabled(incremental(each, persisted), { ...parts, jobOf: callerOf });
}
