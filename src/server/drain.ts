import { Server as TcpServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { systemClock } from '../shared/async/clock.ts';
import { within } from '../shared/async/within.ts';
import type { watchOpenRequests } from './open-requests.ts';
import type { createAdminServer } from './operators.ts';
import type { Course, ServerParts } from './server-parts.ts';

/** Milliseconds for closing connections to the service and to the store. */
const STOP_TIMEOUT_MS = 2_000;

interface RunningServer {
  readonly app: FastifyInstance;
  readonly course: Course;
  readonly open: ReturnType<typeof watchOpenRequests>;
  /** The server for operators; null if they ask at the same port. */
  readonly admin: ReturnType<typeof createAdminServer> | null;
}

/**
 * Reports that it isn't ready, and asks clients to close their connections, but still answers. After `delayMs`, takes
 * no new connection, answers new operations on open ones with 503, and lets operations in flight finish for as long as
 * the settings allow. Then it cuts the connections that are left and stops the gateway.
 * @param isReplaced true if another process takes new connections from now on: then open ones are answered until they
 * have closed, for as long as requests in flight may take, and probes are told that the program is ready
 * @returns the number of requests that were cut, without those whose clients were not reading or sending
 */
export async function drain(
  { app, course, open, admin }: RunningServer,
  { config, gateway, log, clock: { after } = systemClock }: ServerParts,
  delayMs: number,
  isReplaced: boolean,
): Promise<number> {
  course.isClosing = true;
  course.isLeaving = !isReplaced;
  // Not the HTTP server's own close: it would also drop idle connections, whose next request is to be answered or told
  // 503, and would stop watching for slow senders.
  const closed = Promise.withResolvers<void>();
  const stopListening = () => TcpServer.prototype.close.call(app.server, () => closed.resolve());
  if (isReplaced) {
    stopListening();
    admin?.stopListening();
    void gateway.beforeStop();
    await within(config.drainTimeoutMs, closed.promise, undefined, after);
    app.server.closeIdleConnections();
  } else if (delayMs > 0) await new Promise<void>((resolve) => after(delayMs, resolve));
  course.isDraining = true;
  stopListening();
  const ended = gateway.beforeStop();
  await within(config.drainTimeoutMs, open.none(), undefined, after);
  await ended;
  const cut = open.underWay;
  const left = open.count - cut;
  if (left > 0)
    log.note(`${left} client(s) did not take their answers, or send their requests, in DRAIN_TIMEOUT_MS`);
  app.server.closeAllConnections();
  await within(
    STOP_TIMEOUT_MS,
    Promise.all([app.close(), admin?.close()]).then(gateway.stop),
    undefined,
    after,
  );
  return cut;
}
