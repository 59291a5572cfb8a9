import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  type Tool,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  excerpt,
  isAmong,
  isLoopback,
  type PluginHost,
  type RouteHost,
  type StartedServices,
} from '../../plugin/index.ts';
import { createToolBudgets } from './budgets.ts';
import { openToolCallers } from './tool-callers.ts';
import { createToolServers, withoutNulls } from './tool-server.ts';

interface ToolSettings {
  /** Calls that tools may send in an hour; undefined for any number. */
  readonly budget: number | undefined;
  /** Name of the issued key of callers who bring none. */
  readonly keyName: string | undefined;
  readonly openStore: PluginHost['openStore'];
  /** Of the gateway. */
  readonly version: string;
}

// Codes of JSON-RPC, and of the protocol for refusals by HTTP.
const INVALID_REQUEST = -32_600;
const REFUSED = -32_000;

/**
 * Serves `/mcp` by the streamable HTTP of the Model Context Protocol, revisions of 2025 and 2026. There are no sessions,
 * so any worker answers.
 * @returns a function that lists the tools
 * @throws Error of the settings if no trusted document can be a tool
 */
export async function mcpRoute(
  app: FastifyInstance,
  gateway: StartedServices,
  { origins, unread, bodies, readJson, problem }: RouteHost,
  { budget, keyName, openStore, version }: ToolSettings,
): Promise<() => Promise<readonly Tool[]>> {
  const callers = openToolCallers(gateway, keyName);
  const counts = budget === undefined ? null : await openStore();
  app.addHook('onClose', async () => counts?.close());
  const { open, listed } = createToolServers(
    callers,
    version,
    (error, requestId = '') => problem(error, requestId),
    budget === undefined || counts === null
      ? null
      : createToolBudgets(budget, counts, callers.openBudget, callers.nameOf),
  );
  readJson(app);

  app.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers;
    const ending = unread.ending();
    const malformed = unread.malformed(request);
    if (ending !== null) refuse(reply, 503, ending.message);
    // Browsers send Origin with every POST: this refuses pages that reach us by DNS rebinding.
    else if (
      origin !== undefined &&
      !origins.includes('*') &&
      !isAmong(origin, origins) &&
      !isOwn(request, origin)
    )
      refuse(reply, 403, `Pages of ${excerpt(origin)} may not call tools here (CORS_ORIGINS).`);
    else if (malformed !== null) refuse(reply, malformed.status, malformed.message);
    else {
      const overloaded = unread.overloaded(request);
      if (overloaded === null) return done();
      if (overloaded.retryAfter !== undefined) reply.header('retry-after', overloaded.retryAfter);
      refuse(reply, 503, 'The gateway is overloaded.');
    }
  });

  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status < 500) return refuse(reply, status, excerpt(error.message));
    problem(error, request.id);
    return refuse(reply, 500, 'The gateway failed to answer.');
  });

  app.post('/mcp', async (request, reply) => {
    // Later revisions have no batches, and a batch would be any number of operations in one request.
    if (Array.isArray(request.body))
      return refuse(reply, 400, 'Send one message at a time.', INVALID_REQUEST);
    if (!acceptsJson(request.headers.accept))
      return refuse(reply, 406, 'Answers are application/json: name it in Accept.');
    const { authorization } = request.headers;
    const server = open({ authorization, requestId: request.id, address: request.ip });
    // Aborts the run if the client has left.
    const gone = new AbortController();
    reply.raw.once('close', () => {
      gone.abort();
      server.close().catch((error: unknown) => problem(error, request.id));
    });
    const message = withoutNulls(request.body);
    const response = await answered(server, asWebRequest(request, gone.signal), message).catch(
      (error: unknown) => {
        if (gone.signal.aborted) return null;
        throw error;
      },
    );
    if (response === null) return reply;
    reply.code(response.status).header('cache-control', 'no-store');
    const type = response.headers.get('content-type');
    if (type !== null) reply.header('content-type', type);
    bodies.sendBody(request, reply, await response.text());
    return reply;
  });

  app.route({
    method: ['GET', 'DELETE', 'PUT', 'PATCH'],
    url: '/mcp',
    config: { isRefusal: true },
    handler: async (_request, reply) => {
      reply.header('allow', 'POST');
      return refuse(reply, 405, 'This server has no sessions and sends nothing unasked: use POST.');
    },
  });
  return listed;
}

async function answered(server: Server, request: Request, parsedBody: unknown): Promise<Response> {
  if (!(await isLegacyRequest(request, parsedBody))) {
    // This server sends nothing unasked, so there is nothing to subscribe to.
    const options = { legacy: 'reject', maxSubscriptions: 0 } as const;
    return createMcpHandler(() => server, options).fetch(request, { parsedBody });
  }
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  return transport.handleRequest(request, { parsedBody });
}

/** True for the gateway's own page on its own machine. Only loopback names count, since others can be rebound. */
function isOwn({ headers: { host } }: FastifyRequest, origin: string): boolean {
  const url = URL.parse(origin);
  return url !== null && /^https?:$/.test(url.protocol) && url.host === host && isLoopback(url.hostname);
}

/** Hands the transport what it reads, and not the key. It insists on clients that accept event streams. */
function asWebRequest({ headers: given }: FastifyRequest, signal: AbortSignal): Request {
  const headers = new Headers({ accept: 'application/json, text/event-stream' });
  for (const [name, value] of Object.entries(given))
    if (name === 'content-type' || name.startsWith('mcp-')) headers.set(name, String(value));
  return new Request('http://localhost/mcp', { method: 'POST', headers, signal });
}

function refuse(reply: FastifyReply, status: number, message: string, code = REFUSED): FastifyReply {
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }));
}

const RULED_OUT = /; *q *= *0(\.0*)? *(;|$)/i;

/** The narrowest matching range decides. */
function acceptsJson(accepts: string | undefined): boolean {
  if (accepts === undefined || accepts.trim() === '') return true;
  const ranges = accepts.split(',');
  const fitting = JSON_RANGES.map((type) => ranges.filter((range) => type.test(range)));
  return fitting.find(({ length }) => length > 0)?.some((range) => !RULED_OUT.test(range)) ?? false;
}

const JSON_RANGES = [
  /^\s*application\/json\s*(;|$)/i,
  /^\s*application\/\*\s*(;|$)/i,
  /^\s*\*(\/\*)?\s*(;|$)/,
] as const;
