import { Server as TcpServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import type { LiveTransport } from './live-results.ts';
import type { AdminServer } from './operator-routes.ts';

/** What may be left to close once nobody is answered any more: connections to the service and to the store. */
const STOP_TIMEOUT_MS = 2_000;

/** How far a server is on its way to its end. */
export interface Course {
  /** Clients are asked to close their connections. */
  isClosing: boolean;
  /** What asks whether the program is ready is told that it isn't. */
  isLeaving: boolean;
  /** No new operations are taken. */
  isDraining: boolean;
}

/** Requests that are not answered yet. */
export interface OpenRequests {
  readonly count: number;
  /** Resolves once there is none. */
  none(): Promise<void>;
}

export function watchOpenRequests(app: FastifyInstance): OpenRequests {
  let open = 0;
  let lastClosed = () => {};
  app.addHook('onRequest', (_request, reply, done) => {
    open += 1;
    reply.raw.once('close', () => {
      open -= 1;
      if (open === 0) lastClosed();
    });
    done();
  });
  return {
    get count() {
      return open;
    },
    none() {
      if (open === 0) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      lastClosed = resolve;
      return promise;
    },
  };
}

export interface DrainParts {
  readonly app: FastifyInstance;
  readonly config: Pick<Config, 'drainTimeoutMs'>;
  readonly course: Course;
  readonly open: OpenRequests;
  /** Where operators ask; null where that is the same port. */
  readonly admin: AdminServer | null;
  /** The ways of subscriptions. */
  readonly transports: readonly LiveTransport[];
  /** Closes what the server has been answering from. */
  readonly stop: () => Promise<void>;
}

/**
 * As `Server.drain` says.
 * @returns how many requests were cut
 */
export async function drain(parts: DrainParts, delayMs: number, isReplaced: boolean): Promise<number> {
  const { app, config, course, open, admin, transports, stop } = parts;
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
  const cut = open.count;
  app.server.closeAllConnections();
  for (const transport of transports) transport.cut();
  await within(STOP_TIMEOUT_MS, Promise.all([app.close(), admin?.close()]).then(stop));
  return cut;
}

/** Waits for something, but no longer than that. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const limit = setTimeout(ms, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([work, limit]);
  over.abort();
}
