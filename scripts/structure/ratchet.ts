/**
 * Bounds in `scripts/structure/bounds.json` that only get tighter. Less is better: a number must not exceed its baseline,
 * unless it is within its target.
 */
import { readFileSync, writeFileSync } from 'node:fs';

export interface Bound {
  /** The number that was last accepted. */
  readonly baseline: number;
  /** A number that is good enough; absent if less is always better. */
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
  /** One line per number: today · baseline · target. */
  readonly lines: readonly string[];
  /** Names of numbers that are worse than their baseline, and beyond their target. */
  readonly worse: readonly string[];
  /** Names of numbers that are better than their baseline. */
  readonly better: readonly string[];
  /** Names of bounds without a number. */
  readonly unknown: readonly string[];
}

/** @param numbers may include some without a bound */
export function judge(numbers: Readonly<Record<string, number>>, bounds: Bounds): Judged {
  const rows = Object.entries(numbers).map(([name, today]) => ({ name, today, bound: bounds[name] }));
  const cells = rows.map(({ name, today, bound }) => [
    ...[today, bound?.baseline, bound?.target].map((cell) =>
      cell === undefined ? '–' : cell.toLocaleString('en-US'),
    ),
    name,
  ]);
  const table = [['today', 'baseline', 'target', ''], ...cells];
  const namesOf = (chosen: typeof rows) => chosen.map(({ name }) => name);
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

/** The bounds, with better numbers as their baselines. */
export function accepted(numbers: Readonly<Record<string, number>>, bounds: Bounds): Bounds {
  return Object.fromEntries(
    Object.entries(bounds).map(([name, bound]) => [
      name,
      { ...bound, baseline: Math.min(bound.baseline, numbers[name] ?? bound.baseline) },
    ]),
  );
}

/**
 * Prints numbers with their bounds. With `--accept`, better ones become the baseline.
 * @returns true if all are within their bounds
 */
export function checkBounds(
  section: 'structure' | 'trace',
  numbers: Readonly<Record<string, number>>,
): boolean {
  const file = readBounds();
  const { lines, worse, better, unknown } = judge(numbers, file[section]);
  for (const line of lines) console.log(line);
  if (process.argv.includes('--accept'))
    writeFileSync(FILE, written({ ...file, [section]: accepted(numbers, file[section]) }));
  else if (better.length > 0)
    console.log(`\nBetter than the baseline (--accept writes them to ${FILE}): ${better.join(', ')}`);
  for (const name of worse) console.error(`Worse than ${FILE} allows: ${name}`);
  for (const name of unknown) console.error(`${FILE} has a bound for an unknown number: ${name}`);
  return worse.length === 0 && unknown.length === 0;
}

/** The file's text as the formatter writes it, one bound per line. */
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
