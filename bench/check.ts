/**
 * `npm run bench:check`: fails if an operation of the race costs more than in `bench/baseline.json`. The cost is measured in
 * upstream calls, bytes allocated and characters of source run, none of which depends on the speed of the machine.
 * `--update` writes the file.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { type Baseline, type CheckedMode, compare, type Figures } from './check/baseline.ts';
import { lineOf, startChild } from './race/child.ts';
import { startUpstream } from './race/service.ts';
import { table } from './race/table.ts';

const FILE = 'bench/baseline.json';
const MODES: readonly CheckedMode[] = ['cold', 'same-bytes', 'warm', 'repeated'];

/**
 * Without the optimizing compilers: the allocations that they remove vary by a fifth between runs, with what they happen
 * to inline, while unoptimized code always allocates the same. The young generation is large enough that nothing is
 * collected during a sample, and everything is allocated there, as under `bin/country-graph.cjs`.
 */
const NODE_ARGS = [
  '--no-maglev',
  '--no-turbofan',
  '--no-allocation-site-pretenuring',
  '--expose-gc',
  '--min-semi-space-size=128',
  '--max-semi-space-size=128',
];

/** Measures all rows in one mode. */
async function measure(mode: CheckedMode): Promise<Baseline['figures']> {
  const figures = await countsOf(mode, []);
  const characters = await countsOf(mode, ['--import', './bench/check/coverage.ts'], 'characters');
  return Object.fromEntries(
    Object.entries(figures).map(([name, each]) => [name, { ...each, ...characters[name] } as Figures]),
  );
}

async function countsOf(
  mode: CheckedMode,
  preloads: readonly string[],
  ...what: readonly string[]
): Promise<Readonly<Record<string, Partial<Figures>>>> {
  await using upstream = await startUpstream(undefined, mode === 'same-bytes' ? 'same' : 'changing');
  const args = [...NODE_ARGS, ...preloads, 'bench/check/counts.ts', mode, upstream.url, ...what];
  await using child = startChild({ args, core: mode === 'cold' ? 0 : 1 });
  const [, figures = ''] = await lineOf(child, /^figures (.*)$/);
  return JSON.parse(figures);
}

const measured: Baseline = {
  node: process.versions.node,
  figures: Object.assign({}, ...(await Promise.all(MODES.map(measure)))),
};
console.log(
  table(
    ['per operation', 'calls', 'ten at once', 'bytes', 'characters'],
    Object.entries(measured.figures).map(([name, { calls, callsAtOnce, bytes, characters }]) => [
      name,
      String(calls),
      String(callsAtOnce),
      bytes.toLocaleString('en-US'),
      characters.toLocaleString('en-US'),
    ]),
  ),
);

if (process.argv.includes('--update')) {
  writeFileSync(FILE, `${JSON.stringify(measured, null, 2)}\n`);
} else {
  const { grown, notes } = compare(measured, JSON.parse(readFileSync(FILE, 'utf8')));
  for (const line of [...notes, ...grown]) console.error(line);
  if (grown.length > 0) {
    console.error(`If this is intended, run \`npm run bench:check -- --update\` and commit ${FILE}.`);
    process.exitCode = 1;
  }
}
