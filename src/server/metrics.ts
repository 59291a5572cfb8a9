import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Gateway } from '../gateway/gateway.ts';
import type { Observer } from '../gateway/gateway-parts.ts';
import type { OperationEvent } from '../graphql/request/operation-events.ts';

/**
 * Metrics of one process. One that is made with a function has that called each time that it is read, with its values
 * set back: it shows a state that is there anyway.
 */
class OwnMetrics extends Registry {
  counter(name: string, help: string, labelNames: string[] = [], read?: (counter: Counter) => void): Counter {
    return new Counter({ name, help, labelNames, registers: [this], ...collecting(read) });
  }

  gauge(
    name: string,
    help: string,
    labelNames: string[],
    read: (gauge: Gauge) => void,
    aggregator: 'sum' | 'min' | 'max' | 'first' = 'sum',
  ): void {
    new Gauge({ name, help, labelNames, aggregator, registers: [this], ...collecting(read) });
  }

  histogram(name: string, help: string, buckets: number[], ...labelNames: string[]): Histogram {
    return new Histogram({ name, help, buckets, labelNames, registers: [this] });
  }
}

function collecting<Metric extends { reset(): void }>(read: ((metric: Metric) => void) | undefined) {
  if (read === undefined) return {};
  return {
    collect(this: Metric) {
      this.reset();
      read(this);
    },
  };
}

/** Names that are told apart, if clients may send any. */
const MAX_NAMES = 100;

