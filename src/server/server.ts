import { once } from 'node:events';
import { type AddressInfo, Server as TcpServer } from 'node:net';
import cors from '@fastify/cors';
import fastify from 'fastify';
import type { Config } from '../config.ts';
import type { Gateway } from '../gateway.ts';
import { graphqlRoute } from './graphql-route.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** Longer than the minute after which common load balancers drop an idle connection, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
const HEADERS_TIMEOUT_MS = 15_000;
/** Headers and body together; bounds what a slow sender can hold, a drain included. */
const REQUEST_TIMEOUT_MS = 30_000;
const PREFLIGHT_MAX_AGE_SECONDS = 600;

export interface Server {
  /** The GraphQL address, once requests are taken. */
  listen(): Promise<{ readonly url: string }>;
  /**
   * Takes no new connection, answers new operations on open ones with 503, lets those in flight finish, and then
   * stops the gateway.
   */
  drain(): Promise<void>;
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
  });
  const open = new Set<object>();
  let draining = false;
  let lastClosed = () => {};

  app.addHook('onRequest', (_request, reply, done) => {
    open.add(reply.raw);
    reply.raw.once('close', () => {
      open.delete(reply.raw);
      if (open.size === 0) lastClosed();
    });
    done();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (draining) reply.header('connection', 'close');
    done(null, payload);
  });

  if (config.corsOrigins.length > 0) {
    app.register(cors, {
      origin: [...config.corsOrigins],
      methods: ['GET', 'POST'],
      allowedHeaders: [
        'authorization',
        'content-type',
        'apollo-require-preflight',
        'x-apollo-operation-name',
        'x-explain',
      ],
      exposedHeaders: ['retry-after'],
      maxAge: PREFLIGHT_MAX_AGE_SECONDS,
      strictPreflight: false,
    });
  }
  if (config.graphiql) {
    app.register(async (ide) => (await import('./ide-route.ts')).ideRoute(ide, { demoKeys }));
  }
  app.register(graphqlRoute, {
    gateway,
    isIdeThere: config.graphiql,
    isDraining: () => draining,
    problem(error) {
      log.problem(error, 'server');
      metrics.problem(error, 'server');
    },
  });

  app.get('/health/live', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
    return { status: 'ok' };
  });
  app.get('/health/ready', async (_request, reply) => {
    reply.code(draining ? 503 : 200).header('cache-control', 'no-store');
    return { status: draining ? 'draining' : 'ok' };
  });
  app.get('/metrics', async (_request, reply) => {
    reply.header('content-type', metrics.contentType).header('cache-control', 'no-store');
    return metrics.text();
  });
  app.get('/schema.graphql', async (_request, reply) => {
    reply.header('content-type', 'text/plain; charset=utf-8');
    return gateway.sdl;
  });
  app.setNotFoundHandler(async (request, reply) => {
    reply.code(404);
    return {
      error: 'Not Found',
      message: `There is no ${request.method} ${request.url.split('?')[0]} here.`,
    };
  });

  return {
    async listen() {
      const host = config.host.replace(/^\[(.*)\]$/, '$1');
      await app.ready();
      // Not app.listen: that binds a second server for `localhost`, which a drain could not reach.
      app.server.listen({ host, port: config.port });
      await once(app.server, 'listening');
      const { port } = app.server.address() as AddressInfo;
      return { url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/graphql` };
    },

    async drain() {
      draining = true;
      // The TCP server's close alone: the HTTP server's would also drop idle connections, whose next request is to be
      // told 503, and stop watching for slow senders.
      TcpServer.prototype.close.call(app.server);
      if (open.size > 0) {
        await new Promise<void>((resolve) => {
          lastClosed = resolve;
        });
      }
      app.server.closeAllConnections();
      await app.close();
      await gateway.stop();
    },
  };
}
