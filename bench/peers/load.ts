/**
 * Load of one run, in a process of its own. Argument: a `LoadOrder` as JSON. Prints `begin` when the measured
 * time begins, after a lead that isn't measured, and the `LoadResult` as JSON when it ends, still under load:
 * so a reader of counters at both lines sees as many operations begun before it as left unfinished behind it.
 */
import autocannon from 'autocannon';
import type { LoadOrder, LoadResult } from '../race/load.ts';
import { ROWS } from '../race/rows.ts';
import { digestIn } from '../race/servers.ts';

const order: LoadOrder = JSON.parse(process.argv[2] ?? '{}');
const row = ROWS.find(({ letter }) => letter === order.row);
/** One answer in as many to a connection is compared with the right one, the first among them; of the others, how they begin. */
const COMPARED = 32;
/** Lengthens the measured time if a slow server would otherwise show less than a few answers a connection. */
const LEAST_ANSWERS = 4 * order.connections;
/** Most that it is lengthened by. */
const LONGEST = 5;

let connection = 0;
let isMeasured = false;
let operations = 0;
let wrong = 0;
/**
 * Leaves out the first answer to each connection: then all connect at once, and the load itself has only
 * begun.
 */
const times: number[] = [];
const begun = new Set<unknown>();

const options: autocannon.Options = {
  url: order.url,
  method: 'POST',
  connections: order.connections,
  duration: order.leadSeconds + order.seconds * LONGEST + 60,
  timeout: 30,
  setupClient(client) {
    const asked = order.asked[connection % order.asked.length] as LoadOrder['asked'][number];
    connection += 1;
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${order.key}${order.keyEach ? `-${connection}` : ''}`,
    };
    client.setHeadersAndBody(headers, asked.body);
    let answers = 0;
    // Options are the client's own by now. A handler of its requests would have all headers read for each answer.
    (client as unknown as { readonly opts: autocannon.Options }).opts.verifyBody = (body) => {
      if (!isRight(String(body), asked, answers % COMPARED === 0)) wrong += 1;
      answers += 1;
      return true;
    };
  },
};

function isRight(
  body: string,
  { question, right }: LoadOrder['asked'][number],
  isCompared: boolean,
): boolean {
  if (body.startsWith('{"data":{') && row !== undefined) {
    if (!isCompared || digestIn(body, order, row, question) === right) return true;
  }
  if (wrong === 0) console.error(`wrong: ${body.slice(0, 500)}`);
  return false;
}

// Passes a callback, without which it doesn't emit its events; the run ends before the callback is called.
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
    if (share < 1 || (operations < LEAST_ANSWERS && share < LONGEST)) return;
    clearInterval(timer);
    isMeasured = false;
    tell(elapsedMs);
  }, 10);
}, order.leadSeconds * 1000);

function tell(elapsedMs: number): void {
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  const result: LoadResult = { operations, elapsedMs, p50Ms: at(0.5), p99Ms: at(0.99), wrong };
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit());
}
