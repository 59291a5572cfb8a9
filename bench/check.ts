/**
 * `npm run bench:check`: whether an operation of the race has come to cost more than `bench/baseline.json` says, in
 * upstream calls, in bytes allocated and in source that runs, none of which depends on how fast the machine is. With `--update` it
 * writes that file anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { type Baseline, type CheckedMode, compare, type Figures } from './check/baseline.ts';
import { lineOf, startChild } from './race/child.ts';
import { startUpstream } from './race/service.ts';
import { table } from './race/table.ts';

const FILE = 'bench/baseline.json';
const MODES: readonly CheckedMode[] = ['cold', 'same-bytes', 'warm', 'repeated'];

/**
 * Keeps the optimising compilers out of it: the allocations that they do away with change by a fifth from run
 * to run with the functions that they come to inline, while code as it is written allocates the same each
 * time. The young generation is large enough that nothing is collected during a sample, and everything is
 * allocated there, as under `bin/country-graph.cjs`.
 */
const NODE_ARGS = [
  '--no-maglev',
  '--no-turbofan',
  '--no-allocation-site-pretenuring',
  '--expose-gc',
  '--min-semi-space-size=128',
  '--max-semi-space-size=128',
];

/** All rows in one mode, over a service of its own, which sends other bytes each time, but in the mode of the same bytes. */
async function measure(mode: CheckedMode): Promise<Baseline['figures']> {
  const figures = await counted(mode, []);
  const characters = await counted(mode, ['--import', './bench/check/coverage.ts'], 'characters');
  return Object.fromEntries(
    Object.entries(figures).map(([name, each]) => [name, { ...each, ...characters[name] } as Figures]),
  );
}

async function counted(
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
    console.error(`Where that is meant, \`npm run bench:check -- --update\` accepts it: commit ${FILE}.`);
    process.exitCode = 1;
  }
}
