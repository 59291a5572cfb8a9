/**
 * Bounds that may only get better: a number that is less is better, and one that is worse than it was is refused until it is
 * as good as is wanted. `scripts/structure/bounds.json` holds them.
 */
import { readFileSync, writeFileSync } from 'node:fs';

export interface Bound {
  /** The number that was last accepted. */
  readonly baseline: number;
  /** The wanted number; left out if less is better, without a limit. */
  readonly target?: number;
}

export type Bounds = Readonly<Record<string, Bound>>;

export interface BoundsFile {
  readonly structure: Bounds;
  readonly trace: Bounds;
}

const FILE = 'scripts/structure/bounds.json';

export function readBounds(): BoundsFile {
  return JSON.parse(readFileSync(FILE, 'utf8'));
}

export interface Judged {
  /** A line for each number: today · baseline · target. */
  readonly lines: readonly string[];
  /** Names of numbers that are worse than their baseline, and beyond their target. */
  readonly worse: readonly string[];
  /** Names of numbers that are better than their baseline, which might be accepted. */
  readonly better: readonly string[];
  /** Names of bounds without a number. */
  readonly unknown: readonly string[];
}

/** @param numbers those without a bound are shown alone */
export function judge(numbers: Readonly<Record<string, number>>, bounds: Bounds): Judged {
  const rows = Object.entries(numbers).map(([name, today]) => ({ name, today, bound: bounds[name] }));
  const cells = rows.map(({ name, today, bound }) => [
    ...[today, bound?.baseline, bound?.target].map((cell) =>
      cell === undefined ? '–' : cell.toLocaleString('en-US'),
    ),
    name,
  ]);
  const table = [['today', 'baseline', 'target', ''], ...cells];
  const namesOf = (found: typeof rows) => found.map(({ name }) => name);
  return {
    lines: table.map(([today = '', baseline = '', target = '', name = '']) =>
      `${today.padStart(8)} · ${baseline.padStart(8)} · ${target.padStart(8)}  ${name}`.trimEnd(),
    ),
    worse: namesOf(
      rows.filter(
        ({ today, bound }) => bound !== undefined && today > Math.max(bound.baseline, bound.target ?? 0),
      ),
    ),
    better: namesOf(rows.filter(({ today, bound }) => bound !== undefined && today < bound.baseline)),
    unknown: Object.keys(bounds).filter((name) => !(name in numbers)),
  };
}

/** The same bounds, with each better number as the baseline. */
export function accepted(numbers: Readonly<Record<string, number>>, bounds: Bounds): Bounds {
  return Object.fromEntries(
    Object.entries(bounds).map(([name, bound]) => [
      name,
      { ...bound, baseline: Math.min(bound.baseline, numbers[name] ?? bound.baseline) },
    ]),
  );
}

/**
 * Shows numbers beside their bounds. With `--accept`, those that are better become the baseline.
 * @returns true if all are as good as they were
 */
export function hold(section: 'structure' | 'trace', numbers: Readonly<Record<string, number>>): boolean {
  const file = readBounds();
  const { lines, worse, better, unknown } = judge(numbers, file[section]);
  for (const line of lines) console.log(line);
  if (process.argv.includes('--accept'))
    writeFileSync(FILE, written({ ...file, [section]: accepted(numbers, file[section]) }));
  else if (better.length > 0) console.log(`\nBetter, which --accept writes to ${FILE}: ${better.join(', ')}`);
  for (const name of worse) console.error(`Worse than ${FILE} allows: ${name}`);
  for (const name of unknown) console.error(`${FILE} bounds what is not counted: ${name}`);
  return worse.length === 0 && unknown.length === 0;
}

/** Text of the file as the formatter writes it, a bound a line. */
function written(file: BoundsFile): string {
  const sections = Object.entries(file).map(([section, bounds]) => {
    const lines = Object.entries(bounds as Bounds).map(([name, bound]) => {
      const cells = Object.entries(bound).map(([field, value]) => `${JSON.stringify(field)}: ${value}`);
      return `    ${JSON.stringify(name)}: { ${cells.join(', ')} }`;
    });
    return `  ${JSON.stringify(section)}: {\n${lines.join(',\n')}\n  }`;
  });
  return `{\n${sections.join(',\n')}\n}\n`;
}
