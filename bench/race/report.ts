import { writeFileSync } from 'node:fs';
import { arch, cpus, totalmem } from 'node:os';
import { isPinned } from './child.ts';
import { delayedSection, raceDelayed, raceRoundTrips, roundTripsSection } from './delayed.ts';
import { firstSection, measureFirst } from './first.ts';
import { thresholds } from './gate.ts';
import { measureGateways } from './gateways.ts';
import { halfSection, raceHalf } from './half.ts';
import { type RowResult, raceRow, WARM_UP_SECONDS } from './heats.ts';
import { hourSection, measureHour } from './hour.ts';
import { profileCold, profileSection } from './profiled.ts';
import { ROWS } from './rows.ts';
import { runsOf } from './runs.ts';
import { measureScale, scaleTable } from './scale.ts';
import { SERVERS } from './servers.ts';
import { measureSkewed, skewedSection } from './skewed.ts';
import { measureStarts, type StartResult } from './starts.ts';
import { heatTable, short, table } from './table.ts';
import { tailcallMissing } from './tailcall.ts';
import { measureWorkers, workersSection } from './workers.ts';

const FILE = 'bench/REPORT.md';
const RUNS = 'bench/REPORT.json';
const CONNECTIONS = [32, 1];

/** Servers that the brief form leaves out: in every row others are twice as fast. */
const FAR_BEHIND: readonly string[] = ['apollo-naive', 'yoga-dataloader', 'mesh'];

/**
 * Runs everything, prints the report and writes it to `bench/REPORT.md`.
 * @returns true if all thresholds are kept
 */
export async function writeReport(seconds: number, rounds: number): Promise<boolean> {
  const startedAt = performance.now();
  const starts = await measureStarts();
  const rows: RowResult[] = [];
  for (const row of ROWS) {
    console.error(`Row ${row.letter}: ${row.what}`);
    const options = { servers: SERVERS, connections: CONNECTIONS, seconds, rounds, halfLoad: true };
    rows.push(await raceRow(row, options));
  }
  const half = await raceHalf(seconds, rounds);
  const delayed = await raceDelayed();
  const trips = await raceRoundTrips();
  const first = await measureFirst();
  const skewed = await measureSkewed();
  const hour = await measureHour();
  const workers = await measureWorkers();
  const gateways = await measureGateways();
  const scale = await measureScale();
  const profiled = await profileCold();
  const raced = { rows, starts, delayed, skewed, hour, workers, gateways, scale, first };
  const gate = thresholds(raced);
  const minutes = (performance.now() - startedAt) / 60_000;

  const report = [
    preface(seconds, rounds, minutes),
    ...rows.map((row) => rowSection(row, CONNECTIONS)),
    halfSection(half),
    halfLoadSection(rows),
    delayedSection(delayed),
    roundTripsSection(trips),
    skewedSection(skewed),
    hourSection(hour),
    workersSection(workers),
    startSection(starts),
    firstSection(first),
    [
      '## Ours and the size of an answer',
      'Cold, one operation at a time, each size in a process of its own; "first" is its first answer, "then" the median of those after it. A block is the longest time that the event loop stood still, the first answer included.',
      scaleTable(scale),
    ].join('\n\n'),
    profileSection(profiled),
    [
      '## It must show',
      'Speed at 32 connections, unless another number is named.',
      table(
        ['threshold', 'measured', 'kept'],
        gate.map(({ what, measured, isKept }) => [what, measured, isKept ? 'yes' : '**no**']),
      ),
    ].join('\n\n'),
  ].join('\n\n');
  console.log(report);
  writeFileSync(FILE, `${report}\n`);
  writeFileSync(RUNS, runsOf(raced));
  return gate.every(({ isKept }) => isKept);
}

/** Runs the rows at 32 connections, against peers that come close and the floors, and writes that in place of the report. */
export async function writeBrief(seconds: number, rounds: number): Promise<void> {
  const startedAt = performance.now();
  const starts = await measureStarts();
  const servers = SERVERS.filter(({ name }) => !FAR_BEHIND.includes(name));
  const [connections = 32] = CONNECTIONS;
  const rows: RowResult[] = [];
  for (const row of ROWS) {
    console.error(`Row ${row.letter}: ${row.what}`);
    rows.push(await raceRow(row, { servers, connections: [connections], seconds, rounds, halfLoad: false }));
  }
  const minutes = (performance.now() - startedAt) / 60_000;
  const report = [
    preface(seconds, rounds, minutes),
    `This is the brief form (\`npm run bench:race -- --brief\`): ${connections} connections alone, without ${FAR_BEHIND.join(', ')}, and without the sections of one connection, half load, a slow service, 100 keys, an hour's memory and the thresholds, which \`npm run bench\` has.`,
    ...rows.map((row) => rowSection(row, [connections])),
    startSection(starts),
  ].join('\n\n');
  writeFileSync(FILE, `${report}\n`);
  writeFileSync(RUNS, runsOf({ rows, starts }));
}

const startSection = (starts: readonly StartResult[]): string =>
  [
    '## Start',
    'From the start of the process to the line that tells its address; median of three, after one that was ended by SIGTERM.',
    table(
      ['server', 'ms'],
      starts.map(({ server, medianMs }) => [server.kind === 'ours' ? 'ours' : server.name, short(medianMs)]),
    ),
  ].join('\n\n');

