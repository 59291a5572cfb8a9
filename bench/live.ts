/**
 * Load test of subscriptions: two gateways as a user starts them, one Redis, one service, and subscribers of three keys
 * over both transports, with the libraries that clients use. Sources run again and again; halfway, one gateway is killed.
 *
 * `npm run live` (`-- --short` takes half a minute) prints its counts. It fails if a subscriber misses a change, or gets one
 * twice or out of order, if there are needless calls, or if memory grows.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startRedis } from '../test/support/redis.ts';
import { type Gateway, startGateway } from './live/gateway.ts';
import { subscribeIdly, subscribeWithoutReading } from './live/readers.ts';
import { METRIC, type Service, startService, until } from './live/service.ts';
import { Subscriber } from './live/subscriber.ts';

const { values: given } = parseArgs({ options: { short: { type: 'boolean', default: false } } });
const size = given.short
  ? { subscribers: 24, rounds: 6, idle: 100, slow: 4, slowRounds: 6 }
  : { subscribers: 200, rounds: 20, idle: 1_000, slow: 20, slowRounds: 20 };

const KEYS = ['demo-team', 'demo-analyst', 'demo-free'] as const;
const NAMES = ['team', 'analyst', 'free'] as const;
const CODES = ['KE', 'NG', 'ZA', 'GH', 'EG', 'ET', 'TZ'];
const POLL_SECONDS = 1;
const MEBIBYTE = 1_048_576;

const problems: string[] = [];
const check = (holds: boolean, words: string) => {
  if (holds) return;
  problems.push(words);
  console.error(words);
};
const print = (name: string, value: string | number) => console.log(`${name.padEnd(62)} ${value}`);

/** Opens subscriptions to one or several countries, spread evenly over keys, transports and gateways. */
function subscribeAll(gateways: readonly Gateway[], isDown: (gateway: Gateway) => boolean): Subscriber[] {
  return Array.from({ length: size.subscribers }, (_, i) => {
    const home = gateways[Math.floor(i / 2) % gateways.length] as Gateway;
    // Subscribers of a key have the same figures at both gateways, so that one call is enough for all of them.
    const first = Math.floor(i / 12) % CODES.length;
    return new Subscriber({
      transport: i % 2 === 0 ? 'ws' : 'sse',
      key: KEYS[i % KEYS.length] ?? KEYS[0],
      codes: CODES.slice(first, first + 1 + (i % 3)),
      url: () => (isDown(home) ? (gateways.find((other) => !isDown(other)) ?? home) : home).url,
    });
  });
}

function count(calls: ReadonlyMap<string, number>, route: string, key: string): number {
  return calls.get(`${route} ${key}`) ?? 0;
}

/** Has the source run, round by round. Every subscriber must get each change, at the cost of one data call per key. */
async function playRounds(service: Service, subscribers: readonly Subscriber[], rounds: readonly number[]) {
  const expected = new Map(subscribers.map((subscriber) => [subscriber, [...subscriber.received]]));
  service.calls();
  const startedAtMs = performance.now();
  let slowestMs = 0;
  for (const round of rounds) {
    const revisedAtMs = performance.now();
    service.revise(round);
    const figures = await service.figures(CODES);
    for (const [subscriber, values] of expected)
      values.push(figures.get(subscriber.codes[0] ?? '') ?? Number.NaN);
    const isUpToDate = await until(() => subscribers.every((subscriber) => subscriber.has(figures)));
    check(isUpToDate, `round ${round}: not every subscriber got the change`);
    slowestMs = Math.max(slowestMs, performance.now() - revisedAtMs);
    // A source that nobody is subscribed to.
    if (round % 5 === 0) service.runAnother();
  }
  await pause(2 * POLL_SECONDS * 1_000);
  const elapsedMs = performance.now() - startedAtMs;
  const calls = service.calls();
  for (const [subscriber, values] of expected) {
    const isExpected = JSON.stringify(subscriber.received) === JSON.stringify(values);
    check(isExpected, `a subscriber got ${subscriber.received.slice(-5)}, expected ${values.slice(-5)}`);
  }
  for (const name of NAMES) {
    const polls = count(calls, '/v1/platform/etl-status', name);
    const most = Math.ceil(elapsedMs / (POLL_SECONDS * 1_000)) + 1;
    print(`${name}: polls of the sources, at most ${most}`, polls);
    check(polls <= most, `${name}: ${polls} polls in ${Math.round(elapsedMs)} ms`);
    const data = count(calls, '/v1/data', name);
    print(`${name}: data calls for ${rounds.length} relevant runs`, data);
    check(data === rounds.length, `${name}: ${data} data calls for ${rounds.length} runs`);
  }
  print('slowest round, from the run to the last subscriber', `${Math.round(slowestMs)} ms`);
}

