/**
 * `npm run overload`: what other clients get while some send more than the gateway can handle. Prints a line for each
 * bound, and ends with exit code 1 if one is exceeded. `--seconds 10` makes it shorter; arguments select parts: all,
 * explain, introspection, overload, flood.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createSandbox } from '../src/sandbox/sandbox.ts';
import { Connection } from './overload/connection.ts';
import type { Order, Tally } from './overload/load.ts';
import { type Kind, requestOf } from './overload/requests.ts';
import { type Listening, lineOf, pinSelf, startChild, startListening } from './race/child.ts';
import { START_ARGS } from './race/servers.ts';
import { short, table } from './race/table.ts';

const MOST = { besideHogMs: 250, acceptedMs: 1_000, recoveredMs: 2_000, floodRssMb: 400, besideFloodMs: 100 };
const LEAST_USEFUL = 0.8;

/** Ratio of the offered load to the capacity. */
const TIMES_CAPACITY = 10;

/** A response within this time counts as undelayed by the load. */
const CALM_MS = 50;
const PROBES_PER_SECOND = 50;

const { values, positionals } = parseArgs({
  options: { seconds: { type: 'string', default: '60' } },
  allowPositionals: true,
});
const seconds = Number(values.seconds);

const lines: string[][] = [];

function report(what: string, measured: string, bound: string, holds: boolean): void {
  if (!holds) process.exitCode = 1;
  lines.push([what, measured, bound, holds ? 'yes' : 'NO']);
  console.error(`${holds ? 'ok' : 'EXCEEDED'}: ${what}: ${measured}`);
}

pinSelf();
const sandbox = createSandbox();
const service = await sandbox.listen();

/** Starts a gateway and warms it up: it has run such operations, and cached their figures. */
async function startGateway(kinds: readonly Kind[]): Promise<Listening> {
  const env = { COUNTRY_DATA_URL: service.url, LOG_LEVEL: 'warn', GRAPHIQL: 'off' };
  const gateway = await startListening({
    args: START_ARGS,
    core: 0,
    env,
  });
  const connection = new Connection(gateway.url);
  for (const kind of kinds) {
    for (let i = 0; i < 10; i += 1) {
      const { body, headers } = requestOf(kind);
      const { status } = await connection.ask(body, headers);
      if (status !== 200) throw new Error(`${kind} is answered with ${status}.`);
    }
  }
  connection.close();
  sandbox.log.clear();
  return gateway;
}

async function load(gateway: Listening, order: Omit<Order, 'url'>): Promise<Tally> {
  const full: Order = { ...order, url: gateway.url };
  await using child = startChild({ args: ['bench/overload/load.ts', JSON.stringify(full)], core: 1 });
  const [line] = await lineOf(child, /^\{.*\}$/);
  return JSON.parse(line) as Tally;
}

/** Sends small operations at a fixed rate as a probe, while another load runs. */
async function beside(
  gateway: Listening,
  order: Omit<Order, 'url'>,
): Promise<{ probe: Tally; other: Tally }> {
  const probing = { kind: 'small', connections: 32, perSecond: PROBES_PER_SECOND };
  const [other, probe] = await Promise.all([
    load(gateway, order),
    load(gateway, { ...probing, seconds: order.seconds }),
  ]);
  return { probe, other };
}

async function hog(kind: Kind): Promise<void> {
  await using gateway = await startGateway(['all', 'small', kind]);
  const { probe, other } = await beside(gateway, { kind, connections: 16, seconds });
  const rate = `${short(other.useful / other.seconds)} op/s of the other load`;
  const holds = probe.p99Ms < MOST.besideHogMs && probe.refused + probe.wrong === 0 && other.useful > 0;
  const spread = `p50 ${short(probe.p50Ms)}, most ${short(probe.mostMs)} ms`;
  const failures =
    probe.refused + probe.wrong === 0 ? '' : `, ${probe.refused} refused, ${probe.wrong} wrong`;
  report(
    `a small operation beside 16 × ${kind}`,
    `p99 ${short(probe.p99Ms)} ms (${spread}; ${rate}${failures})`,
    `p99 < ${MOST.besideHogMs} ms`,
    holds,
  );
}

