/**
 * `npm run hostile`: what small requests from clients without a valid key cost the gateway. Prints a line per attack: its
 * requests, their results and their cost. Ends with exit code 1 if one exceeds its limits. Arguments select attacks by
 * parts of their names.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createSandbox } from '../src/sandbox/sandbox.ts';
import { ATTACKS } from './hostile/attacks.ts';
import { DOOR_ATTACKS } from './hostile/doors.ts';
import type { Suffered } from './hostile/suffer.ts';
import { table } from './race/table.ts';

/** Limits of one request, and of the memory that an attack may leave in use (`retainedBytes`). */
const MOST = { cpuMs: 200, blockMs: 50, peakBytes: 20e6, retainedBytes: 20e6 };

/** The limit of CPU time for one request to an entry point without a key. */
const MOST_AT_DOOR_MS = 50;

/** The flags of `npm start`, and access to the garbage collector. */
const NODE_ARGS = [
  '--max-semi-space-size=64',
  '--no-allocation-site-pretenuring',
  '--max-old-space-size=512',
  '--expose-gc',
  'bench/hostile/suffer.ts',
];
const TIMEOUT_MS = 150_000;

const run = promisify(execFile);

async function suffered(name: string, url: string, key: string): Promise<Suffered | 'died' | 'hung'> {
  try {
    const { stdout } = await run(process.execPath, [...NODE_ARGS, name, url, key], { timeout: TIMEOUT_MS });
    return JSON.parse(stdout);
  } catch (error) {
    return (error as { killed?: boolean }).killed ? 'hung' : 'died';
  }
}

/** A single request is judged by its peak of memory, many requests by the memory that they leave in use. */
function isWithin(name: string, suffered: Suffered): boolean {
  const { requests, cpuMs, blockMs, peakBytes, retainedBytes } = suffered;
  const isAtDoor = DOOR_ATTACKS.some((one) => one.name === name);
  const mostMs = isAtDoor ? MOST_AT_DOOR_MS : MOST.cpuMs;
  const isFrugal = requests > 1 ? retainedBytes <= MOST.retainedBytes : peakBytes <= MOST.peakBytes;
  return isFrugal && cpuMs <= mostMs && blockMs <= MOST.blockMs;
}

function lineOf(name: string, result: Suffered): string[] {
  const { requests, requestBytes, outcomes, cpuMs, blockMs, peakBytes, retainedBytes } = result;
  const answers = Object.entries(outcomes).map(([code, count]) =>
    requests === 1 ? code : `${count} ${code}`,
  );
  return [
    name,
    answers.join(', '),
    String(requests),
    (requestBytes / 1e3).toFixed(1),
    cpuMs.toFixed(0),
    blockMs.toFixed(0),
    (peakBytes / 1e6).toFixed(0),
    (retainedBytes / 1e6).toFixed(0),
    isWithin(name, result) ? 'yes' : 'NO',
  ];
}

const HEAD = [
  'sent',
  'results',
  'requests',
  'KB',
  'CPU ms',
  'longest block ms',
  'peak MB',
  'retained MB',
  'within',
];

const wanted = process.argv.slice(2);
const chosen = [...ATTACKS, ...DOOR_ATTACKS].filter(
  ({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)),
);
const sandbox = createSandbox();
const { url } = await sandbox.listen();
const lines: string[][] = [];
for (const { name } of chosen) {
  const result = await suffered(name, url, sandbox.keys.team);
  const isFine = typeof result === 'object' && isWithin(name, result);
  if (!isFine) process.exitCode = 1;
  lines.push(typeof result === 'object' ? lineOf(name, result) : [name, `THE PROCESS ${result}`]);
  console.error(`${isFine ? 'within limits' : 'BEYOND LIMITS'}: ${name}`);
  sandbox.log.clear();
}
await sandbox.close();
console.log(table(HEAD, lines));
