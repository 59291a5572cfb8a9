import { type MixedResult, sendMixed } from './mixed-load.ts';
import { KEYS } from './mixed-operations.ts';
import { MERCURIUS, OURS_DEFAULT, SERVERS, type Server, startServer } from './servers.ts';
import { startUpstream } from './service.ts';
import { short, table } from './table.ts';

const OPERATIONS = 5_000;
const SEED = 20_261_123;
const MAX_SECONDS = 15;

export interface SkewedResult extends MixedResult {
  readonly server: Server;
  /** Upstream calls of all operations together. */
  readonly calls: number;
  readonly peakRssMb: number;
}

const COMPARED: readonly Server[] = [
  { ...OURS_DEFAULT, name: 'ours, default settings' },
  MERCURIUS,
  ...SERVERS.filter(({ name }) => name === 'apollo-dataloader'),
];

/**
 * Measures operations of many keys, from a cold start on.
 * @throws if the responses of two servers differ
 */
export async function measureSkewed(operations = OPERATIONS): Promise<SkewedResult[]> {
  await using upstream = await startUpstream();
  const order = { count: operations, seed: SEED, mostSeconds: MAX_SECONDS };
  const results: SkewedResult[] = [];
  for (const server of COMPARED) {
    // The first run is not measured: it fills the cache of the service.
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
  // Only complete results can be compared: operations may have been rejected, or not sent in time.
  const [first, ...others] = results.filter(
    (result) => result.operations === operations && result.wrong + result.turnedAway === 0,
  );
  const other = others.find(({ answers }) => answers !== first?.answers);
  if (first && other)
    throw new Error(`The responses of ${other.server.name} and ${first.server.name} differ.`);
  return results;
}

export function skewedTable(results: readonly SkewedResult[]): string {
  return table(
    ['server', 'operations', 'op/s', 'calls', 'calls/op', 'p50 ms', 'p99 ms', 'rejected', 'peak RSS MB'],
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
    `From a cold start, over 32 connections, for at most ${MAX_SECONDS} s. Key, shape (one of 20), countries and metrics of each operation are drawn by Zipf's law from one seed. Country Graph has its default settings; every tenth response of the peers is compared with its own. "Rejected" counts responses with 503.`,
    skewedTable(results),
  ].join('\n\n');
}
