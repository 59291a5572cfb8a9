import { fastestPeer, type RowResult, raceRow, speedRatio } from './heats.ts';
import { variation } from './load.ts';
import { ROWS, type Row } from './rows.ts';
import { SERVERS } from './servers.ts';
import type { Latency } from './service.ts';
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
  latency: Latency = LATENCY,
): Promise<RowResult[]> {
  const results: RowResult[] = [];
  for (const row of rows) {
    console.error(`Row ${row.letter} over ${latency.leastMs} ms`);
    const options = {
      servers: ENTERED,
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
    `## Over a service that takes ${leastMs} ms`,
    `Each answer of the service waits ${leastMs} ms, and longer by an exponential tail of mean ${tailMs} ms, drawn evenly (by Halton's sequence) and alike in each run. Ours cold, under one key and under a key each; medians of ${ROUNDS} rounds of ${SECONDS} s.`,
    ...DELAYED_CONNECTIONS.flatMap((count) => [
      `${count} connection${count === 1 ? '' : 's'}:`,
      delayedTable(results, count),
    ]),
  ].join('\n\n');
}

/** A service that is far away: each round trip takes as long. */
const FAR: Latency = { leastMs: 80, tailMs: 0 };

/** One question at a time, of one country and of all with their figures: what it takes is the round trips in a row. */
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
    `One connection over a service that takes ${FAR.leastMs} ms: a country, and all countries, with latest figures. Round trips are the median time by that of one.`,
    roundTripsTable(results),
  ].join('\n\n');
