/**
 * `npm run bench:profile -- <row> <mode>`: where Country Graph spends its CPU time in one row of the race, under load.
 * Startup and warm-up are not in the profile. `npm run bench:profile -- reading`: the CPU time of each step of decoding a
 * body, without load; `-- reading half` if half of its rows change instead of a tenth. `-- together`: the CPU time of an
 * operation if responses are read together, and if each is read by itself.
 */
import { Command } from 'commander';
import { profileReading } from './profile/reading.ts';
import { profileTogether } from './profile/together.ts';
import { WARM_UP_SECONDS } from './race/heats.ts';
import { installPeers } from './race/install.ts';
import { profileRow, stagesOf } from './race/profiled.ts';
import { ROWS } from './race/rows.ts';
import { functionName, partName, selfTimes } from './race/self-times.ts';
import { SERVERS } from './race/servers.ts';
import { short } from './race/table.ts';

const FUNCTIONS = 40;
const PARTS = 15;

const command: Command = new Command('bench:profile')
  .argument(
    '<row>',
    ['reading, together, or a row of the race:', ...ROWS.map(({ letter, name }) => `${letter} ${name}`)].join(
      ' ',
    ),
  )
  .argument('[mode]', SERVERS.flatMap(({ mode }) => mode ?? []).join(', '))
  .option('--seconds <n>', 'seconds of the profile', '5')
  .option('--warm-up <n>', 'seconds of load before the profile', String(WARM_UP_SECONDS))
  .option('--connections <n>', 'client connections', '32')
  .parse();
const [letter, mode] = command.args;
const { seconds, connections, warmUp } = command.opts<Record<'seconds' | 'connections' | 'warmUp', string>>();
if (letter === 'reading') {
  await profileReading(mode === 'half' ? 'half' : 'changing');
  process.exit();
}
if (letter === 'together') {
  await profileTogether();
  process.exit();
}
const row = ROWS.find((each) => each.letter === letter || each.name === letter);
const server = SERVERS.find((each) => each.mode === mode);
if (row === undefined || server === undefined) command.error('Unknown row or mode.');

installPeers();
const profiled = await profileRow(row, server, {
  seconds: Number(seconds),
  warmUpSeconds: Number(warmUp),
  connections: Number(connections),
});
const { perSecond, cpuMs, busy } = profiled.sample;
const print = (title: string, nameOf: typeof functionName, most: number) => {
  console.log(`\n${title}\n`);
  for (const { name, share } of selfTimes(profiled.profile, nameOf).slice(0, most)) {
    console.log(`${(share * 100).toFixed(1).padStart(5)} %  ${name}`);
  }
};
console.log(
  `Row ${row.letter}, ${server.name}: ${short(perSecond)} op/s, ${short(cpuMs)} ms CPU/op, ${(busy * 100).toFixed(0)} % busy, with the profiler's overhead`,
);
console.log('\nBy stage, in µs/op\n');
for (const { name, us } of stagesOf(profiled)) {
  console.log(`${us.toFixed(0).padStart(6)}  ${(us / (cpuMs * 10)).toFixed(1).padStart(5)} %  ${name}`);
}
print('Self time by function', functionName, FUNCTIONS);
print('By file and package', partName, PARTS);
console.log(`\nCPU profile, for any flame graph viewer: ${profiled.file}`);