function preface(seconds: number, rounds: number, minutes: number): string {
  const pinning = isPinned
    ? 'The gateway has core 0; service and load generator share core 1.'
    : 'There is no `taskset` here, or one core only: gateway, service and load generator were **not** kept apart.';
  return `# Ours against what a user would pick instead

${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, ${arch()}, ${(totalmem() / 1e9).toFixed(0)} GB; took ${minutes.toFixed(0)} minutes.
To repeat: \`npm run bench\`, or \`npm run bench:race -- --report\` for this part alone, \`npm run bench:race -- --help\` for pieces of it.

Every gateway answers the same operations over the same service, which answers from memory (\`bench/upstream.ts\`) and
never sends the same bytes twice: \`meta\` counts its answers, and a tenth of the rows, each time others, have another last
digit of their value and other microseconds of their time. Each connection asks a question of its own, of other
countries and metrics, drawn from a seed and the same for every server; the first asks what stands above the table. What is right is
made of the service's own words, without any gateway: the first answer of each connection and one in 32 after it are compared with that in whole,
and a wrong one disqualifies the server in its row. ${pinning}
Figures are medians of ${rounds} rounds of ${seconds} s, all servers in turn within a round, and "CV" is the coefficient of
variation of the figure before it over those rounds; \`${RUNS}\` has every run. A slow server is measured
longer, up to five times. Ratios of speeds are medians of what they were in each round, since a machine may be half as fast for a minute. Before anything is measured in a row each is under load for ${WARM_UP_SECONDS} s: servers run for days,
and what their first seconds are like stands under "100 keys". "Busy" is the share of a core that the gateway took: well below 100 %, something else was the
bottleneck, the load generator or waiting. "Others" is what the gateway's core spent on anything else meanwhile: more
than a few per cent, and the machine was not free for the race. CPU is that of the gateway. Memory is the most that the
process held over all its runs of the row.

- *ours, cold*: nothing is held (\`CACHE_URL=none\`); all connections under one key. *a key each*: every connection has its own key.
  *the same bytes*: a key each, but all ask the first question of a service that sends the same bytes for ever, as this race did until now.
- *warm*: figures and lists are held, whole answers are not (\`ANSWERS_MAX_BYTES=0\`). *repeated*: as it comes.
- Under each table stands the work that operations of ours share there. Peers and floors share none.
- *mercurius-jit, yoga-dataloader, apollo-dataloader*: one schema and REST client, DataLoader per operation, one data
  call for all figures of an operation; nothing is held between operations. *apollo-naive*: a call a field.
- *grafserv*: Grafserv and Grafast over the same REST client; plans in place of resolvers, one data call for all figures of an operation.
- *mesh*: made from an OpenAPI document, run by Hive Gateway. It is asked in the shape of the REST service, so merging is
  done by whoever writes the operation.
- *tailcall*: Tailcall 1.6.14, no Node program, asked as *mesh* is, with lists of metrics in the text; not among the peers of "best peer". ${tailcallMissing() ?? ''}
- *parsing-floor*: no gateway; \`JSON.parse\` of the same bodies, picking, \`JSON.stringify\`, over \`node:http\` and undici. It is told what to pick.
- *bare-proxy*: the work of row c by hand, without GraphQL. *static-bytes*: row c's answer from memory.`;
}

function rowSection(result: RowResult, connections: readonly number[]): string {
  const { row } = result;
  return [
    `## Row ${row.letter}: ${row.what}`,
    `\`\`\`graphql\n${row.query}\n\`\`\``,
    ...connections.flatMap((count) => [
      `${count} connection${count === 1 ? '' : 's'}:`,
      heatTable(result, count),
      sharedWork(result, count),
    ]),
  ].join('\n\n');
}

/** Work that operations share in this row. Of one connection there is never more than one in flight. */
function sharedWork({ row, heats }: RowResult, connections: number): string {
  const entered = heats.filter(({ samples }) => samples.has(connections));
  const told = entered.flatMap(({ server: { name, mode, shares } }) => {
    if (mode === undefined || shares === undefined) return [];
    return [`- *${name}* shares: ${sharesIn(row.letter, mode, connections) ?? shares}.`];
  });
  return told.join('\n');
}

function sharesIn(letter: string, mode: string, connections: number): string | undefined {
  if (mode === 'cold-keys' && letter === 'e')
    return 'rows whose bytes are those of the last answer to the same key; with 32 such answers there is no room to keep any';
  if (mode === 'cold' && connections === 1) return 'nothing: one operation follows the other';
  if (mode === 'cold' && letter === 'a')
    return 'the whole operation, since all ask the same in this row: those in flight under one key are run once';
  if (mode === 'cold' && letter === 'e') return 'data calls whose figures are wanted at the same time';
  if (mode === 'cold')
    return 'the list of countries in flight, and data calls whose figures are wanted at the same time';
  return undefined;
}

function halfLoadSection(rows: readonly RowResult[]): string {
  return [
    '## At half load',
    "Requests leave evenly spaced at half of the fastest peer's rate in that row, whether or not earlier ones have been answered, under one key; ours cold.",
    table(
      ['row', 'op/s', 'peer', 'ours p50', 'peer p50', 'ours p99', 'peer p99', 'p99 ours : peer'],
      rows.flatMap(({ row, halfLoad }) => {
        if (halfLoad === null) return [];
        const { perSecond, peer, ours, theirs } = halfLoad;
        const times = [ours.p50Ms, theirs.p50Ms, ours.p99Ms, theirs.p99Ms, ours.p99Ms / theirs.p99Ms];
        return [[row.letter, String(perSecond), peer.name, ...times.map(short)]];
      }),
    ),
  ].join('\n\n');
}
