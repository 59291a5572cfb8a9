import { Server as TcpServer } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { excerpt } from '../errors.ts';
import { listenAt } from './listening.ts';
import type { Metrics } from './metrics.ts';

export interface OperatorParts {
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

export interface AdminServer {
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
