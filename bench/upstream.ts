/**
 * The service of the race, in a separate process. It gets a target from the sandbox the first time, and answers from
 * memory from then on. It has no keys, limits or conditional requests, so that no gateway has to wait for it.
 *
 * No two responses have the same bytes: `meta` has a serial number, and in a tenth of the rows, different ones each time,
 * the last digit of the value and the microseconds of the timestamp change. `BODIES=half` changes half of the rows,
 * `BODIES=same` sends the same bytes each time.
 *
 * `LATENCY_MS` delays each response by that time, plus an exponentially distributed one with a mean of `TAIL_MS`. A GET of
 * `/__prompt` turns the latency off, `/__late` turns it on again, `/__draws` restarts the sequence of drawn times, and
 * `/__counts` returns the number of requests by route.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSandbox } from '../src/sandbox/sandbox.ts';
import { type Changing, changed, changing } from './upstream/changing.ts';

interface Cached {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Changing;
}

/** Targets that are cached at most: merged calls have too many different ones. */
const MAX_CACHED = 3_000;

const latencyMs = Number(process.env.LATENCY_MS ?? 0);
const tailMs = Number(process.env.TAIL_MS ?? 0);
/** Delayed responses by route since the sequence of drawn times began. */
let drawn: Record<string, number> = {};
let isLate = true;
const isSame = process.env.BODIES === 'same';
const share = process.env.BODIES === 'half' ? 2 : undefined;
/** The serial number of the last response. It always has ten digits. */
let serial = 1_000_000_000;

const FORWARDED = ['content-type', 'cache-control'];

const unlimited = { requestsPerMinute: 1e9, monthlyRequests: 1e9 };

const sandbox = createSandbox({ plans: { team: unlimited } });
const { url } = await sandbox.listen();
const cached = new Map<string, Promise<Cached> | Cached>();
const counts: Record<string, number> = {};

async function ask(target: string): Promise<Cached> {
  const answer = await fetch(url + target, { headers: { authorization: `Bearer ${sandbox.keys.team}` } });
  const sent = Buffer.from(await answer.arrayBuffer());
  const body = isSame ? { bytes: sent } : changing(sent);
  // Bodies that change can't have an entity tag.
  const forwarded = isSame ? [...FORWARDED, 'etag'] : FORWARDED;
  const headers = forwarded.flatMap((name) => {
    const value = answer.headers.get(name);
    return value === null ? [] : [name, value];
  });
  const length = ['content-length', String(body.bytes.length)];
  const entry = { status: answer.status, headers: [...headers, ...length], body };
  const [oldest] = cached.keys();
  if (cached.size >= MAX_CACHED && oldest !== undefined) cached.delete(oldest);
  cached.set(target, entry);
  return entry;
}

function sendInTime(response: ServerResponse, route: string, entry: Cached): void {
  if (latencyMs === 0 || !isLate) send(response, entry);
  else setTimeout(send, latencyMs - tailMs * Math.log(1 - draw(route)), response, entry);
}

/**
 * The next number between 0 and 1 of a Halton sequence, which is evenly distributed: so a hundred calls of one server get
 * about the same latencies as thousands of another. Lists and figures have different bases, so that the two calls of an
 * operation are not correlated.
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

function send(response: ServerResponse, { status, headers, body }: Cached): void {
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
  const entry = cached.get(target);
  if (entry !== undefined && !(entry instanceof Promise)) return sendInTime(response, route, entry);
  const coming = entry ?? ask(target);
  cached.set(target, coming);
  coming.then(
    (arrived) => sendInTime(response, route, arrived),
    (error) => response.writeHead(500).end(String(error)),
  );
});
server.keepAliveTimeout = 120_000;
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  console.log(`ready at http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