/** Kills one gateway while sources run. Its subscribers must reconnect to the other one and get the latest figures. */
async function killOne(
  service: Service,
  gateway: Gateway,
  kill: () => void,
  subscribers: readonly Subscriber[],
) {
  const wholes = subscribers.reduce((sum, { wholes: one }) => sum + one, 0);
  await gateway.end('SIGKILL');
  kill();
  const atMs = performance.now();
  service.revise(500);
  await pause(300);
  service.revise(501);
  const figures = await service.figures(CODES);
  const isUpToDate = await until(() => subscribers.every((subscriber) => subscriber.has(figures)), 60_000);
  check(isUpToDate, 'after a gateway was killed, not every subscriber got the latest figures');
  const back = subscribers.reduce((sum, { wholes: one }) => sum + one, 0) - wholes;
  print('subscribers of the killed gateway that reconnected', back);
  check(
    back === subscribers.length / 2,
    `${back} subscribers reconnected, expected ${subscribers.length / 2}`,
  );
  print('from the kill until everybody is up to date', `${Math.round(performance.now() - atMs)} ms`);
}

async function measureIdle(gateway: Gateway) {
  await pause(1_000);
  const [rss, heap] = await memoryOf(gateway);
  const before = await gateway.metric('country_graph_subscriptions');
  const stop = subscribeIdly(gateway.url, KEYS[0], size.idle);
  const areOpen = await until(
    async () => (await gateway.metric('country_graph_subscriptions')) === before + size.idle,
  );
  const open = await gateway.metric('country_graph_subscriptions');
  check(
    areOpen,
    `${open - before} of ${size.idle} idle subscriptions were accepted, in addition to ${before}`,
  );
  await pause(3_000);
  const [rssAfter, heapAfter] = await memoryOf(gateway);
  const each = (bytes: number) => `${(bytes / size.idle / 1_024).toFixed(1)} KiB`;
  print(`resident memory for each of ${size.idle} idle subscriptions`, each(rssAfter - rss));
  print(`heap for each of ${size.idle} idle subscriptions`, each(heapAfter - heap));
  // Uncollected garbage alone is more than a hundred subscriptions take.
  const most = 32 * MEBIBYTE + size.idle * 128 * 1_024;
  check(rssAfter - rss <= most, `${size.idle} idle subscriptions take ${rssAfter - rss} bytes`);
  stop();
  await until(async () => (await gateway.metric('country_graph_subscriptions')) === before);
}

async function memoryOf(gateway: Gateway): Promise<readonly [rss: number, heap: number]> {
  return [
    await gateway.metric('process_resident_memory_bytes'),
    await gateway.metric('nodejs_heap_size_used_bytes'),
  ];
}

/** Opens subscriptions that are never read from, while all their figures change. The gateway's memory must not grow. */
async function measureSlow(service: Service, gateway: Gateway, subscribers: readonly Subscriber[]) {
  const sockets = await Promise.all(
    Array.from({ length: size.slow }, () => subscribeWithoutReading(gateway.url, KEYS[0])),
  );
  const rss: number[] = [];
  for (let round = 0; round < size.slowRounds; round += 1) {
    service.revise(600 + round);
    const figures = await service.figures(CODES);
    await until(() => subscribers.every((subscriber) => subscriber.has(figures)));
    rss.push((await memoryOf(gateway))[0]);
  }
  for (const socket of sockets) socket.destroy();
  const half = Math.floor(rss.length / 2);
  const [before, after] = [Math.max(...rss.slice(0, half)), Math.min(...rss.slice(half))];
  print(
    `resident memory with ${size.slow} stalled readers, MiB`,
    rss.map((bytes) => Math.round(bytes / MEBIBYTE)).join(' '),
  );
  check(after <= before + 64 * MEBIBYTE, `memory grows with stalled readers: ${before} to ${after}`);
}

const redis = await startRedis();
const service = await startService();
const parts = { serviceUrl: service.url, redisUrl: redis.url, pollSeconds: POLL_SECONDS };
const gateways = [await startGateway(parts), await startGateway(parts)] as const;
const [doomed, other] = gateways;
let isKilled = false;
let subscribers: Subscriber[] = [];
try {
  // More calls than the smallest plan allows in a minute, so that gateways learn of a larger one, and poll as often as configured.
  const six = CODES.slice(0, 7).map((code) => `{ country(code: "${code}") { profile { record } } }`);
  for (const key of KEYS) for (const gateway of gateways) await gateway.ask(key, six);
  subscribers = subscribeAll(gateways, (gateway) => isKilled && gateway === doomed);
  const figures = await service.figures(CODES);
  check(
    await until(() => subscribers.every((one) => one.has(figures))),
    'not every subscriber got its first figures',
  );
  print(`subscribers of ${METRIC}`, subscribers.length);
  const half = Math.ceil(size.rounds / 2);
  const rounds = Array.from({ length: size.rounds }, (_, i) => i + 1);
  await playRounds(service, subscribers, rounds.slice(0, half));
  await killOne(service, doomed, () => (isKilled = true), subscribers);
  await pause(6_000);
  await playRounds(service, subscribers, rounds.slice(half));
  await measureIdle(other);
  await measureSlow(service, other, subscribers);
  for (const problem of new Set(subscribers.flatMap((subscriber) => subscriber.problems)))
    check(false, problem);
} finally {
  for (const subscriber of subscribers) subscriber.stop();
  for (const gateway of gateways) await gateway.end();
  await service.close();
  await redis.kill();
}
console.log(problems.length === 0 ? 'All checks passed.' : `${problems.length} problems.`);
process.exitCode = problems.length === 0 ? 0 : 1;
