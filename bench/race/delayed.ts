import { fastestPeer, type RowResult, raceRow, speedRatio } from './heats.ts';
import { variation } from './load.ts';
import { ROWS, type Row } from './rows.ts';
import { SERVERS } from './servers.ts';
import { short, table } from './table.ts';

/** Times of a service over a network: the same for each run, drawn from one seed. */
export const LATENCY = { leastMs: 40, tailMs: 10 };

export const DELAYED_CONNECTIONS = [1, 32];

/** Long enough for some eighty answers to one connection. */
const SECONDS = 4;

/**
 * Rounds of which the middle one counts; two servers may differ by the distance between rounds of one server,
 * and yet be equal. Of five, one of two equal servers has its middle beyond all of the other's in one of
 * twelve runs; of three, in one of five.
 */
const ROUNDS = 5;

/** Ours, cold, against peers that put figures together: to wait for a call a field shows nothing but that. */
const ENTERED = SERVERS.filter(({ kind, mode, name }) =>
  kind === 'ours' ? mode?.startsWith('cold') : kind === 'peer' && /jit|dataloader/.test(name),
);

/** Ours, cold, and peers over a service that takes its time. */
export async function raceDelayed(
  rows: readonly Row[] = ROWS,
  connections: readonly number[] = DELAYED_CONNECTIONS,
  seconds = SECONDS,
): Promise<RowResult[]> {
  const results: RowResult[] = [];
  for (const row of rows) {
    console.error(`Row ${row.letter} over ${LATENCY.leastMs} ms`);
    const options = {
      servers: ENTERED,
      connections,
      seconds,
      rounds: ROUNDS,
      halfLoad: false,
      latency: LATENCY,
    };
    results.push(await raceRow(row, options));
  }
  return results;
}

export function delayedTable(results: readonly RowResult[], connections: number): string {
  const body = results.flatMap(({ row, heats }) => {
    const best = fastestPeer(heats, connections);
    return heats.flatMap((heat) => {
      const sample = heat.samples.get(connections);
      if (sample === undefined) return [];
      const { perSecond, p50Ms, p99Ms, calls, cpuMs } = sample;
      const rates = (heat.rounds.get(connections) ?? []).map((round) => round.perSecond);
      const ratio = speedRatio(heat, best, connections);
      const figures = [perSecond, variation(rates), ratio, p50Ms, p99Ms, calls, cpuMs];
      return [[`${row.letter}, ${heat.server.name}`, ...figures.map(short)]];
    });
  });
  return table(
    ['row, server', 'op/s', 'CV %', '× best peer', 'p50 ms', 'p99 ms', 'calls/op', 'CPU ms/op'],
    body,
  );
}

export function delayedSection(results: readonly RowResult[]): string {
  const { leastMs, tailMs } = LATENCY;
  return [
    `## Over a service that takes ${leastMs} ms`,
    `Each answer of the service waits ${leastMs} ms, and longer by an exponential tail of mean ${tailMs} ms, drawn evenly (by Halton's sequence) and alike in each run. Ours cold, under one key and under a key each; medians of ${ROUNDS} rounds of ${SECONDS} s.`,
    ...DELAYED_CONNECTIONS.flatMap((count) => [
      `${count} connection${count === 1 ? '' : 's'}:`,
      delayedTable(results, count),
    ]),
  ].join('\n\n');
}
