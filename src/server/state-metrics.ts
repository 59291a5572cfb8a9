import { Counter, Gauge, type Registry } from 'prom-client';
import type { Gateway } from '../gateway.ts';

/** Keys whose plans are told, those last in use first. */
const MAX_KEYS = 20;

/** Characters of a key's digest that name it: it is keyed, so that nobody can look a key up by it. */
const DIGEST_LENGTH = 8;

/** The parts of the gateway that are looked at. */
export type WatchedGateway = Pick<Gateway, 'load' | 'live' | 'state'>;

/** Shows state that the gateway has anyway; it is looked at only when metrics are read. */
export function watchGateway({ load, live, state }: WatchedGateway, registers: Registry[]): void {
  watchLoad(load, live, registers);
  watchLookups(state, registers);
  watchPlans(state, registers);
  watchCircuits(state, registers);
}

function watchLoad(load: Gateway['load'], live: Gateway['live'], registers: Registry[]): void {
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
  gauge(
    'country_graph_operations_under_way',
    'Operations that have begun and are not over.',
    () => load.underWay,
  );
  if (live !== null)
    gauge('country_graph_subscriptions', 'Subscriptions that are open.', () => live.subscriptions.count());
  gauge('country_graph_operations_waiting', 'Operations that wait to begin.', () => load.waiting);
  new Counter({
    name: 'country_graph_operations_delayed_total',
    help: 'Operations that could not begin at once.',
    registers,
    collect() {
      this.reset();
      this.inc(load.delayed);
    },
  });
  new Counter({
    name: 'country_graph_operations_refused_total',
    help: 'Operations refused as OVERLOADED: full, where too many were waiting; late, where one had waited for too long.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(load.refused)) this.inc({ reason }, count);
    },
  });
}

function watchLookups({ lookups }: Gateway['state'], registers: Registry[]): void {
  new Counter({
    name: 'country_graph_cache_lookups_total',
    help: 'What was looked for among what is held: figures, lists and other answers of the service, whole answers. A hit is fresh.',
    labelNames: ['kind', 'result'],
    registers,
    collect() {
      this.reset();
      for (const [kind, { hits, misses }] of Object.entries(lookups)) {
        this.inc({ kind, result: 'hit' }, hits);
        this.inc({ kind, result: 'miss' }, misses);
      }
    },
  });
}

/**
 * Shows the plans of keys. Each worker has a copy of the shared counts, which may be older: of the calls left, the
 * least is nearest to the truth.
 */
function watchPlans({ recentLimits }: Gateway['state'], registers: Registry[]): void {
  const gauge = (name: string, help: string, value: 'left' | 'most', aggregator: 'min' | 'max') =>
    new Gauge({
      name,
      help,
      labelNames: ['key', 'window'],
      aggregator,
      registers,
      collect() {
        this.reset();
        for (const { keyDigest, limits } of recentLimits(MAX_KEYS)) {
          const key = keyDigest.slice(0, DIGEST_LENGTH);
          for (const limit of limits) this.set({ key, window: limit.name }, limit[value]);
        }
      },
    });
  gauge(
    'country_graph_quota_remaining_calls',
    `Calls left of the minute and the month, as far as the service has named the plan; of the ${MAX_KEYS} keys last in use.`,
    'left',
    'min',
  );
  gauge(
    'country_graph_quota_limit_calls',
    'Calls that the plan of a key allows in a minute and a month, as the service has named them.',
    'most',
    'max',
  );
}

function watchCircuits({ openCircuits }: Gateway['state'], registers: Registry[]): void {
  new Gauge({
    name: 'country_graph_circuits_open',
    help: 'Circuits that keep calls to a route back: that of all keys, and those of single keys. Routes that have never failed are not listed.',
    labelNames: ['route', 'scope'],
    registers,
    collect() {
      this.reset();
      for (const { route, isOpenForAll, keys } of openCircuits()) {
        this.set({ route, scope: 'all' }, isOpenForAll ? 1 : 0);
        this.set({ route, scope: 'key' }, keys);
      }
    },
  });
}
