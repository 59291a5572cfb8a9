import { childrenOf } from '../../test/support/descendants.ts';
import { cpuMsOf, lineOf, pin, startChild } from './child.ts';
import { type LoadOrder, type LoadResult, median, medianRatio, requestsOn, variation } from './load.ts';
import { ROWS } from './rows.ts';
import { OURS_WARM, type Running, startServer } from './servers.ts';
import { startUpstream, type Upstream } from './service.ts';
import { short, table } from './table.ts';

const CONNECTIONS = 16;
/** Many short rounds: other load on the machine changes within seconds, and so is similar for runs that follow each other. */
const ROUNDS = 9;
const WARM_UP_SECONDS = 6;

interface WorkersSample {
  readonly perSecond: number;
  /** Operations per CPU second of the gateway's processes. */
  readonly perCoreSecond: number;
  readonly wrong: number;
}

export interface WorkersResult extends WorkersSample {
  /** Number of workers, and of the cores that they share with their load. */
  readonly count: number;
  /** Throughput relative to that of the first count in the same round. */
  readonly factor: number;
  /** The samples of which this has the medians. */
  readonly rounds: readonly WorkersSample[];
}

/**
 * Throughput of several workers, and of one, in row c with cached figures. Each worker is pinned to a core and gets the
 * same load, which is generated on that core. So the share of the load generator is the same for one worker and for several.
 */
export async function measureWorkers(
  counts: readonly number[] = [1, 2],
  seconds = 1.5,
): Promise<WorkersResult[]> {
  await using upstream = await startUpstream();
  await using stack = new AsyncDisposableStack();
  const field: { readonly count: number; readonly running: Running; readonly taken: WorkersSample[] }[] = [];
  for (const count of counts) {
    const env = { WORKERS: String(count) };
    const running = await startServer(OURS_WARM, upstream.url, { env, core: coresOf(count) });
    stack.use(running.child);
    // Otherwise the scheduler would move workers between cores, away from their load.
    for (const [core, pid] of childrenOf(running.child.process.pid).entries()) pin(pid, core);
    await underLoad(running, upstream, { count, seconds: WARM_UP_SECONDS });
    field.push({ count, running, taken: [] });
  }
  console.error(`${counts.join(' and ')} workers`);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { count, running, taken } of field) {
      taken.push(await underLoad(running, upstream, { count, seconds }));
    }
  }
  return field.map(({ count, taken }) => ({
    count,
    perSecond: median(taken.map(({ perSecond }) => perSecond)),
    factor: medianRatio(taken, field[0]?.taken ?? []),
    perCoreSecond: median(taken.map(({ perCoreSecond }) => perCoreSecond)),
    wrong: taken.reduce((sum, { wrong }) => sum + wrong, 0),
    rounds: taken,
  }));
}

const coresOf = (count: number) => Array.from({ length: count }, (_, core) => core);

async function underLoad(
  running: Running,
  upstream: Upstream,
  { count, seconds }: { readonly count: number; readonly seconds: number },
): Promise<WorkersSample> {
  const { child } = running;
  const order: LoadOrder = {
    ...(await requestsOn(running, upstream, rowC(), CONNECTIONS)),
    url: child.url,
    connections: CONNECTIONS,
    leadSeconds: 1,
    seconds,
    key: 'demo-team',
    keyEach: false,
  };
  await using stack = new AsyncDisposableStack();
  const loads = coresOf(count).map((core) =>
    stack.use(startChild({ args: ['bench/peers/load.ts', JSON.stringify(order)], core })),
  );
  // Awaited from the start: in a short round, one load may end before another begins.
  const done = Promise.all(loads.map((load) => lineOf(load, /^\{.*\}$/)));
  await Promise.all(loads.map((load) => lineOf(load, /^begin$/)));
  const pids = [child.process.pid, ...childrenOf(child.process.pid)];
  const cpuMs = () => pids.map(cpuMsOf).reduce((sum, ms) => sum + ms, 0);
  const before = cpuMs();
  const lines = await done;
  const usedMs = cpuMs() - before;
  const results = lines.map(([line]) => JSON.parse(line) as LoadResult);
  const sum = (figure: (result: LoadResult) => number) =>
    results.reduce((all, each) => all + figure(each), 0);
  return {
    perSecond: sum(({ operations, elapsedMs }) => (operations / elapsedMs) * 1000),
    perCoreSecond: (sum(({ operations }) => operations) / usedMs) * 1000,
    wrong: sum(({ wrong }) => wrong),
  };
}

function rowC() {
  const row = ROWS.find(({ letter }) => letter === 'c');
  if (row === undefined) throw new Error('There is no row c.');
  return row;
}

/** Throughput of the last number of workers relative to the first; NaN if none was measured. */
export function workersFactor(results: readonly WorkersResult[]): number {
  return results.at(-1)?.factor ?? Number.NaN;
}

export function workersTable(results: readonly WorkersResult[]): string {
  return table(
    ['workers', 'op/s', 'CV %', '× one', 'op per CPU s'],
    results.map(({ count, perSecond, factor, perCoreSecond, wrong, rounds }) => [
      `${count}${wrong === 0 ? '' : ` (${wrong} WRONG)`}`,
      short(perSecond),
      short(variation(rounds.map((round) => round.perSecond))),
      short(factor),
      short(perCoreSecond),
    ]),
  );
}

export function workersSection(results: readonly WorkersResult[]): string {
  return [
    '## On all cores',
    `Row c, warm, by \`WORKERS\`. Each worker is pinned to a core, with a load of ${CONNECTIONS} connections that is generated on the same core, so that the load takes the same share of a core for any number of workers. Medians of ${ROUNDS} rounds; each round measures all numbers in turn.`,
    workersTable(results),
  ].join('\n\n');
}
