import type { Raced } from './gate.ts';
import type { RowResult } from './heats.ts';

/** All runs behind the report's medians, as JSON. */
export function runsOf(raced: Pick<Raced, 'rows' | 'starts'> & Partial<Raced>): string {
  const {
    rows,
    delayed = [],
    starts,
    skewed = [],
    first = [],
    hour = [],
    workers,
    gateways,
    scale = [],
  } = raced;
  const named = <Result extends { readonly server: { readonly name: string } }>(results: readonly Result[]) =>
    results.map(({ server, ...rest }) => ({ server: server.name, ...rest }));
  const runs = {
    rows: rows.map(rowRuns),
    delayed: delayed.map(rowRuns),
    starts: named(starts).map(({ times, ...rest }) => ({ ...rest, times: times.map((ms) => ({ ms })) })),
    skewed: named(skewed),
    first: named(first),
    hour: named(hour),
    workers,
    gateways,
    scale: scale.map(({ times, ...rest }) => ({ ...rest, times: times.map((ms) => ({ ms })) })),
  };
  return `${JSON.stringify(runs, rounded, 2)}\n`;
}

function rowRuns({ row, heats, halfLoad }: RowResult) {
  return {
    row: row.letter,
    heats: heats.map(({ server, rounds, wrongEarly, peakRssMb }) => ({
      server: server.name,
      wrongEarly,
      peakRssMb,
      rounds: Object.fromEntries(rounds),
    })),
    halfLoad: halfLoad === null ? null : { ...halfLoad, peer: halfLoad.peer.name },
  };
}

/** Four significant digits are more than the precision of any of these figures. */
function rounded(_name: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isInteger(value)) return value;
  return Number.isFinite(value) ? Number(value.toPrecision(4)) : null;
}
