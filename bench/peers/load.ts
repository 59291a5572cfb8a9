/**
 * Generates the load of one run, in a separate process. Argument: a `LoadOrder` as JSON. Prints `begin` after the
 * unmeasured lead, when the measured time begins, and a `LoadResult` as JSON when it ends. The load goes on in both
 * moments. So for counters that are read at both lines, the operations in flight at the beginning and at the end cancel out.
 */
import autocannon from 'autocannon';
import type { LoadOrder, LoadResult } from '../race/load.ts';
import { ROWS } from '../race/rows.ts';
import { digestIn } from '../race/servers.ts';

const order: LoadOrder = JSON.parse(process.argv[2] ?? '{}');
const row = ROWS.find(({ letter }) => letter === order.row);
/** The first response on each connection and every 32nd after it are compared in full; of the rest, only the beginning is checked. */
const COMPARED = 32;
/** The measured time is extended until there are this many responses, so that slow servers give a few per connection. */
const MIN_RESPONSES = 4 * order.connections;
/** The most that it is extended by, as a factor. */
const MAX_EXTENSION = 5;

let connection = 0;
let isMeasured = false;
let operations = 0;
let wrong = 0;
/** Without the first response on each connection, while all of them connect at once. */
const times: number[] = [];
const begun = new Set<unknown>();

const options: autocannon.Options = {
  url: order.url,
  method: 'POST',
  connections: order.connections,
  duration: order.leadSeconds + order.seconds * MAX_EXTENSION + 60,
  timeout: 30,
  setupClient(client) {
    const sent = order.requests[connection % order.requests.length] as LoadOrder['requests'][number];
    connection += 1;
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${order.key}${order.keyEach ? `-${connection}` : ''}`,
    };
    client.setHeadersAndBody(headers, sent.body);
    let responses = 0;
    // These options are a copy for this client. A handler of its requests would have the headers of each response parsed.
    (client as unknown as { readonly opts: autocannon.Options }).opts.verifyBody = (body) => {
      if (!isRight(String(body), sent, responses % COMPARED === 0)) wrong += 1;
      responses += 1;
      return true;
    };
  },
};

function isRight(
  body: string,
  { question, expected }: LoadOrder['requests'][number],
  isCompared: boolean,
): boolean {
  if (body.startsWith('{"data":{') && row !== undefined) {
    if (!isCompared || digestIn(body, order, row, question) === expected) return true;
  }
  if (wrong === 0) console.error(`wrong: ${body.slice(0, 500)}`);
  return false;
}

// Without a callback, autocannon emits no events. The process exits before the callback is called.
const run = autocannon(options, () => {});
run.on('response', (client, _status, _bytes, ms) => {
  if (isMeasured) operations += 1;
  if (isMeasured && begun.has(client)) times.push(ms);
  begun.add(client);
});
run.on('reqError', () => {
  wrong += 1;
});

setTimeout(() => {
  isMeasured = true;
  const startedAt = performance.now();
  console.log('begin');
  const timer = setInterval(() => {
    const elapsedMs = performance.now() - startedAt;
    const share = elapsedMs / (order.seconds * 1000);
    if (share < 1 || (operations < MIN_RESPONSES && share < MAX_EXTENSION)) return;
    clearInterval(timer);
    isMeasured = false;
    report(elapsedMs);
  }, 10);
}, order.leadSeconds * 1000);

function report(elapsedMs: number): void {
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  const result: LoadResult = { operations, elapsedMs, p50Ms: at(0.5), p99Ms: at(0.99), wrong };
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit());
}
