/**
 * The service of the race, a process of its own: asks the sandbox the first time that a target is wanted, and
 * answers from memory from then on. No two of its answers have the same bytes: `meta` counts them, and a
 * tenth of the rows, each time others, have another last digit of their value and other microseconds of their
 * time; half of them with `BODIES=half`. `BODIES=same` sends the same bytes each time instead. No keys, no limits, no conditional requests, so
 * that no gateway waits for it, unless `LATENCY_MS` has each answer wait that long, and longer by a drawn
 * time of mean `TAIL_MS`. `/__prompt` has answers come at once, `/__late` has them wait again, and `/__draws`
 * begins the draws anew.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSandbox } from '../src/sandbox/sandbox.ts';
import { type Changing, changed, changing } from './upstream/changing.ts';

interface Held {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Changing;
}

/** Targets whose answers are kept: those of merged calls are countless. */
const MOST_HELD = 3_000;

const latencyMs = Number(process.env.LATENCY_MS ?? 0);
const tailMs = Number(process.env.TAIL_MS ?? 0);
/** Number of answers of a route that have waited since the draws began. */
let drawn: Record<string, number> = {};
let isLate = true;
const isSame = process.env.BODIES === 'same';
const share = process.env.BODIES === 'half' ? 2 : undefined;
/** The number of the next answer: ten digits from the first to the last. */
let serial = 1_000_000_000;

const PASSED_ON = ['content-type', 'cache-control'];

const unlimited = { requestsPerMinute: 1e9, monthlyRequests: 1e9 };

const sandbox = createSandbox({ plans: { team: unlimited } });
const { url } = await sandbox.listen();
const held = new Map<string, Promise<Held> | Held>();
const counts: Record<string, number> = {};

async function ask(target: string): Promise<Held> {
  const answer = await fetch(url + target, { headers: { authorization: `Bearer ${sandbox.keys.team}` } });
  const sent = Buffer.from(await answer.arrayBuffer());
  const body = isSame ? { bytes: sent } : changing(sent);
  // Each answer has bytes of its own, and no name for them.
  const passedOn = isSame ? [...PASSED_ON, 'etag'] : PASSED_ON;
  const headers = passedOn.flatMap((name) => {
    const value = answer.headers.get(name);
    return value === null ? [] : [name, value];
  });
  const length = ['content-length', String(body.bytes.length)];
  const found = { status: answer.status, headers: [...headers, ...length], body };
  const [oldest] = held.keys();
  if (held.size >= MOST_HELD && oldest !== undefined) held.delete(oldest);
  held.set(target, found);
  return found;
}

function sendInTime(response: ServerResponse, route: string, answer: Held): void {
  if (latencyMs === 0 || !isLate) send(response, answer);
  else setTimeout(send, latencyMs - tailMs * Math.log(1 - draw(route)), response, answer);
}

/**
 * A number between 0 and 1 that is spread evenly (Halton's sequence), so that a hundred calls of one server
 * meet the same as thousands of another one: lists and figures by different bases, since an operation waits
 * for one after the other.
 */
function draw(route: string): number {
  const count = (drawn[route] ?? 0) + 1;
  drawn[route] = count;
  const base = route === '/v1/data' ? 3 : 2;
  let [number, share] = [0, 1];
  for (let rest = count; rest > 0; rest = Math.floor(rest / base)) {
    share /= base;
    number += share * (rest % base);
  }
  return number;
}

function send(response: ServerResponse, { status, headers, body }: Held): void {
  response.sendDate = false;
  serial += 1;
  response.writeHead(status, headers as string[]).end(changed(body, serial, share));
}

const server = createServer((request, response) => {
  const target = request.url ?? '/';
  if (target === '/__counts') return response.end(JSON.stringify(counts));
  if (target.startsWith('/__')) {
    if (target === '/__draws') drawn = {};
    else isLate = target === '/__late';
    return response.end();
  }
  const query = target.indexOf('?');
  const route = query < 0 ? target : target.slice(0, query);
  counts[route] = (counts[route] ?? 0) + 1;
  const known = held.get(target);
  if (known !== undefined && !(known instanceof Promise)) return sendInTime(response, route, known);
  const coming = known ?? ask(target);
  held.set(target, coming);
  coming.then(
    (answer) => sendInTime(response, route, answer),
    (error) => response.writeHead(500).end(String(error)),
  );
});
server.keepAliveTimeout = 120_000;
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  console.log(`ready at http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
