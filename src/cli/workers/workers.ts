import cluster from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Readable } from 'node:stream';
import type { Config } from '../../config/config.ts';
import { ALLOCATOR, heapGrowthFlag, heapSizeFlags, processBudgetMb } from '../../config/memory-budget.ts';
import type { RunFile } from '../../gateway/gateway-parts.ts';
import type { PluginDefinition } from '../../plugin/definition.ts';
import type { Log, standardError } from '../../server/log.ts';
import { createSummedMetrics, type MetricsSnapshot } from '../../server/metrics.ts';
import { systemClock } from '../../shared/async/clock.ts';
import { within } from '../../shared/async/within.ts';
import { openSandbox, type Program, startProgram } from '../serve.ts';
import { openChannel } from './channel.ts';
import { openRunFolder } from './run-folder.ts';
import { type Addresses, Supervisor, type Worker, WorkerEnded } from './supervisor.ts';

interface Welcome {
  readonly upstreamUrl: string;
  readonly demoKeys: Readonly<Record<string, string>> | null;
  readonly port: number;
  readonly adminPort: number | undefined;
  readonly runFile: RunFile | undefined;
}

type LogDestination = ReturnType<typeof standardError>;

/** For answers between two processes. */
const CHANNEL_TIMEOUT_MS = 5_000;

/** For a worker's metrics. */
const SNAPSHOT_TIMEOUT_MS = 1_000;

/** Time of a drain beyond that of the settings: to close connections, and to exit. */
const DRAIN_SLACK_MS = 10_000;

/** Longer lines of workers are passed on in pieces. */
const MAX_LINE = 1_048_576;

/**
 * Runs `serve` in several processes. Node's cluster module hands out connections in turn: the operating system would
 * give some processes many more than others, and a worker that stops listening loses none this way. This process
 * supervises the workers; it answers no requests.
 * @param outlet takes the workers' log
 * @throws WorkerEnded if the first worker ends before it takes requests
 */
export async function startWorkers(config: Config, log: Log, outlet: LogDestination): Promise<Program> {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    execArgv: [
      ...process.execArgv,
      ...heapSizeFlags(processBudgetMb(config)),
      heapGrowthFlag(processBudgetMb(config)),
    ],
  });
  const isStoreNamed = config.cacheUrl !== 'memory:' && config.cacheUrl !== 'none';
  const folder = isStoreNamed ? null : await openRunFolder();
  // Also where an error ends the start.
  process.on('exit', () => folder?.remove());
  const sandbox = config.countryDataUrl === undefined ? await openSandbox() : undefined;
  const welcome: Welcome = {
    upstreamUrl: config.countryDataUrl ?? sandbox?.url ?? '',
    demoKeys: sandbox?.keys ?? null,
    // The same for all workers, later ones included.
    port: config.port === 0 ? await freePort(config.host) : config.port,
    adminPort: config.adminPort === 0 ? await freePort(config.host) : config.adminPort,
    // Half of the cache is in the file, the other half in the workers' memory.
    runFile: folder === null ? undefined : { path: folder.path, mostBytes: config.cacheMaxBytes / 2 },
  };
  const supervisor: Supervisor<ReturnType<typeof startWorker>> = new Supervisor({
    count: config.workers,
    start: () => startWorker(welcome, metrics, outlet),
    clock: systemClock,
    drainTimeoutMs: config.drainDelayMs + 2 * config.drainTimeoutMs + DRAIN_SLACK_MS,
    note: log.note,
    onHopeless: (code) => process.exit(code),
  });
  const metrics = createSummedMetrics(supervisor, log.droppedLines);
  process.on('exit', () => supervisor.kill());
  const { url, adminUrl } = await supervisor.start();
  process.on('SIGHUP', () => {
    log.note('SIGHUP: replacing the workers');
    void supervisor.roll();
  });
  return {
    url,
    adminUrl,
    sandbox,
    async drain(delayMs) {
      const cut = await supervisor.drain(delayMs);
      await sandbox?.close();
      return cut;
    },
  };
}

