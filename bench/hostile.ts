/**
 * `npm run hostile`: the harm that clients without a valid key can do to the gateway by sending little, a
 * line an attack: the requests, their outcome and their cost. Ends with exit code 1 if one took more than it
 * may. With names after it, those attacks alone.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createSandbox } from '../src/sandbox/sandbox.ts';
import { ATTACKS } from './hostile/attacks.ts';
import { DOOR_ATTACKS } from './hostile/doors.ts';
import type { Suffered } from './hostile/suffer.ts';
import { table } from './race/table.ts';

/** Most that one request may take, and that all of an attack may leave behind. */
const MOST = { processorMs: 200, blockMs: 50, peakBytes: 20e6, keptBytes: 20e6 };

/** Milliseconds of the processor that one request to a door without a key may take. */
const MOST_AT_DOOR_MS = 50;

/** The engine as `npm start` has it, and a way to collect. */
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

/** True if a single request takes no more than it may at once, or a flood leaves no more behind. */
function isWithin(name: string, suffered: Suffered): boolean {
  const { requests, processorMs, blockMs, peakBytes, keptBytes } = suffered;
  const isAtDoor = DOOR_ATTACKS.some((one) => one.name === name);
  const mostMs = isAtDoor ? MOST_AT_DOOR_MS : MOST.processorMs;
  const isFrugal = requests > 1 ? keptBytes <= MOST.keptBytes : peakBytes <= MOST.peakBytes;
  return isFrugal && processorMs <= mostMs && blockMs <= MOST.blockMs;
}

function lineOf(name: string, result: Suffered): string[] {
  const { requests, requestBytes, outcomes, processorMs, blockMs, peakBytes, keptBytes } = result;
  const answers = Object.entries(outcomes).map(([code, count]) =>
    requests === 1 ? code : `${count} ${code}`,
  );
  return [
    name,
    answers.join(', '),
    String(requests),
    (requestBytes / 1e3).toFixed(1),
    processorMs.toFixed(0),
    blockMs.toFixed(0),
    (peakBytes / 1e6).toFixed(0),
    (keptBytes / 1e6).toFixed(0),
    isWithin(name, result) ? 'yes' : 'NO',
  ];
}

const HEAD = [
  'sent',
  'answers',
  'requests',
  'KB',
  'processor ms',
  'longest block ms',
  'peak MB',
  'kept MB',
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
  console.error(`${isFine ? 'fine' : 'NOT FINE'}: ${name}`);
  sandbox.log.clear();
}
await sandbox.close();
console.log(table(HEAD, lines));
