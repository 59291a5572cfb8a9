/**
 * `npm run chaos -- --seconds 600 --seed 1`: mixed operations through a proxy that breaks a fifth of the
 * service's answers, against the program in a process of its own. Prints the requests and their outcomes.
 * Ends with exit code 1 if an answer is wrong or never comes, the process ends or has grown, or it does not
 * recover once the faults are over.
 */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { Dice } from '../execution/dice.ts';
import { startServing } from '../support/serving.ts';
import { openFaultProxy } from './fault-proxy.ts';
import { judged, type Reply } from './verdict.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '24' },
    verbose: { type: 'boolean', default: false },
  },
});

/** Share of the service's answers that meet a fault, and of the clients that leave before their answer is there. */
const FAULT_RATE = 0.2;
const LEAVING_RATE = 0.05;

/** An answer that takes longer has been lost. */
const HUNG_MS = 20_000;

/** Size of a heap in which anything that is not let go ends the process, and of the process in all. */
const HEAP_MB = 256;
const MOST_BYTES = 600e6;

/** Most descriptors that may be added from a tenth of the time to its end. */
const MOST_MORE_DESCRIPTORS = 80;

const ENV = {
  UPSTREAM_TIMEOUT_MS: '800',
  UPSTREAM_RETRIES: '1',
  CACHE_TTL_SECONDS: '1',
  STALE_IF_ERROR_SECONDS: '1',
  AUTH_TTL_SECONDS: '5',
  RATE_LIMIT_WAIT_MS: '2000',
  LOG_LEVEL: 'silent',
};

interface Operation {
  readonly name: string;
  readonly body: string;
}

interface Tally {
  sent: number;
  right: number;
  told: number;
  left: number;
  readonly codes: Map<string, number>;
  readonly wrong: string[];
  readonly hung: string[];
}

/** The examples that any key may ask, and whose answers don't change with time. */
function readOperations(): Operation[] {
  const folder = new URL('../queries/', import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return files
    .filter((file) => file.endsWith('.graphql') && !/quota|freshness|bad|availability/.test(file))
    .map((file) => {
      const name = file.replace('.graphql', '');
      const query = readFileSync(new URL(file, folder), 'utf8');
      const variables = files.includes(`${name}.variables.json`)
        ? JSON.parse(readFileSync(new URL(`${name}.variables.json`, folder), 'utf8'))
        : undefined;
      return { name, body: JSON.stringify({ query, variables }) };
    });
}

const seconds = Number(values.seconds);
const drawn = new Dice(Number(values.seed));
const dice = () => drawn.next();
const operations = readOperations();
const sandbox = createSandbox({
  plans: {
    team: { requestsPerMinute: 1e9, monthlyRequests: 1e12 },
    analyst: { requestsPerMinute: 1e9, monthlyRequests: 1e12 },
  },
});
const keys = [sandbox.keys.team, sandbox.keys.analyst, sandbox.keys.analystSecond];
const proxy = await openFaultProxy((await sandbox.listen()).url, dice);
const { child, url } = await startServing({
  nodeArgs: [`--max-old-space-size=${HEAP_MB}`],
  env: { ...ENV, COUNTRY_DATA_URL: proxy.url },
});

async function ask({ body }: Operation, key: string, signal: AbortSignal): Promise<Reply> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body,
    signal,
  });
  return (await response.json()) as Reply;
}

async function gauges(): Promise<{ bytes: number; descriptors: number }> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  const gauge = (name: string) => Number(text.match(new RegExp(`^${name} (\\S+)$`, 'm'))?.[1] ?? Number.NaN);
  return { bytes: gauge('process_resident_memory_bytes'), descriptors: gauge('process_open_fds') };
}

const truths = new Map<string, unknown>();
for (const operation of operations) {
  const { data, errors } = await ask(operation, keys[0] as string, AbortSignal.timeout(HUNG_MS));
  if (errors === undefined) truths.set(operation.name, data);
}
const asked = operations.filter(({ name }) => truths.has(name));

const tally: Tally = { sent: 0, right: 0, told: 0, left: 0, codes: new Map(), wrong: [], hung: [] };

async function askOnce(mayLeave: boolean): Promise<void> {
  const operation = asked[Math.floor(dice() * asked.length)] as Operation;
  const key = keys[Math.floor(dice() * keys.length)] as string;
  const isLeaving = mayLeave && dice() < LEAVING_RATE;
  const limit = AbortSignal.timeout(isLeaving ? Math.floor(dice() * 50) : HUNG_MS);
  tally.sent += 1;
  try {
    const verdict = judged(truths.get(operation.name), await ask(operation, key, limit));
    if (verdict.kind === 'wrong') tally.wrong.push(`${operation.name}: ${verdict.why}`);
    else {
      tally[verdict.kind] += 1;
      for (const code of new Set(verdict.codes)) tally.codes.set(code, (tally.codes.get(code) ?? 0) + 1);
    }
  } catch (error) {
    if (isLeaving) tally.left += 1;
    else tally.hung.push(`${operation.name}: ${(error as Error).message}`);
  }
}

async function work(untilMs: number): Promise<void> {
  while (Date.now() < untilMs && child.exitCode === null) await askOnce(true);
}

const startMs = Date.now();
const endMs = startMs + seconds * 1000;
proxy.rate = FAULT_RATE;
const workers = Array.from({ length: Number(values.workers) }, () => work(endMs));
await pause(seconds * 100);
const early = await gauges();
await Promise.all(workers);

// The service is well again: so is the gateway, as soon as circuits and old answers have had their time.
proxy.rate = 0;
await pause(12_000);
const before = { told: tally.told, right: tally.right };
for (let i = 0; i < asked.length * 2; i += 1) await askOnce(false);
const unrecovered = tally.told - before.told;
const late = await gauges();

const isAlive = child.exitCode === null;
child.kill('SIGTERM');
const [exitCode] = await once(child, 'exit');
await proxy.close();
await sandbox.close();

const lines: [string, string | number][] = [
  ['seconds', seconds],
  ['seed', values.seed],
  ['sent', tally.sent],
  ['right', tally.right],
  ['partly, with typed errors', tally.told],
  ...[...tally.codes].sort().map(([code, count]): [string, number] => [`  with ${code}`, count]),
  ['left by the client', tally.left],
  ['wrong', tally.wrong.length],
  ['hung or broken', tally.hung.length],
  ['with errors once the service was well', unrecovered],
  ['faults', [...proxy.counts.values()].reduce((sum, count) => sum + count, 0)],
  ...[...proxy.counts].sort().map(([name, count]): [string, number] => [`  ${name}`, count]),
  ['memory after a tenth, MB', Math.round(early.bytes / 1e6)],
  ['memory in the end, MB', Math.round(late.bytes / 1e6)],
  ['descriptors after a tenth', early.descriptors],
  ['descriptors in the end', late.descriptors],
  ['exit code after SIGTERM', String(exitCode)],
];
for (const [name, value] of lines) console.log(`${name.padEnd(40)} ${value}`);
for (const line of [...tally.wrong, ...tally.hung].slice(0, 20)) console.log(line);

const isFine =
  isAlive &&
  exitCode === 0 &&
  tally.wrong.length + tally.hung.length + unrecovered === 0 &&
  late.bytes <= MOST_BYTES &&
  late.descriptors - early.descriptors <= MOST_MORE_DESCRIPTORS;
process.exitCode = isFine ? 0 : 1;
