import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import CachePolicy from 'http-cache-semantics';

interface Entry {
  readonly headers: Record<string, string>;
  readonly body: string;
  freshUntilMs: number;
}

/**
 * A private HTTP cache in front of the service, like the REST clients of other gateways have: by URL and key. A response
 * is fresh as long as its headers say, or for `ttlMs` without `cache-control`, and revalidated if it has an entity tag.
 */
export async function createAddressCache(
  serviceUrl: string,
  { now, ttlMs }: { readonly now: () => number; readonly ttlMs: number },
) {
  const entries = new Map<string, Entry>();
  const freshMs = (headers: Record<string, string>) =>
    headers['cache-control'] === undefined
      ? ttlMs
      : new CachePolicy({ headers: {} }, { status: 200, headers }, { shared: false }).maxAge() * 1000;

  const server = createServer(async (request, response) => {
    const authorization = request.headers.authorization ?? '';
    const name = `${authorization} ${request.url}`;
    const reply = (status: number, body: string) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    const entry = entries.get(name);
    if (entry !== undefined && entry.freshUntilMs > now()) return reply(200, entry.body);
    const etag = entry?.headers.etag;
    const answer = await fetch(serviceUrl + request.url, {
      headers: { authorization, ...(etag === undefined ? {} : { 'if-none-match': etag }) },
    });
    const headers = Object.fromEntries(answer.headers);
    if (answer.status === 304 && entry !== undefined) {
      entry.freshUntilMs = now() + freshMs(headers);
      return reply(200, entry.body);
    }
    const body = await answer.text();
    if (answer.status === 200) entries.set(name, { headers, body, freshUntilMs: now() + freshMs(headers) });
    return reply(answer.status, body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
