import { Server as TcpServer } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { sendBody } from './bodies.ts';
import { headerCountError, markAnswers, NO_COMPILERS, requestIdOf } from './http.ts';
import { listenAt, refuseUnrouted } from './listening.ts';
import type { Metrics } from './metrics.ts';
import { readPacked } from './packed-requests.ts';
import type { Course, ServerParts } from './server-parts.ts';
import { refuseExpectations, refuseUnread } from './unread-requests.ts';

/** None of these needs a key. */
export function addOperatorRoutes(app: FastifyInstance, metrics: Metrics, course: Course): void {
  app.get('/health/live', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
    return { status: 'ok' };
  });
  app.get('/health/ready', async (_request, reply) => {
    reply.code(course.isLeaving ? 503 : 200).header('cache-control', 'no-store');
    return { status: course.isLeaving ? 'draining' : 'ok' };
  });
  app.get('/metrics', async (request, reply) => {
    reply.header('content-type', metrics.contentType).header('cache-control', 'no-store');
    sendBody(request, reply, await metrics.text());
    return reply;
  });
}

const BOUNDS = {
  bodyLimit: 1_024,
  requestTimeout: 10_000,
  http: { headersTimeout: 5_000, requireHostHeader: false },
  schemaController: { compilersFactory: NO_COMPILERS },
};

/** Answers until the program ends, during a drain too. */
export function createAdminServer({ metrics, gateway: { plugins } }: ServerParts, course: Course) {
  const app = fastify({
    ...BOUNDS,
    forceCloseConnections: true,
    genReqId: (request) => requestIdOf(request),
    clientErrorHandler: refuseUnread,
  });
  refuseUnrouted(app);
  refuseExpectations(app.server);
  markAnswers(app);
  app.addHook('onRequest', async ({ raw }, reply) => {
    const error = headerCountError(raw);
    if (error !== null)
      return reply.code(error.status).send({ error: 'Bad Request', message: error.message });
  });
  addOperatorRoutes(app, metrics, course);
  for (const { operators } of plugins.http) {
    if (operators === undefined) continue;
    app.register(async (scope) => {
      readPacked(scope);
      await operators(scope);
    });
  }
  return {
    listen: (host: string, port: number) => listenAt(app, host, port),
    /** Open connections are still answered. */
    stopListening: () => void TcpServer.prototype.close.call(app.server),
    close: () => app.close(),
  };
}
