import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Gateway } from '../gateway/gateway.ts';
import type { Observer } from '../gateway/gateway-parts.ts';
import type { OperationEvent } from '../graphql/request/operation-events.ts';
import type { PluginMetric } from '../plugin/definition.ts';

/** Keys whose plans are shown: those last in use. */
const MAX_KEYS = 20;

const HELP = {
  country_graph_answers_repeated_total:
    'Operations answered by the bytes of the same operation before, nothing of which was past its time.',
  country_graph_batch_demands: 'Figures and series that were asked for together, by batch.',
  country_graph_batch_operations:
    'Operations whose figures were asked for together, by batch; a batch takes one data call where the limits allow.',
  country_graph_build_info:
    'Always 1; the labels name the version of the gateway, the commit that it was built of, and the version of Node.',
  country_graph_cache_lookups_total:
    'What was looked for among what is cached: figures, lists and other answers of the service, whole answers. A hit is fresh.',
  country_graph_circuits_open:
    'Circuits that keep calls to a route back: that of all keys, and those of single keys. Routes that have never failed are not listed.',
  country_graph_connections_cut_total:
    'Connections cut because their clients read too slowly: late, or crowded where too much waited.',
  country_graph_errors_total: 'Errors in answers, by code.',
  country_graph_log_lines_dropped_total: 'Lines of the log that were given up, since nobody read them.',
  country_graph_minute_wait_seconds:
    'Time that calls, and batches of figures, have waited for a minute window with room.',
  country_graph_named_operation_calls_total:
    'Requests sent to the REST service, by the name of the operation that was billed.',
  country_graph_named_operation_duration_seconds:
    'Time from a GraphQL request to its answer, by the name of the operation: empty for none, "other" beyond the first hundred.',
  country_graph_operation_duration_seconds: 'Time from a GraphQL request to its answer.',
  country_graph_operations_delayed_total: 'Operations that had to wait for a place among those under way.',
  country_graph_operations_refused_total:
    'Operations refused as OVERLOADED: full, where too many were waiting; late, where one had waited for too long.',
  country_graph_operations_total:
    'GraphQL operations answered; outcome is ok, or error where the answer holds one.',
  country_graph_operations_under_way: 'Operations that have begun and are not over.',
  country_graph_operations_waiting: 'Operations that wait to begin.',
  country_graph_problems_total: 'Unexpected problems; each stands whole in the log.',
  country_graph_quota_limit_calls:
    'Calls that the plan of a key allows in a minute and a month, as the service has named them.',
  country_graph_quota_remaining_calls: `Calls left of the minute and the month, as far as the service has named the plan; of the ${MAX_KEYS} keys last in use.`,
  country_graph_rows_received_total: 'Rows of figures that data calls have brought.',
  country_graph_rows_unwanted_total:
    'Rows among those received that nobody had asked for: the price of asking for several things in one call.',
  country_graph_stale_answers_total: 'Answers past their time, served because the service gave none.',
  country_graph_store_outages:
    'Processes whose store (CACHE_URL) fails at the moment: memory stands in for it.',
  country_graph_upstream_attempt_duration_seconds: 'Time of one request to the REST service, body included.',
  country_graph_upstream_attempts_total:
    'Requests sent to the REST service, retries included: what it bills.',
  country_graph_upstream_calls_saved_total:
    'Answers that needed no request: shared with an operation in flight, or cached.',
  country_graph_workers: 'Worker processes that take requests.',
  country_graph_workers_replaced_total: 'Workers that were started in place of one that had ended by itself.',
};

type MetricName = keyof typeof HELP;
type Values = ReturnType<PluginMetric['values']>;

class OwnMetrics extends Registry {
  counter(name: MetricName, ...labelNames: string[]): Counter {
    return new Counter({ name, help: HELP[name], labelNames, registers: [this] });
  }

  histogram(name: MetricName, buckets: number[], ...labelNames: string[]): Histogram {
    return new Histogram({ name, help: HELP[name], buckets, labelNames, registers: [this] });
  }

  /** Shows a number that is kept anyway: it is looked at only when metrics are read. */
  showNumber(kind: PluginMetric['kind'], name: MetricName, read: () => number): void {
    this.show({ kind, name, labels: [], values: () => [{ value: read() }] });
  }

