/**
 * Load of one kind, in a process of its own. Argument: an `Order` as JSON; prints a `Tally` as JSON when the time is
 * over.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Answered, Connection } from './connection.ts';
import { isKind, type Kind, requestOf } from './requests.ts';

export interface Order {
  readonly url: string;
  readonly kind: string;
  readonly connections: number;
  readonly seconds: number;
  /** Requests a second in all; left out, each connection asks again as soon as it has its answer. */
  readonly perSecond?: number;
}

export interface Tally {
  readonly seconds: number;
  readonly sent: number;
  /** Answers with data and without errors. */
  readonly useful: number;
  /** 503, with `OVERLOADED`. */
  readonly refused: number;
  readonly others: number;
  /** Of the useful ones. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly mostMs: number;
}

const order: Order = JSON.parse(process.argv[2] ?? '{}');
const { url, kind, connections, seconds, perSecond } = order;
if (!isKind(kind)) throw new Error(`There is no kind ${kind}.`);

let [sent, refused, others] = [0, 0, 0];
const times: number[] = [];

function note({ status, ms, start }: Answered): void {
  if (status === 200 && start.startsWith('{"data":{')) times.push(ms);
  else if (status === 200 && start.includes('"explain":{')) times.push(ms);
  else if (status === 503 && start.startsWith('{"errors":[{"message":"The gateway is overloaded'))
    refused += 1;
  else others += 1;
}

/** Connections that ask for something small before the time counts. */
const MOST_LEADING = 64;

function askedFor(kind: Kind): [body: string, headers: string] {
  const { body, headers } = requestOf(kind);
  return [body, headers];
}

const pool = Array.from({ length: connections }, () => new Connection(url));
// Connections are made, and code becomes hot, before the time counts.
await Promise.all(pool.slice(0, MOST_LEADING).map((connection) => connection.ask(...askedFor('small'))));
const startedAtMs = performance.now();
const endsAtMs = startedAtMs + seconds * 1000;

async function ask(connection: Connection): Promise<void> {
  sent += 1;
  note(await connection.ask(...askedFor(kind as Kind)));
}

async function closed(connection: Connection): Promise<void> {
  while (performance.now() < endsAtMs) await ask(connection);
}

/** Each request at its time, as long as there is a connection that has nothing to do. */
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
    // Makes up for no request that found no connection.
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
  others,
  p50Ms: at(0.5),
  p99Ms: at(0.99),
  mostMs: at(1),
};
process.stdout.write(`${JSON.stringify(tally)}\n`, () => process.exit());
