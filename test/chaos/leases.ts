/**
 * `npm run leases`: nobody waits long for the calls of others. Prints the figures, and ends with exit code 1 if a bound is
 * exceeded, or an operation fails.
 *
 * `--kills 6` times, a worker of three is killed while operations share their figures, over a Redis and over the file of the
 * run: no operation of the others waits for more than a second beyond the service's own time.
 *
 * A busy machine is late by itself: by as much as operations that ask for nothing, which are sent all the while, an operation may
 * be later. `--seed 1` repeats the draws.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { Dice } from '../execution/dice.ts';
import { childrenOf } from '../support/descendants.ts';
import { startRedis } from '../support/redis.ts';
import { type Serving, startServing } from '../support/serving.ts';
import {
  ALL_TEXT,
  ask,
  HUNG,
  PROFILE_TEXTS,
  startProbes,
  startTimedLoad,
  type Timed,
  varyLatency,
} from './timed-load.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '6' },
    rate: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    verbose: { type: 'boolean', default: false },
  },
});

/** The longest that anybody waits for a worker that was killed. */
const MOST_WAIT_MS = 1_000;

/** Pause between two kills: a new worker has taken the place of the old one by then. */
const BETWEEN_KILLS_MS = 4_000;

/** An operation that is sent so shortly after a kill may have been handed to the worker that is gone. */
const HANDED_OVER_MS = 250;

/** Figures are held so briefly that they are asked for again and again. */
const ENV = { CACHE_TTL_SECONDS: '3', STALE_IF_ERROR_SECONDS: '0', LOG_LEVEL: 'error', GRAPHIQL: 'off' };

const unlimited = { requestsPerMinute: 1e9, monthlyRequests: 1e12 };
const sandbox = createSandbox({ plans: { team: unlimited, analyst: unlimited } });
const { url: COUNTRY_DATA_URL } = await sandbox.listen();
const keys = [sandbox.keys.team, sandbox.keys.analyst];
const dice = new Dice(Number(values.seed));

const seconds = (ms: number) => `${Math.round(ms)} ms`;
const say = (name: string, value: string | number) => console.log(`${name.padEnd(62)} ${value}`);

function check(holds: boolean, name: string, value: string): void {
  if (!holds) process.exitCode = 1;
  say(`${holds ? '' : 'DOES NOT HOLD: '}${name}`, value);
}

async function start(env: Readonly<Record<string, string>>): Promise<Serving & AsyncDisposable> {
  const serving = await startServing({
    env: { COUNTRY_DATA_URL, ...ENV, ...env },
    nodeArgs: ['--max-semi-space-size=64'],
    isLogKept: true,
  });
  const { child } = serving;
  return Object.assign(serving, {
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
    },
  });
}

/** Has everything loaded that is loaded once, and each key make more calls than the smallest plan has: else they go one by one. */
async function warmUp(urls: readonly string[]): Promise<void> {
  for (const key of keys)
    for (const url of urls)
      for (const text of [...PROFILE_TEXTS, ...Array.from({ length: 10 }, () => ALL_TEXT)]) {
        const { fault } = await ask(url, key, text);
        if (fault !== null) throw new Error(fault);
      }
}

function tellOf(timed: readonly Timed[]): void {
  say('operations', timed.length);
  say(
    'calls of the service',
    timed.reduce((sum, { calls }) => sum + calls, 0),
  );
  say('operations that took part in a call of others', timed.filter(({ shared }) => shared > 0).length);
}

/** Kills one of three workers, so many times. */
async function kills(name: string, cacheUrl: string): Promise<void> {
  console.log(`\nThree workers ${name}, one of which is killed ${values.kills} times`);
  await using serving = await start({ WORKERS: '3', CACHE_URL: cacheUrl });
  const urls = [serving.url];
  await warmUp(urls);
  const latency = varyLatency(sandbox, dice);
  const probes = startProbes(urls);
  const load = startTimedLoad({ urls, keys, perSecond: 2 * Number(values.rate), dice });
  const killedAtMs: number[] = [];
  for (let i = 0; i < Number(values.kills); i += 1) {
    await pause(BETWEEN_KILLS_MS + dice.below(MOST_WAIT_MS));
    const pid = dice.pick(childrenOf(serving.child.pid));
    process.kill(pid, 'SIGKILL');
    killedAtMs.push(performance.now());
  }
  await pause(BETWEEN_KILLS_MS);
  const timed = await load.stop();
  latency.stop();
  probes.stop();
  sandbox.faults.clear();
  tellOf(timed);
  const killWithin = ({ startMs, endMs }: Timed) =>
    killedAtMs.findLast((atMs) => atMs > startMs - HANDED_OVER_MS && atMs < endMs);
  const lost = timed.filter((it) => it.fault !== null && killWithin(it) !== undefined);
  const answered = timed.filter((it) => it.fault === null);
  const met = answered.filter((it) => killWithin(it) !== undefined);
  say('operations lost with the workers that had them', lost.length);
  // The connection was on its way to a worker as that was killed, and nobody closes it.
  say('of these, neither answered nor cut', lost.filter(({ fault }) => fault === HUNG).length);
  say('operations of the others that were under way at a kill', met.length);
  // Up to the kill nothing is lost: the call that was waited for was on its way.
  const waited = (it: Timed) =>
    it.endMs - Math.max(it.startMs, killWithin(it) ?? it.startMs) - latency.ownMs(it);
  const inAll = Math.max(...answered.map((it) => it.endMs - it.startMs - latency.ownMs(it)));
  say("longest beyond the service's own time, from the operation's begin", seconds(inAll));
  say('longest that an operation took which asked for nothing', seconds(probes.mostMs()));
  tellSlowest(answered, waited, latency.ownMs);
  const most = Math.max(...answered.map(waited));
  say("longest beyond the service's own time, from the kill", seconds(most));
  const slow = answered.filter((it) => waited(it) > 0);
  const itself = Math.max(0, ...slow.map((it) => waited(it) - probes.besideMs(it)));
  check(itself <= MOST_WAIT_MS, 'the same without the time that the machine was late', seconds(itself));
  checkFaults(timed.filter((it) => it.fault !== null && !lost.includes(it)));
}

function tellSlowest(timed: readonly Timed[], by: (it: Timed) => number, ownMs: (it: Timed) => number): void {
  if (!values.verbose) return;
  for (const it of timed.toSorted((a, b) => by(b) - by(a)).slice(0, 8))
    console.log(
      `  ${seconds(it.endMs - it.startMs)} of ${ownMs(it)}, ${it.calls} calls, ${it.shared} shared, at ${seconds(it.startMs)}: ${it.text}`,
    );
}

function checkFaults(faults: readonly Timed[]): void {
  check(faults.length === 0, 'operations that failed', String(faults.length));
  for (const { fault } of faults.slice(0, 5)) console.log(`  ${fault}`);
}

await kills('over the file of their run', 'memory:');
{
  await using redis = await startRedis();
  await kills('over one Redis', redis.url);
}
await sandbox.close();
console.log(process.exitCode === 1 ? 'Not all of it holds.' : 'All of it holds.');
