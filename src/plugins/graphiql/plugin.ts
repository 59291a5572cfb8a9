import type { FastifyRequest } from 'fastify';
import { definePlugin, methodAnswered, onOff, type PluginServices } from '../../plugin/index.ts';

export const graphiql = definePlugin({
  name: 'graphiql',
  settings: { GRAPHIQL: onOff.default(true) },
  open({ GRAPHIQL: isOn }) {
    if (!isOn) return null;
    let api: PluginServices['api'] = () => null;
    return {
      start(gateway) {
        api = gateway.api;
      },
      http: {
        routes: async (app, host) => (await import('./routes.ts')).graphiqlRoute(app, host, api),
        graphql(request, reply) {
          if (!wantsPage(request)) return false;
          // Relative, since a proxy may serve the gateway below a path.
          reply.redirect('graphiql', 302);
          return true;
        },
      },
    };
  },
});

/** True for a person with a browser, who sends no operation. */
function wantsPage({ method, url, headers }: FastifyRequest): boolean {
  return (
    methodAnswered(method) === 'GET' && !url.includes('?') && (headers.accept ?? '').includes('text/html')
  );
}
