/**
 * Generates load of one kind, in a separate process. Argument: an `Order` as JSON; prints a `Tally` as JSON when the time
 * is over.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Answered, Connection } from './connection.ts';
import { isKind, type Kind, requestOf } from './requests.ts';

export interface Order {
  readonly url: string;
  readonly kind: string;
  readonly connections: number;
  readonly seconds: number;
  /** Requests a second of all connections; by default, each sends its next request as soon as it has a response. */
  readonly perSecond?: number;
}

export interface Tally {
  readonly seconds: number;
  readonly sent: number;
  /** Responses with data and without errors. */
  readonly useful: number;
  /** 503, with `OVERLOADED`. */
  readonly refused: number;
  /** All other responses. */
  readonly wrong: number;
  /** Of useful responses. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly mostMs: number;
}

const order: Order = JSON.parse(process.argv[2] ?? '{}');
const { url, kind, connections, seconds, perSecond } = order;
if (!isKind(kind)) throw new Error(`Unknown kind: ${kind}.`);

let [sent, refused, wrong] = [0, 0, 0];
const times: number[] = [];

function note({ status, ms, start }: Answered): void {
  if (status === 200 && start.startsWith('{"data":{')) times.push(ms);
  else if (status === 200 && start.includes('"explain":{')) times.push(ms);
  else if (status === 503 && start.startsWith('{"errors":[{"message":"The gateway is overloaded'))
    refused += 1;
  else wrong += 1;
}

/** Connections that are warmed up. */
const MAX_WARMED_UP = 64;

function askedFor(kind: Kind): [body: string, headers: string] {
  const { body, headers } = requestOf(kind);
  return [body, headers];
}

const pool = Array.from({ length: connections }, () => new Connection(url));
// Unmeasured: opens connections, and has code compiled.
await Promise.all(pool.slice(0, MAX_WARMED_UP).map((connection) => connection.ask(...askedFor('small'))));
const startedAtMs = performance.now();
const endsAtMs = startedAtMs + seconds * 1000;

async function ask(connection: Connection): Promise<void> {
  sent += 1;
  note(await connection.ask(...askedFor(kind as Kind)));
}

async function closed(connection: Connection): Promise<void> {
  while (performance.now() < endsAtMs) await ask(connection);
}

/** Open load: sends each request when it is due, if a connection is idle. */
async function open(rate: number): Promise<void> {
  const idle = [...pool];
  let due = 0;
  while (performance.now() < endsAtMs) {
    const target = ((performance.now() - startedAtMs) / 1000) * rate;
    for (; due < target; due += 1) {
      const connection = idle.pop();
      if (connection === undefined) break;
      void ask(connection).then(() => idle.push(connection));
    }
    // Requests that found no idle connection are skipped.
    due = Math.max(due, target - rate / 100);
    await pause(1);
  }
}

await (perSecond === undefined ? Promise.all(pool.map(closed)) : open(perSecond));
times.sort((a, b) => a - b);
const at = (share: number) =>
  times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
const tally: Tally = {
  seconds: (performance.now() - startedAtMs) / 1000,
  sent,
  useful: times.length,
  refused,
  wrong,
  p50Ms: at(0.5),
  p99Ms: at(0.99),
  mostMs: at(1),
};
process.stdout.write(`${JSON.stringify(tally)}\n`, () => process.exit());
