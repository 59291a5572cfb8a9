import { lineOf } from './child.ts';
import { sendMixed } from './mixed-load.ts';
import { MERCURIUS, OURS_DEFAULT, type Running, type Server, startServer } from './servers.ts';
import { startUpstream } from './service.ts';
import { short, table } from './table.ts';

/** Operations a second that an hour is made of. */
const RATE = 10;
const HOUR_SECONDS = 3_600;
/** Parts of the hour after which memory is looked at. */
const PARTS = 4;
const MOST_SECONDS = 30;
const SEED = 20_261_124;

/** Shortens lives of minutes in an hour to as many seconds in a minute. */
const IN_A_MINUTE = { CACHE_TTL_SECONDS: '5', AUTH_TTL_SECONDS: '5', STALE_IF_ERROR_SECONDS: '60' };

const ENTERED: readonly Server[] = [
  { ...OURS_DEFAULT, name: 'ours, as it comes', env: { ...OURS_DEFAULT.env, ...IN_A_MINUTE } },
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
  readonly turnedAway: number;
  readonly seconds: number;
  /** Memory before anything was asked, and after each part. */
  readonly memory: readonly Memory[];
  readonly peakRssMb: number;
}

/** An hour's worth of drawn operations, as fast as it goes: memory of the process during them. */
export async function measureHour(operations = RATE * HOUR_SECONDS): Promise<HourResult[]> {
  await using upstream = await startUpstream();
  const results: HourResult[] = [];
  for (const server of ENTERED) {
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
        mostSeconds: MOST_SECONDS / PARTS,
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
  const told = lineOf(child, /^memory (\d+) (\d+)$/);
  child.process.kill('SIGUSR2');
  const [, heap, rss] = await told;
  return { heapMb: Number(heap) / 1e6, rssMb: Number(rss) / 1e6 };
}

export function hourTable(results: readonly HourResult[]): string {
  const parts = Array.from({ length: PARTS }, (_, part) => `heap MB, ${part + 1}/${PARTS}`);
  return table(
    ['server', 'operations', 's', 'heap MB, start', ...parts, 'RSS MB', 'peak RSS MB', 'turned away'],
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
    `${RATE} operations a second for an hour, ${RATE * HOUR_SECONDS} in all, of the same mixture, sent as fast as they are answered for ${MOST_SECONDS} s at the most; what ours holds lives for seconds instead of minutes (\`CACHE_TTL_SECONDS=5\`). The heap is what is in use after a full collection, before the first operation and after each quarter.`,
    hourTable(results),
  ].join('\n\n');
}
