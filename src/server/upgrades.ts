import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Upgrade } from '../gateway/plugin.ts';

/** Returns the protocol that a client wants to go on with, in lower case; empty if it wants none. */
export function protocolOf({ headers }: IncomingMessage): string {
  return headers.upgrade?.toLowerCase() ?? '';
}

/**
 * Hands on connections that clients upgrade. Other upgrades that they offer, such as that to HTTP/2, are answered as if
 * they had not: but older versions of Node don't ask which, and these can't be answered any more.
 */
export function takeUpgrades(app: FastifyInstance, upgrades: ReadonlyMap<string, Upgrade>): void {
  app.server.on('upgrade', (request, socket, head) => {
    const take = upgrades.get(protocolOf(request));
    if (take !== undefined) take(request, socket, head);
    else socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });
}
