import type { Mode } from '../race/servers.ts';

export type CheckedMode = Exclude<Mode, 'cold-keys'>;

/** Cost per operation of one row of the race in one mode. */
export interface Figures {
  /** Upstream calls, with one operation at a time. */
  readonly calls: number;
  /** Upstream calls, with ten concurrent operations under one key. */
  readonly callsAtOnce: number;
  /** Bytes that unoptimized code allocates on the heap, to three digits. */
  readonly bytes: number;
  /** Characters of source run, to three digits: the number of runs of each block times its length. */
  readonly characters: number;
}

export interface Baseline {
  /** The version of Node that it was measured with. */
  readonly node: string;
  /** Figures by row and mode, such as `c warm`. */
  readonly figures: Readonly<Record<string, Figures>>;
}

export interface Comparison {
  /** Failures of the check, one line each. */
  readonly grown: readonly string[];
  /** Remarks that are not failures. */
  readonly notes: readonly string[];
}

/** Figures that vary a little between runs, and more between versions of Node. */
const APPROXIMATE: ReadonlySet<keyof Figures> = new Set(['bytes', 'characters']);

/** Share by which those may differ. In ten runs, half of them on a busy machine, one row varied by 2.9 %, all others by 0.6 %. */
const TOLERANCE = 0.05;

const WHAT: Readonly<Record<keyof Figures, string>> = {
  calls: 'upstream calls per operation',
  callsAtOnce: 'upstream calls per operation, ten at once',
  bytes: 'bytes allocated per operation',
  characters: 'characters of source run per operation',
};

export function compare(measured: Baseline, baseline: Baseline): Comparison {
  const grown: string[] = [];
  const notes: string[] = [];
  const isSameNode = majorOf(measured) === majorOf(baseline);
  if (!isSameNode) {
    notes.push(
      `bytes and characters are not compared: this is Node ${measured.node}, the baseline was made with ${baseline.node}`,
    );
  }
  for (const [name, figures] of Object.entries(measured.figures)) {
    const before = baseline.figures[name];
    if (before === undefined) {
      grown.push(`${name}: is not in the baseline`);
      continue;
    }
    for (const key of Object.keys(WHAT) as (keyof Figures)[]) {
      if (APPROXIMATE.has(key) && !isSameNode) continue;
      const change = figures[key] - before[key];
      const allowed = APPROXIMATE.has(key) ? before[key] * TOLERANCE : 0;
      if (Math.abs(change) <= allowed) continue;
      const line = (verb: string) =>
        `${name}: ${WHAT[key]} ${verb} by ${amount(change, before[key])}, from ${shown(before[key])} to ${shown(figures[key])}`;
      if (change > 0) grown.push(line('grew'));
      else notes.push(`${line('fell')}; run --update to lower the baseline`);
    }
  }
  return { grown, notes };
}

const majorOf = ({ node }: Baseline) => node.split('.')[0];

const shown = (value: number) => value.toLocaleString('en-US');

function amount(change: number, before: number): string {
  const size = Math.abs(change);
  return before === 0 ? shown(size) : `${shown(size)} (${((size / before) * 100).toFixed(0)} %)`;
}
