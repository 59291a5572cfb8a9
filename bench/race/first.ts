import { setTimeout as pause } from 'node:timers/promises';
import { median } from './load.ts';
import { sendMixed } from './mixed-load.ts';
import { MERCURIUS, OURS_DEFAULT, type Running, type Server, startServer } from './servers.ts';
import { startUpstream } from './service.ts';
import { short, table } from './table.ts';

/** Numbers of first operations that are measured, each with a new process. */
const COUNTS = [32, 300];

const SEED = 20_261_125;
const STARTS = 3;

/** A process counts as idle after this time without any CPU time. */
const IDLE_MS = 400;
/** The most that is waited for that. */
const MAX_WAIT_MS = 10_000;

export interface FirstResult {
  readonly server: Server;
  /** CPU time in milliseconds, by the number of operations. */
  readonly cpuMs: Readonly<Record<string, number>>;
  /** CPU time in milliseconds from when it accepts requests to when it is idle: the warm-up that it does by itself. */
  readonly idleCpuMs: number;
}

/** CPU time of the first operations of a new process, after it has done its own warm-up. */
export async function measureFirst(servers = [OURS_DEFAULT, MERCURIUS]): Promise<FirstResult[]> {
  await using upstream = await startUpstream();
  const results: FirstResult[] = [];
  for (const server of servers) {
    const cpuMs: Record<string, number> = {};
    const idle: number[] = [];
    for (const count of COUNTS) {
      const taken: number[] = [];
      // The first start is not measured: it fills the cache of the service.
      for (let start = 0; start <= STARTS; start += 1) {
        const running = await startServer(server, upstream.url);
        await using _child = running.child;
        const atStart = running.child.cpuMs();
        await untilIdle(running);
        const before = running.child.cpuMs();
        const { wrong } = await sendMixed(running, { count, seed: SEED, mostSeconds: 60 });
        if (wrong > 0) throw new Error(`Wrong responses from ${server.name}.`);
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
  const endsAt = performance.now() + MAX_WAIT_MS;
  for (let before = Number.NaN; before !== child.cpuMs() && performance.now() < endsAt; ) {
    before = child.cpuMs();
    await pause(IDLE_MS);
  }
}

export function firstTable(results: readonly FirstResult[]): string {
  return table(
    ['server', ...COUNTS.map((count) => `first ${count} operations, CPU ms`), 'before them, CPU ms'],
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
    `CPU time of all threads for the first operations, drawn as under "100 keys". They are sent once the new process is idle: Country Graph warms up with operations of its own right after it starts to accept requests, and the last column shows what that takes. Medians of ${STARTS} starts.`,
    firstTable(results),
  ].join('\n\n');
