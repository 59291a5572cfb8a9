import type { GatewayRequest } from './requests.ts';

/**
 * Headers of which any one shows that no page of another origin has sent a request without this gateway's leave: browsers
 * ask by a preflight before they let a page set them. By themselves they send `Authorization` for passwords alone, which
 * are no keys.
 */
export const PREFLIGHTED_HEADERS: readonly string[] = [
  'authorization',
  'x-apollo-operation-name',
  'apollo-require-preflight',
];

/** True if a page of another origin could send the request only with this gateway's leave. */
export function isPreflighted(headers: GatewayRequest['headers']): boolean {
  const type = headers['content-type'];
  if (type !== undefined) return /^application\/json *(;|$)/.test(type);
  return PREFLIGHTED_HEADERS.some((name) => Boolean(headers[name]));
}