  /** Shows several such numbers, told apart by labels. */
  show(
    metric: Omit<PluginMetric, 'help' | 'values'> & { readonly values: () => Values | Promise<Values> },
    aggregator: 'sum' | 'min' | 'max' | 'first' = 'sum',
    help = HELP[metric.name as MetricName],
  ): void {
    const { kind, name, labels: labelNames, values } = metric;
    const config = { name, help, labelNames: [...labelNames], aggregator, registers: [this] };
    const shown: Counter | Gauge = new { counter: Counter, gauge: Gauge }[kind]({
      ...config,
      async collect() {
        const current = await values();
        // From here on at once: somebody else may be reading metrics, too.
        shown.reset();
        for (const { labels = {}, value } of current) shown.inc(labels, value);
      },
    });
  }

  /** Shows the number of a histogram's observations as a counter: to update both would hash the labels twice. */
  countOf(histogram: Histogram, name: MetricName, ...labels: string[]): void {
    const values = async () => {
      const all = (await histogram.get()).values;
      return all.filter(({ metricName }) => metricName?.endsWith('_count')) as Values;
    };
    this.show({ kind: 'counter', name, labels, values });
  }
}

/** Names that are told apart, if clients may send any. */
const MAX_NAMES = 100;

const MAX_LENGTH = 100;

const OTHER = 'other';

const NAME_IN_DOCUMENT = /\b(?:query|mutation|subscription)\s+(\w+)/g;

/** Bounds of the buckets: few, since there is a set of them for each name. */
const NAMED_SECONDS = [0.05, 0.25, 1, 5, 30];

/**
 * Counts operations by their names, of which there is a bounded number: those of trusted documents, or else the first
 * that were answered without an error. All others are "other", and an operation without a name has an empty one.
 */
function createNamedOperations(metrics: OwnMetrics) {
  const durations = metrics.histogram(
    'country_graph_named_operation_duration_seconds',
    NAMED_SECONDS,
    'operation',
    'outcome',
  );
  const calls = metrics.counter('country_graph_named_operation_calls_total', 'operation');
  let names = new Set(['']);
  let mayGrow = true;
  let trustedNow: () => Gateway['trusted'] = () => null;
  let trusted: Gateway['trusted'] = null;

  /** Reads the names again if the documents have changed. */
  function readNames(): void {
    const now = trustedNow();
    if (now === null || now === trusted) return;
    trusted = now;
    const matches = now.flatMap(({ text }) => [...text.matchAll(NAME_IN_DOCUMENT)]);
    names = new Set(['', ...matches.map(([, name = '']) => name)]);
    mayGrow = false;
  }

  function labelFor(name: string, mayBeNew: boolean): string {
    if (names.has(name)) return name;
    readNames();
    if (names.has(name)) return name;
    if (!mayGrow || !mayBeNew || name.length > MAX_LENGTH) return OTHER;
    names.add(name);
    mayGrow = names.size <= MAX_NAMES;
    return name;
  }

  return {
    count(event: OperationEvent): void {
      const isWhole = event.errorCodes.length === 0;
      // Anybody can make up names, and the first to come are told apart.
      const operation = labelFor(event.name ?? '', isWhole && event.isProven === true);
      durations.observe({ operation, outcome: isWhole ? 'ok' : 'error' }, event.durationMs / 1000);
      if (event.calls > 0) calls.inc({ operation }, event.calls);
    },
    /** Tells the names of these documents apart, and no others, if there are any. */
    expect(documents: () => Gateway['trusted']): void {
      trustedNow = documents;
      readNames();
    },
  };
}

/** Characters of a key's digest that name the key. The digest is keyed, so nobody can look a key up by it. */
const DIGEST_LENGTH = 8;

type WatchedGateway = Pick<Gateway, 'load' | 'state' | 'trusted' | 'plugins'>;

