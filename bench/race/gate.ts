import { DELAYED_CONNECTIONS, LATENCY } from './delayed.ts';
import type { FirstResult } from './first.ts';
import type { GatewaysResult } from './gateways.ts';
import { fastestPeer, type Heat, type RowResult, speedRatio, wrongOf } from './heats.ts';
import type { HourResult } from './hour.ts';
import type { Sample } from './load.ts';
import type { SizeResult } from './scale.ts';
import {
  BARE_PROXY,
  MERCURIUS,
  type Mode,
  OURS_DEFAULT,
  PARSING_FLOOR,
  STATIC_BYTES,
  TAILCALL,
} from './servers.ts';
import type { SkewedResult } from './skewed.ts';
import type { StartResult } from './starts.ts';
import { short } from './table.ts';
import { type WorkersResult, workersFactor } from './workers.ts';

/** A threshold, what was measured, and the verdict. A threshold without a measurement is not met. */
export interface Threshold {
  readonly what: string;
  readonly measured: string;
  readonly isMet: boolean;
}

const CONNECTIONS = 32;
const READY_MS = 500;
const BLOCK_MS = 50;
const HEAP_TIMES = 1.5;
const P99_TIMES = 1.5;

const oursIn = ({ heats }: RowResult, mode: Mode) => heats.find(({ server }) => server.mode === mode);

/** Throughput of ours in this mode relative to the fastest peer, by row. */
function againstPeers(
  rows: readonly RowResult[],
  mode: Mode,
  least: number,
  what: string,
  connections = CONNECTIONS,
): Threshold {
  const ratios = rows.map((result) => ({
    letter: result.row.letter,
    ratio: speedRatio(oursIn(result, mode), fastestPeer(result.heats, connections), connections),
  }));
  return {
    what,
    measured: ratios.map(({ letter, ratio }) => `${letter} ${short(ratio)}`).join(', '),
    isMet: ratios.length > 0 && ratios.every(({ ratio }) => ratio >= least),
  };
}

/** Throughput of ours in this mode relative to a floor, in row c. */
function againstFloor(
  rows: readonly RowResult[],
  mode: Mode,
  floor: typeof BARE_PROXY,
  least: number,
  what: string,
): Threshold {
  const result = rows.find(({ row }) => row.letter === 'c');
  const base = result?.heats.find(({ server }) => server === floor);
  const ours = result === undefined ? undefined : oursIn(result, mode);
  const ratio = speedRatio(ours, base, CONNECTIONS);
  return { what, measured: short(ratio), isMet: ratio >= least };
}

/** Throughput of ours, a key each, relative to the work that no gateway in Node can avoid. */
function againstParsing(rows: readonly RowResult[], least: number): Threshold {
  const ratios = rows.map((result) => ({
    letter: result.row.letter,
    ratio: speedRatio(
      oursIn(result, 'cold-keys'),
      result.heats.find(({ server }) => server === PARSING_FLOOR),
      CONNECTIONS,
    ),
  }));
  return {
    what: `cold, a key each: at least ${least} of the parsing floor in every row`,
    measured: ratios.map(({ letter, ratio }) => `${letter} ${short(ratio)}`).join(', '),
    isMet: ratios.length > 0 && ratios.every(({ ratio }) => ratio >= least),
  };
}

/** Minimum ratio of Tailcall's CPU time to ours, by row. */
const AGAINST_TAILCALL: Readonly<Record<string, number>> = { a: 1.5, b: 0.5, c: 1, d: 1 };