async function overload(): Promise<void> {
  await using gateway = await startGateway(['page', 'small', 'page']);
  const cpuMs = [gateway.cpuMs()];
  const peak = await load(gateway, { kind: 'page', connections: 16, seconds: Math.max(3, seconds / 10) });
  const capacity = peak.useful / peak.seconds;
  cpuMs.push(gateway.cpuMs());
  const over = await load(gateway, {
    kind: 'page',
    connections: 1_000,
    seconds,
    perSecond: TIMES_CAPACITY * capacity,
  });
  cpuMs.push(gateway.cpuMs());
  const recoveredMs = await untilCalm(gateway);
  const [before = 0, between = 0, after = 0] = cpuMs;
  const perCpu = (tally: Tally, ms: number) => (tally.useful / ms) * 1000;
  const usefulPerCpu = perCpu(over, after - between) / perCpu(peak, between - before);
  const useful = over.useful / over.seconds / capacity;
  const offered = `${short(usefulPerCpu * 100)} % by CPU time; ${short(over.sent / over.seconds / capacity)} × capacity sent, ${over.refused} refused, ${over.wrong} wrong`;
  report(
    'useful throughput beyond capacity',
    `${short(useful * 100)} % of ${short(capacity)} op/s (${offered})`,
    `≥ ${LEAST_USEFUL * 100} %`,
    useful >= LEAST_USEFUL && over.wrong === 0,
  );
  report(
    'operations accepted meanwhile',
    `p99 ${short(over.p99Ms)} ms`,
    `p99 < ${MOST.acceptedMs} ms`,
    over.p99Ms < MOST.acceptedMs,
  );
  report(
    'back to normal',
    `after ${short(recoveredMs)} ms`,
    `< ${MOST.recoveredMs} ms`,
    recoveredMs < MOST.recoveredMs,
  );
}

/** Time until ten operations in a row get an undelayed response. */
async function untilCalm(gateway: Listening): Promise<number> {
  const startedAtMs = performance.now();
  const connection = new Connection(gateway.url);
  let calmSinceMs = performance.now();
  for (let calm = 0; calm < 10 && performance.now() - startedAtMs < 10 * MOST.recoveredMs; ) {
    const { body, headers } = requestOf('small');
    const { status, ms } = await connection.ask(body, headers);
    calm = status === 200 && ms < CALM_MS ? calm + 1 : 0;
    if (calm === 0) calmSinceMs = performance.now();
    await pause(20);
  }
  connection.close();
  return calmSinceMs - startedAtMs;
}

async function flood(): Promise<void> {
  await using gateway = await startGateway(['small']);
  const clearing = setInterval(() => sandbox.log.clear(), 1_000);
  const { probe, other } = await beside(gateway, { kind: 'flood', connections: 64, seconds });
  clearInterval(clearing);
  const rssMb = gateway.peakRssMb();
  report(
    'memory under an anonymous flood',
    `${short(rssMb)} MB at most (${other.sent} operations)`,
    `< ${MOST.floodRssMb} MB`,
    rssMb < MOST.floodRssMb,
  );
  report(
    'a small operation beside the flood',
    `p99 ${short(probe.p99Ms)} ms (p50 ${short(probe.p50Ms)}, ${probe.refused} refused, ${probe.wrong} wrong)`,
    `p99 < ${MOST.besideFloodMs} ms`,
    probe.p99Ms < MOST.besideFloodMs && probe.refused + probe.wrong === 0,
  );
}

const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  all: () => hog('all'),
  explain: () => hog('explain'),
  introspection: () => hog('introspection'),
  overload,
  flood,
};

for (const [name, run] of Object.entries(PARTS)) {
  if (positionals.length === 0 || positionals.includes(name)) await run();
}
await sandbox.close();
console.log(table(['what', 'measured', 'bound', 'met'], lines));
process.exit();
