import type { HandleRequest } from './batched.ts';
import type { Delivery } from './delivery.ts';
import type { PersistedTexts } from './persisted.ts';
import { acceptingInstead, ChangedRequest, type GatewayRequest, textIn } from './requests.ts';
import { type GatewayResponse, VARIES } from './responses.ts';

/**
 * Answers in parts, as `multipart/mixed`, if a client accepts that and defers something (`@defer`, `@stream`). The
 * operation runs like any other, and its late parts come later. To all other clients, directives that defer say
 * nothing.
 */
export function incremental(next: HandleRequest, persisted: PersistedTexts): HandleRequest {
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
  const { openDelivery, withoutMultipart, deliveryFormatFor } = await import('./delivery.ts');
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
export function deliveryOf(request: GatewayRequest): Delivery | null {
  return request instanceof DeferringRequest ? request.delivery : null;
}

class DeferringRequest extends ChangedRequest {
  readonly delivery: Delivery;

  constructor(whole: GatewayRequest, accept: string, delivery: Delivery) {
    super(whole, { headers: acceptingInstead(whole.headers, accept) });
    this.delivery = delivery;
  }
}
