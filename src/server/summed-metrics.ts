import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client';
import type { MetricsSnapshot } from './metrics.ts';

/** A worker, as far as its metrics go. */
export interface Counting {
  snapshot(): Promise<MetricsSnapshot>;
}

export interface SummedMetrics {
  /** Writes the counts of all workers since the program started, in the format of Prometheus. */
  text(): Promise<string>;
  /** Notes that the worker has ended: its counts still count. */
  left(worker: Counting, last?: MetricsSnapshot): Promise<void>;
}

export interface SummedMetricsParts {
  readonly workers: () => Iterable<Counting>;
  /** Workers that were started in place of one that had ended by itself. */
  readonly replaced: () => number;
  /** Lines of the workers' logs that were given up on the way out. */
  readonly droppedLines: () => number;
}

/** Types of metrics that still count once their worker has ended. */
const LASTING = new Set(['counter', 'histogram']);

/**
 * Adds up the counts of workers. A worker that doesn't answer, or has ended, counts with its last answer, so that no
 * sum falls.
 */
export function createSummedMetrics({ workers, replaced, droppedLines }: SummedMetricsParts): SummedMetrics {
  const last = new WeakMap<Counting, MetricsSnapshot>();
  let departed: MetricsSnapshot = [];
  let gathering: Promise<string> | null = null;
  const own = ownMetrics({ workers, replaced, droppedLines });

  async function snapshotOf(worker: Counting): Promise<MetricsSnapshot> {
    const told = await worker.snapshot().catch(() => null);
    if (told !== null) last.set(worker, told);
    return last.get(worker) ?? [];
  }

  async function gather(): Promise<string> {
    const all = await Promise.all([...workers()].map(snapshotOf));
    return AggregatorRegistry.aggregate([...all, departed, await own.getMetricsAsJSON()]).metrics();
  }

  return {
    text() {
      gathering ??= gather().finally(() => {
        gathering = null;
      });
      return gathering;
    },
    async left(worker, told) {
      const lasting = (told ?? last.get(worker) ?? []).filter(({ type }) => LASTING.has(String(type)));
      last.delete(worker);
      departed = await AggregatorRegistry.aggregate([departed, lasting]).getMetricsAsJSON();
    },
  };
}

/** Makes the counts of the supervising process itself. */
function ownMetrics({ workers, replaced, droppedLines }: SummedMetricsParts): Registry {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: 'country_graph_workers',
    help: 'Worker processes that take requests.',
    registers,
    collect() {
      this.set([...workers()].length);
    },
  });
  const counter = (name: string, help: string, count: () => number) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(count());
      },
    });
  counter(
    'country_graph_workers_replaced_total',
    'Workers that were started in place of one that had ended by itself.',
    replaced,
  );
  counter(
    'country_graph_log_lines_dropped_total',
    'Lines of the log that were given up, since nobody read them.',
    droppedLines,
  );
  return registry;
}
