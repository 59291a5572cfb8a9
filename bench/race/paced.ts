/**
 * Open load at a fixed rate, in a separate process: requests are sent evenly spaced, whether or not earlier ones have
 * been answered. (autocannon's `overallRate` sends the requests of each second at once, and so measures a queue that it
 * caused itself.) Argument: a `PacedOrder` as JSON; prints a `PacedSample` as JSON.
 */
import { Agent, request } from 'node:http';
import type { PacedOrder, PacedSample } from './paced-load.ts';
import { ROWS } from './rows.ts';
import { digestIn } from './servers.ts';

/** Seconds of unmeasured load, while connections are opened and code is compiled. */
const LEAD_SECONDS = 0.5;

/** One response in this many is compared in full. It has no divisor in common with the number of requests, so that all of them get their turn. */
const COMPARED = 15;

const order: PacedOrder = JSON.parse(process.argv[2] ?? '{}');
const { url, requests, perSecond, seconds } = order;
const row = ROWS.find(({ letter }) => letter === order.row);
const agent = new Agent({ keepAlive: true, maxSockets: 256 });
const headers = { 'content-type': 'application/json', authorization: 'Bearer demo-team' };
const target = new URL(url);
const planned = Math.ceil(perSecond * (LEAD_SECONDS + seconds));
const unmeasured = Math.ceil(perSecond * LEAD_SECONDS);
const times: number[] = [];
let sent = 0;
let done = 0;
let wrong = 0;

function send(isMeasured: boolean): void {
  const { body, question, expected } = requests[sent % requests.length] as PacedOrder['requests'][number];
  const isCompared = sent % COMPARED === 0;
  const sentAt = performance.now();
  const finish = (isRight: boolean) => {
    done += 1;
    if (!isRight) wrong += 1;
    if (isMeasured) times.push(performance.now() - sentAt);
    if (done === planned) report();
  };
  const outgoing = request(
    { agent, host: target.hostname, port: target.port, path: target.pathname, method: 'POST', headers },
    (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part) => isCompared && parts.push(part));
      response.on('end', () => {
        const isOk = response.statusCode === 200 && row !== undefined;
        finish(
          isOk &&
            (!isCompared || digestIn(Buffer.concat(parts).toString(), order, row, question) === expected),
        );
      });
    },
  );
  outgoing.on('error', () => finish(false));
  outgoing.end(body);
}

function report(): void {
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  const sample: PacedSample = { p50Ms: at(0.5), p99Ms: at(0.99), wrong };
  process.stdout.write(`${JSON.stringify(sample)}\n`, () => process.exit());
}

const startedAt = performance.now();
const timer = setInterval(() => {
  const due = Math.min(planned, Math.floor(((performance.now() - startedAt) / 1000) * perSecond));
  while (sent < due) {
    send(sent >= unmeasured);
    sent += 1;
  }
  if (sent === planned) clearInterval(timer);
}, 1);
