import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Gateway, Observer } from '../gateway.ts';
import type { CutReason } from './outgoing.ts';

export interface Metrics extends Observer {
  readonly contentType: string;
  /** A connection was cut whose client didn't take its answers. */
  cut(reason: CutReason): void;
  /** Has the gateway's load looked at whenever metrics are read. */
  watch(load: Gateway['load'], live?: Gateway['live']): void;
  /** Everything counted so far, by all workers, in the format of Prometheus. */
  text(): Promise<string>;
  /** What this process has counted, for `sumOf`. */
  snapshot(): Promise<MetricsSnapshot>;
}

/** What one process has counted: plain values, as prom-client has them. */
export type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export interface MetricsParts {
  /** Lines that the log has dropped so far. */
  readonly droppedLines?: () => number;
  /** What all workers have counted; null where that can't be told, or there is one alone. */
  readonly textOfAll?: () => Promise<string | null>;
}

export function createMetrics({ droppedLines = () => 0, textOfAll }: MetricsParts = {}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const operations = new Counter({
    name: 'country_graph_operations_total',
    help: 'GraphQL operations answered; outcome is ok, or error where the answer holds one.',
    labelNames: ['type', 'outcome'],
    registers,
  });
  const operationSeconds = new Histogram({
    name: 'country_graph_operation_duration_seconds',
    help: 'Time from a GraphQL request to its answer.',
    labelNames: ['type', 'outcome'],
    buckets: SECONDS,
    registers,
  });
  const errors = new Counter({
    name: 'country_graph_errors_total',
    help: 'Errors in answers, by code.',
    labelNames: ['code'],
    registers,
  });
  const attempts = new Counter({
    name: 'country_graph_upstream_attempts_total',
    help: 'Requests sent to the REST service, retries included: what it bills.',
    labelNames: ['route', 'outcome'],
    registers,
  });
  const attemptSeconds = new Histogram({
    name: 'country_graph_upstream_attempt_duration_seconds',
    help: 'Time of one request to the REST service, body included.',
    labelNames: ['route', 'outcome'],
    buckets: SECONDS,
    registers,
  });
  const saved = new Counter({
    name: 'country_graph_upstream_calls_saved_total',
    help: 'Answers that needed no request: shared with an operation in flight, or cached.',
    labelNames: ['by'],
    registers,
  });
  const repeated = new Counter({
    name: 'country_graph_answers_repeated_total',
    help: 'Operations answered by the bytes of the same operation before, nothing of which was past its time.',
    registers,
  });
  const stale = new Counter({
    name: 'country_graph_stale_answers_total',
    help: 'Answers past their time, served because the service gave none.',
    registers,
  });
  const problems = new Counter({
    name: 'country_graph_problems_total',
    help: 'Unexpected problems; each stands whole in the log.',
    registers,
  });

  const cuts = new Counter({
    name: 'country_graph_connections_cut_total',
    help: 'Connections cut because their clients read too slowly: late, or crowded where too much waited.',
    labelNames: ['reason'],
    registers,
  });
  new Counter({
    name: 'country_graph_log_lines_dropped_total',
    help: 'Lines of the log that were given up, since nobody read them.',
    registers,
    collect() {
      this.reset();
      this.inc(droppedLines());
    },
  });

  return {
    contentType: registry.contentType,
    text: async () => (await textOfAll?.()) ?? registry.metrics(),
    snapshot: () => registry.getMetricsAsJSON(),
    operation(event) {
      const labels = { type: event.type ?? 'none', outcome: event.errorCodes.length === 0 ? 'ok' : 'error' };
      operations.inc(labels);
      operationSeconds.observe(labels, event.durationMs / 1000);
      for (const code of event.errorCodes) errors.inc({ code });
      saved.inc({ by: 'shared' }, event.shared);
      saved.inc({ by: 'cached' }, event.cached);
      stale.inc(event.stale);
      if (event.repeated) repeated.inc();
    },
    cut(reason) {
      cuts.inc({ reason });
    },
    watch: (load, live = null) => watchLoad(load, live, registers),
    attempt({ route, outcome, durationMs }) {
      attempts.inc({ route, outcome });
      attemptSeconds.observe({ route, outcome }, durationMs / 1000);
    },
    problem() {
      problems.inc();
    },
  };
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
