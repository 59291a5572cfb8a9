import type { IncomingMessage } from 'node:http';
import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import fastify from 'fastify';
import type { Config } from '../config.ts';
import type { Gateway } from '../gateway.ts';
import { printSdl } from '../graph/schema.ts';
import { processBudgetMb } from '../memory-budget.ts';
import type { LiveTransport } from '../wings/live/stream.ts';
import type { McpRouteOptions } from '../wings/tools/mcp-route.ts';
import {
  addOperatorRoutes,
  type Course,
  createAdminServer,
  drain,
  listenAt,
  notFound,
  watchOpenRequests,
} from './draining.ts';
import { taggedText } from './graphiql-route.ts';
import { graphqlRoute } from './graphql-route.ts';
import { boundMemory } from './heap-growth.ts';
import { requestIdOf } from './http.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { createOutgoing, type Outgoing, WriteQueue, waitingBounds } from './outgoing.ts';

/**
 * Milliseconds, longer than the minute after which common load balancers drop an idle connection, so that they close
 * first.
 */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
const HEADERS_TIMEOUT_MS = 15_000;
/** Milliseconds for headers and body together. They bound the hold of a slow sender, a drain included. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Characters below which a text is not worth keeping count of. */
const SHORT_LENGTH = 4_096;
const PREFLIGHT_MAX_AGE_SECONDS = 600;
/** No route has a schema of Fastify's, so that readers and writers by one are not loaded. */
const NO_COMPILERS = { buildValidator: withoutSchemas, buildSerializer: withoutSchemas };
/** Headers that pages of other origins may read beside those that browsers show them anyway. */
const EXPOSED_HEADERS = [
  'retry-after',
  'etag',
  'x-request-id',
  'ratelimit',
  'ratelimit-policy',
  'server-timing',
  'x-upstream-bill',
  'x-graphql-errors',
  'x-graphql-warnings',
];

interface Server {
  /** Takes requests. Resolves to the GraphQL address. */
  listen(): Promise<{
    readonly url: string;
    /** The address of health and metrics, if not beside the rest. */
    readonly adminUrl: string | undefined;
  }>;
  /**
   * Says that it isn't ready, and asks clients to close their connections, but still answers. After `delayMs`, takes no
   * new connection, answers new operations on open ones with 503, and lets operations in flight finish for as long as
   * the settings allow. Then it cuts the connections that are left and stops the gateway.
   * @param delayMs `DRAIN_DELAY_MS`, unless something else is given
   * @param isReplaced true if another process takes the connections from now on. Then no new ones are taken at once,
   * but open ones are answered until they have closed, as long as requests in flight may take; and probes of readiness
   * are told that the program is ready
   * @returns the number of requests that the gateway was at when they were cut, without those whose clients don't read,
   * or don't send
   */
  drain(delayMs?: number, isReplaced?: boolean): Promise<number>;
}

interface ServerParts {
  readonly config: Config;
  readonly gateway: Gateway;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Demo keys of the embedded sandbox by name; null if the figures are real. */
  readonly demoKeys: Readonly<Record<string, string>> | null;
}

function withoutSchemas(): never {
  throw new Error('No route has a schema.');
}

