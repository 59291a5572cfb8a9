import { fastestPeer, type RowResult, raceRow, speedRatio } from './heats.ts';
import { variation } from './load.ts';
import { ROWS, type Row } from './rows.ts';
import { SERVERS } from './servers.ts';
import type { Latency } from './service.ts';
import { short, table } from './table.ts';

/** Latency of a service over a network: the same sequence in each run. */
export const LATENCY = { leastMs: 40, tailMs: 10 };

export const DELAYED_CONNECTIONS = [1, 32];

/** Long enough for some eighty responses on one connection. */
const SECONDS = 4;

/**
 * Rounds, of which the median is compared with the other server's worst round. With five rounds, the median of one of two
 * equal servers lies beyond all rounds of the other in one of twelve runs; with three, in one of five.
 */
const ROUNDS = 5;

/** Ours, cold, and the peers that merge calls. With a call per field, a peer's latency would only show their number. */
const COMPARED = SERVERS.filter(({ kind, mode, name }) =>
  kind === 'ours' ? mode?.startsWith('cold') : kind === 'peer' && /jit|dataloader/.test(name),
);

/** Runs ours, cold, and peers over a service with latency. */
export async function raceDelayed(
  rows: readonly Row[] = ROWS,
  connections: readonly number[] = DELAYED_CONNECTIONS,
  seconds = SECONDS,
  latency: Latency = LATENCY,
): Promise<RowResult[]> {
  const results: RowResult[] = [];
  for (const row of rows) {
    console.error(`Row ${row.letter}, ${latency.leastMs} ms of latency`);
    const options = {
      servers: COMPARED,
      connections,
      seconds,
      rounds: ROUNDS,
      halfLoad: false,
      latency,
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
    `## Over a service with ${leastMs} ms of latency`,
    `Each response of the service takes ${leastMs} ms plus an exponentially distributed time with a mean of ${tailMs} ms. The times come from a low-discrepancy (Halton) sequence, the same in each run. Ours is cold, with one key and with a key each; medians of ${ROUNDS} rounds of ${SECONDS} s.`,
    ...DELAYED_CONNECTIONS.flatMap((count) => [
      `${count} connection${count === 1 ? '' : 's'}:`,
      delayedTable(results, count),
    ]),
  ].join('\n\n');
}

/** A constant latency, so that it can be divided by. */
const FAR: Latency = { leastMs: 80, tailMs: 0 };

/** Rows b and c, one operation at a time: the time of an operation shows how many round trips it makes one after the other. */
export function raceRoundTrips(seconds = SECONDS): Promise<RowResult[]> {
  return raceDelayed(
    ROWS.filter(({ letter }) => letter === 'b' || letter === 'c'),
    [1],
    seconds,
    FAR,
  );
}

export function roundTripsTable(results: readonly RowResult[]): string {
  const body = results.flatMap(({ row, heats }) =>
    heats.flatMap((heat) => {
      const sample = heat.samples.get(1);
      if (sample === undefined) return [];
      const figures = [sample.p50Ms, sample.p50Ms / FAR.leastMs, sample.calls];
      return [[`${row.letter}, ${heat.server.name}`, ...figures.map(short)]];
    }),
  );
  return table(['row, server', 'p50 ms', 'round trips', 'calls/op'], body);
}

export const roundTripsSection = (results: readonly RowResult[]): string =>
  [
    '## Round trips',
    `Sequential round trips to the service: rows b and c on one connection, over a service with ${FAR.leastMs} ms of latency. The column is p50 divided by the latency.`,
    roundTripsTable(results),
  ].join('\n\n');
