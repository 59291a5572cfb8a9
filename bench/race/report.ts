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

/** Servers that the brief report leaves out: in every row, several peers are at least twice as fast. */
const SLOW_PEERS: readonly string[] = ['apollo-naive', 'yoga-dataloader', 'mesh'];

/**
 * Runs everything, prints the report and writes it to `bench/REPORT.md`.
 * @returns true if all thresholds are met
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
      '## Scaling with the size of the response',
      'Country Graph, cold, one operation at a time, each size in a new process. "first" is the first response, "then" the median of the later ones. "longest block" is the longest time that the event loop was blocked, the first response included.',
      scaleTable(scale),
    ].join('\n\n'),
    profileSection(profiled),
    [
      '## Thresholds',
      'Throughput at 32 connections, unless stated otherwise.',
      table(
        ['threshold', 'measured', 'met'],
        gate.map(({ what, measured, isMet }) => [what, measured, isMet ? 'yes' : '**no**']),
      ),
    ].join('\n\n'),
  ].join('\n\n');
  console.log(report);
  writeFileSync(FILE, `${report}\n`);
  writeFileSync(RUNS, runsOf(raced));
  return gate.every(({ isMet }) => isMet);
}

/** Runs the rows at 32 connections, without the slow peers, and replaces the report by the result. */
export async function writeBrief(seconds: number, rounds: number): Promise<void> {
  const startedAt = performance.now();
  const starts = await measureStarts();
  const servers = SERVERS.filter(({ name }) => !SLOW_PEERS.includes(name));
  const [connections = 32] = CONNECTIONS;
  const rows: RowResult[] = [];
  for (const row of ROWS) {
    console.error(`Row ${row.letter}: ${row.what}`);
    rows.push(await raceRow(row, { servers, connections: [connections], seconds, rounds, halfLoad: false }));
  }
  const minutes = (performance.now() - startedAt) / 60_000;
  const report = [
    preface(seconds, rounds, minutes),
    `This is the brief report (\`npm run bench:race -- --brief\`): only ${connections} connections, without ${SLOW_PEERS.join(', ')}. \`npm run bench\` adds them, and measures one connection, half load, a slow service, 100 keys, memory after an hour's worth of operations, and the thresholds.`,
    ...rows.map((row) => rowSection(row, [connections])),
    startSection(starts),
  ].join('\n\n');
  writeFileSync(FILE, `${report}\n`);
  writeFileSync(RUNS, runsOf({ rows, starts }));
}

const startSection = (starts: readonly StartResult[]): string =>
  [
    '## Startup',
    'Time from the start of the process until it accepts requests; median of three, after one run that was stopped by SIGTERM, so that compile caches are filled.',
    table(
      ['server', 'ms'],
      starts.map(({ server, medianMs }) => [server.kind === 'ours' ? 'ours' : server.name, short(medianMs)]),
    ),
  ].join('\n\n');

