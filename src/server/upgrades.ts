import type { IncomingMessage } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import type { Upgrade, UpgradeHost } from '../plugin/definition.ts';
import { once } from '../shared/once.ts';
import { requestIdOf, trusting } from './http.ts';
import { wordsOf, writeRefusal } from './unread-requests.ts';

/** The protocol that a client wants to upgrade to, in lower case; empty for none. */
export function protocolOf({ headers }: IncomingMessage): string {
  return headers.upgrade?.toLowerCase() ?? '';
}

/**
 * Hands on connections that clients upgrade. Offers of other protocols, such as HTTP/2, are ignored; but older versions
 * of Node don't ask which, and these requests can't be answered any more.
 */
export function takeUpgrades(app: FastifyInstance, upgrades: ReadonlyMap<string, Upgrade>): void {
  app.server.on('upgrade', (request, socket, head) => {
    const take = upgrades.get(protocolOf(request));
    if (take !== undefined) take(request, socket, head);
    else writeRefusal(socket, 400);
  });
}

export function upgradeHost({ trustedProxies }: Config): UpgradeHost {
  // By the same rule as Fastify's `request.ip`.
  const isTrusted = once(() => trusting(trustedProxies));
  return {
    marksOf: (request) => ({
      requestId: requestIdOf(request),
      address: proxyAddr(request, isTrusted()) ?? '',
    }),
    refuse: (socket, status, headers = {}, message) =>
      writeRefusal(socket, status, headers, message && wordsOf(status, message)),
  };
}