function watchGateway({ load, state, plugins }: WatchedGateway, metrics: OwnMetrics): void {
  for (const metric of plugins.all.flatMap((plugin) => plugin.metrics ?? []))
    metrics.show(metric, 'sum', metric.help);
  metrics.showNumber('gauge', 'country_graph_operations_under_way', () => load.underWay);
  metrics.showNumber('gauge', 'country_graph_operations_waiting', () => load.waiting);
  metrics.showNumber('counter', 'country_graph_operations_delayed_total', () => load.delayed);
  metrics.show({
    kind: 'counter',
    name: 'country_graph_operations_refused_total',
    labels: ['reason'],
    values: () => Object.entries(load.refused).map(([reason, value]) => ({ labels: { reason }, value })),
  });
  metrics.show({
    kind: 'counter',
    name: 'country_graph_cache_lookups_total',
    labels: ['kind', 'result'],
    values: () =>
      Object.entries(state.lookups).flatMap(([kind, { hits, misses }]) => [
        { labels: { kind, result: 'hit' }, value: hits },
        { labels: { kind, result: 'miss' }, value: misses },
      ]),
  });
  watchPlans(state, metrics);
  metrics.show({
    kind: 'gauge',
    name: 'country_graph_circuits_open',
    labels: ['route', 'scope'],
    values: () =>
      state.openCircuits().flatMap(({ route, isOpenForAll, keys }) => [
        { labels: { route, scope: 'all' }, value: isOpenForAll ? 1 : 0 },
        { labels: { route, scope: 'key' }, value: keys },
      ]),
  });
}

/** Workers' copies of the counts may be old: of the calls left, the least is nearest. */
function watchPlans({ recentLimits }: Gateway['state'], metrics: OwnMetrics): void {
  const each = (name: MetricName, value: 'left' | 'most') => ({
    kind: 'gauge' as const,
    name,
    labels: ['key', 'window'],
    values: () =>
      recentLimits(MAX_KEYS).flatMap(({ tenant, limits }) => {
        const key = tenant.digest.slice(0, DIGEST_LENGTH);
        return limits.map((limit) => ({ labels: { key, window: limit.name }, value: limit[value] }));
      }),
  });
  metrics.show(each('country_graph_quota_remaining_calls', 'left'), 'min');
  metrics.show(each('country_graph_quota_limit_calls', 'most'), 'max');
}

export interface Metrics extends Observer {
  readonly contentType: string;
  /** Counts a connection that was cut because its client reads too slowly. */
  cut(reason: 'late' | 'crowded'): void;
  /** Shows the state of the gateway, too. */
  watch(gateway: WatchedGateway): void;
  /** Writes the metrics of all workers in the format of Prometheus. */
  text(): Promise<string>;
  /** Returns the metrics of this process, for {@link createSummedMetrics}. */
  snapshot(): Promise<MetricsSnapshot>;
}

export type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Gauges that are named like counters, and only add up others. */
const UNUSUAL = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** @param textOfAll writes the metrics of all workers; null if they can't be known */
export function createMetrics(
  build: { readonly version: string; readonly commit: string | null } = { version: '', commit: null },
  droppedLines = () => 0,
  textOfAll?: () => Promise<string | null>,
): Metrics {
  const metrics = new OwnMetrics();
  collectDefaultMetrics({ register: metrics });
  for (const name of UNUSUAL) metrics.removeSingleMetric(name);
  const named = createNamedOperations(metrics);
  const figures = figuresMetrics(metrics);
  const { version, commit } = build;
  const labels = { version, commit: commit ?? 'unknown', node: process.versions.node };
  metrics.show(
    {
      kind: 'gauge',
      name: 'country_graph_build_info',
      labels: Object.keys(labels),
      values: () => [{ labels, value: 1 }],
    },
    'first',
  );
  const operationSeconds = metrics.histogram(
    'country_graph_operation_duration_seconds',
    SECONDS,
    'type',
    'outcome',
  );
  metrics.countOf(operationSeconds, 'country_graph_operations_total', 'type', 'outcome');
  const errors = metrics.counter('country_graph_errors_total', 'code');
  const attemptSeconds = metrics.histogram(
    'country_graph_upstream_attempt_duration_seconds',
    SECONDS,
    'route',
    'outcome',
  );
  metrics.countOf(attemptSeconds, 'country_graph_upstream_attempts_total', 'route', 'outcome');
  const saved = { shared: 0, cached: 0 };
  metrics.show({
    kind: 'counter',
    name: 'country_graph_upstream_calls_saved_total',
    labels: ['by'],
    values: () => Object.entries(saved).map(([by, value]) => ({ labels: { by }, value })),
  });
  const repeated = metrics.counter('country_graph_answers_repeated_total');
  const stale = metrics.counter('country_graph_stale_answers_total');
  const problems = metrics.counter('country_graph_problems_total');
  let outages = 0;
  metrics.showNumber('gauge', 'country_graph_store_outages', () => outages);
  const cuts = metrics.counter('country_graph_connections_cut_total', 'reason');
  metrics.showNumber('counter', 'country_graph_log_lines_dropped_total', droppedLines);

  return {
    contentType: metrics.contentType,
    text: async () => (await textOfAll?.()) ?? metrics.metrics(),
    snapshot: () => metrics.getMetricsAsJSON(),
    operation(event) {
      const labels = { type: event.type ?? 'none', outcome: event.errorCodes.length === 0 ? 'ok' : 'error' };
      operationSeconds.observe(labels, event.durationMs / 1000);
      for (const code of event.errorCodes) errors.inc({ code });
      saved.shared += event.shared;
      saved.cached += event.cached;
      if (event.stale > 0) stale.inc(event.stale);
      if (event.repeated) repeated.inc();
      named.count(event);
    },
    ...figures,
    cut(reason) {
      cuts.inc({ reason });
    },
    watch(gateway) {
      watchGateway(gateway, metrics);
      named.expect(() => gateway.trusted);
    },
    attempt({ route, outcome, durationMs }) {
      attemptSeconds.observe({ route, outcome }, durationMs / 1000);
    },
    outage({ isOver }) {
      outages = isOver ? 0 : 1;
    },
    problem() {
      problems.inc();
    },
  };
}

