import type { PluginDefinition } from './plugin/definition.ts';
import { absences } from './plugins/absences/plugin.ts';
import { availability } from './plugins/availability/plugin.ts';
import { batches } from './plugins/batches/plugin.ts';
import { cacheTags } from './plugins/cache-tags/plugin.ts';
import { csvTables } from './plugins/csv-tables/plugin.ts';
import { extraRoutes } from './plugins/extra-routes/plugin.ts';
import { graphiql } from './plugins/graphiql/plugin.ts';
import { issuedKeys } from './plugins/issued-keys/plugin.ts';
import { journal } from './plugins/journal/plugin.ts';
import { mcpTools } from './plugins/mcp-tools/plugin.ts';
import { offline } from './plugins/offline/plugin.ts';
import { publicPages } from './plugins/public-pages/plugin.ts';
import { subscriptions } from './plugins/subscriptions/plugin.ts';
import { tracing } from './plugins/tracing/plugin.ts';

/**
 * The plugins of the program, each a line. Their order is policy: a table is made of one operation, so it is asked
 * for before a batch is taken apart.
 */
export const plugins: readonly PluginDefinition[] = [
  issuedKeys,
  offline,
  extraRoutes,
  availability,
  tracing,
  csvTables,
  batches,
  absences,
  cacheTags,
  journal,
  graphiql,
  subscriptions,
  mcpTools,
  publicPages,
];

/** Those of a gateway without a program around it. */
export const libraryPlugins: readonly PluginDefinition[] = [
  issuedKeys,
  offline,
  extraRoutes,
  availability,
  csvTables,
  batches,
  absences,
  cacheTags,
  journal,
  subscriptions,
];
