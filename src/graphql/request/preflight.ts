import type { GatewayRequest } from './requests.ts';

/**
 * Any one of these shows that no page of another origin sent the request without our consent: browsers ask by a
 * preflight first. By themselves they send `Authorization` only for passwords, which are no keys.
 */
export const PREFLIGHTED_HEADERS: readonly string[] = [
  'authorization',
  'x-apollo-operation-name',
  'apollo-require-preflight',
];

/** True if a page of another origin needs our consent to send the request. */
export function isPreflighted(headers: GatewayRequest['headers']): boolean {
  const type = headers['content-type'];
  if (type !== undefined) return /^application\/json *(;|$)/.test(type);
  return PREFLIGHTED_HEADERS.some((name) => Boolean(headers[name]));
}
