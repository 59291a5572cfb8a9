/** Suites that measure memory or time, or set clocks or globals: each has a process of its own. */
export const ALONE = [
  'test/async/*.test.ts',
  'test/chaos/*.test.ts',
  'test/execution/differential.test.ts',
  'test/fuzz/*.test.ts',
  'test/operations/admission.test.ts',
  'test/operations/footprint.test.ts',
  'test/oracle/*.test.ts',
  'test/pricing/pricing.test.ts',
  'test/server/heap-growth.test.ts',
  'test/server/log-outlet.test.ts',
  'test/server/outgoing.test.ts',
  'test/upstream/deadline.test.ts',
  'test/upstream/rings.test.ts',
];

/**
 * Suites that take their time for programs that they start: a browser, the gateway as a user starts it, a compiler. `npm
 * test` leaves them to `npm run test:programs`. Those with a browser share one, since they share a process.
 */
export const PROGRAMS = [
  'test/cache/in-flight.test.ts',
  'test/cache/redis.test.ts',
  'test/cache/shared-counters.test.ts',
  'test/cli/*.test.ts',
  'test/clients/*.test.ts',
  'test/config/package.test.ts',
  'test/config/recipe.test.ts',
  'test/config/snippets.test.ts',
  'test/graphiql/catalogue.test.ts',
  'test/graphiql/chart.test.ts',
  'test/graphiql/deferred.test.ts',
  'test/graphiql/first-minute.test.ts',
  'test/graphiql/graphiql.test.ts',
  'test/graphiql/layout.test.ts',
  'test/graphiql/live.test.ts',
  'test/graphiql/share.test.ts',
  'test/graphiql/surroundings.test.ts',
  'test/graphiql/trouble.test.ts',
  'test/graphiql/trusted.test.ts',
  'test/live/gateways.test.ts',
  'test/server/balancer.test.ts',
  'test/server/docker.test.ts',
  'test/server/program.test.ts',
  'test/server/rolling.test.ts',
  'test/server/tracing.test.ts',
  'test/server/workers.test.ts',
  'test/site/*.test.ts',
];
