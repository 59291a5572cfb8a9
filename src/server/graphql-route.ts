import { Readable } from 'node:stream';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Gateway } from '../gateway.ts';

export interface GraphqlRouteOptions {
  readonly gateway: Gateway;
  /** Whether there is a page for browsers that are pointed here by hand. */
  readonly isIdeThere: boolean;
  readonly isDraining: () => boolean;
  /** Hears of what only a fault of ours can explain. */
  readonly problem: (error: unknown) => void;
}

/**
 * `/graphql`: reads a request within bounds, hands it to the gateway, and sends what the gateway answers. Requests that
 * never become an operation are answered here, in the shape of a GraphQL error.
 */
export async function graphqlRoute(
  app: FastifyInstance,
  { gateway, isIdeThere, isDraining, problem }: GraphqlRouteOptions,
) {
  app.removeContentTypeParser('text/plain');

  app.addHook('onRequest', async (request, reply) => {
    if (!isDraining()) return;
    return refuse(request, reply, 503, 'INTERNAL_SERVER_ERROR', 'The gateway is shutting down.');
  });

  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status < 500) return refuse(request, reply, status, 'BAD_REQUEST', error.message);
    problem(error);
    return refuse(request, reply, 500, 'INTERNAL_SERVER_ERROR', 'The gateway failed to answer.');
  });

  app.all('/graphql', async (request, reply) => {
    if (isIdeThere && wantsPage(request)) return reply.redirect('/graphiql', 302);
    const query = request.url.indexOf('?');
    const answer = await gateway.handle({
      method: request.method,
      headers: flat(request.headers),
      search: query < 0 ? '' : request.url.slice(query),
      body: request.body ?? '',
      signal: goneSignal(reply),
    });
    for (const [name, value] of answer.headers) {
      reply.header(name, name.toLowerCase() === 'vary' ? withVary(reply, value) : value);
    }
    reply.code(answer.status);
    return reply.send(typeof answer.body === 'string' ? answer.body : Readable.from(answer.body));
  });
}

/** Whether a browser was pointed here by hand: it wants a page, and sends no operation. */
function wantsPage({ method, url, headers }: FastifyRequest): boolean {
  return method === 'GET' && !url.includes('?') && (headers.accept ?? '').includes('text/html');
}

/**
 * Aborts when the client leaves before it has its answer. Fastify's own `request.signal` listens to the request, which
 * counts as closed once its body is read.
 */
function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  return gone.signal;
}

function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  code: 'BAD_REQUEST' | 'INTERNAL_SERVER_ERROR',
  message: string,
): FastifyReply {
  const modern = request.headers.accept?.includes('application/graphql-response+json');
  return reply
    .code(status)
    .header(
      'content-type',
      `${modern ? 'application/graphql-response+json' : 'application/json'}; charset=utf-8`,
    )
    .header('cache-control', 'no-store')
    .header('vary', withVary(reply, 'Authorization'))
    .send(JSON.stringify({ errors: [{ message, extensions: { code, retryable: status === 503 } }] }));
}

/** Keeps the `Origin` that CORS put there. */
function withVary(reply: FastifyReply, value: string): string {
  const before = reply.getHeader('vary');
  return before === undefined ? value : `${before}, ${value}`;
}

function flat(headers: FastifyRequest['headers']): Record<string, string> {
  const one: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) one[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return one;
}