function againstTailcall(rows: readonly RowResult[]): Threshold {
  const ratios = rows.flatMap((result) => {
    const least = AGAINST_TAILCALL[result.row.letter];
    const theirs = result.heats.find(({ server }) => server === TAILCALL);
    const ours = oursIn(result, 'cold-keys');
    if (least === undefined || theirs === undefined) return [];
    const isRight = [ours, theirs].every((heat) => heat === undefined || wrongOf(heat) === 0);
    const cpuMs = ({ cpuMs: each }: Sample) => each;
    const ratio = isRight
      ? figureOf(theirs, CONNECTIONS, cpuMs) / figureOf(ours, CONNECTIONS, cpuMs)
      : Number.NaN;
    return [{ letter: result.row.letter, ratio, least }];
  });
  return {
    what: `cold, a key each: CPU time of Tailcall divided by ours at least ${Object.entries(AGAINST_TAILCALL)
      .map(([letter, least]) => `${letter} ${least}`)
      .join(', ')}`,
    measured: ratios.map(({ letter, ratio }) => `${letter} ${short(ratio)}`).join(', ') || '–',
    isMet: ratios.length > 0 && ratios.every(({ ratio, least }) => ratio >= least),
  };
}

function halfLoad(rows: readonly RowResult[]): Threshold {
  const ratios = rows.map(({ row, halfLoad: at }) => ({
    letter: row.letter,
    ratio: at === null ? Number.NaN : at.ours.p99Ms / at.theirs.p99Ms,
  }));
  return {
    what: "cold, at half of the fastest peer's throughput: p99 at most that peer's, in every row",
    measured: ratios.map(({ letter, ratio }) => `${letter} ${short(ratio)} ×`).join(', '),
    isMet: ratios.length > 0 && ratios.every(({ ratio }) => ratio <= 1),
  };
}

function memory(rows: readonly RowResult[]): Threshold {
  const most = (isCounted: (heat: Heat) => boolean) =>
    Math.max(...rows.flatMap(({ heats }) => heats.filter(isCounted).map(({ peakRssMb }) => peakRssMb)));
  const ours = most(({ server }) => server.kind === 'ours');
  const theirs = most(({ server }) => server.kind === 'peer');
  return {
    what: 'peak memory, in any mode and row: at most that of the largest peer',
    measured: `${short(ours)} MB, largest peer ${short(theirs)} MB`,
    isMet: ours <= theirs,
  };
}

function heap(hour: readonly HourResult[]): Threshold {
  const after = (isIt: (result: HourResult) => boolean) =>
    hour.find(isIt)?.memory.at(-1)?.heapMb ?? Number.NaN;
  const ours = after(({ server }) => server.kind === 'ours');
  const theirs = after(({ server }) => server === MERCURIUS);
  return {
    what: `heap after an hour's worth: at most ${HEAP_TIMES} × Mercurius's`,
    measured: `${short(ours)} MB, Mercurius ${short(theirs)} MB`,
    isMet: ours <= HEAP_TIMES * theirs,
  };
}

/** Throughput and p99 of operations of many keys from a cold start. */
function manyKeys(skewed: readonly SkewedResult[]): Threshold[] {
  const rate = ({ operations, elapsedMs }: SkewedResult) => (operations / elapsedMs) * 1000;
  const ours = skewed.find(({ server }) => server.kind === 'ours');
  const [best] = skewed
    .filter(({ server, wrong }) => server.kind === 'peer' && wrong === 0)
    .toSorted((a, b) => rate(b) - rate(a));
  const isRight = ours !== undefined && best !== undefined && ours.wrong === 0;
  const speed = isRight ? rate(ours) / rate(best) : Number.NaN;
  const slowest = isRight ? ours.p99Ms / best.p99Ms : Number.NaN;
  return [
    {
      what: 'many keys from a cold start: throughput at least that of the fastest peer',
      measured: short(speed),
      isMet: speed >= 1,
    },
    {
      what: `many keys from a cold start: p99 at most ${P99_TIMES} × the fastest peer's`,
      measured: short(slowest),
      isMet: slowest <= P99_TIMES,
    },
  ];
}

function ready(starts: readonly StartResult[]): Threshold {
  const ms = starts.find(({ server }) => server === OURS_DEFAULT)?.medianMs ?? Number.NaN;
  return { what: `ready in under ${READY_MS} ms`, measured: `${short(ms)} ms`, isMet: ms < READY_MS };
}

