import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { excerpt } from '../shared/errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if the route refuses methods that its address doesn't take. */
    readonly isRefusal?: boolean;
  }
}

/** @returns the origin */
export async function listenAt(app: FastifyInstance, host: string, port: number): Promise<string> {
  await app.ready();
  // Not app.listen: that binds a second server for `localhost`, which a drain could not reach.
  app.server.listen({ host, port });
  await once(app.server, 'listening');
  const address = app.server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}

/** Refuses methods that an address doesn't take, and addresses that there are none. Call it before routes are added. */
export function refuseUnrouted(app: FastifyInstance): void {
  const routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = [];
  app.addHook('onRoute', ({ url, method, config }) => {
    // `*` are the preflights of all addresses.
    if (url === '*' || config?.isRefusal === true) return;
    const pattern = url
      .replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll(/:[^/]+/g, '[^/]+');
    routes.push({ pattern: new RegExp(`^${pattern}$`), methods: [method].flat() });
  });
  app.setNotFoundHandler(async ({ method, url }, reply) => {
    const [path = ''] = url.split('?');
    const methods = routes.flatMap((route) => (route.pattern.test(path) ? route.methods : []));
    // A route itself may find nothing.
    if (methods.length === 0 || methods.includes(method)) {
      reply.code(404);
      return { error: 'Not Found', message: excerpt(`There is no ${method} ${path} here.`) };
    }
    const allowed = [...new Set(methods)].sort().join(', ');
    reply.code(405).header('allow', allowed);
    return { error: 'Method Not Allowed', message: excerpt(`${path} takes ${allowed}, and not ${method}.`) };
  });
}
