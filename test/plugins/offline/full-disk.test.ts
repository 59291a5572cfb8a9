import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import type { FillOptions } from '../../../src/plugins/offline/fill.ts';
import { createDice } from '../../oracle/dice.ts';
import { runCommand } from '../../support/command.ts';
import { openProgram, type ProgramOptions } from '../../support/program.ts';
import { startSandbox } from '../../support/sandbox-service.ts';
import { fillApart } from './filling.ts';

const folder = await mkdtemp(join(tmpdir(), 'country-graph-full-disk-'));
afterAll(() => rm(folder, { recursive: true }));

/** What is stored by a call each, so that what is asked for twice was not there. */
const SELECTION: FillOptions = { all: true, latest: true, records: true, yes: true, plan: 'team' };

/** Room of the disk in each run, and whether it is killed. All of it takes some 8,000 kB. */
const RUNS = [
  { roomKb: 64, isKilled: false },
  { roomKb: 1_000, isKilled: false },
  { roomKb: 2_000, isKilled: true },
  { roomKb: 4_000, isKilled: false },
  { roomKb: 4_500, isKilled: true },
  { roomKb: 5_000, isKilled: true },
  { roomKb: 5_500, isKilled: false },
];

const QUERIES = [
  '{ countries { code observations(latest: true) { indicator { key } year value } } }',
  '{ countries { code profile { record } signals { record } offices { record } } tickers { symbol } sources { key } }',
];

it('a fill of a disk that fills up, killed at drawn instants, says so, spends no further call, and has lost nothing that it said to be stored', async () => {
  const clock = { nowMs: Date.parse('2030-03-10T12:00:00Z') };
  await using sandbox = await startSandbox({ now: () => clock.nowMs });
  const { team: key } = sandbox.keys;
  const env = {
    COUNTRY_DATA_URL: sandbox.url,
    CACHE_URL: `sqlite:${join(folder, 'full.db')}`,
    COUNTRY_DATA_KEY: key,
  };
  const everAsked = new Set<string>();
  /** Calls that were not said to be stored, each of which may be sent once more. Calls may end in another order than they began. */
  let unsaid = 0;

  /** Runs the fill; returns what it has asked for, and how much of that it said to be stored. */
  async function run(nth: number, { roomKb, isKilled }: { roomKb?: number; isKilled?: boolean }) {
    sandbox.log.clear();
    const ended = new AbortController();
    const filling = fillApart({
      options: SELECTION,
      env,
      clock,
      ...(roomKb !== undefined && { roomKb }),
      ...(isKilled && { killed: instantOf(nth, ended.signal) }),
    });
    const { code, signal, stdout, stderr } = await filling.finally(() => ended.abort());
    const asked = sandbox.log.map(({ path, query }) => `${path} ${JSON.stringify(query)}`);
    const again = asked.filter((target) => everAsked.has(target));
    expect([again.length <= unsaid, again]).toEqual([true, again]);
    const said = stderr.match(/^\d+ of \d+ calls/gm)?.length ?? 0;
    unsaid += asked.length - said - again.length;
    for (const target of asked) everAsked.add(target);
    return { code, signal, stdout, asked: asked.length, said };
  }

  /** Settles once a drawn number of calls has come, and a drawn time after that. */
  async function instantOf(nth: number, signal: AbortSignal) {
    const dice = createDice('full disk', nth);
    const calls = dice.between(1, 40);
    while (sandbox.log.length < calls && !signal.aborted) await delay(1);
    await delay(dice.between(0, 20));
  }

  for (const [nth, { roomKb, isKilled }] of RUNS.entries()) {
    const { code, signal, stdout, asked, said } = await run(nth, { roomKb, isKilled });
    if (signal === 'SIGKILL') continue;
    expect([code, asked - said]).toEqual([1, 1]);
    expect(stdout).toContain(
      `CACHE_URL could not take what has come: is the disk of ${env.CACHE_URL.slice('sqlite:'.length)} full?`,
    );
  }
  const last = await run(RUNS.length, {});
  expect([last.code, last.said]).toEqual([0, last.asked]);
  expect(everAsked.size).toBeGreaterThan(last.asked);
  expect(unsaid).toBe(0);
  await sandbox.close();

  const asked = async (options: ProgramOptions) => {
    await using program = await openProgram({
      clock: { now: () => clock.nowMs, sleep: async () => {} },
      ...options,
    });
    const replies = [];
    for (const query of QUERIES) {
      const { data, errors, upstream } = await program.ask(query, { key });
      replies.push({ data, errors, isFree: upstream.calls === 0 });
    }
    return replies;
  };
  const online = await asked({ env: { CACHE_URL: 'memory:', MAX_UPSTREAM_CALLS: '400' } });
  const offline = await asked({
    upstreamUrl: 'http://127.0.0.1:9',
    env: { CACHE_URL: env.CACHE_URL, OFFLINE: 'on', MAX_UPSTREAM_CALLS: '400' },
  });
  expect(offline).toEqual(online.map((reply) => ({ ...reply, errors: [], isFree: true })));
}, 300_000);

it.each([0, 16, 32])(
  'a fill of a disk with %i kB of room left says in one line which file has none and what to do, and sends nothing',
  async (roomKb) => {
    await using sandbox = await startSandbox();
    const path = join(folder, `${roomKb} kB.db`);
    const limited = `ulimit -f ${2 * roomKb} && exec "$0" "$@"`;
    const args = [limited, process.execPath, 'bin/country-graph.cjs', 'fill', '--all', '--yes'];
    const env = {
      COUNTRY_DATA_URL: sandbox.url,
      CACHE_URL: `sqlite:${path}`,
      COUNTRY_DATA_KEY: sandbox.keys.team,
    };
    const { code, stdout, stderr } = await runCommand(args, { node: 'sh', bin: '-c', env });
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      `CACHE_URL: ${path}.keys can't be written (disk I/O error): is its disk full? Make room on it, and start again.\n`,
    ]);
    expect([...sandbox.log]).toEqual([]);
  },
);
