/**
 * Closed load of drawn operations, in a separate process: each connection sends its next request as soon as it has a
 * response. Argument: a `MixedOrder` as JSON; prints a `MixedResult` as JSON once all are answered or the time is over.
 */
import { createHash } from 'node:crypto';
import { Agent, request } from 'node:http';
import type { MixedOrder, MixedResult } from './mixed-load.ts';
import { drawOperations } from './mixed-operations.ts';
import { settled } from './settled.ts';

const { url, count, seed, connections, mostSeconds }: MixedOrder = JSON.parse(process.argv[2] ?? '{}');

/** One response in this many goes into the digest that is compared between servers. */
const COMPARED = 10;

const agent = new Agent({ keepAlive: true, maxSockets: connections });
const target = new URL(url);
const operations = drawOperations(count, seed);
const times: number[] = [];
const compared = new Map<number, string>();
let next = 0;
let wrong = 0;
let turnedAway = 0;

function send(index: number): Promise<void> {
  const { key, query } = operations[index] as (typeof operations)[number];
  const body = JSON.stringify({ query });
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    authorization: `Bearer demo-${key}`,
  };
  const { hostname: host, port, pathname: path } = target;
  const sentAt = performance.now();
  return new Promise((resolve) => {
    const finish = (status: number, text: string) => {
      times.push(performance.now() - sentAt);
      if (status === 503) turnedAway += 1;
      else if (!text.startsWith('{"data":{')) {
        if (wrong === 0) console.error(`wrong: ${text.slice(0, 500)} to ${body.slice(0, 300)}`);
        wrong += 1;
      } else if (index % COMPARED === 0) compared.set(index, text);
      resolve();
    };
    const outgoing = request({ agent, host, port, path, method: 'POST', headers }, (response) => {
      const parts: Buffer[] = [];
      response
        .on('data', (part) => parts.push(part))
        .on('end', () => finish(response.statusCode ?? 0, Buffer.concat(parts).toString()));
    });
    outgoing.on('error', () => finish(0, ''));
    outgoing.end(body);
  });
}

const startedAt = performance.now();
const isTimeUp = () => performance.now() - startedAt > mostSeconds * 1000;

async function connection(): Promise<void> {
  while (next < operations.length && !isTimeUp()) {
    const index = next;
    next += 1;
    await send(index);
  }
}

await Promise.all(Array.from({ length: connections }, connection));
const elapsedMs = performance.now() - startedAt;
times.sort((a, b) => a - b);
const at = (share: number) =>
  times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
const digest = createHash('sha256');
for (const [index, text] of [...compared].sort(([a], [b]) => a - b))
  digest.update(`${index} ${settled(JSON.stringify(JSON.parse(text).data))}\n`);
const result: MixedResult = {
  operations: times.length,
  elapsedMs,
  p50Ms: at(0.5),
  p99Ms: at(0.99),
  wrong,
  turnedAway,
  answers: digest.digest('hex'),
};
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit());
