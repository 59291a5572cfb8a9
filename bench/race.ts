/**
 * Compares Country Graph ("ours") with other gateways: the same operations over the same service, one gateway at a
 * time, on a dedicated core.
 *
 *     node bench/race.ts --servers ours,mercurius-jit --rows b,c --seconds 2 --rounds 1
 *
 * runs and prints a part of it; `npm run bench` runs all of it and writes bench/REPORT.md.
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

interface Options {
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

/** Many short rounds, interleaved: on a shared machine, throughput can change by half within a minute, and not equally for all programs. */
const DEFAULTS = { seconds: process.env.BENCH_SECONDS ?? '1', rounds: process.env.BENCH_ROUNDS ?? '5' };
const OTHER_SERVERS = SERVERS.flatMap(({ mode, name }) => (mode === undefined ? name : []));
const MODES: readonly string[] = SERVERS.flatMap(({ mode }) => mode ?? []);

/**
 * Runs everything and prints the report.
 * @returns true if all thresholds are met
 */
export async function race({
  seconds,
  rounds,
}: Pick<Options, 'seconds' | 'rounds'> = DEFAULTS): Promise<boolean> {
  installPeers();
  return writeReport(Number(seconds), Number(rounds));
}

const parseList = (text: string) => text.split(',').map((name) => name.trim());

if (import.meta.main) {
  process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143));
  const command = new Command('race')
    .description('compare Country Graph (ours) with alternative gateways')
    .option('--servers <names>', `ours, ${OTHER_SERVERS.join(', ')}`, parseList)
    .option('--modes <modes>', `modes of ours: ${MODES.join(', ')}`, parseList, ['cold', 'warm', 'repeated'])
    .option('--rows <letters>', ROWS.map(({ letter, name }) => `${letter} ${name}`).join(', '), parseList)
    .option('--connections <counts>', 'numbers of client connections, such as 1,32', parseList, ['32'])
    .option('--seconds <n>', 'measured seconds per run', DEFAULTS.seconds)
    .option('--rounds <n>', 'runs per server, of which the median is reported', DEFAULTS.rounds)
    .option('--half-load', 'also measure p99 at half of the fastest peer’s throughput')
    .option('--scale', 'only measure how ours scales with the size of a response')
    .option(
      '--delayed',
      'only measure the rows over a service with 40 ms of latency; honours --rows, --connections, --seconds',
    )
    .option(
      '--half',
      'only measure rows c, d, e over a service that changes half of its rows; honours --rows, --seconds, --rounds',
    )
    .option('--first', 'only measure the CPU time of the first operations of a new process')
    .option('--skewed', 'only measure 5,000 operations of 100 keys from a cold start')
    .option('--hour', "only measure the memory after an hour's worth of operations")
    .option('--operations <n>', 'number of operations, for --skewed or --hour')
    .option('--report', 'run everything and write bench/REPORT.md')
    .option('--brief', 'run only the rows at 32 connections, and write bench/REPORT.md');
  const options = command.parse().opts<Options>();
  refuseUnknown('servers', options.servers, ['ours', ...OTHER_SERVERS]);
  refuseUnknown('modes', options.modes, MODES);
  refuseUnknown(
    'rows',
    options.rows,
    ROWS.map(({ letter }) => letter),
  );
  installPeers();
  if (options.brief) await writeBrief(Number(options.seconds), Number(options.rounds));
  else if (options.report) process.exitCode = (await race(options)) ? 0 : 1;
  else if (options.scale) console.log(scaleTable(await measureScale()));
  else if (options.delayed) await printDelayed(options);
  else if (options.half)
    console.log(halfTables(await raceHalf(Number(options.seconds), Number(options.rounds), options.rows)));
  else if (options.first) console.log(firstTable(await measureFirst()));
  else if (options.skewed) console.log(skewedTable(await measureSkewed(operationsOf(options))));
  else if (options.hour) console.log(hourTable(await measureHour(operationsOf(options))));
  else await printPart(options);
}

/** Exits with code 2 if a list has an unknown name. */
function refuseUnknown(
  option: string,
  given: readonly string[] | undefined,
  allowed: readonly string[],
): void {
  const unknown = given?.filter((name) => !allowed.includes(name)) ?? [];
  if (unknown.length === 0) return;
  console.error(`--${option}: unknown ${unknown.join(', ')}; allowed: ${allowed.join(', ')}`);
  process.exit(2);
}

function operationsOf({ operations }: Options): number | undefined {
  return operations === undefined ? undefined : Number(operations);
}

async function printDelayed({ rows, connections, seconds }: Options): Promise<void> {
  const counts = connections.map(Number);
  const chosen = ROWS.filter(({ letter }) => rows?.includes(letter) ?? true);
  const results = await raceDelayed(chosen, counts, Number(seconds));
  for (const count of counts) console.log(`\n${count} connection(s)\n\n${delayedTable(results, count)}`);
  console.log(`\nRound trips\n\n${roundTripsTable(await raceRoundTrips())}`);
}

async function printPart(options: Options): Promise<void> {
  const names = options.servers;
  const servers = SERVERS.filter(({ name, mode }) => {
    if (mode === undefined) return names?.includes(name) ?? true;
    return (names?.includes('ours') ?? true) && options.modes.includes(mode);
  });
  const connections = options.connections.map(Number);
  for (const row of ROWS) {
    if (options.rows && !options.rows.includes(row.letter)) continue;
    const result = await raceRow(row, {
      servers,
      connections,
      seconds: Number(options.seconds),
      rounds: Number(options.rounds),
      halfLoad: options.halfLoad === true,
    });
    for (const count of connections) {
      console.log(`\nRow ${row.letter}, ${row.what}; ${count} connection(s)\n`);
      console.log(heatTable(result, count));
    }
    if (result.halfLoad === null) continue;
    const { perSecond, peer, ours, theirs } = result.halfLoad;
    console.log(
      `\nAt ${perSecond} op/s: p99 of ours, cold, ${short(ours.p99Ms)} ms; of ${peer.name}, ${short(theirs.p99Ms)} ms`,
    );
  }
}
