/**
 * `npm run bench:check`: whether an operation of the race has come to cost more than `bench/baseline.json` says, in
 * upstream calls and in bytes allocated, neither of which depends on how fast the machine is. With `--update` it
 * writes that file anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { type Baseline, type CheckedMode, compare } from './check/baseline.ts';
import { lineOf, startChild } from './race/child.ts';
import { startUpstream } from './race/service.ts';
import { table } from './race/table.ts';

const FILE = 'bench/baseline.json';
const MODES: readonly CheckedMode[] = ['cold', 'warm', 'repeated'];

/**
 * The optimising compilers stay out of it: which allocations they do away with changes by a fifth from run to run with
 * what they come to inline, while code as it is written allocates the same each time. The young generation is large
 * enough that nothing is collected during a sample, and everything is allocated there, as under `bin/country-graph.cjs`.
 */
const NODE_ARGS = [
  '--no-maglev',
  '--no-turbofan',
  '--no-allocation-site-pretenuring',
  '--expose-gc',
  '--min-semi-space-size=128',
  '--max-semi-space-size=128',
];

/** All rows in one mode, over a service of its own. */
async function measure(mode: CheckedMode): Promise<Baseline['figures']> {
  await using upstream = await startUpstream();
  const args = [...NODE_ARGS, 'bench/check/counts.ts', mode, upstream.url];
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
    ['per operation', 'calls', 'ten at once', 'bytes'],
    Object.entries(measured.figures).map(([name, { calls, callsAtOnce, bytes }]) => [
      name,
      String(calls),
      String(callsAtOnce),
      bytes.toLocaleString('en-US'),
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
