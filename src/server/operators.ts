import { Server as TcpServer } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { NO_COMPILERS } from './http.ts';
import { listenAt, notFound } from './listening.ts';
import type { Metrics } from './metrics.ts';
import type { Course, ServerParts } from './server-parts.ts';

/** Adds the routes of health and metrics, which ask for no key. */
export function addOperatorRoutes(app: FastifyInstance, metrics: Metrics, course: Course): void {
  app.get('/health/live', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
    return { status: 'ok' };
  });
  app.get('/health/ready', async (_request, reply) => {
    reply.code(course.isLeaving ? 503 : 200).header('cache-control', 'no-store');
    return { status: course.isLeaving ? 'draining' : 'ok' };
  });
  app.get('/metrics', async (_request, reply) => {
    reply.header('content-type', metrics.contentType).header('cache-control', 'no-store');
    return metrics.text();
  });
}

/** Bounds of requests for metrics and health, which are small. */
const BOUNDS = {
  bodyLimit: 1_024,
  requestTimeout: 10_000,
  http: { headersTimeout: 5_000 },
  schemaController: { compilersFactory: NO_COMPILERS },
};

/** Makes a server for health, metrics and routes of operators. It answers until the program ends, through a drain too. */
export function createAdminServer({ metrics, gateway: { plugins } }: ServerParts, course: Course) {
  const app = fastify({ ...BOUNDS, forceCloseConnections: true });
  addOperatorRoutes(app, metrics, course);
  for (const { operators } of plugins.http) if (operators) app.register(async (scope) => operators(scope));
  app.setNotFoundHandler(notFound);
  return {
    listen: (host: string, port: number) => listenAt(app, host, port),
    /** Takes no more connections, and answers on those that are open. */
    stopListening: () => void TcpServer.prototype.close.call(app.server),
    close: () => app.close(),
  };
}