export function createServer({ config, gateway, metrics, log, demoKeys }: ServerParts): Server {
  const app = fastify({
    bodyLimit: config.maxBodyBytes,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      ...(config.subscriptions ? { shouldUpgradeCallback: isWebSocket } : {}),
    },
    genReqId: requestIdOf,
    schemaController: { compilersFactory: NO_COMPILERS },
  });
  metrics.watch(gateway);
  const stopBounding = boundMemory({
    begun: gateway.load.begun,
    budgetMb: processBudgetMb(config),
    shrink: gateway.shrink,
  });
  app.addHook('onClose', async () => stopBounding());
  const course: Course = { isClosing: false, isLeaving: false, isDraining: false };
  const open = watchOpenRequests(app);
  const outgoing = createOutgoing({ ...waitingBounds(config), onCut: metrics.cut });
  const problem = (error: unknown, requestId: string) => {
    log.problem(error, 'server', requestId);
    metrics.problem(error, 'server');
  };

  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  writeTogether(app, { course, outgoing, problem });

  allowOrigins(app, config);
  if (config.graphiql) {
    const settings = { demoKeys, trusted: () => gateway.trusted, isLive: gateway.live !== null };
    app.register(async (app) => (await import('./graphiql-route.ts')).graphiqlRoute(app, settings));
  }
  /** The transports of subscriptions. */
  const transports: LiveTransport[] = [];
  app.register(graphqlRoute, {
    gateway,
    hasGraphiql: config.graphiql,
    isDraining: () => course.isDraining,
    isClosing: () => course.isClosing,
    outgoing,
    isSubgraph: config.subgraph,
    problem,
    onTransport: (transport) => transports.push(transport),
  });
  const { live } = gateway;
  if (live !== null) {
    app.register(async () => {
      const { liveSockets } = await import('../wings/live/sockets.ts');
      const { maxBodyBytes, maxAnswerBytes } = config;
      const bounds = { maxMessageBytes: maxBodyBytes, maxWaitingBytes: maxAnswerBytes };
      transports.push(
        liveSockets(app.server, { live, ...bounds, isDraining: () => course.isDraining, problem }),
      );
    });
  }
  if (config.mcp)
    addTools(app, { gateway, origins: config.corsOrigins, isDraining: () => course.isDraining, problem });

  const operatorParts = { metrics, isLeaving: () => course.isLeaving };
  const admin = config.adminPort === undefined ? null : createAdminServer(operatorParts);
  if (admin === null) addOperatorRoutes(app, operatorParts);
  if (config.introspection) {
    let printed: string | undefined;
    const sdl = taggedText(() => gateway.sdl);
    const clientSdl = taggedText(() => {
      printed ??= printSdl(gateway.schema);
      return printed;
    });
    app.get<{ Querystring: { for?: string } }>('/schema.graphql', async (request, reply) => {
      reply.header('content-type', 'text/plain; charset=utf-8');
      return request.query.for === 'clients' ? clientSdl(request, reply) : sdl(request, reply);
    });
  }
  app.setNotFoundHandler(notFound);

  return {
    async listen() {
      const host = config.host.replace(/^\[(.*)\]$/, '$1');
      const origin = await listenAt(app, host, config.port);
      try {
        const adminUrl = await admin?.listen(host, config.adminPort ?? 0);
        return { url: `${origin}/graphql`, adminUrl };
      } catch (error) {
        await app.close();
        throw error;
      }
    },

    drain(delayMs = config.drainDelayMs, isReplaced = false) {
      const parts = { app, config, course, open, admin, transports, note: log.note, stop: gateway.stop };
      return drain(parts, delayMs, isReplaced);
    },
  };
}

/**
 * Tells if a client asks for WebSocket. Other upgrades that clients offer, such as that to HTTP/2, are answered as if
 * they had not. Older versions of Node don't ask.
 */
function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

interface WritingParts {
  readonly course: Course;
  readonly outgoing: Outgoing;
  readonly problem: (error: unknown, requestId: string) => void;
}

/** Has whole answers written together with others that are ready. If that fails, the connection is cut. */
function writeTogether(app: FastifyInstance, { course, outgoing, problem }: WritingParts): void {
  const writes = new WriteQueue();
  app.addHook('onSend', (request, reply, payload, done) => {
    if (course.isClosing) reply.header('connection', 'close');
    const isText = typeof payload === 'string';
    if (!isText && !Buffer.isBuffer(payload)) {
      done(null, payload);
      return;
    }
    writes.add(function writeAnswer() {
      const { socket } = request.raw;
      try {
        if (isText && payload.length < SHORT_LENGTH) done(null, payload);
        else {
          const body = isText ? Buffer.from(payload) : payload;
          outgoing.write(reply.raw, socket, body, (bytes) => done(null, bytes));
        }
      } catch (error) {
        problem(error, request.id);
        socket.destroy();
      }
    });
  });
}

/** Adds tools for models, which are loaded only if they are offered. */
function addTools(app: FastifyInstance, options: McpRouteOptions): void {
  app.register(async (app) => (await import('../wings/tools/mcp-route.ts')).mcpRoute(app, options));
}

/** Lets pages of these origins ask from browsers. */
function allowOrigins(
  app: FastifyInstance,
  { corsOrigins: origins, subscriptions }: Pick<Config, 'corsOrigins' | 'subscriptions'>,
): void {
  if (origins.length === 0) return;
  app.register(cors, {
    origin: [...origins],
    // The others are for streams of several subscriptions.
    methods: ['GET', 'POST', ...(subscriptions ? ['PUT', 'DELETE'] : [])],
    // There is no list of allowed headers: a preflight may ask for any, since clients and tracing libraries have
    // headers of their own. The list of origins counts, and no page sends a key but one that has it.
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_MAX_AGE_SECONDS,
    strictPreflight: false,
  });
}
