/**
 * Measures the cost of each row in one mode, without the HTTP server, in a separate process. `counts.ts <mode> <url>` counts
 * calls and bytes; with `characters` as a third argument, it counts source run instead, which slows the code down.
 */
import { readConfig } from '../../src/config/config.ts';
import { createGateway, type Gateway } from '../../src/gateway/gateway.ts';
import type { GatewayRequest } from '../../src/graphql/request/requests.ts';
import type { GatewayResponse } from '../../src/graphql/request/responses.ts';
import { plugins } from '../../src/plugins.ts';
import { median } from '../race/load.ts';
import { ROWS, type Row } from '../race/rows.ts';
import { SERVERS } from '../race/servers.ts';
import { callsTo } from '../race/service.ts';
import type { Figures } from './baseline.ts';

/** Operations until everything that is cached, learned or compiled on first use is in place. */
const WARM_UP = 50;
const SAMPLES = 9;
/** Few enough that all they allocate fits into the young generation. */
const SAMPLE_OPERATIONS = 10;
const AT_ONCE = 10;
const ROUNDS_AT_ONCE = 3;

const [mode, url = '', what] = process.argv.slice(2);
const server = SERVERS.find((each) => each.mode === mode);
if (server === undefined) throw new Error(`Unknown mode: ${mode}.`);

const measured: Record<string, Partial<Figures>> = {};
for (const row of ROWS) {
  await using gateway = await openGateway(row, server.env ?? {});
  measured[`${row.letter} ${mode}`] =
    what === 'characters' ? await charactersOf(gateway, row) : await figuresOf(gateway, row);
}
console.log(`figures ${JSON.stringify(measured)}`);
process.exit();

/** Opens a gateway and warms it up with the row. */
async function openGateway(row: Row, env: Readonly<Record<string, string>>) {
  const observer = {
    operation() {},
    attempt() {},
    problem(error: unknown) {
      throw error;
    },
  };
  const gateway = await createGateway({
    config: readConfig(env, plugins),
    plugins,
    upstreamUrl: url,
    observer,
  });
  const { errors } = JSON.parse(String(await ask(gateway, requestOf(row))));
  if (errors !== undefined) throw new Error(`Row ${row.letter}, ${mode}: ${JSON.stringify(errors)}`);
  for (let i = 1; i < WARM_UP; i += 1) await ask(gateway, requestOf(row));
  return Object.assign(gateway, { [Symbol.asyncDispose]: () => gateway.stop() });
}

async function charactersOf(gateway: Gateway, row: Row): Promise<Partial<Figures>> {
  const { charactersRun } = await import('./coverage.ts');
  const samples: number[] = [];
  for (let i = 0; i < SAMPLES; i += 1) {
    const requests = Array.from({ length: SAMPLE_OPERATIONS }, () => requestOf(row));
    await charactersRun();
    for (const request of requests) await ask(gateway, request);
    samples.push((await charactersRun()) / SAMPLE_OPERATIONS);
  }
  // What a sample has above the least is the machine's: on a busy one, turns end earlier, so that there are more of them.
  return { characters: Number(Math.min(...samples).toPrecision(3)) };
}

async function figuresOf(gateway: Gateway, row: Row): Promise<Partial<Figures>> {
  const calls = [await callsTo(url)];
  const samples: number[] = [];
  for (let i = 0; i < SAMPLES; i += 1) samples.push(await bytesAllocated(gateway, row));
  calls.push(await callsTo(url));
  for (let i = 0; i < ROUNDS_AT_ONCE; i += 1) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => ask(gateway, requestOf(row))));
  }
  calls.push(await callsTo(url));

  const [before = 0, alone = 0, atOnce = 0] = calls;
  return {
    calls: (alone - before) / (SAMPLES * SAMPLE_OPERATIONS),
    callsAtOnce: (atOnce - alone) / (ROUNDS_AT_ONCE * AT_ONCE),
    bytes: Number(median(samples).toPrecision(3)),
  };
}

/** Bytes that one operation allocates on the heap; too few if something was collected meanwhile. */
async function bytesAllocated(gateway: Gateway, row: Row): Promise<number> {
  const requests = Array.from({ length: SAMPLE_OPERATIONS }, () => requestOf(row));
  globalThis.gc?.({ type: 'minor' });
  const before = process.memoryUsage().heapUsed;
  for (const request of requests) await ask(gateway, request);
  return (process.memoryUsage().heapUsed - before) / SAMPLE_OPERATIONS;
}

/** The request as the server would pass it on: a new string for the query, and a signal only on demand. */
function requestOf({ query }: Row): GatewayRequest {
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      authorization: 'Bearer demo-team',
    },
    search: '',
    body: JSON.parse(JSON.stringify({ query })),
    get signal() {
      return new AbortController().signal;
    },
  };
}

async function ask(gateway: Gateway, request: GatewayRequest): Promise<GatewayResponse['body']> {
  const answer = gateway.handle(request);
  const { status, body } = answer instanceof Promise ? await answer : answer;
  if (status !== 200) throw new Error(`${mode}: ${status} ${body}`);
  return body;
}
