import type { FastifyRequest } from 'fastify';
import { isLoopback, type RouteHost } from '../../plugin/index.ts';

/** A path under which a proxy serves this gateway, such as `/africa`; empty for none. */
const PREFIX = /^(?:\/[\w~-][\w.~-]*)*$/;

/**
 * The address that all absolute links to this gateway begin with, without a trailing slash. Without PUBLIC_URL it is what
 * the request says, which anybody may forge.
 * @param about a page of ours that the request is about, whose address tells more than a proxy may
 */
export function ownAddress(request: FastifyRequest, { publicUrl }: RouteHost['site'], about = ''): string {
  if (publicUrl !== null) return publicUrl;
  const named = pageOf(about);
  if (named !== null && named.host === request.host) return named.base;
  const prefix = String(request.headers['x-forwarded-prefix'] ?? '').replace(/\/$/, '');
  return `${request.protocol}://${request.host}${PREFIX.test(prefix) ? prefix : ''}`;
}

/** The origin of our own pages. */
export const ownOrigin = (request: FastifyRequest, site: RouteHost['site']) =>
  new URL(ownAddress(request, site)).origin;

type Server = Pick<RouteHost, 'isLocal' | 'site'>;

/**
 * False for a request that a page of another origin has sent, as far as browsers tell. On a loopback address, a page of
 * another name is none of ours either: its name was bound to the address later.
 */
export function isOfOwnPage(request: FastifyRequest, server: Server): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined) return site === 'same-origin' && isOwnName(request, server);
  if (origin === undefined) return true;
  return origin === ownOrigin(request, server.site) && isOwnName(request, server);
}

const isOwnName = ({ hostname }: FastifyRequest, { isLocal, site }: Server) =>
  site.publicUrl !== null || !isLocal || isLoopback(hostname);

/** The host of a page's address, and what stands before its path; null if it is none. */
function pageOf(address: string): { readonly host: string; readonly base: string } | null {
  const url = URL.parse(address);
  const prefix = /^(.*)\/c\/[^/]+$/.exec(url?.pathname ?? '')?.[1];
  if (url === null || prefix === undefined || !PREFIX.test(prefix) || !/^https?:$/.test(url.protocol))
    return null;
  return { host: url.host, base: url.origin + prefix };
}
