import { DELAYED_CONNECTIONS, LATENCY } from './delayed.ts';
import type { GatewaysResult } from './gateways.ts';
import { fastestPeer, type Heat, type RowResult, speedRatio, wrongOf } from './heats.ts';
import type { HourResult } from './hour.ts';
import type { Sample } from './load.ts';
import type { SizeResult } from './scale.ts';
import { BARE_PROXY, MERCURIUS, type Mode, OURS_DEFAULT, STATIC_BYTES } from './servers.ts';
import type { SkewedResult } from './skewed.ts';
import type { StartResult } from './starts.ts';
import { short } from './table.ts';
import { type WorkersResult, workersFactor } from './workers.ts';

/** A threshold, what was measured, and whether it is kept. What was not measured is not kept. */
export interface Threshold {
  readonly what: string;
  readonly measured: string;
  readonly isKept: boolean;
}

const CONNECTIONS = 32;
const READY_MS = 500;
const BLOCK_MS = 50;
const SPARE_RSS_MB = 100;

const oursIn = ({ heats }: RowResult, mode: Mode) => heats.find(({ server }) => server.mode === mode);

/** Ours in this mode by the fastest peer, row by row. */
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
    isKept: ratios.length > 0 && ratios.every(({ ratio }) => ratio >= least),
  };
}

/** Ours in this mode by what the row of three figures costs without GraphQL, or without any work. */
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
  return { what, measured: short(ratio), isKept: ratio >= least };
}

function halfLoad(rows: readonly RowResult[]): Threshold {
  const ratios = rows.map(({ row, halfLoad: at }) => ({
    letter: row.letter,
    ratio: at === null ? Number.NaN : at.ours.p99Ms / at.theirs.p99Ms,
  }));
  return {
    what: "p99 of ours, cold, at half of the fastest peer's rate: no more than that peer's, in every row",
    measured: ratios.map(({ letter, ratio }) => `${letter} ${short(ratio)} ×`).join(', '),
    isKept: ratios.length > 0 && ratios.every(({ ratio }) => ratio <= 1),
  };
}

function memory(rows: readonly RowResult[]): Threshold {
  const most = (isCounted: (heat: Heat) => boolean) =>
    Math.max(...rows.flatMap(({ heats }) => heats.filter(isCounted).map(({ peakRssMb }) => peakRssMb)));
  const ours = most(({ server }) => server.kind === 'ours');
  const theirs = most(({ server }) => server === MERCURIUS);
  return {
    what: `peak memory of ours, any mode and row: no more than Mercurius's plus ${SPARE_RSS_MB} MB`,
    measured: `${short(ours)} MB, Mercurius ${short(theirs)} MB`,
    isKept: ours <= theirs + SPARE_RSS_MB,
  };
}

function ready(starts: readonly StartResult[]): Threshold {
  const ms = starts.find(({ server }) => server === OURS_DEFAULT)?.medianMs ?? Number.NaN;
  return { what: `ready in under ${READY_MS} ms`, measured: `${short(ms)} ms`, isKept: ms < READY_MS };
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
  return { what: 'no wrong answer under load, by anybody', measured: String(wrong), isKept: wrong === 0 };
}

/** A run ends in the middle of operations: with one connection that is one of sixty, or less. */
const CUT_SHARE = 0.03;

/** What a service that takes its time makes of ours, by what it makes of the fastest peer. */
const OVER_DELAY: readonly {
  readonly what: string;
  readonly figure: (sample: Sample) => number;
  /** How far beyond 1 the ratio may be; left out, so far as the peer's own rounds are beyond their median. */
  readonly spare?: number;
}[] = [
  { what: "p50 no worse than the fastest peer's own rounds", figure: ({ p50Ms }) => p50Ms },
  { what: "p99 no worse than the fastest peer's own rounds", figure: ({ p99Ms }) => p99Ms },
  { what: "calls at most the fastest peer's", figure: ({ calls }) => calls, spare: CUT_SHARE },
];

