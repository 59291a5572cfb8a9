import {
  Counter,
  type CounterConfiguration,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  Registry,
} from 'prom-client';
import type { Gateway, Observer, OperationEvent } from '../gateway.ts';
import type { CutReason } from './outgoing.ts';
import type { Build } from './own-version.ts';

type Labels = Readonly<Record<string, string>>;

/** The observations under one combination of labels. */
class TalliedValues {
  readonly labels: Labels;
  readonly #bounds: readonly number[];
  /** Number of values that each bound is the least for; values beyond the last are in `count` alone. */
  readonly #within: number[];
  sum = 0;
  count = 0;

  constructor(labels: Labels, bounds: readonly number[]) {
    this.labels = labels;
    this.#bounds = bounds;
    this.#within = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.sum += value;
    this.count += 1;
    for (let i = 0; i < this.#bounds.length; i += 1) {
      if (value > (this.#bounds[i] ?? 0)) continue;
      this.#within[i] = (this.#within[i] ?? 0) + 1;
      return;
    }
  }

  /** Lists the values as the format of Prometheus has them: each bucket counts the smaller ones too. */
  values(name: string) {
    const { labels, sum, count } = this;
    let below = 0;
    const buckets = this.#bounds.map((bound, i): [le: number | string, value: number] => {
      below += this.#within[i] ?? 0;
      return [bound, below];
    });
    return [
      ...[...buckets, ['+Inf', count] as const].map(([le, value]) => ({
        labels: { le, ...labels },
        value,
        metricName: `${name}_bucket`,
      })),
      { labels, value: sum, metricName: `${name}_sum` },
      { labels, value: count, metricName: `${name}_count` },
    ];
  }
}

interface TalliedHistogramParts {
  readonly name: string;
  readonly help: string;
  /** Two at the most. */
  readonly labelNames?: readonly string[];
  readonly buckets: readonly number[];
  readonly registers: readonly Registry[];
}

/**
 * A histogram as prom-client has it, which costs a tenth to observe. Several are observed in each operation.
 * Prom-client puts labels together to a text each time, and finds buckets by numbers that it makes texts of.
 */
export class TalliedHistogram {
  readonly #parts: TalliedHistogramParts;
  readonly #tallies = new Map<string, Map<string, TalliedValues>>();

  constructor(parts: TalliedHistogramParts) {
    this.#parts = parts;
    if (parts.labelNames === undefined) this.of();
    const { name, help } = parts;
    const metric = {
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      get: async () => ({
        name,
        help,
        type: 'histogram',
        aggregator: 'sum',
        values: this.all().flatMap((tally) => tally.values(name)),
      }),
    };
    // All that a registry asks of a metric.
    for (const register of parts.registers) register.registerMetric(metric as unknown as Histogram);
  }

  /** Returns the observations under these values of the labels, in their order. */
  of(first = '', second = ''): TalliedValues {
    let known = this.#tallies.get(first);
    if (known === undefined) {
      known = new Map();
      this.#tallies.set(first, known);
    }
    let tally = known.get(second);
    if (tally === undefined) {
      const { labelNames = [], buckets } = this.#parts;
      const labels = labelNames.map((label, i) => [label, i === 0 ? first : second]);
      tally = new TalliedValues(Object.fromEntries(labels), buckets);
      known.set(second, tally);
    }
    return tally;
  }

  /** Lists them in the order in which they were first observed, by their first label. */
  all(): readonly TalliedValues[] {
    return [...this.#tallies.values()].flatMap((known) => [...known.values()]);
  }
}

/** Names that are told apart, if clients may send any. */
const MAX_NAMES = 100;

/** Characters beyond which nobody watches a name. */
const MAX_LENGTH = 100;

const OTHER = 'other';

const NAME_IN_DOCUMENT = /\b(?:query|mutation|subscription)\s+(\w+)/g;

/** Returns the only documents that may run, as they are now; null if any may. */
type TrustedNow = () => readonly { readonly text: string }[] | null;

/** Bounds of the buckets: few, since there is a set of them for each name. */
const NAMED_SECONDS = [0.05, 0.25, 1, 5, 30];

interface NamedOperations {
  count(event: OperationEvent): void;
  /** Tells the names of these documents apart, and no others, if there are any. */
  expect(trusted: TrustedNow): void;
}

/**
 * Counts operations by their names, of which there is a bounded number: those of trusted documents, or else the first
 * that were answered without an error. All others are "other", and an operation without a name has an empty one.
 */
export function createNamedOperations(registers: Registry[]): NamedOperations {
  const durations = new TalliedHistogram({
    name: 'country_graph_named_operation_duration_seconds',
    help: 'Time from a GraphQL request to its answer, by the name of the operation: empty for none, "other" beyond the first hundred.',
    labelNames: ['operation', 'outcome'],
    buckets: NAMED_SECONDS,
    registers,
  });
  const calls = new Map<string, number>();
  new Counter({
    name: 'country_graph_named_operation_calls_total',
    help: 'Requests sent to the REST service, by the name of the operation that was billed.',
    labelNames: ['operation'],
    registers,
    collect() {
      this.reset();
      for (const [operation, count] of calls) this.inc({ operation }, count);
    },
  });
  let known = new Set(['']);
  let mayGrow = true;
  let trustedNow: TrustedNow = () => null;
  let trusted: ReturnType<TrustedNow> = null;

  /** Reads the names again if the documents have changed. */
  function readNames(): void {
    const now = trustedNow();
    if (now === null || now === trusted) return;
    trusted = now;
    known = new Set(['', ...now.flatMap(({ text }) => namesIn(text))]);
    mayGrow = false;
  }

  function labelFor(name: string, mayBeNew: boolean): string {
    if (known.has(name)) return name;
    readNames();
    if (known.has(name)) return name;
    if (!mayGrow || !mayBeNew || name.length > MAX_LENGTH) return OTHER;
    known.add(name);
    mayGrow = known.size <= MAX_NAMES;
    return name;
  }

  return {
    count(event) {
      const isWhole = event.errorCodes.length === 0;
      // Anybody can make up names, and the first to come are told apart.
      const operation = labelFor(event.name ?? '', isWhole && event.isProven === true);
      durations.of(operation, isWhole ? 'ok' : 'error').observe(event.durationMs / 1000);
      if (event.calls > 0) calls.set(operation, (calls.get(operation) ?? 0) + event.calls);
    },
    expect(documents) {
      trustedNow = documents;
      readNames();
    },
  };
}

/** Finds the names of the operations of a document. */
function namesIn(text: string): string[] {
  return [...text.matchAll(NAME_IN_DOCUMENT)].map(([, name = '']) => name);
}

/** Keys whose plans are told, those last in use first. */
const MAX_KEYS = 20;

/** Characters of a key's digest that name it: it is keyed, so that nobody can look a key up by it. */
const DIGEST_LENGTH = 8;

/** The parts of the gateway that are looked at. */
type WatchedGateway = Pick<Gateway, 'load' | 'live' | 'state'>;

/** Shows state that the gateway has anyway; it is looked at only when metrics are read. */
function watchGateway({ load, live, state }: WatchedGateway, registers: Registry[]): void {
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
        for (const { tenant, limits } of recentLimits(MAX_KEYS)) {
          const key = tenant.digest.slice(0, DIGEST_LENGTH);
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

interface MetricsParts {
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
