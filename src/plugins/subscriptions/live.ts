import type { Plugin, StartedServices } from '../../plugin/index.ts';
import type { Live } from './connection.ts';
import { eventStreams } from './event-streams.ts';
import { revalidated } from './revalidated.ts';
import { webSockets } from './web-sockets.ts';

export function openLive(settings: Parameters<StartedServices['openSubscriptions']>[0]) {
  // Set once the gateway is composed, and once it has a server.
  let live: Live | undefined;
  let streams: ReturnType<typeof eventStreams> | undefined;
  let sockets: ReturnType<typeof webSockets> | undefined;
  return {
    async start(gateway) {
      const { holderOf, limits, openSubscriptions } = gateway;
      live = { holderOf, limits, subscriptions: await openSubscriptions(settings) };
    },
    request: revalidated,
    metrics: [
      {
        kind: 'gauge',
        name: 'country_graph_subscriptions',
        help: 'Subscriptions that are open.',
        labels: [],
        values: () => [{ value: live?.subscriptions.count() ?? 0 }],
      },
    ],
    http: {
      corsMethods: ['PUT', 'DELETE'],
      upgrades: { websocket: (...given) => sockets?.take(...given) },
      graphql: (request, reply) => streams?.answers(request, reply) ?? false,
      routes(app, host) {
        if (live === undefined) return;
        host.asGraphql(app);
        streams = eventStreams(app, live, host);
        sockets = webSockets(live, host);
      },
    },
    async beforeStop() {
      streams?.end();
      await sockets?.end();
      live?.subscriptions.stop();
    },
    api: () => ({}),
  } satisfies Plugin;
}
