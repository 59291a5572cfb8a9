import type { Failure } from '../../shared/errors.ts';
import { isModern, refusalTypeFor } from './accept.ts';
import { earliestRetry } from './answer-headers.ts';
import { type GatewayResponse, refusalBody } from './responses.ts';
import { statusOfError } from './statuses.ts';

export interface RefusedRequest {
  readonly headers: { readonly accept?: string | undefined };
  readonly requestId?: string | undefined;
}

/**
 * The answer to a request of which nothing is run. Clients that take any status but 200 for a failure of the network get 200,
 * unless the gateway is overloaded: balancers must see that.
 * @param nowMs milliseconds since the epoch, for a failure that names a time instead of a wait
 */
export function refusalOf(
  { code, message, fields, retryable }: Failure,
  { headers: { accept = '' }, requestId }: RefusedRequest,
  nowMs = 0,
): GatewayResponse {
  const extensions = { retryable, ...fields, requestId };
  const isShown = isModern(accept) || code === 'OVERLOADED';
  const status = isShown ? statusOfError({ extensions: { code } }) : 200;
  const headers = new Map([
    ['content-type', refusalTypeFor(accept)],
    ['cache-control', 'no-store'],
    ['vary', 'Authorization, Origin'],
  ]);
  if (status === 401) headers.set('www-authenticate', 'Bearer');
  const { retryAfterSeconds = earliestRetry([{ message, extensions }], nowMs) } = fields;
  if (retryAfterSeconds !== null) headers.set('retry-after', String(retryAfterSeconds));
  return { status, headers, body: refusalBody(code, message, extensions) };
}
