import {
  Counter,
  type CounterConfiguration,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  Registry,
} from 'prom-client';
import type { Gateway, Observer } from '../gateway.ts';
import { createNamedOperations } from './named-operations.ts';
import type { CutReason } from './outgoing.ts';
import type { Build } from './own-version.ts';
import { type WatchedGateway, watchGateway } from './state-metrics.ts';
import { TalliedHistogram, type TalliedValues } from './tallied-histogram.ts';

export interface Metrics extends Observer {
  readonly contentType: string;
  /** Counts a connection that was cut since its client didn't take its answers. */
  cut(reason: CutReason): void;
  /** Has the gateway looked at each time that metrics are read. */
  watch(gateway: WatchedGateway & Pick<Gateway, 'trusted'>): void;
  /** Writes everything counted so far, by all workers, in the format of Prometheus. */
  text(): Promise<string>;
  /** Returns the counts of this process, for `sumOf`. */
  snapshot(): Promise<MetricsSnapshot>;
}

/** The counts of one process: plain values, as prom-client has them. */
export type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Metrics that are named as gauges are not, and are no more than the sums of others. */
const UNUSUAL = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

export interface MetricsParts {
  readonly build?: Build;
  /** Counts the lines that the log has dropped so far. */
  readonly droppedLines?: () => number;
  /** Writes the counts of all workers; null if that can't be done, or there is one alone. */
  readonly textOfAll?: () => Promise<string | null>;
}

export function createMetrics({
  build = { version: '', commit: null },
  droppedLines = () => 0,
  textOfAll,
}: MetricsParts = {}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  for (const name of UNUSUAL) registry.removeSingleMetric(name);
  const named = createNamedOperations(registers);
  const figures = figuresMetrics(registers);
  tellBuild(build, registers);

  countOf(() => operationSeconds.all(), {
    name: 'country_graph_operations_total',
    help: 'GraphQL operations answered; outcome is ok, or error where the answer holds one.',
    labelNames: ['type', 'outcome'],
    registers,
  });
  const operationSeconds = new TalliedHistogram({
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
  countOf(() => attemptSeconds.all(), {
    name: 'country_graph_upstream_attempts_total',
    help: 'Requests sent to the REST service, retries included: what it bills.',
    labelNames: ['route', 'outcome'],
    registers,
  });
  const attemptSeconds = new TalliedHistogram({
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
  for (const by of ['shared', 'cached']) saved.inc({ by }, 0);
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

  const cuts = troubleMetrics(droppedLines, registers);

  return {
    contentType: registry.contentType,
    text: async () => (await textOfAll?.()) ?? registry.metrics(),
    snapshot: () => registry.getMetricsAsJSON(),
    operation(event) {
      const outcome = event.errorCodes.length === 0 ? 'ok' : 'error';
      operationSeconds.of(event.type ?? 'none', outcome).observe(event.durationMs / 1000);
      for (const code of event.errorCodes) errors.inc({ code });
      if (event.shared > 0) saved.inc({ by: 'shared' }, event.shared);
      if (event.cached > 0) saved.inc({ by: 'cached' }, event.cached);
      if (event.stale > 0) stale.inc(event.stale);
      if (event.repeated) repeated.inc();
      named.count(event);
    },
    ...figures,
    cut(reason) {
      cuts.inc({ reason });
    },
    watch(gateway) {
      watchGateway(gateway, registers);
      named.expect(() => gateway.trusted);
    },
    attempt({ route, outcome, durationMs }) {
      attemptSeconds.of(route, outcome).observe(durationMs / 1000);
    },
    problem() {
      problems.inc();
    },
  };
}

/** Counts batches, rows, and waits for minute windows. */
function figuresMetrics(registers: Registry[]): Required<Pick<Observer, 'batch' | 'rows' | 'minuteWait'>> {
  const operations = new TalliedHistogram({
    name: 'country_graph_batch_operations',
    help: 'Operations whose figures were asked for together, by batch; a batch takes one data call where the limits allow.',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    registers,
  });
  const demands = new TalliedHistogram({
    name: 'country_graph_batch_demands',
    help: 'Figures and series that were asked for together, by batch.',
    buckets: [1, 5, 10, 50, 100, 500, 1_000, 5_000, 10_000],
    registers,
  });
  const received = new Counter({
    name: 'country_graph_rows_received_total',
    help: 'Rows of figures that data calls have brought.',
    registers,
  });
  const unwanted = new Counter({
    name: 'country_graph_rows_unwanted_total',
    help: 'Rows among those received that nobody had asked for: the price of asking for several things in one call.',
    registers,
  });
  const waits = new Histogram({
    name: 'country_graph_minute_wait_seconds',
    help: 'Time that calls, and batches of figures, have waited for a minute window with room.',
    buckets: [1, 5, 10, 20, 30, 60, 120],
    registers,
  });
  const [batchedOperations, batchedDemands] = [operations.of(), demands.of()];
  return {
    batch(size) {
      batchedOperations.observe(size.operations);
      batchedDemands.observe(size.demands);
    },
    rows(some, ofThemUnwanted) {
      received.inc(some);
      unwanted.inc(ofThemUnwanted);
    },
    minuteWait(waitedMs) {
      waits.observe(waitedMs / 1000);
    },
  };
}

/** Makes a counter of the values that stand in a histogram, under its labels. */
function countOf(tallies: () => readonly TalliedValues[], parts: CounterConfiguration<string>): void {
  new Counter({
    ...parts,
    collect() {
      this.reset();
      for (const { labels, count } of tallies()) this.inc(labels, count);
    },
  });
}

/**
 * Counts cut connections and dropped lines: their readers don't take the program's output.
 * @returns the counter of connections that were cut
 */
function troubleMetrics(droppedLines: () => number, registers: Registry[]): Counter<'reason'> {
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
  return cuts;
}

function tellBuild({ version, commit }: Build, registers: Registry[]): void {
  new Gauge({
    name: 'country_graph_build_info',
    help: 'Always 1; the labels name the version of the gateway, the commit that it was built of, and the version of Node.',
    labelNames: ['version', 'commit', 'node'],
    aggregator: 'first',
    registers,
  }).set({ version, commit: commit ?? 'unknown', node: process.versions.node }, 1);
}
