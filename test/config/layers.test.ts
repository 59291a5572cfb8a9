import { expect, it } from 'vitest';
import { mayImport } from '../../scripts/structure/layers.ts';

const RIGHT: readonly [file: string, target: string][] = [
  ['src/config/config.ts', 'src/shared/source-names.ts'],
  ['src/config/config.ts', 'zod'],
  ['src/cache/store.ts', 'src/shared/exact-json.ts'],
  ['src/service/records/a.ts', 'src/service/call.ts'],
  ['src/observations/pool.ts', 'src/observations/planner/plan.ts'],
  ['src/observations/loaders/a.ts', 'src/observations/client.ts'],
  ['src/graphql/execution/plan.ts', 'graphql'],
  ['src/graphql/execution/plan.ts', 'src/shared/async/turns.ts'],
  ['src/graphql/request/execution.ts', 'src/graphql/execution/plan.ts'],
  ['src/plugin/definition.ts', 'fastify'],
  ['src/gateway/plugin.ts', 'src/plugin/definition.ts'],
  ['src/plugins/batches/plugin.ts', 'src/plugin/index.ts'],
  ['src/plugins/batches/plugin.ts', 'src/plugins/batches/answer-all.ts'],
  ['src/plugins/batches/plugin.ts', 'fastify'],
  ['src/server/http.ts', 'src/gateway/gateway.ts'],
  ['src/cli/serve.ts', 'src/sandbox/sandbox.ts'],
  ['src/plugins/graphiql/routes.ts', '@fastify/static'],
  ['clients/graphiql/src/chart/csv.ts', 'src/shared/cells.ts'],
  ['clients/graphiql/src/picture-worker.ts', 'src/shared/drawings.ts'],
  ['src/sandbox/routes/a.ts', 'src/sandbox/seed.ts'],
];

const WRONG: readonly [file: string, target: string][] = [
  ['src/shared/errors.ts', 'src/config/config.ts'],
  ['src/shared/cells.ts', 'src/shared/errors.ts'],
  ['src/shared/async/turns.ts', 'src/shared/errors.ts'],
  ['src/config/config.ts', 'src/cache/store.ts'],
  ['src/cache/store.ts', 'src/keys/ledger.ts'],
  ['src/keys/tenant.ts', 'src/service/call.ts'],
  ['src/service/client.ts', 'src/observations/planner/plan.ts'],
  ['src/service/client.ts', 'graphql'],
  ['src/service/client.ts', '@apollo/server'],
  ['src/observations/planner/plan.ts', 'src/observations/pool.ts'],
  ['src/observations/pool.ts', 'src/observations/loaders/loaders.ts'],
  ['src/observations/loaders/a.ts', 'src/graphql/execution/plan.ts'],
  ['src/graphql/execution/plan.ts', 'src/shared/errors.ts'],
  ['src/graphql/schema/schema.ts', 'src/graphql/resolvers/countries.ts'],
  ['src/graphql/resolvers/countries.ts', 'src/graphql/cost/bound.ts'],
  ['src/graphql/cost/bound.ts', 'src/graphql/request/execution.ts'],
  ['src/graphql/request/execution.ts', 'src/gateway/gateway.ts'],
  ['src/graphql/request/execution.ts', 'fastify'],
  ['src/gateway/gateway.ts', 'src/server/http.ts'],
  ['src/gateway/plugin.ts', 'src/server/http.ts'],
  ['src/gateway/gateway.ts', 'src/sandbox/sandbox.ts'],
  ['src/server/http.ts', 'src/cli/serve.ts'],
  ['src/server/http.ts', 'clients/graphiql/src/tabs.ts'],
  ['src/plugins/public-pages/drawer.ts', 'clients/graphiql/src/looks.ts'],
  ['src/sandbox/seed.ts', 'src/shared/errors.ts'],
  ['clients/graphiql/src/tabs.ts', 'src/shared/errors.ts'],
  ['src/plugin/definition.ts', 'src/gateway/plugin.ts'],
  ['src/plugins/batches/plugin.ts', 'src/plugin/definition.ts'],
  ['src/plugins/batches/plugin.ts', 'src/shared/errors.ts'],
  ['src/plugins/batches/plugin.ts', 'src/plugins/absences/plugin.ts'],
  ['src/plugins/another/fill.ts', 'src/server/http.ts'],
  ['clients/graphiql/src/chart/csv.ts', 'src/graphql/request/answer-tables.ts'],
];

it.for(RIGHT)('%s may import %s', ([file, target]) => expect(mayImport(file, target)).toBe(true));

it.for(WRONG)('%s may not import %s', ([file, target]) => expect(mayImport(file, target)).toBe(false));
