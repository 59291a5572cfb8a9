/**
 * Subscriptions at size: two gateways as a user starts them, one Redis, one service, and subscribers of three
 * keys over both transports, by the libraries that clients use. The sources run again and again; in the
 * middle one gateway is killed.
 *
 * `npm run live` (`-- --short` in half a minute) prints its counts, and fails if a subscriber has missed a
 * change or was told of one twice or out of order, if calls were spent that need not have been, or if memory
 * grows.
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
const say = (name: string, value: string | number) => console.log(`${name.padEnd(62)} ${value}`);

/** Each third of a key, each second by a transport, each fourth at a gateway; of one country or several. */
function subscribeAll(gateways: readonly Gateway[], isDown: (gateway: Gateway) => boolean): Subscriber[] {
  return Array.from({ length: size.subscribers }, (_, i) => {
    const home = gateways[Math.floor(i / 2) % gateways.length] as Gateway;
    // Gives subscribers of a key the same figures at both gateways, so that one call is enough for all of
    // them.
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

/** The sources run, round by round; every subscriber is told of each, and each key pays for one call. */
async function playRounds(service: Service, subscribers: readonly Subscriber[], rounds: readonly number[]) {
  const expected = new Map(subscribers.map((subscriber) => [subscriber, [...subscriber.told]]));
  service.calls();
  const startedAtMs = performance.now();
  let slowestMs = 0;
  for (const round of rounds) {
    const revisedAtMs = performance.now();
    service.revise(round);
    const figures = await service.figures(CODES);
    for (const [subscriber, told] of expected)
      told.push(figures.get(subscriber.codes[0] ?? '') ?? Number.NaN);
    const isTold = await until(() => subscribers.every((subscriber) => subscriber.knows(figures)));
    check(isTold, `round ${round}: not every subscriber was told of the change`);
    slowestMs = Math.max(slowestMs, performance.now() - revisedAtMs);
    // One that concerns nobody.
    if (round % 5 === 0) service.runAnother();
  }
  await pause(2 * POLL_SECONDS * 1_000);
  const elapsedMs = performance.now() - startedAtMs;
  const calls = service.calls();
  for (const [subscriber, told] of expected) {
    const isAsTold = JSON.stringify(subscriber.told) === JSON.stringify(told);
    check(isAsTold, `a subscriber was told ${subscriber.told.slice(-5)}, and not ${told.slice(-5)}`);
  }
  for (const name of NAMES) {
    const looks = count(calls, '/v1/platform/etl-status', name);
    const most = Math.ceil(elapsedMs / (POLL_SECONDS * 1_000)) + 1;
    say(`${name}: looks at the sources, of ${most} at the most`, looks);
    check(looks <= most, `${name}: ${looks} looks in ${Math.round(elapsedMs)} ms`);
    const data = count(calls, '/v1/data', name);
    say(`${name}: data calls for ${rounds.length} runs that mattered`, data);
    check(data === rounds.length, `${name}: ${data} data calls for ${rounds.length} runs`);
  }
  say('slowest from a run of the source to the last subscriber', `${Math.round(slowestMs)} ms`);
}

/**
 * One gateway is killed while sources run: its subscribers come back to the other and know the latest
 * figures.
 */
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
  const isTold = await until(() => subscribers.every((subscriber) => subscriber.knows(figures)), 60_000);
  check(isTold, 'after a gateway was killed, not every subscriber knows what the service has');
  const back = subscribers.reduce((sum, { wholes: one }) => sum + one, 0) - wholes;
  say('subscribers of the killed gateway that came back', back);
  check(back === subscribers.length / 2, `${back} subscribers came back, and not ${subscribers.length / 2}`);
  say('from the kill until everybody knows what is true', `${Math.round(performance.now() - atMs)} ms`);
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
  check(areOpen, `${open - before} of ${size.idle} idle subscriptions were taken, beside ${before}`);
  await pause(3_000);
  const [rssAfter, heapAfter] = await memoryOf(gateway);
  const each = (bytes: number) => `${(bytes / size.idle / 1_024).toFixed(1)} KiB`;
  say(`each of ${size.idle} idle subscriptions, by resident memory`, each(rssAfter - rss));
  say(`each of ${size.idle} idle subscriptions, by the heap`, each(heapAfter - heap));
  // A process that has collected its garbage or not differs by more than a hundred subscriptions.
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

/** Clients that read nothing, while every figure that they asked for changes. */
async function measureSlow(service: Service, gateway: Gateway, subscribers: readonly Subscriber[]) {
  const sockets = await Promise.all(
    Array.from({ length: size.slow }, () => subscribeWithoutReading(gateway.url, KEYS[0])),
  );
  const rss: number[] = [];
  for (let round = 0; round < size.slowRounds; round += 1) {
    service.revise(600 + round);
    const figures = await service.figures(CODES);
    await until(() => subscribers.every((subscriber) => subscriber.knows(figures)));
    rss.push((await memoryOf(gateway))[0]);
  }
  for (const socket of sockets) socket.destroy();
  const half = Math.floor(rss.length / 2);
  const [before, after] = [Math.max(...rss.slice(0, half)), Math.min(...rss.slice(half))];
  say(
    `resident memory with ${size.slow} readers that read nothing, MiB`,
    rss.map((bytes) => Math.round(bytes / MEBIBYTE)).join(' '),
  );
  check(
    after <= before + 64 * MEBIBYTE,
    `memory grows with readers that read nothing: ${before} to ${after}`,
  );
}

const redis = await startRedis();
const service = await startService();
const parts = { serviceUrl: service.url, redisUrl: redis.url, pollSeconds: POLL_SECONDS };
const gateways = [await startGateway(parts), await startGateway(parts)] as const;
const [doomed, other] = gateways;
let isKilled = false;
let subscribers: Subscriber[] = [];
try {
  // More calls than the smallest plan allows in a minute, so that looks are as frequent as the setting says.
  const six = CODES.slice(0, 7).map((code) => `{ country(code: "${code}") { profile { record } } }`);
  for (const key of KEYS) for (const gateway of gateways) await gateway.ask(key, six);
  subscribers = subscribeAll(gateways, (gateway) => isKilled && gateway === doomed);
  const figures = await service.figures(CODES);
  check(
    await until(() => subscribers.every((one) => one.knows(figures))),
    'not everybody was told the whole',
  );
  say(`subscribers of ${METRIC}`, subscribers.length);
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
console.log(problems.length === 0 ? 'All of it holds.' : `${problems.length} faults.`);
process.exitCode = problems.length === 0 ? 0 : 1;
