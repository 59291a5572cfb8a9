import { setTimeout as pause } from 'node:timers/promises';
import { median } from './load.ts';
import { sendMixed } from './mixed-load.ts';
import { MERCURIUS, OURS_DEFAULT, type Running, type Server, startServer } from './servers.ts';
import { startUpstream } from './service.ts';
import { short, table } from './table.ts';

/** First operations of a process that are counted, each of a start of its own. */
const COUNTS = [32, 300];

const SEED = 20_261_125;
const STARTS = 3;

/** Milliseconds without any use of the processor after which a process counts as idle, and the most that are waited. */
const IDLE_MS = 400;
const MOST_IDLE_MS = 10_000;

export interface FirstResult {
  readonly server: Server;
  /** Milliseconds of processor, by the number of operations. */
  readonly cpuMs: Readonly<Record<string, number>>;
  /** Milliseconds of processor between the line that tells its address and the first operation. */
  readonly idleCpuMs: number;
}

/** Processor time of the first operations of a new process, which has had the time that it takes for itself. */
export async function measureFirst(servers = [OURS_DEFAULT, MERCURIUS]): Promise<FirstResult[]> {
  await using upstream = await startUpstream();
  const results: FirstResult[] = [];
  for (const server of servers) {
    const cpuMs: Record<string, number> = {};
    const idle: number[] = [];
    for (const count of COUNTS) {
      const taken: number[] = [];
      // The first time is the service's, which then has the answers at hand.
      for (let start = 0; start <= STARTS; start += 1) {
        const running = await startServer(server, upstream.url);
        await using _child = running.child;
        const atStart = running.child.cpuMs();
        await untilIdle(running);
        const before = running.child.cpuMs();
        const { wrong } = await sendMixed(running, { count, seed: SEED, mostSeconds: 60 });
        if (wrong > 0) throw new Error(`${server.name} answers wrongly.`);
        if (start === 0) continue;
        taken.push(running.child.cpuMs() - before);
        idle.push(before - atStart);
      }
      cpuMs[count] = median(taken);
    }
    results.push({ server, cpuMs, idleCpuMs: median(idle) });
  }
  return results;
}

async function untilIdle({ child }: Running): Promise<void> {
  const endsAt = performance.now() + MOST_IDLE_MS;
  for (let before = Number.NaN; before !== child.cpuMs() && performance.now() < endsAt; ) {
    before = child.cpuMs();
    await pause(IDLE_MS);
  }
}

export function firstTable(results: readonly FirstResult[]): string {
  return table(
    ['server', ...COUNTS.map((count) => `first ${count} operations, processor ms`), 'before them'],
    results.map(({ server, cpuMs, idleCpuMs }) => [
      server.kind === 'ours' ? 'ours' : server.name,
      ...COUNTS.map((count) => short(cpuMs[count] ?? Number.NaN)),
      short(idleCpuMs),
    ]),
  );
}

export const firstSection = (results: readonly FirstResult[]): string =>
  [
    '## The first operations of a process',
    `Operations of many keys as under "100 keys", sent to a new process once it has nothing more to do by itself: ours goes through operations of its own right after it takes requests. Processor time of all its threads; medians of ${STARTS} starts.`,
    firstTable(results),
  ].join('\n\n');