/** Ours in this mode, in each row at each load: the ratio of the medians, and what it may be. */
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
    const told = ({ ratio, most }: { ratio: number; most: number }) => `${short(ratio)} of ${short(most)}`;
    return {
      what: `with ${LATENCY.leastMs} ms upstream latency, ${name}: ${what}, in any row at ${connections.join(' and ')} connections`,
      measured: rows.map(({ letter, each }) => `${letter} ${each.map(told).join(' / ')}`).join(', '),
      isKept: rows.length > 0 && rows.every(({ each }) => each.every(({ ratio, most }) => ratio <= most)),
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
    what: `nothing blocks for over ${BLOCK_MS} ms, whatever the size of the answer`,
    measured: blocks.map((ms) => `${short(ms)} ms`).join(', '),
    isKept: blocks.length > 0 && blocks.every((ms) => ms <= BLOCK_MS),
  };
}

function noneTurnedAway(skewed: readonly SkewedResult[]): Threshold {
  const ours = skewed.find(({ server }) => server.kind === 'ours')?.turnedAway ?? Number.NaN;
  return {
    what: 'operations of many keys from a cold start: none turned away by ours',
    measured: Number.isNaN(ours) ? '–' : String(ours),
    isKept: ours === 0,
  };
}

export const LEAST_WORKERS_FACTOR = 1.7;

function allCores(workers: readonly WorkersResult[]): Threshold {
  const factor = workersFactor(workers);
  return {
    what: `two workers, each with a core and load of its own: at least ${LEAST_WORKERS_FACTOR} × one`,
    measured: short(factor),
    isKept: factor >= LEAST_WORKERS_FACTOR,
  };
}

function oneForTwo(gateways: GatewaysResult | null): Threshold {
  const { operations = Number.NaN, ofOne = Number.NaN, ofTwo = Number.NaN } = gateways ?? {};
  return {
    what: `two gateways on one Redis, the same ${operations} cold operations at once: the calls of one`,
    measured: `${short(ofTwo)}, one ${short(ofOne)}`,
    isKept: ofTwo <= ofOne,
  };
}

/** All that has been measured. */
export interface Raced {
  readonly rows: readonly RowResult[];
  readonly starts: readonly StartResult[];
  /** Over a service that takes its time. */
  readonly delayed: readonly RowResult[];
  readonly skewed: readonly SkewedResult[];
  readonly hour: readonly HourResult[];
  readonly workers: readonly WorkersResult[];
  /** Null where there is no Redis. */
  readonly gateways: GatewaysResult | null;
  /** Answers of growing size. */
  readonly scale: readonly SizeResult[];
}

export function thresholds(raced: Raced): Threshold[] {
  const { rows, starts, delayed } = raced;
  const fromB = rows.filter(({ row }) => row.letter !== 'a');
  return [
    againstPeers(rows, 'cold', 1, 'cold, one key: at least as fast as the fastest peer in every row'),
    againstPeers(rows, 'cold', 0.8, 'cold, one connection: at least 0.8 of the fastest peer in every row', 1),
    againstPeers(rows, 'cold-keys', 1, 'cold, a key each: at least as fast as the fastest peer in every row'),
    againstFloor(rows, 'cold', BARE_PROXY, 0.6, 'cold, one key: at least 0.6 of the bare proxy in row c'),
    againstFloor(
      rows,
      'cold-keys',
      BARE_PROXY,
      0.6,
      'cold, a key each: at least 0.6 of the bare proxy in row c',
    ),
    againstPeers(fromB, 'warm', 3, 'warm: at least 3 × the fastest peer in rows b to e'),
    againstFloor(rows, 'repeated', STATIC_BYTES, 0.5, 'repeated: at least half of static bytes in row c'),
    halfLoad(rows),
    ...overDelay(delayed, 'cold', 'one key', DELAYED_CONNECTIONS),
    ...overDelay(delayed, 'cold-keys', 'a key each', [CONNECTIONS]),
    allCores(raced.workers),
    oneForTwo(raced.gateways),
    noLongBlock(raced.scale),
    memory(rows),
    ready(starts),
    noneTurnedAway(raced.skewed),
    noneWrong(raced),
  ];
}