/** Maximum CPU time in milliseconds, by the number of operations. */
const FIRST_MS = { 32: 260, 300: 1_300 };

function firstOperations(first: readonly FirstResult[]): Threshold[] {
  const ours = first.find(({ server }) => server === OURS_DEFAULT)?.cpuMs ?? {};
  return Object.entries(FIRST_MS).map(([count, most]) => ({
    what: `the first ${count} operations of a process: at most ${most} ms of CPU time`,
    measured: `${short(ours[count] ?? Number.NaN)} ms`,
    isMet: (ours[count] ?? Number.NaN) <= most,
  }));
}

function noneWrong({ rows, delayed, skewed, hour, workers, gateways }: Raced): Threshold {
  const wrong = [
    ...[...rows, ...delayed].flatMap(({ heats, halfLoad: at }) => [
      ...heats.map(wrongOf),
      (at?.ours.wrong ?? 0) + (at?.theirs.wrong ?? 0),
    ]),
    ...[...skewed, ...hour, ...workers].map((result) => result.wrong),
    gateways?.wrong ?? 0,
  ].reduce((sum, count) => sum + count, 0);
  return {
    what: 'no wrong response under load, from any server',
    measured: String(wrong),
    isMet: wrong === 0,
  };
}

/** Runs end in the middle of operations, which shifts calls per operation: with one connection, by up to one in sixty. */
const UNFINISHED_SHARE = 0.03;

/** What is compared with the fastest peer over a service with latency. */
const OVER_DELAY: readonly {
  readonly what: string;
  readonly figure: (sample: Sample) => number;
  /** Allowed excess of the ratio over 1; by default, that of the peer's own worst round over its median. */
  readonly spare?: number;
}[] = [
  { what: "p50 no worse than the fastest peer's own rounds", figure: ({ p50Ms }) => p50Ms },
  { what: "p99 no worse than the fastest peer's own rounds", figure: ({ p99Ms }) => p99Ms },
  { what: "calls at most the fastest peer's", figure: ({ calls }) => calls, spare: UNFINISHED_SHARE },
];

/** The ratios of medians of ours in this mode to the fastest peer's, in each row at each load, and their bounds. */
function overDelay(
  delayed: readonly RowResult[],
  mode: Mode,
  name: string,
  connections: readonly number[],
): Threshold[] {
  return OVER_DELAY.map(({ what, figure, spare }) => {
    const rows = delayed.map((result) => {
      const each = connections.map((count) => {
        const peer = fastestPeer(result.heats, count);
        const theirs = figureOf(peer, count, figure);
        const worst = Math.max(...(peer?.rounds.get(count) ?? []).map(figure));
        const most = spare === undefined ? worst / theirs : 1 + spare;
        return { ratio: figureOf(oursIn(result, mode), count, figure) / theirs, most };
      });
      return { letter: result.row.letter, each };
    });
    const shown = ({ ratio, most }: { ratio: number; most: number }) => `${short(ratio)} of ${short(most)}`;
    return {
      what: `with ${LATENCY.leastMs} ms of upstream latency, ${name}: ${what}, in every row at ${connections.join(' and ')} connections`,
      measured: rows.map(({ letter, each }) => `${letter} ${each.map(shown).join(' / ')}`).join(', '),
      isMet: rows.length > 0 && rows.every(({ each }) => each.every(({ ratio, most }) => ratio <= most)),
    };
  });
}

function figureOf(heat: Heat | undefined, connections: number, figure: (sample: Sample) => number): number {
  const sample = heat?.samples.get(connections);
  return sample === undefined ? Number.NaN : figure(sample);
}