function preface(seconds: number, rounds: number, minutes: number): string {
  const pinning = isPinned
    ? 'The gateway runs on core 0; the service and the load generator share core 1.'
    : 'This machine has no `taskset`, or only one core: gateway, service and load generator were **not** isolated from one another.';
  return `# Country Graph and the alternatives

${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, ${arch()}, ${(totalmem() / 1e9).toFixed(0)} GB; took ${minutes.toFixed(0)} minutes.
To repeat: \`npm run bench\`, or \`npm run bench:race -- --report\` for this part alone; \`npm run bench:race -- --help\` lists smaller parts.

**Setup.** Every gateway ("ours" is Country Graph) answers the same operations over the same service, which responds
from memory (\`bench/upstream.ts\`). No two of its responses are equal: \`meta\` has a serial number, and in a tenth of
the rows, different ones each time, the last digit of the value and the microseconds of the timestamp change. Each
connection sends one operation again and again, with countries and metrics of its own, drawn from a seed and the same
for every server. The first connection sends the operation that is printed above the table. ${pinning}

**Correctness.** Expected responses are computed from the service's responses, without any gateway. The first response
on each connection and every 32nd after it are compared in full, and one wrong response disqualifies the server in its row.

**Figures.** Figures are medians of ${rounds} rounds of ${seconds} s; each round measures all servers in turn. "CV" is the
coefficient of variation, over the rounds, of the column before it; \`${RUNS}\` has every run. Slow servers are measured for up to
five times as long. Ratios of throughput are medians of the ratios within each round, since the speed of a machine may
halve for a minute. Before a row is measured, each server is warmed up for ${WARM_UP_SECONDS} s, since servers run for days;
"100 keys" shows a cold start. "Busy" is the share of a core that the gateway used: well below 100 %, the
bottleneck was elsewhere, such as in the load generator. "Others" is the share of the gateway's core that
other processes used: beyond a few per cent, the machine was not idle enough to measure on. CPU is the CPU time of the gateway. RSS is the peak resident memory of the
process in the row.

- *ours, cold*: no cache (\`CACHE_URL=none\`); all connections use one key. *a key each*: each connection has a different key.
  *the same bytes*: a key each, but all connections send the first operation, and the service always sends the same bytes.
- *warm*: figures and lists are cached, whole responses are not (\`ANSWERS_MAX_BYTES=0\`). *repeated*: default settings.
- Below each table is the work that concurrent or repeated operations share in Country Graph. Peers and floors share none.
- *mercurius-jit, yoga-dataloader, apollo-dataloader*: one schema and REST client, a DataLoader per operation, one data
  call for all figures of an operation; no cache across operations. *apollo-naive*: one call per field.
- *grafserv*: Grafserv and Grafast over the same REST client: plans instead of resolvers, one data call for all figures of an operation.
- *mesh*: composed from an OpenAPI document, run by Hive Gateway. Its schema mirrors the REST service, so whoever writes the
  operation has to merge its calls.
- *tailcall*: Tailcall 1.6.14, which isn't a Node program. It gets the same operations as *mesh*, with lists of metrics as literals; excluded from "best peer". ${tailcallMissing() ?? ''}
- *parsing-floor*: not a gateway; \`JSON.parse\` of the same bodies, selecting the members, and \`JSON.stringify\`, over \`node:http\` and undici. The request names the members, so no GraphQL is parsed.
- *bare-proxy*: row c written by hand, without GraphQL. *static-bytes*: the response to row c from memory.`;
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

/** The work that operations share in this row. With one connection, no two operations are in flight at once. */
function sharedWork({ row, heats }: RowResult, connections: number): string {
  const entered = heats.filter(({ samples }) => samples.has(connections));
  const lines = entered.flatMap(({ server: { name, mode, shares } }) => {
    if (mode === undefined || shares === undefined) return [];
    return [`- *${name}* shares: ${sharesIn(row.letter, mode, connections) ?? shares}.`];
  });
  return lines.join('\n');
}

function sharesIn(letter: string, mode: string, connections: number): string | undefined {
  if (mode === 'cold-keys' && letter === 'e')
    return 'rows with the same bytes as in the previous response to the same key; 32 responses of this size exceed the cache, so that none is shared';
  if (mode === 'cold' && connections === 1) return 'nothing: there is one operation at a time';
  if (mode === 'cold' && letter === 'a')
    return 'the whole operation, since all connections send the same one in this row: equal operations in flight under one key run once';
  if (mode === 'cold' && letter === 'e') return 'data calls for figures that are requested at the same time';
  if (mode === 'cold')
    return 'the list of countries while it is in flight, and data calls for figures that are requested at the same time';
  return undefined;
}

function halfLoadSection(rows: readonly RowResult[]): string {
  return [
    '## At half load',
    "Open load: requests are sent evenly spaced, at half of the fastest peer's throughput in that row, whether or not earlier ones have been answered. One key; ours is cold.",
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