function startWorker(
  welcome: Welcome,
  metrics: ReturnType<typeof createSummedMetrics>,
  outlet: LogDestination,
) {
  const process = cluster.fork(ALLOCATOR);
  const { promise: ready, resolve: onReady, reject } = Promise.withResolvers<Addresses>();
  let cut = 0;
  let last: MetricsSnapshot = [];
  let isDraining = false;
  const answers = {
    welcome: () => welcome,
    ready: (url: string, adminUrl: string | undefined) => onReady({ url, adminUrl }),
    metrics: metrics.text,
    drained(count: number, snapshot: MetricsSnapshot) {
      cut = count;
      last = snapshot;
    },
  };
  const channel = openChannel(answers, {
    // A message that can't be sent is lost: waits for answers are bounded.
    send: (message) =>
      void (process.isConnected() && process.process.send(message, undefined, undefined, () => {})),
    listen: (onMessage) => void process.on('message', onMessage),
    timeoutMs: CHANNEL_TIMEOUT_MS,
  });
  const ended = once(process.process, 'close').then(async ([code, signal]) => {
    channel.close();
    reject(new WorkerEnded(code ?? signal));
    await metrics.left(last);
    return code ?? signal;
  });
  ready.catch(() => {});
  if (process.process.stderr !== null) passLines(process.process.stderr, outlet);
  return {
    id: process.id,
    ready,
    ended,
    async drain({ isReplaced, delayMs }) {
      if (!isDraining) channel.ask('drain', delayMs, isReplaced).catch(() => {});
      isDraining = true;
      await ended;
      return cut;
    },
    kill: () => process.process.kill('SIGKILL'),
    /** The last metrics, if the worker doesn't answer. */
    async snapshot() {
      const asking = channel.ask('snapshot').catch(() => last);
      last = (await within(SNAPSHOT_TIMEOUT_MS, asking, last)) as MetricsSnapshot;
      return last;
    },
  } satisfies Worker & { snapshot(): Promise<MetricsSnapshot> };
}

/** Passes on whole lines, so that those of several workers don't mix. */
function passLines(from: Readable, outlet: LogDestination): void {
  let rest = '';
  from.setEncoding('utf8').on('data', (chunk: string) => {
    const text = rest + chunk;
    const end = text.length > MAX_LINE ? text.length : text.lastIndexOf('\n') + 1;
    rest = text.slice(end);
    if (end > 0) outlet.write(text.slice(0, end));
  });
  from.on('end', () => {
    if (rest !== '') outlet.write(`${rest}\n`);
    outlet.flush();
  });
  from.on('error', () => {});
}

async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host.replace(/^\[(.*)\]$/, '$1'));
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Runs the program of `serve` in one process, at the port that the supervising process names. It ends when told so, and
 * in good order if that process has gone.
 */
export function createWorker(config: Config, plugins: readonly PluginDefinition[], log: Log) {
  let program: Awaited<ReturnType<typeof startProgram>> | undefined;
  let draining: Promise<number> | undefined;

  const drain: Program['drain'] = (delayMs, isReplaced) => {
    draining ??= program?.drain(delayMs, isReplaced) ?? Promise.resolve(0);
    return draining;
  };

  async function end(delayMs: number | undefined, isReplaced: boolean): Promise<void> {
    const cut = await drain(delayMs, isReplaced);
    await channel.ask('drained', cut, await program?.snapshot()).catch(() => {});
    process.exit(cut === 0 ? 0 : 1);
  }

  const answers = {
    snapshot: () => program?.snapshot() ?? [],
    // Returns at once; `drained` reports the end.
    drain(delayMs: number | undefined, isReplaced: boolean) {
      void end(delayMs, isReplaced);
    },
  };
  const channel = openChannel(answers, {
    send: (message) => void (process.connected && process.send?.(message, undefined, undefined, () => {})),
    listen: (onMessage) => void process.on('message', onMessage),
    timeoutMs: CHANNEL_TIMEOUT_MS,
  });
  // A process group gets signals together: the supervising process reacts to them.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
  cluster.worker?.on('disconnect', () => {
    channel.close();
    // Otherwise Node ends the process at once.
    if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
    log.note('The supervising process has gone: draining');
    void end(0, false);
  });

  return {
    drain,
    async start(): Promise<void> {
      const welcome = (await channel.ask('welcome')) as Welcome;
      const textOfAll = () => channel.ask('metrics').then(String, () => null);
      const { port, adminPort } = welcome;
      const cacheMaxBytes = config.cacheMaxBytes / config.workers;
      const own = { ...config, port, adminPort, cacheMaxBytes };
      const budgetMb = processBudgetMb(config);
      program = await startProgram(own, plugins, log, { ...welcome, budgetMb, textOfAll });
      await channel.ask('ready', program.url, program.adminUrl);
    },
  };
}
