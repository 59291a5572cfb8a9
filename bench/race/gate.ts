import { fastestPeer, type Heat, type RowResult } from './heats.ts';
import { BARE_PROXY, MERCURIUS, type Mode, OURS_DEFAULT, STATIC_BYTES } from './servers.ts';
import type { StartResult } from './starts.ts';
import { short } from './table.ts';

/** A threshold, what was measured, and whether it is kept. What was not measured is not kept. */
export interface Threshold {
  readonly what: string;
  readonly measured: string;
  readonly isKept: boolean;
}

const CONNECTIONS = 32;
const READY_MS = 500;
const SPARE_RSS_MB = 100;

const speedOf = (heat: Heat | undefined) => heat?.samples.get(CONNECTIONS)?.perSecond ?? Number.NaN;
const oursIn = ({ heats }: RowResult, mode: Mode) => heats.find(({ server }) => server.mode === mode);

/** Ours in this mode by the fastest peer, row by row. */
function againstPeers(rows: readonly RowResult[], mode: Mode, least: number, what: string): Threshold {
  const ratios = rows.map((result) => ({
    letter: result.row.letter,
    ratio: speedOf(oursIn(result, mode)) / speedOf(fastestPeer(result.heats, CONNECTIONS)),
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
  const ratio = result === undefined ? Number.NaN : speedOf(oursIn(result, mode)) / speedOf(base);
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

function noneWrong(rows: readonly RowResult[]): Threshold {
  const wrong = rows
    .flatMap(({ heats, halfLoad: at }) => [
      ...heats.flatMap(({ samples }) => [...samples.values()].map((sample) => sample.wrong)),
      (at?.ours.wrong ?? 0) + (at?.theirs.wrong ?? 0),
    ])
    .reduce((sum, count) => sum + count, 0);
  return { what: 'no wrong answer under load, by anybody', measured: String(wrong), isKept: wrong === 0 };
}

export function thresholds(rows: readonly RowResult[], starts: readonly StartResult[]): Threshold[] {
  const fromB = rows.filter(({ row }) => row.letter !== 'a');
  return [
    againstPeers(rows, 'cold', 1, 'cold, one key: at least as fast as the fastest peer in every row'),
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
    memory(rows),
    ready(starts),
    noneWrong(rows),
  ];
}
