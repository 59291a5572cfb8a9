import { type MixedResult, sendMixed } from './mixed-load.ts';
import { KEYS } from './mixed-operations.ts';
import { MERCURIUS, OURS_DEFAULT, SERVERS, type Server, startServer } from './servers.ts';
import { startUpstream } from './service.ts';
import { short, table } from './table.ts';

const OPERATIONS = 5_000;
const SEED = 20_261_123;
const MOST_SECONDS = 15;

export interface SkewedResult extends MixedResult {
  readonly server: Server;
  /** Of all operations together. */
  readonly calls: number;
  readonly peakRssMb: number;
}

const ENTERED: readonly Server[] = [
  { ...OURS_DEFAULT, name: 'ours, as it comes' },
  MERCURIUS,
  ...SERVERS.filter(({ name }) => name === 'apollo-dataloader'),
];

/**
 * Operations of many keys, from a cold start on.
 * @throws if servers answer otherwise than the first one
 */
export async function measureSkewed(operations = OPERATIONS): Promise<SkewedResult[]> {
  await using upstream = await startUpstream();
  const order = { count: operations, seed: SEED, mostSeconds: MOST_SECONDS };
  const results: SkewedResult[] = [];
  for (const server of ENTERED) {
    // The first time is the service's, which then has the answers at hand.
    for (const isMeasured of [false, true]) {
      console.error(`${operations} operations of ${KEYS} keys: ${server.name}`);
      const running = await startServer(server, upstream.url);
      await using _child = running.child;
      const before = await upstream.calls();
      const result = await sendMixed(running, order);
      const calls = (await upstream.calls()) - before;
      if (isMeasured) results.push({ ...result, server, calls, peakRssMb: running.child.peakRssMb() });
    }
  }
  // Compares results that are whole: requests may have been turned away, or not sent in time.
  const [first, ...others] = results.filter(
    (result) => result.operations === operations && result.wrong + result.turnedAway === 0,
  );
  const other = others.find(({ answers }) => answers !== first?.answers);
  if (first && other) throw new Error(`${other.server.name} answers otherwise than ${first.server.name}.`);
  return results;
}

export function skewedTable(results: readonly SkewedResult[]): string {
  return table(
    ['server', 'operations', 'op/s', 'calls', 'calls/op', 'p50 ms', 'p99 ms', 'turned away', 'peak RSS MB'],
    results.map(({ server, operations, elapsedMs, calls, p50Ms, p99Ms, wrong, turnedAway, peakRssMb }) => [
      `${server.name}${wrong === 0 ? '' : ` (${wrong} WRONG)`}`,
      String(operations),
      short((operations / elapsedMs) * 1000),
      String(calls),
      short(calls / operations),
      short(p50Ms),
      short(p99Ms),
      String(turnedAway),
      short(peakRssMb),
    ]),
  );
}

export function skewedSection(results: readonly SkewedResult[]): string {
  return [
    `## ${KEYS} keys over ${OPERATIONS} operations`,
    `From a cold start: 20 shapes of operations, keys, shapes, countries and metrics each drawn with the skew of Zipf from one seed, 32 connections; no more than ${MOST_SECONDS} s. Ours with the settings that it comes with; every tenth answer is compared with ours.`,
    skewedTable(results),
  ].join('\n\n');
}
