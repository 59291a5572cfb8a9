import type { Ledger } from '../../keys/ledger.ts';
import type { PrefixedNames } from '../schema/subgraph.ts';
import { acceptingInstead } from './accept.ts';
import { textIn } from './asked-operation.ts';
import { type CallerOf, exchangedSeal } from './callers.ts';
import type { Delivery } from './delivery.ts';
import type { OperationsParts } from './operations-parts.ts';
import type { PlainRequests } from './plain-requests.ts';
import { ChangedRequest, type GatewayRequest } from './requests.ts';
import { type GatewayResponse, VARIES } from './responses.ts';
import type { Handle, HandleRequest } from './stages.ts';

export async function received(
  handle: Handle,
  stage: OperationsParts,
  service: {
    readonly callerOf: CallerOf;
    readonly plainRequests: PlainRequests;
    /** What routers call our types; null if they use our names. */
    readonly names: PrefixedNames | null;
    readonly ledger: Ledger;
  },
): Promise<HandleRequest> {
  const { persisted, config } = stage;
  const { callerOf, plainRequests, names, ledger } = service;

  function answerOne(request: GatewayRequest): ReturnType<HandleRequest> {
    const delivery = request instanceof DeferringRequest ? request.delivery : null;
    const exchanged = request.exchanged && exchangedSeal.open(request.exchanged);
    const caller = callerOf(request.headers, exchanged, request);
    const plain = plainRequests.read(request, caller);
    const limited = (response: GatewayResponse) =>
      withLimits(response, caller.budget?.limits?.() ?? ledger.limits(caller.tenant));
    const response = handle({ request, caller, plain, delivery });
    return response instanceof Promise ? response.then(limited) : limited(response);
  }

  const answerNamed =
    names === null ? answerOne : (await import('./prefixed.ts')).prefixed(answerOne, names, config.maxTokens);

  return (request) => {
    const { accept } = request.headers;
    if (
      accept !== undefined &&
      MULTIPART.test(accept) &&
      DEFERRAL.test(textIn(request, persisted)?.text ?? '')
    )
      return answerInParts(request, accept, answerNamed);
    return answerNamed(request);
  };
}

/** IETF draft headers: the calls left in the key's plan, if it is known. */
function withLimits(response: GatewayResponse, limits: ReturnType<Ledger['limits']>): GatewayResponse {
  if (limits.length === 0) return response;
  const left = limits.map(({ name, left, resetSeconds }) => `"${name}";r=${left};t=${resetSeconds}`);
  const policy = limits.map(({ name, most, windowSeconds }) => `"${name}";q=${most};w=${windowSeconds}`);
  const headers = new Map(response.headers);
  headers.set('ratelimit', left.join(', ')).set('ratelimit-policy', policy.join(', '));
  return { ...response, headers };
}

const MULTIPART = /multipart\/mixed/i;
const DEFERRAL = /@\s*defer\b/;

/** Answers clients that accept `multipart/mixed` and use `@defer`. For all others such directives have no effect. */
async function answerInParts(
  request: GatewayRequest,
  accepts: string,
  next: HandleRequest,
): Promise<GatewayResponse> {
  const opened = (await import('./delivery.ts')).openDelivery(accepts);
  if (opened === null) return next(request);
  const { delivery, accept } = opened;
  const response = await next(new DeferringRequest(request, accept, delivery));
  const headers = new Map(response.headers).set('vary', VARIES);
  const { over, contentType } = delivery;
  if (over === null) return { ...response, headers };
  headers.set('content-type', contentType).set('cache-control', 'no-store');
  // Stops proxies from holding parts back.
  headers.set('x-accel-buffering', 'no');
  headers.delete('etag');
  return { status: 200, headers, body: delivery.body() };
}

class DeferringRequest extends ChangedRequest {
  readonly delivery: Delivery;

  constructor(whole: GatewayRequest, accept: string, delivery: Delivery) {
    super(whole, { headers: acceptingInstead(whole.headers, accept) });
    this.delivery = delivery;
  }
}
