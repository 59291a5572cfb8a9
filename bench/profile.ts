/**
 * `npm run bench:profile -- <row> <mode>`: where ours spends its time in one row of the race, under load. Start and
 * warm-up are not in the profile.
 */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { lineOf } from './race/child.ts';
import { installPeers } from './race/install.ts';
import { type LoadOrder, measure } from './race/load.ts';
import { ROWS } from './race/rows.ts';
import { functionName, partName, selfTimes } from './race/self-times.ts';
import { bodyFor, SERVERS, startServer } from './race/servers.ts';
import { startUpstream } from './race/service.ts';
import { stageTimes } from './race/stages.ts';
import { short } from './race/table.ts';

const FUNCTIONS = 40;
const PARTS = 15;

const command: Command = new Command('bench:profile')
  .argument('<row>', ROWS.map(({ letter, name }) => `${letter} ${name}`).join(', '))
  .argument('<mode>', SERVERS.flatMap(({ mode }) => mode ?? []).join(', '))
  .option('--seconds <n>', 'how long', '5')
  .option('--warm-up <n>', 'seconds of load before that', '4')
  .option('--connections <n>', 'connections of the load', '32')
  .parse();
const [letter, mode] = command.args;
const { seconds, connections, warmUp } = command.opts<Record<'seconds' | 'connections' | 'warmUp', string>>();
const row = ROWS.find((each) => each.letter === letter || each.name === letter);
const server = SERVERS.find((each) => each.mode === mode);
if (row === undefined || server === undefined) command.error('There is no such row or mode.');

installPeers();
const file = join(mkdtempSync(join(tmpdir(), 'country-graph-')), `${row.name}-${server.mode}.cpuprofile`);
await using upstream = await startUpstream();
const running = await startServer(server, upstream.url, {
  nodeArgs: ['--import', './bench/race/profiler.ts'],
  env: { PROFILE_FILE: file },
});
await using child = running.child;

const order: Omit<LoadOrder, 'url' | 'key' | 'keyEach'> = {
  body: bodyFor(server, row),
  connections: Number(connections),
  leadSeconds: 0.3,
  seconds: Number(warmUp),
};
await measure(running, upstream, order);
await signalled('begun');
const { perSecond, cpuMs, busy } = await measure(running, upstream, { ...order, seconds: Number(seconds) });
await signalled('written');

const profile = JSON.parse(readFileSync(file, 'utf8'));
const print = (title: string, nameOf: typeof functionName, most: number) => {
  console.log(`\n${title}\n`);
  for (const { name, share } of selfTimes(profile, nameOf).slice(0, most)) {
    console.log(`${(share * 100).toFixed(1).padStart(5)} %  ${name}`);
  }
};
console.log(
  `Row ${row.letter}, ${server.name}: ${short(perSecond)} op/s, ${short(cpuMs)} ms CPU each, ${(busy * 100).toFixed(0)} % busy, the profiler included`,
);
console.log('\nBy stage, in µs an operation\n');
for (const { name, share } of stageTimes(profile))
  console.log(
    `${(share * cpuMs * 1000).toFixed(0).padStart(6)}  ${(share * 100).toFixed(1).padStart(5)} %  ${name}`,
  );
print('Self time by function', functionName, FUNCTIONS);
print('By file and package', partName, PARTS);
console.log(`\nThe profile, for any viewer of flame graphs: ${file}`);

async function signalled(word: string): Promise<void> {
  const told = lineOf(child, new RegExp(`^profile ${word}$`));
  child.process.kill('SIGUSR2');
  await told;
}
