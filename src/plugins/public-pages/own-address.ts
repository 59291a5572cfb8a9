import type { FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.ts';

/** A path under which a proxy serves this gateway, such as `/africa`; empty for none. */
const PREFIX = /^(?:\/[\w~-][\w.~-]*)*$/;

/**
 * The address that all absolute links to this gateway begin with, without a trailing slash. Without PUBLIC_URL it is what
 * the request says, which anybody may forge.
 * @param about a page of ours that the request is about, whose address tells more than a proxy may
 */
export function ownAddress(request: FastifyRequest, { publicUrl }: Config, about = ''): string {
  if (publicUrl !== undefined) return publicUrl;
  const named = pageOf(about);
  if (named !== null && named.host === request.host) return named.base;
  const prefix = String(request.headers['x-forwarded-prefix'] ?? '').replace(/\/$/, '');
  return `${request.protocol}://${request.host}${PREFIX.test(prefix) ? prefix : ''}`;
}

/** The host of a page's address, and what stands before its path; null if it is none. */
function pageOf(address: string): { readonly host: string; readonly base: string } | null {
  const url = URL.parse(address);
  const prefix = /^(.*)\/c\/[^/]+$/.exec(url?.pathname ?? '')?.[1];
  if (url === null || prefix === undefined || !PREFIX.test(prefix) || !/^https?:$/.test(url.protocol))
    return null;
  return { host: url.host, base: url.origin + prefix };
}
