/**
 * `npm run bench:offline`: all figures of the sandbox in one SQLite file. Prints the calls to fill it, and to refresh it a day
 * later, before and after a source has run; its size; and for a process that uses it, the startup time, the memory, and the
 * time to read a figure, compared with the store in memory. Fills run on a fake clock, so they don't wait for the minute
 * limits of the free plan.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FillOptions } from '../src/plugins/offline/fill.ts';
import { fillHere } from '../test/plugins/offline/filling.ts';
import { freePort } from '../test/support/free-port.ts';
import { startSandbox } from '../test/support/sandbox-service.ts';

/** Operations that read one figure each, no figure twice. */
const OPERATIONS = 2_000;

const DAY_MS = 86_400_000;

const folder = await mkdtemp(join(tmpdir(), 'country-graph-bench-offline-'));
const file = join(folder, 'all.db');
const clock = { nowMs: Date.now() - 3 * DAY_MS };
const sandbox = await startSandbox({ now: () => clock.nowMs });
const { free, team } = sandbox.keys;
const env = { COUNTRY_DATA_URL: sandbox.url, CACHE_URL: `sqlite:${file}`, COUNTRY_DATA_KEY: free };
const running: ChildProcess[] = [];

async function fill(title: string, options: FillOptions): Promise<void> {
  const { code, stdout } = await fillHere({ options: { yes: true, json: true, ...options }, env, clock });
  const { bill } = JSON.parse(stdout);
  if (code !== 0) throw new Error(stdout);
  console.log(`${title}: ${bill.calls} calls, ${bill.minutes} minutes of the free plan`, bill.byRoute);
}

/** Starts a gateway. Returns a function that sends operations to it, and the time from its start to the first response. */
async function serve(settings: Readonly<Record<string, string>>, key: string) {
  const port = String(await freePort());
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, ['bin/country-graph.cjs', 'serve'], {
    env: {
      PATH: process.env.PATH,
      PORT: port,
      LOG_LEVEL: 'fatal',
      COUNTRY_DATA_URL: sandbox.url,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.push(child);
  await once(child.stdout, 'data');
  child.stdout.resume();
  const ask = async (query: string) => {
    const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query }),
    });
    const { data, errors } = await response.json();
    if (errors !== undefined) throw new Error(JSON.stringify(errors));
    return data;
  };
  const { countries, indicators } = await ask('{ countries { code } indicators { key } }');
  const readyMs = performance.now() - startedAtMs;
  const codes = (countries as { code: string }[]).map(({ code }) => code);
  const keys = (indicators as { key: string }[]).map((indicator) => indicator.key);
  return { child, ask, codes, keys, readyMs };
}

type Serving = Awaited<ReturnType<typeof serve>>;

/** Reads one figure after the other. Returns the median and the 99th percentile of the times. */
async function timesOf({ ask, codes, keys }: Serving) {
  const times: number[] = [];
  for (let i = 0; i < OPERATIONS; i += 1) {
    const [code, key] = [codes[i % codes.length], keys[Math.floor(i / codes.length)]];
    const startedAtMs = performance.now();
    await ask(`{ country(code: "${code}") { observation(metricKey: "${key}") { value } } }`);
    times.push(performance.now() - startedAtMs);
  }
  times.sort((one, other) => one - other);
  return [0.5, 0.99].map((share) => `${times[Math.floor(share * OPERATIONS)]?.toFixed(2)} ms`).join(', ');
}

async function memoryOf({ child: { pid } }: Serving): Promise<string> {
  const [, kb] = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return `${Math.round(Number(kb) / 1024)} MB`;
}

try {
  await fill('all figures and lists', { all: true });
  console.log(`file: ${Math.round((await stat(file)).size / 2 ** 20)} MB`);
  clock.nowMs += DAY_MS;
  await fill('a day later, no source has run', { all: true, every: 'day' });
  clock.nowMs += DAY_MS;
  sandbox.refresh('world_bank_wdi');
  await fill('a day later, world_bank_wdi has run', { all: true, every: 'day' });
  const offline = await serve({ CACHE_URL: env.CACHE_URL, OFFLINE: 'on' }, free);
  console.log(`SQLite file: first response ${Math.round(offline.readyMs)} ms after the start of the process`);
  console.log(`resident memory: ${await memoryOf(offline)}`);
  console.log(`a figure from the file, p50 and p99: ${await timesOf(offline)}`);
  console.log(`resident memory: ${await memoryOf(offline)}`);
  const memory = await serve({ CACHE_URL: 'memory:', MAX_UPSTREAM_CALLS: '400' }, team);
  console.log(`memory: first response ${Math.round(memory.readyMs)} ms after the start of the process`);
  await memory.ask('{ countries { observations(latest: true) { value } } }');
  console.log(`a figure from memory, p50 and p99: ${await timesOf(memory)}`);
  console.log(`resident memory: ${await memoryOf(memory)}`);
} finally {
  for (const child of running) child.kill();
  await sandbox.close();
  await rm(folder, { recursive: true });
}
