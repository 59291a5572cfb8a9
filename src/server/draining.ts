import { once } from 'node:events';
import { type AddressInfo, Server as TcpServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastify from 'fastify';
import type { Config } from '../config.ts';
import { excerpt } from '../errors.ts';
import type { LiveTransport } from '../wings/live/stream.ts';
import { isInParts } from './http.ts';
import type { Metrics } from './metrics.ts';

/** @returns the origin at which the server takes requests from now on */
export async function listenAt(app: FastifyInstance, host: string, port: number): Promise<string> {
  await app.ready();
  // Not app.listen: that binds a second server for `localhost`, which a drain could not reach.
  app.server.listen({ host, port });
  await once(app.server, 'listening');
  const address = app.server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}

interface OperatorParts {
  readonly metrics: Metrics;
  /** True if the program is about to stop. */
  readonly isLeaving: () => boolean;
}

/** Adds the routes of health and metrics, which ask for no key. */
export function addOperatorRoutes(app: FastifyInstance, { metrics, isLeaving }: OperatorParts): void {
  app.get('/health/live', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
    return { status: 'ok' };
  });
  app.get('/health/ready', async (_request, reply) => {
    reply.code(isLeaving() ? 503 : 200).header('cache-control', 'no-store');
    return { status: isLeaving() ? 'draining' : 'ok' };
  });
  app.get('/metrics', async (_request, reply) => {
    reply.header('content-type', metrics.contentType).header('cache-control', 'no-store');
    return metrics.text();
  });
}

export async function notFound(request: FastifyRequest, reply: FastifyReply) {
  reply.code(404);
  return {
    error: 'Not Found',
    message: excerpt(`There is no ${request.method} ${request.url.split('?')[0]} here.`),
  };
}

interface AdminServer {
  listen(host: string, port: number): Promise<string>;
  /** Takes no more connections, and answers on those that are open. */
  stopListening(): void;
  close(): Promise<void>;
}

/** Bounds of requests for metrics and health, which are small. */
const BOUNDS = { bodyLimit: 1_024, requestTimeout: 10_000, http: { headersTimeout: 5_000 } };

/** Makes a server for health and metrics alone. It answers until the program ends, through a drain too. */
export function createAdminServer(parts: OperatorParts): AdminServer {
  const app = fastify({ ...BOUNDS, forceCloseConnections: true });
  addOperatorRoutes(app, parts);
  app.setNotFoundHandler(notFound);
  return {
    listen: (host, port) => listenAt(app, host, port),
    stopListening: () => void TcpServer.prototype.close.call(app.server),
    close: () => app.close(),
  };
}

/** Milliseconds left to close connections to the service and to the store, once nobody is answered any more. */
const STOP_TIMEOUT_MS = 2_000;

/** The progress of a server on the way to its end. */
export interface Course {
  /** Set once clients are asked to close their connections. */
  isClosing: boolean;
  /** Set once probes of readiness are told that the program isn't ready. */
  isLeaving: boolean;
  /** Set once no new operations are taken. */
  isDraining: boolean;
}

/** Requests whose answers have not left yet. */
interface OpenRequests {
  readonly count: number;
  /**
   * Number of them that the gateway still works on: the others wait for their clients, to take an answer or to send a
   * request.
   */
  readonly underWay: number;
  /** Resolves once there is none. */
  none(): Promise<void>;
}

export function watchOpenRequests(app: FastifyInstance): OpenRequests {
  const open = new Set<FastifyReply>();
  let lastClosed = () => {};
  app.addHook('onRequest', (_request, reply, done) => {
    open.add(reply);
    reply.raw.once('close', () => {
      open.delete(reply);
      if (open.size === 0) lastClosed();
    });
    done();
  });
  return {
    get count() {
      return open.size;
    },
    get underWay() {
      let count = 0;
      for (const reply of open) count += Number(!waitsForClient(reply));
      return count;
    },
    none() {
      if (open.size === 0) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      lastClosed = resolve;
      return promise;
    },
  };
}

/**
 * Tells if only the client's part is left: it has not sent all of its request, or not taken all of an answer that is
 * there.
 */
function waitsForClient({ request, raw }: FastifyReply): boolean {
  if (raw.writableEnded || !request.raw.complete) return true;
  // An answer that is written while it is read begins once all of it is known; one in parts may still have some to come.
  return raw.headersSent && !isInParts(raw);
}

interface DrainParts {
  readonly app: FastifyInstance;
  readonly config: Pick<Config, 'drainTimeoutMs'>;
  readonly course: Course;
  readonly open: OpenRequests;
  /** The server for operators; null if they ask at the same port. */
  readonly admin: AdminServer | null;
  /** The ways of subscriptions. */
  readonly transports: readonly LiveTransport[];
  readonly note: (message: string) => void;
  /** Closes the parts that the server answers from. */
  readonly stop: () => Promise<void>;
}

/**
 * Drains as `Server.drain` says.
 * @returns the number of requests that the gateway was at when they were cut
 */
export async function drain(parts: DrainParts, delayMs: number, isReplaced: boolean): Promise<number> {
  const { app, config, course, open, admin, transports, note, stop } = parts;
  course.isClosing = true;
  course.isLeaving = !isReplaced;
  // The TCP server's close alone: the HTTP server's would also drop idle connections, whose next request is to be
  // answered, or told 503, and stop watching for slow senders.
  const closed = Promise.withResolvers<void>();
  const stopListening = () => TcpServer.prototype.close.call(app.server, () => closed.resolve());
  const endSubscriptions = () => Promise.all(transports.map((transport) => transport.end()));
  if (isReplaced) {
    stopListening();
    admin?.stopListening();
    void endSubscriptions();
    await within(config.drainTimeoutMs, closed.promise);
    app.server.closeIdleConnections();
  } else if (delayMs > 0) await setTimeout(delayMs);
  course.isDraining = true;
  stopListening();
  const ended = within(STOP_TIMEOUT_MS, endSubscriptions());
  await within(config.drainTimeoutMs, open.none());
  await ended;
  const cut = open.underWay;
  const left = open.count - cut;
  if (left > 0)
    note(`${left} client(s) did not take their answers, or send their requests, in DRAIN_TIMEOUT_MS`);
  app.server.closeAllConnections();
  for (const transport of transports) transport.cut();
  await within(STOP_TIMEOUT_MS, Promise.all([app.close(), admin?.close()]).then(stop));
  return cut;
}

/** Waits for work, but no longer than the limit. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const limit = setTimeout(ms, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([work, limit]);
  over.abort();
}
