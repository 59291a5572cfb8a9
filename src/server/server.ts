import { Server as TcpServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import cors from '@fastify/cors';
import fastify, { type FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import type { Gateway } from '../gateway.ts';
import { graphqlRoute } from './graphql-route.ts';
import { boundHeapGrowth } from './heap-growth.ts';
import { listenAt } from './listening.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { addOperatorRoutes, createAdminServer, notFound } from './operator-routes.ts';
import { createOutgoing } from './outgoing.ts';
import { requestIdOf } from './request-ids.ts';

/** Longer than the minute after which common load balancers drop an idle connection, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
const HEADERS_TIMEOUT_MS = 15_000;
/** Headers and body together; bounds what a slow sender can hold, a drain included. */
const REQUEST_TIMEOUT_MS = 30_000;
/** What may be left to close once nobody is answered any more: connections to the service and to the store. */
const STOP_TIMEOUT_MS = 2_000;
/** How many of the longest answers may wait for slow readers, by their bytes. */
const ANSWERS_WAITING = 4;
/** Characters of texts that are not worth keeping count of. */
const SHORT_LENGTH = 4_096;
const PREFLIGHT_MAX_AGE_SECONDS = 600;
/** What pages of other origins may read beside what browsers show them anyway. */
const EXPOSED_HEADERS = [
  'retry-after',
  'etag',
  'x-request-id',
  'ratelimit',
  'ratelimit-policy',
  'server-timing',
];

export interface Server {
  /** The GraphQL address, once requests are taken. */
  listen(): Promise<{
    readonly url: string;
    /** Where health and metrics are, if not beside the rest. */
    readonly adminUrl: string | undefined;
  }>;
  /**
   * Says that it isn't ready, and asks clients to close their connections, but still answers. After `delayMs`, takes no
   * new connection, answers new operations on open ones with 503, and lets those in flight finish for as long as the
   * settings allow; then it cuts what is left and stops the gateway.
   * @param delayMs `DRAIN_DELAY_MS`, unless something else is given
   * @param isReplaced whether another process takes the connections from now on: then no new ones are taken at once, but
   * those that are open are answered until they have closed, as long as requests in flight may take; and what asks
   * whether the program is ready is told that it is
   * @returns how many requests were cut
   */
  drain(delayMs?: number, isReplaced?: boolean): Promise<number>;
}

export interface ServerParts {
  readonly config: Config;
  readonly gateway: Gateway;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Demo keys of the embedded sandbox by name; null where the figures are real. */
  readonly demoKeys: Readonly<Record<string, string>> | null;
}

export function createServer({ config, gateway, metrics, log, demoKeys }: ServerParts): Server {
  const app = fastify({
    bodyLimit: config.maxBodyBytes,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS },
    genReqId: requestIdOf,
  });
  metrics.watch(gateway);
  const stopBounding = boundHeapGrowth(gateway.load);
  app.addHook('onClose', async () => stopBounding());
  const open = new Set<object>();
  /** Whether connections are to close, whether the program is about to stop, and whether it takes no new operations. */
  let isClosing = false;
  let isLeaving = false;
  let isDraining = false;
  let lastClosed = () => {};

  const outgoing = createOutgoing({
    maxPerConnection: config.maxAnswerBytes,
    maxInAll: ANSWERS_WAITING * config.maxAnswerBytes,
    onCut: metrics.cut,
  });

  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    open.add(reply.raw);
    reply.raw.once('close', () => {
      open.delete(reply.raw);
      if (open.size === 0) lastClosed();
    });
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    if (isClosing) reply.header('connection', 'close');
    const isText = typeof payload === 'string';
    if (!isText && !Buffer.isBuffer(payload)) done(null, payload);
    else if (isText && payload.length < SHORT_LENGTH) done(null, payload);
    else done(null, outgoing.add(reply.raw, request.raw.socket, isText ? Buffer.from(payload) : payload));
  });

  allowOrigins(app, config.corsOrigins);
  if (config.graphiql) {
    const settings = { demoKeys, trusted: gateway.trusted };
    app.register(async (app) => (await import('./graphiql-route.ts')).graphiqlRoute(app, settings));
  }
  app.register(graphqlRoute, {
    gateway,
    hasGraphiql: config.graphiql,
    isDraining: () => isDraining,
    isSubgraph: config.subgraph,
    problem(error, requestId) {
      log.problem(error, 'server', requestId);
      metrics.problem(error, 'server');
    },
  });

  const operatorParts = { metrics, isLeaving: () => isLeaving };
  const admin = config.adminPort === undefined ? null : createAdminServer(operatorParts);
  if (admin === null) addOperatorRoutes(app, operatorParts);
  if (config.introspection) {
    app.get('/schema.graphql', async (_request, reply) => {
      reply.header('content-type', 'text/plain; charset=utf-8');
      return gateway.sdl;
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

    async drain(delayMs = config.drainDelayMs, isReplaced = false) {
      isClosing = true;
      isLeaving = !isReplaced;
      // The TCP server's close alone: the HTTP server's would also drop idle connections, whose next request is to be
      // answered, or told 503, and stop watching for slow senders.
      const closed = Promise.withResolvers<void>();
      const stopListening = () => TcpServer.prototype.close.call(app.server, () => closed.resolve());
      if (isReplaced) {
        stopListening();
        admin?.stopListening();
        await within(config.drainTimeoutMs, closed.promise);
        app.server.closeIdleConnections();
      } else if (delayMs > 0) await setTimeout(delayMs);
      isDraining = true;
      stopListening();
      if (open.size > 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        lastClosed = resolve;
        await within(config.drainTimeoutMs, promise);
      }
      const cut = open.size;
      app.server.closeAllConnections();
      await within(
        STOP_TIMEOUT_MS,
        Promise.all([app.close(), admin?.close()]).then(() => gateway.stop()),
      );
      return cut;
    },
  };
}

/** Pages of these origins may ask from browsers. */
function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  app.register(cors, {
    origin: [...origins],
    methods: ['GET', 'POST'],
    // No list of allowed headers: what a preflight asks for is allowed, since clients and tracing libraries have headers of
    // their own. Which origins may ask is what counts, and no page sends a key but one that has it.
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_MAX_AGE_SECONDS,
    strictPreflight: false,
  });
}

/** Waits for something, but no longer than that. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const limit = setTimeout(ms, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([work, limit]);
  over.abort();
}