function noLongBlock(scale: readonly SizeResult[]): Threshold {
  const blocks = scale.map(({ longestBlockMs }) => longestBlockMs);
  return {
    what: `the event loop is never blocked for over ${BLOCK_MS} ms, whatever the size of the response`,
    measured: blocks.map((ms) => `${short(ms)} ms`).join(', '),
    isMet: blocks.length > 0 && blocks.every((ms) => ms <= BLOCK_MS),
  };
}

function noneTurnedAway(skewed: readonly SkewedResult[]): Threshold {
  const ours = skewed.find(({ server }) => server.kind === 'ours')?.turnedAway ?? Number.NaN;
  return {
    what: 'many keys from a cold start: ours rejects none',
    measured: Number.isNaN(ours) ? '–' : String(ours),
    isMet: ours === 0,
  };
}

export const LEAST_WORKERS_FACTOR = 1.8;

function allCores(workers: readonly WorkersResult[]): Threshold {
  const factor = workersFactor(workers);
  return {
    what: `two workers, each with its own core and load: throughput at least ${LEAST_WORKERS_FACTOR} × one`,
    measured: short(factor),
    isMet: factor >= LEAST_WORKERS_FACTOR,
  };
}

function oneForTwo(gateways: GatewaysResult | null): Threshold {
  const { operations = Number.NaN, ofOne = Number.NaN, ofTwo = Number.NaN } = gateways ?? {};
  return {
    what: `two gateways on one Redis, ${operations} cold operations sent to both at once: no more calls than one gateway`,
    measured: `${short(ofTwo)}, one gateway ${short(ofOne)}`,
    isMet: ofTwo <= ofOne,
  };
}

/** All results. */
export interface Raced {
  readonly rows: readonly RowResult[];
  readonly starts: readonly StartResult[];
  readonly first: readonly FirstResult[];
  /** Over a service with latency. */
  readonly delayed: readonly RowResult[];
  readonly skewed: readonly SkewedResult[];
  readonly hour: readonly HourResult[];
  readonly workers: readonly WorkersResult[];
  /** Null if there is no Redis. */
  readonly gateways: GatewaysResult | null;
  /** Responses of growing size. */
  readonly scale: readonly SizeResult[];
}

export function thresholds(raced: Raced): Threshold[] {
  const { rows, starts, delayed } = raced;
  const fromB = rows.filter(({ row }) => row.letter !== 'a');
  return [
    againstPeers(rows, 'cold', 1, 'cold, one key: at least the throughput of the fastest peer in every row'),
    againstPeers(
      rows,
      'cold',
      1,
      'cold, one connection: at least the throughput of the fastest peer in every row',
      1,
    ),
    againstPeers(
      rows,
      'cold-keys',
      1.3,
      'cold, a key each: at least 1.3 × the fastest Node peer in every row',
    ),
    againstParsing(rows, 0.6),
    againstTailcall(rows),
    againstFloor(rows, 'cold', BARE_PROXY, 0.6, 'cold, one key: at least 0.6 of the bare proxy in row c'),
    againstFloor(
      rows,
      'cold-keys',
      BARE_PROXY,
      1,
      'cold, a key each: at least the throughput of the bare proxy in row c',
    ),
    againstPeers(fromB, 'warm', 3, 'warm: at least 3 × the fastest peer in rows b to e'),
    againstFloor(rows, 'repeated', STATIC_BYTES, 0.7, 'repeated: at least 0.7 of static bytes in row c'),
    halfLoad(rows),
    ...overDelay(delayed, 'cold', 'one key', DELAYED_CONNECTIONS),
    ...overDelay(delayed, 'cold-keys', 'a key each', [CONNECTIONS]),
    allCores(raced.workers),
    oneForTwo(raced.gateways),
    noLongBlock(raced.scale),
    memory(rows),
    heap(raced.hour),
    ready(starts),
    ...firstOperations(raced.first),
    ...manyKeys(raced.skewed),
    noneTurnedAway(raced.skewed),
    noneWrong(raced),
  ];
}
