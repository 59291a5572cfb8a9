/** Wildcard for the first label of a host. */
const STAR = '*.';

/**
 * Reads an origin such as `https://app.example`; `https://*.app.example` stands for all hosts one label below. Null if
 * it is neither, or the star stands for more than the hosts of one site.
 */
export function originIn(text: string): string | null {
  const isStarred = /^https?:\/\/\*\./i.test(text);
  const plain = isStarred ? text.replace(STAR, '') : text;
  const url = /^https?:\/\//i.test(plain) && !plain.includes('*') ? URL.parse(plain) : null;
  if (url === null || url.username !== '' || url.password !== '') return null;
  // An origin has no path: it would let in all pages of the host, not those below the path.
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') return null;
  if (!isStarred) return url.origin;
  const { protocol, host, hostname } = url;
  const isSite = /^[^.:]+\.[^:]*[a-z][^:]*$/.test(hostname) || hostname === 'localhost';
  return isSite ? `${protocol}//${STAR}${host}` : null;
}

/** An origin of a list as a text, or as an expression if it has a star. */
export function patternOf(listed: string): string | RegExp {
  const [scheme, host, ...rest] = listed.split(STAR);
  if (scheme === undefined || host === undefined || rest.length > 0) return listed;
  const escaped = host.replace(/[^\w-]/g, String.raw`\$&`);
  return new RegExp(`^${scheme}[\\w-]+\\.${escaped}$`);
}

/** True if an origin is in a list of those that {@link originIn} reads. */
export function isAmong(origin: string | undefined, list: readonly string[]): boolean {
  if (origin === undefined) return false;
  return list.some((listed) => {
    const pattern = patternOf(listed);
    return typeof pattern === 'string' ? pattern === origin : pattern.test(origin);
  });
}

/** Names of the own machine alone: any other name can be bound to its address. */
export const isLoopback = (hostname: string) =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/.test(hostname);
