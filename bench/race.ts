/**
 * Ours against the alternatives of a user: the same operations, over the same service, one gateway at a time
 * on a core of its own.
 *
 *     node bench/race.ts --servers ours,mercurius-jit --rows b,c --seconds 2 --rounds 1
 *
 * prints a part; `npm run bench` runs all of it and writes bench/REPORT.md.
 */
import { Command } from 'commander';
import { delayedTable, raceDelayed, raceRoundTrips, roundTripsTable } from './race/delayed.ts';
import { firstTable, measureFirst } from './race/first.ts';
import { halfTables, raceHalf } from './race/half.ts';
import { raceRow } from './race/heats.ts';
import { hourTable, measureHour } from './race/hour.ts';
import { installPeers } from './race/install.ts';
import { writeBrief, writeReport } from './race/report.ts';
import { ROWS } from './race/rows.ts';
import { measureScale, scaleTable } from './race/scale.ts';
import { SERVERS } from './race/servers.ts';
import { measureSkewed, skewedTable } from './race/skewed.ts';
import { heatTable, short } from './race/table.ts';

interface Wanted {
  readonly servers?: string[];
  readonly modes: string[];
  readonly rows?: string[];
  readonly connections: string[];
  readonly seconds: string;
  readonly rounds: string;
  readonly halfLoad?: true;
  readonly scale?: true;
  readonly delayed?: true;
  readonly half?: true;
  readonly first?: true;
  readonly skewed?: true;
  readonly hour?: true;
  readonly operations?: string;
  readonly report?: true;
  readonly brief?: true;
}

/** Many short rounds by turns: the rates of a machine that is shared change by half within a minute, for some programs more than for others. */
const DEFAULTS = { seconds: process.env.BENCH_SECONDS ?? '1', rounds: process.env.BENCH_ROUNDS ?? '5' };
const OTHERS = SERVERS.flatMap(({ mode, name }) => (mode === undefined ? name : []));
const MODES: readonly string[] = SERVERS.flatMap(({ mode }) => mode ?? []);

/**
 * Runs all of it, and prints the report.
 * @returns true if all thresholds are kept
 */
export async function race({
  seconds,
  rounds,
}: Pick<Wanted, 'seconds' | 'rounds'> = DEFAULTS): Promise<boolean> {
  installPeers();
  return writeReport(Number(seconds), Number(rounds));
}

const listed = (text: string) => text.split(',').map((name) => name.trim());

if (import.meta.main) {
  process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143));
  const command = new Command('race')
    .description('ours against what a user would pick instead')
    .option('--servers <names>', `ours, ${OTHERS.join(', ')}`, listed)
    .option('--modes <modes>', `of ours: ${MODES.join(', ')}`, listed, ['cold', 'warm', 'repeated'])
    .option('--rows <letters>', ROWS.map(({ letter, name }) => `${letter} ${name}`).join(', '), listed)
    .option('--connections <counts>', 'connections of the load, such as 1,32', listed, ['32'])
    .option('--seconds <n>', 'measured time of a run', DEFAULTS.seconds)
    .option('--rounds <n>', 'runs of which the median counts', DEFAULTS.rounds)
    .option('--half-load', 'also measure p99 at half of the fastest peer’s rate')
    .option('--scale', 'only print how ours scales with the size of an answer')
    .option(
      '--delayed',
      'only print the rows over a service that takes 40 ms; goes by --rows, --connections, --seconds',
    )
    .option(
      '--half',
      'only print rows c, d, e over a service that changes half of its rows; goes by --rows, --seconds, --rounds',
    )
    .option('--first', 'only print what the first operations of a new process take')
    .option('--skewed', 'only print what 5,000 operations of 100 keys come to, from a cold start')
    .option('--hour', "only print the memory that an hour's worth of operations leaves")
    .option('--operations <n>', 'operations of --skewed or --hour, where they are to be others')
    .option('--report', 'run everything and write bench/REPORT.md')
    .option('--brief', 'run the rows at 32 connections and write bench/REPORT.md of them');
  const wanted = command.parse().opts<Wanted>();
  refuseUnknown('servers', wanted.servers, ['ours', ...OTHERS]);
  refuseUnknown('modes', wanted.modes, MODES);
  refuseUnknown(
    'rows',
    wanted.rows,
    ROWS.map(({ letter }) => letter),
  );
  installPeers();
  if (wanted.brief) await writeBrief(Number(wanted.seconds), Number(wanted.rounds));
  else if (wanted.report) process.exitCode = (await race(wanted)) ? 0 : 1;
  else if (wanted.scale) console.log(scaleTable(await measureScale()));
  else if (wanted.delayed) await printDelayed(wanted);
  else if (wanted.half)
    console.log(halfTables(await raceHalf(Number(wanted.seconds), Number(wanted.rounds), wanted.rows)));
  else if (wanted.first) console.log(firstTable(await measureFirst()));
  else if (wanted.skewed) console.log(skewedTable(await measureSkewed(operationsOf(wanted))));
  else if (wanted.hour) console.log(hourTable(await measureHour(operationsOf(wanted))));
  else await printPart(wanted);
}

/** Ends the program if a list has an unknown name. */
function refuseUnknown(option: string, given: readonly string[] | undefined, known: readonly string[]): void {
  const unknown = given?.filter((name) => !known.includes(name)) ?? [];
  if (unknown.length === 0) return;
  console.error(`--${option} knows ${known.join(', ')}; not ${unknown.join(', ')}`);
  process.exit(2);
}

function operationsOf({ operations }: Wanted): number | undefined {
  return operations === undefined ? undefined : Number(operations);
}

async function printDelayed({ rows, connections, seconds }: Wanted): Promise<void> {
  const counts = connections.map(Number);
  const chosen = ROWS.filter(({ letter }) => rows?.includes(letter) ?? true);
  const results = await raceDelayed(chosen, counts, Number(seconds));
  for (const count of counts) console.log(`\n${count} connection(s)\n\n${delayedTable(results, count)}`);
  console.log(`\nRound trips\n\n${roundTripsTable(await raceRoundTrips())}`);
}

async function printPart(wanted: Wanted): Promise<void> {
  const names = wanted.servers;
  const servers = SERVERS.filter(({ name, mode }) => {
    if (mode === undefined) return names?.includes(name) ?? true;
    return (names?.includes('ours') ?? true) && wanted.modes.includes(mode);
  });
  const connections = wanted.connections.map(Number);
  for (const row of ROWS) {
    if (wanted.rows && !wanted.rows.includes(row.letter)) continue;
    const result = await raceRow(row, {
      servers,
      connections,
      seconds: Number(wanted.seconds),
      rounds: Number(wanted.rounds),
      halfLoad: wanted.halfLoad === true,
    });
    for (const count of connections) {
      console.log(`\nRow ${row.letter}, ${row.what}; ${count} connection(s)\n`);
      console.log(heatTable(result, count));
    }
    if (result.halfLoad === null) continue;
    const { perSecond, peer, ours, theirs } = result.halfLoad;
    console.log(
      `\nAt ${perSecond} operations a second: p99 of ours, cold, ${short(ours.p99Ms)} ms; of ${peer.name}, ${short(theirs.p99Ms)} ms`,
    );
  }
}
