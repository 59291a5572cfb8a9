import type { Mode } from '../race/servers.ts';

export type CheckedMode = Exclude<Mode, 'cold-keys'>;

/** Cost of one row of the race in one mode of ours, by operation. */
export interface Figures {
  /** Upstream calls, operations coming one at a time. */
  readonly calls: number;
  /** Upstream calls, ten operations coming at once under one key. */
  readonly callsAtOnce: number;
  /** Bytes that the code as it is written allocates on the heap, to three digits. */
  readonly bytes: number;
  /** Characters of source that run, to three digits: how often each part of the code does, by its length. */
  readonly characters: number;
}

export interface Baseline {
  /** Version of Node that it was made with. */
  readonly node: string;
  /** Figures by row and mode, such as `c warm`. */
  readonly figures: Readonly<Record<string, Figures>>;
}

export interface Comparison {
  /** Failures of the check, a line each. */
  readonly grown: readonly string[];
  /** Remarks that are no failure. */
  readonly notes: readonly string[];
}

/** Figures that are nearly the same each time, and are another with another Node. */
const NEARLY: ReadonlySet<keyof Figures> = new Set(['bytes', 'characters']);

/** Share by which those may differ. Ten runs, half of them on a busy machine, did by 2.9 % in one row, else by 0.6 %. */
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
      if (NEARLY.has(key) && !isSameNode) continue;
      const change = figures[key] - before[key];
      const allowed = NEARLY.has(key) ? before[key] * TOLERANCE : 0;
      if (Math.abs(change) <= allowed) continue;
      const line = (verb: string) =>
        `${name}: ${WHAT[key]} ${verb} by ${amount(change, before[key])}, from ${told(before[key])} to ${told(figures[key])}`;
      if (change > 0) grown.push(line('grew'));
      else notes.push(`${line('fell')}; run --update to hold on to it`);
    }
  }
  return { grown, notes };
}

const majorOf = ({ node }: Baseline) => node.split('.')[0];

const told = (value: number) => value.toLocaleString('en-US');

function amount(change: number, before: number): string {
  const size = Math.abs(change);
  return before === 0 ? told(size) : `${told(size)} (${((size / before) * 100).toFixed(0)} %)`;
}
