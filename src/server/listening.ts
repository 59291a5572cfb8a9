import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { excerpt } from '../shared/errors.ts';

/** @returns the origin */
export async function listenAt(app: FastifyInstance, host: string, port: number): Promise<string> {
  await app.ready();
  // Not app.listen: that binds a second server for `localhost`, which a drain could not reach.
  app.server.listen({ host, port });
  await once(app.server, 'listening');
  const address = app.server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}

export async function notFound(request: FastifyRequest, reply: FastifyReply) {
  reply.code(404);
  return {
    error: 'Not Found',
    message: excerpt(`There is no ${request.method} ${request.url.split('?')[0]} here.`),
  };
}
