/** Runs one attack on a new gateway, and prints its outcome as JSON. */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../src/config/config.ts';
import { createGateway, type Gateway } from '../../src/gateway/gateway.ts';
import type { GatewayRequest } from '../../src/graphql/request/requests.ts';
import { plugins } from '../../src/plugins.ts';
import { ATTACKS, type Attack, requestOf, requestsOf } from './attacks.ts';
import { DOOR_ATTACKS, type DoorAttack, openDoors } from './doors.ts';

/** Outcome of an attack. Times are CPU times in milliseconds. */
export interface Suffered {
  readonly requests: number;
  readonly requestBytes: number;
  /** Number of responses by error code, status or `ok`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Of the most expensive request. */
  readonly cpuMs: number;
  /** The longest turn of the event loop. */
  readonly blockMs: number;
  /** Peak growth of the process. */
  readonly peakBytes: number;
  /** Growth of the heap after everything has ended and been collected. */
  readonly retainedBytes: number;
}

const [name = '', upstreamUrl = '', key = ''] = process.argv.slice(2);
const attack = ATTACKS.find((one) => one.name === name);
const atDoor = DOOR_ATTACKS.find((one) => one.name === name);

const result =
  attack !== undefined ? await byOperations(attack) : atDoor !== undefined ? await byDoor(atDoor) : null;
if (result === null) throw new Error(`Unknown attack: ${name}.`);
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exit(0);

async function byOperations(attack: Attack): Promise<Suffered> {
  const gateway = await createGateway({
    config: readConfig({}, plugins),
    plugins,
    upstreamUrl,
    observer: { operation() {}, attempt() {}, problem() {} },
  });
  await warmUp(gateway);
  const requests = [...requestsOf(attack)];
  const bytes = requests.reduce((sum, { body }) => sum + Buffer.byteLength(JSON.stringify(body)), 0);
  return suffer(requests, bytes, async (request) => codesIn(await answerOf(gateway, request)));
}

/** The client runs in the same process, so its cost is included. */
async function byDoor(attack: DoorAttack): Promise<Suffered> {
  const send = await openDoors(upstreamUrl, key);
  const ordinary = DOOR_ATTACKS.filter(({ path, body }) => path.length + (body?.length ?? 0) < 1_000);
  for (let round = 0; round < 30; round += 1) for (const one of ordinary) await send(one);
  // Long bodies are part of the warm-up, since real gateways have received some.
  const long = { ...attack, headers: {}, body: Buffer.from(JSON.stringify({ query: 'x'.repeat(900_000) })) };
  if (attack.body !== undefined) for (let round = 0; round < 5; round += 1) await send(long);
  return suffer([attack], attack.path.length + (attack.body?.length ?? 0), send);
}

async function suffer<Sent>(
  requests: readonly Sent[],
  requestBytes: number,
  send: (request: Sent) => Promise<string>,
): Promise<Suffered> {
  const outcomes: Record<string, number> = {};
  let cpuMs = 0;
  await settle();
  const before = process.memoryUsage();
  const largestBefore = process.resourceUsage().maxRSS * 1024;
  const turns = watchTurns();
  for (const request of requests) {
    const cpu = process.cpuUsage();
    const outcome = await send(request);
    const { user, system } = process.cpuUsage(cpu);
    cpuMs = Math.max(cpuMs, (user + system) / 1000);
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    await nextTurn();
  }
  await sleep(5);
  const blockMs = turns.stop();
  const largest = process.resourceUsage().maxRSS * 1024;
  await settle();
  return {
    requests: requests.length,
    requestBytes,
    outcomes,
    cpuMs,
    blockMs,
    peakBytes: Math.max(0, largest - Math.max(largestBefore, before.rss)),
    retainedBytes: Math.max(0, process.memoryUsage().heapUsed - before.heapUsed),
  };
}

/** Measures the longest turn of the event loop in CPU time, which other processes don't affect. */
function watchTurns(): { stop(): number } {
  let longestMs = 0;
  let last = process.threadCpuUsage();
  const look = () => {
    const { user, system } = process.threadCpuUsage(last);
    longestMs = Math.max(longestMs, (user + system) / 1000);
    last = process.threadCpuUsage();
  };
  const watch = setInterval(look, 1);
  return {
    stop() {
      clearInterval(watch);
      look();
      return longestMs;
    },
  };
}

async function answerOf(gateway: Gateway, request: GatewayRequest): Promise<string> {
  const { body } = await gateway.handle(request);
  if (typeof body === 'string') return body;
  if (Buffer.isBuffer(body)) return body.toString();
  let text = '';
  for await (const part of body) text += part;
  return text;
}

function codesIn(text: string): string {
  const { errors = [] } = JSON.parse(text) as { errors?: { extensions: { code: string } }[] };
  return [...new Set(errors.map(({ extensions }) => extensions.code))].join(' ') || 'ok';
}

/** Has the code compiled, and the heap grown to what ordinary operations need. */
async function warmUp(gateway: Gateway): Promise<void> {
  const queries = [
    '{ country(code: "KE") { name observation(metricKey: "population_total") { value } } }',
    '{ observations(countryCodes: ["KE", "NG"], metricKeys: ["population_total"], latest: true) { value year } }',
    '{ countries { code } }',
  ];
  for (let round = 0; round < 30; round += 1) {
    for (const query of queries) {
      for (const headers of [{}, { 'x-explain': '1' }]) {
        const asked = { query: `${query} # ${round}` };
        await answerOf(gateway, requestOf(asked, { authorization: `Bearer ${key}`, ...headers }));
      }
    }
  }
}

async function settle(): Promise<void> {
  for (let i = 0; i < 3; i += 1) {
    globalThis.gc?.();
    await sleep(10);
  }
}
