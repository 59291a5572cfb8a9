import { lineOf } from './child.ts';
import { sendMixed } from './mixed-load.ts';
import { MERCURIUS, OURS_DEFAULT, type Running, type Server, startServer } from './servers.ts';
import { startUpstream } from './service.ts';
import { short, table } from './table.ts';

/** Operations per second of the simulated hour. */
const RATE = 10;
const HOUR_SECONDS = 3_600;
/** Memory is measured after each of these parts. */
const PARTS = 4;
const MAX_SECONDS = 30;
const SEED = 20_261_124;

/** The hour is compressed to about a minute, so lifetimes of minutes become seconds. */
const IN_A_MINUTE = { CACHE_TTL_SECONDS: '5', AUTH_TTL_SECONDS: '5', STALE_IF_ERROR_SECONDS: '60' };

const COMPARED: readonly Server[] = [
  { ...OURS_DEFAULT, name: 'ours, default settings', env: { ...OURS_DEFAULT.env, ...IN_A_MINUTE } },
  MERCURIUS,
];

interface Memory {
  readonly heapMb: number;
  readonly rssMb: number;
}

export interface HourResult {
  readonly server: Server;
  readonly operations: number;
  readonly wrong: number;
  /** Rejected with 503; not among the wrong ones. */
  readonly turnedAway: number;
  readonly seconds: number;
  /** Before the first operation, and after each part. */
  readonly memory: readonly Memory[];
  readonly peakRssMb: number;
}

/** Memory of each server over an hour's worth of drawn operations, sent as fast as they are answered. */
export async function measureHour(operations = RATE * HOUR_SECONDS): Promise<HourResult[]> {
  await using upstream = await startUpstream();
  const results: HourResult[] = [];
  for (const server of COMPARED) {
    console.error(`${operations} operations: ${server.name}`);
    const nodeArgs = ['--expose-gc', '--import', './bench/race/heap-watch.ts'];
    const running = await startServer(server, upstream.url, { nodeArgs });
    await using _child = running.child;
    const memory = [await memoryOf(running)];
    const done = { operations: 0, wrong: 0, turnedAway: 0, seconds: 0 };
    for (let part = 0; part < PARTS; part += 1) {
      const count = Math.ceil(operations / PARTS);
      const result = await sendMixed(running, {
        count,
        seed: SEED + part,
        mostSeconds: MAX_SECONDS / PARTS,
      });
      done.operations += result.operations;
      done.wrong += result.wrong;
      done.turnedAway += result.turnedAway;
      done.seconds += result.elapsedMs / 1000;
      memory.push(await memoryOf(running));
    }
    results.push({ server, ...done, memory, peakRssMb: running.child.peakRssMb() });
  }
  return results;
}

async function memoryOf({ child }: Running): Promise<Memory> {
  const line = lineOf(child, /^memory (\d+) (\d+)$/);
  child.process.kill('SIGUSR2');
  const [, heap, rss] = await line;
  return { heapMb: Number(heap) / 1e6, rssMb: Number(rss) / 1e6 };
}

export function hourTable(results: readonly HourResult[]): string {
  const parts = Array.from({ length: PARTS }, (_, part) => `heap MB, ${part + 1}/${PARTS}`);
  return table(
    ['server', 'operations', 's', 'heap MB, start', ...parts, 'RSS MB', 'peak RSS MB', 'rejected'],
    results.map(({ server, operations, wrong, turnedAway, seconds, memory, peakRssMb }) => [
      `${server.name}${wrong === 0 ? '' : ` (${wrong} WRONG)`}`,
      String(operations),
      short(seconds),
      ...memory.map(({ heapMb }) => short(heapMb)),
      short(memory.at(-1)?.rssMb ?? Number.NaN),
      short(peakRssMb),
      String(turnedAway),
    ]),
  );
}

export function hourSection(results: readonly HourResult[]): string {
  return [
    "## Memory after an hour's worth",
    `The ${RATE * HOUR_SECONDS} operations of an hour at ${RATE} a second, drawn as under "100 keys", sent as fast as they are answered, for at most ${MAX_SECONDS} s. Cached values of Country Graph live for seconds instead of minutes to match (\`CACHE_TTL_SECONDS=5\`). Heap in use after a full collection, before the first operation and after each quarter.`,
    hourTable(results),
  ].join('\n\n');
}