function figuresMetrics(metrics: OwnMetrics) {
  const operations = metrics.histogram(
    'country_graph_batch_operations',
    [1, 2, 5, 10, 20, 50, 100, 200, 500],
  );
  const demands = metrics.histogram(
    'country_graph_batch_demands',
    [1, 5, 10, 50, 100, 500, 1_000, 5_000, 10_000],
  );
  const received = metrics.counter('country_graph_rows_received_total');
  const unwanted = metrics.counter('country_graph_rows_unwanted_total');
  const waits = metrics.histogram('country_graph_minute_wait_seconds', [1, 5, 10, 20, 30, 60, 120]);
  return {
    batch(size) {
      operations.observe(size.operations);
      demands.observe(size.demands);
    },
    rows(some, ofThemUnwanted) {
      received.inc(some);
      unwanted.inc(ofThemUnwanted);
    },
    minuteWait(waitedMs) {
      waits.observe(waitedMs / 1000);
    },
  } satisfies Partial<Observer>;
}

/** Types of metrics that still count once their worker has ended. */
const LASTING = new Set(['counter', 'histogram']);

interface Counted {
  readonly workers: Iterable<{ snapshot(): Promise<MetricsSnapshot> }>;
  /** Workers that were started in place of one that had ended by itself. */
  readonly replaced: number;
}

/** Adds up the metrics of workers. One that has ended counts with its last answer, so that no sum falls. */
export function createSummedMetrics(counted: Counted, droppedLines: () => number) {
  let departed: MetricsSnapshot = [];
  let gathering: Promise<string> | null = null;
  const metrics = new OwnMetrics();
  metrics.showNumber('gauge', 'country_graph_workers', () => [...counted.workers].length);
  metrics.showNumber('counter', 'country_graph_workers_replaced_total', () => counted.replaced);
  metrics.showNumber('counter', 'country_graph_log_lines_dropped_total', droppedLines);

  async function gather(): Promise<string> {
    const all = await Promise.all(Array.from(counted.workers, (worker) => worker.snapshot()));
    return AggregatorRegistry.aggregate([...all, departed, await metrics.getMetricsAsJSON()]).metrics();
  }

  return {
    text(): Promise<string> {
      gathering ??= gather().finally(() => {
        gathering = null;
      });
      return gathering;
    },
    async left(last: MetricsSnapshot): Promise<void> {
      const lasting = last.filter(({ type }) => LASTING.has(String(type)));
      departed = await AggregatorRegistry.aggregate([departed, lasting]).getMetricsAsJSON();
    },
  };
}
