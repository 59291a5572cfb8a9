import type { Plugin, PluginHost } from '../../plugin/index.ts';
import { Exchange } from './exchange.ts';
import { keyStoreIn } from './key-store.ts';
import type { Usage } from './usage.ts';

export async function openIssued(
  gatewayKey: string,
  operatorKey: string | undefined,
  host: PluginHost,
): Promise<Plugin> {
  const store = keyStoreIn(await host.openStore());
  const exchange = new Exchange(gatewayKey, host, store);
  const { desk, usage } = exchange;
  return {
    keys: (gateway) => exchange.holding(gateway),
    metrics: metricsOf(usage),
    http: {
      async operators(app) {
        if (operatorKey === undefined) return;
        const { adminRoutes } = await import('./admin-route.ts');
        await adminRoutes(app, { desk, operatorKey });
      },
    },
    async close() {
      await exchange.close();
      await store.close();
    },
    api: () => ({ desk, usage }),
  };
}

type PluginMetric = NonNullable<Plugin['metrics']>[number];

/** Each metric can be summed over all of its labels. */
function metricsOf(usage: Usage): readonly PluginMetric[] {
  const counter = (name: string, help: string, labels: readonly string[], values: PluginMetric['values']) =>
    ({ kind: 'counter', name: `country_graph_issued_key_${name}_total`, help, labels, values }) as const;
  return [
    counter('operations', 'Operations by issued keys, by outcome.', ['key', 'outcome'], () =>
      usage.totals().flatMap(({ key, operations, failed }) => [
        { labels: { key, outcome: 'ok' }, value: operations - failed },
        { labels: { key, outcome: 'error' }, value: failed },
      ]),
    ),
    counter('calls', 'Calls to the service by issued keys.', ['key'], () =>
      usage.totals().map(({ key, calls: value }) => ({ labels: { key }, value })),
    ),
    counter(
      'calls_saved',
      'Answers to issued keys that needed no call: shared with an operation in flight, or cached.',
      ['key', 'by'],
      () =>
        usage.totals().flatMap(({ key, shared, cached }) => [
          { labels: { key, by: 'shared' }, value: shared },
          { labels: { key, by: 'cached' }, value: cached },
        ]),
    ),
  ];
}