/** Characters beyond which nobody watches a name. */
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
    'Time from a GraphQL request to its answer, by the name of the operation: empty for none, "other" beyond the first hundred.',
    NAMED_SECONDS,
    'operation',
    'outcome',
  );
  const calls = metrics.counter(
    'country_graph_named_operation_calls_total',
    'Requests sent to the REST service, by the name of the operation that was billed.',
    ['operation'],
  );
  let names = new Set(['']);
  let mayGrow = true;
  let trustedNow: () => Gateway['trusted'] = () => null;
  let trusted: Gateway['trusted'] = null;

  /** Reads the names again if the documents have changed. */
  function readNames(): void {
    const now = trustedNow();
    if (now === null || now === trusted) return;
    trusted = now;
    names = new Set(['', ...now.flatMap(({ text }) => namesIn(text))]);
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

function namesIn(text: string): string[] {
  return [...text.matchAll(NAME_IN_DOCUMENT)].map(([, name = '']) => name);
}

/** Keys whose plans are told, those last in use first. */
const MAX_KEYS = 20;

/** Characters of a key's digest that name it: it is keyed, so that nobody can look a key up by it. */
const DIGEST_LENGTH = 8;

type WatchedGateway = Pick<Gateway, 'load' | 'state' | 'trusted' | 'plugins'>;

/** Shows state that the gateway has anyway; it is looked at only when metrics are read. */
function watchGateway({ load, state, plugins }: WatchedGateway, metrics: OwnMetrics): void {
  for (const { kind, name, help, labels, values } of plugins.all.flatMap(({ metrics = [] }) => metrics)) {
    if (kind === 'gauge')
      metrics.gauge(name, help, [...labels], (gauge) => {
        for (const { labels = {}, value } of values()) gauge.set(labels, value);
      });
    else
      metrics.counter(name, help, [...labels], (counter) => {
        for (const { labels = {}, value } of values()) counter.inc(labels, value);
      });
  }
  metrics.gauge(
    'country_graph_operations_under_way',
    'Operations that have begun and are not over.',
    [],
    (gauge) => gauge.set(load.underWay),
  );
  metrics.gauge('country_graph_operations_waiting', 'Operations that wait to begin.', [], (gauge) =>
    gauge.set(load.waiting),
  );
  metrics.counter(
    'country_graph_operations_delayed_total',
    'Operations that had to wait for a place among those under way.',
    [],
    (counter) => counter.inc(load.delayed),
  );
  metrics.counter(
    'country_graph_operations_refused_total',
    'Operations refused as OVERLOADED: full, where too many were waiting; late, where one had waited for too long.',
    ['reason'],
    (counter) => {
      for (const [reason, count] of Object.entries(load.refused)) counter.inc({ reason }, count);
    },
  );
  metrics.counter(
    'country_graph_cache_lookups_total',
    'What was looked for among what is cached: figures, lists and other answers of the service, whole answers. A hit is fresh.',
    ['kind', 'result'],
    (counter) => {
      for (const [kind, { hits, misses }] of Object.entries(state.lookups)) {
        counter.inc({ kind, result: 'hit' }, hits);
        counter.inc({ kind, result: 'miss' }, misses);
      }
    },
  );
  watchPlans(state, metrics);
  metrics.gauge(
    'country_graph_circuits_open',
    'Circuits that keep calls to a route back: that of all keys, and those of single keys. Routes that have never failed are not listed.',
    ['route', 'scope'],
    (gauge) => {
      for (const { route, isOpenForAll, keys } of state.openCircuits()) {
        gauge.set({ route, scope: 'all' }, isOpenForAll ? 1 : 0);
        gauge.set({ route, scope: 'key' }, keys);
      }
    },
  );
}

/** Shows the plans of keys. Workers' copies of the counts may be old: of the calls left, the least is nearest. */
function watchPlans({ recentLimits }: Gateway['state'], metrics: OwnMetrics): void {
  const each = (value: 'left' | 'most') => (gauge: Gauge) => {
    for (const { tenant, limits } of recentLimits(MAX_KEYS)) {
      const key = tenant.digest.slice(0, DIGEST_LENGTH);
      for (const limit of limits) gauge.set({ key, window: limit.name }, limit[value]);
    }
  };
  metrics.gauge(
    'country_graph_quota_remaining_calls',
    `Calls left of the minute and the month, as far as the service has named the plan; of the ${MAX_KEYS} keys last in use.`,
    ['key', 'window'],
    each('left'),
    'min',
  );
  metrics.gauge(
    'country_graph_quota_limit_calls',
    'Calls that the plan of a key allows in a minute and a month, as the service has named them.',
    ['key', 'window'],
    each('most'),
    'max',
  );
}

export interface Metrics extends Observer {
  readonly contentType: string;
  /** Counts a connection that was cut since its client didn't take its answers. */
  cut(reason: 'late' | 'crowded'): void;
  /** Has the gateway looked at each time that metrics are read. */
  watch(gateway: WatchedGateway): void;
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

/**
 * @param build the version of the program, and the commit that it was built of
 * @param droppedLines counts the lines that the log has dropped so far
 * @param textOfAll writes the counts of all workers; null if that can't be done, or there is one alone
 */
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
  metrics.gauge(
    'country_graph_build_info',
    'Always 1; the labels name the version of the gateway, the commit that it was built of, and the version of Node.',
    ['version', 'commit', 'node'],
    (gauge) =>
      gauge.set(
        { version: build.version, commit: build.commit ?? 'unknown', node: process.versions.node },
        1,
      ),
    'first',
  );
  const operations = metrics.counter(
    'country_graph_operations_total',
    'GraphQL operations answered; outcome is ok, or error where the answer holds one.',
    ['type', 'outcome'],
  );
  const operationSeconds = metrics.histogram(
    'country_graph_operation_duration_seconds',
    'Time from a GraphQL request to its answer.',
    SECONDS,
    'type',
    'outcome',
  );
  const errors = metrics.counter('country_graph_errors_total', 'Errors in answers, by code.', ['code']);
  const attempts = metrics.counter(
    'country_graph_upstream_attempts_total',
    'Requests sent to the REST service, retries included: what it bills.',
    ['route', 'outcome'],
  );
  const attemptSeconds = metrics.histogram(
    'country_graph_upstream_attempt_duration_seconds',
    'Time of one request to the REST service, body included.',
    SECONDS,
    'route',
    'outcome',
  );
  const saved = metrics.counter(
    'country_graph_upstream_calls_saved_total',
    'Answers that needed no request: shared with an operation in flight, or cached.',
    ['by'],
  );
  for (const by of ['shared', 'cached']) saved.inc({ by }, 0);
  const repeated = metrics.counter(
    'country_graph_answers_repeated_total',
    'Operations answered by the bytes of the same operation before, nothing of which was past its time.',
  );
  const stale = metrics.counter(
    'country_graph_stale_answers_total',
    'Answers past their time, served because the service gave none.',
  );
  const problems = metrics.counter(
    'country_graph_problems_total',
    'Unexpected problems; each stands whole in the log.',
  );
  let outages = 0;
  metrics.gauge(
    'country_graph_store_outages',
    'Processes whose store (CACHE_URL) fails at the moment: memory stands in for it.',
    [],
    (gauge) => gauge.set(outages),
  );
  const cuts = metrics.counter(
    'country_graph_connections_cut_total',
    'Connections cut because their clients read too slowly: late, or crowded where too much waited.',
    ['reason'],
  );
  countDroppedLines(metrics, droppedLines);

  return {
    contentType: metrics.contentType,
    text: async () => (await textOfAll?.()) ?? metrics.metrics(),
    snapshot: () => metrics.getMetricsAsJSON(),
    operation(event) {
      const labels = { type: event.type ?? 'none', outcome: event.errorCodes.length === 0 ? 'ok' : 'error' };
      operations.inc(labels);
      operationSeconds.observe(labels, event.durationMs / 1000);
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
      watchGateway(gateway, metrics);
      named.expect(() => gateway.trusted);
    },
    attempt({ route, outcome, durationMs }) {
      attempts.inc({ route, outcome });
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
    'Operations whose figures were asked for together, by batch; a batch takes one data call where the limits allow.',
    [1, 2, 5, 10, 20, 50, 100, 200, 500],
  );
  const demands = metrics.histogram(
    'country_graph_batch_demands',
    'Figures and series that were asked for together, by batch.',
    [1, 5, 10, 50, 100, 500, 1_000, 5_000, 10_000],
  );
  const received = metrics.counter(
    'country_graph_rows_received_total',
    'Rows of figures that data calls have brought.',
  );
  const unwanted = metrics.counter(
    'country_graph_rows_unwanted_total',
    'Rows among those received that nobody had asked for: the price of asking for several things in one call.',
  );
  const waits = metrics.histogram(
    'country_graph_minute_wait_seconds',
    'Time that calls, and batches of figures, have waited for a minute window with room.',
    [1, 5, 10, 20, 30, 60, 120],
  );
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

/** Counts the lines of logs that nobody has read, in this process or on the way out of others. */
function countDroppedLines(metrics: OwnMetrics, droppedLines: () => number): void {
  metrics.counter(
    'country_graph_log_lines_dropped_total',
    'Lines of the log that were given up, since nobody read them.',
    [],
    (counter) => counter.inc(droppedLines()),
  );
}

/** Types of metrics that still count once their worker has ended. */
const LASTING = new Set(['counter', 'histogram']);

interface Counted {
  readonly workers: Iterable<{ snapshot(): Promise<MetricsSnapshot> }>;
  /** Workers that were started in place of one that had ended by itself. */
  readonly replaced: number;
}

/**
 * Adds up the counts of workers. One that has ended counts with its last answer, so that no sum falls.
 * @param droppedLines counts the lines of the workers' logs that were given up on the way out
 */
export function createSummedMetrics(counted: Counted, droppedLines: () => number) {
  let departed: MetricsSnapshot = [];
  let gathering: Promise<string> | null = null;
  const metrics = new OwnMetrics();
  metrics.gauge('country_graph_workers', 'Worker processes that take requests.', [], (gauge) =>
    gauge.set([...counted.workers].length),
  );
  metrics.counter(
    'country_graph_workers_replaced_total',
    'Workers that were started in place of one that had ended by itself.',
    [],
    (counter) => counter.inc(counted.replaced),
  );
  countDroppedLines(metrics, droppedLines);

  async function gather(): Promise<string> {
    const all = await Promise.all(Array.from(counted.workers, (worker) => worker.snapshot()));
    return AggregatorRegistry.aggregate([...all, departed, await metrics.getMetricsAsJSON()]).metrics();
  }

  return {
    /** Writes the counts of all workers since the program started, in the format of Prometheus. */
    text(): Promise<string> {
      gathering ??= gather().finally(() => {
        gathering = null;
      });
      return gathering;
    },
    /** Notes the last counts of a worker that has ended: they still count. */
    async left(last: MetricsSnapshot): Promise<void> {
      const lasting = last.filter(({ type }) => LASTING.has(String(type)));
      departed = await AggregatorRegistry.aggregate([departed, lasting]).getMetricsAsJSON();
    },
  };
}
