import { describe, expect, it, vi } from 'vitest';
import { Deadline } from '../../src/service/deadline.ts';
import { systemClock } from '../../src/shared/async/clock.ts';
import { heldTimers } from '../support/held-timers.ts';
import { movingClock } from '../support/moving-clock.ts';
import { openProgram } from '../support/program.ts';
import { roundTrips, settled } from '../support/quiet.ts';
import { openTimedProgram } from '../support/timed-program.ts';

describe('a deadline', () => {
  function open(timeoutMs = 1_000) {
    const client = new AbortController();
    let asked = 0;
    const request = {
      get signal() {
        asked += 1;
        return client.signal;
      },
    };
    const deadline = new Deadline(timeoutMs, request, systemClock.after);
    return { client, deadline, asked: () => asked };
  }

  it('a deadline sets no timer before the operation waits, nor leaves one behind', () => {
    vi.useFakeTimers();
    try {
      const { deadline, asked } = open();
      expect([vi.getTimerCount(), asked()]).toEqual([0, 0]);
      deadline.start();
      deadline.start();
      expect([vi.getTimerCount(), asked()]).toEqual([1, 1]);
      deadline.stop();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('a deadline counts from when the operation came, and says which setting it is', () => {
    vi.useFakeTimers();
    try {
      const { deadline } = open();
      vi.advanceTimersByTime(700);
      deadline.start();
      vi.advanceTimersByTime(299);
      expect(deadline.signal.aborted).toBe(false);
      vi.advanceTimersByTime(1);
      expect(deadline.signal.reason).toMatchObject({
        code: 'OPERATION_TIMEOUT',
        retryable: true,
        message: expect.stringContaining('1000 ms that it may (OPERATION_TIMEOUT_MS)'),
      });
    } finally {
      vi.useRealTimers();
    }
  });

  it.each(['before', 'after'])(
    'a deadline ends with the client that leaves %s the operation waits',
    (when) => {
      const { client, deadline } = open();
      const reason = new Error('left');
      if (when === 'before') client.abort(reason);
      deadline.start();
      client.abort(reason);
      expect(deadline.signal.reason).toBe(reason);
      deadline.stop();
    },
  );
});

const QUERY =
  'query ($figure: String!) { country(code: "KE") { name profile { record } observation(metricKey: $figure) { value } } }';
const TIMEOUT_MS = 60_000;
const TIMEOUTS = { OPERATION_TIMEOUT_MS: String(TIMEOUT_MS), UPSTREAM_TIMEOUT_MS: String(2 * TIMEOUT_MS) };
const figure = { variables: { figure: 'population_total' } };
const codesOf = (reply: { errors: readonly { extensions: { code: string } }[] }) =>
  reply.errors.map(({ extensions }) => extensions.code);
type Log = Awaited<ReturnType<typeof openProgram>>['sandbox']['log'];
const answeredIn = (log: Log) => log.filter(({ status }) => status !== null).length;

describe.each(['', '__schema { queryType { name } }'])('an operation past its time (%s)', (further) => {
  const query = QUERY.replace('{', `{ ${further} `);

  it('an operation past its time fails what has not come, keeps what was there, and sends nothing more', async () => {
    await using program = await openProgram({ env: TIMEOUTS });
    const { ask, sandbox, timers } = program;
    sandbox.faults.set({ route: '/v1/countries/{code}/profile', kind: 'hang' });
    const asked = ask(query, figure);
    await expect.poll(() => [sandbox.log.length, answeredIn(sandbox.log)]).toEqual([3, 2]);
    await roundTrips(program);
    timers.pass(TIMEOUT_MS);
    const reply = await asked;
    expect(reply.data.country).toEqual({
      name: 'Kenya',
      profile: null,
      observation: { value: expect.any(Number) },
    });
    expect(reply.errors).toMatchObject([
      {
        path: ['country', 'profile'],
        message: expect.stringContaining('OPERATION_TIMEOUT_MS'),
        extensions: { code: 'OPERATION_TIMEOUT', retryable: true },
      },
    ]);
    expect(reply.upstream.calls).toBe(3);
    expect(sandbox.log).toHaveLength(3);
    expect(program.problems).toEqual([]);
  });

  it('an operation past its time sends nothing below what came too late', async () => {
    await using program = await openProgram({ env: TIMEOUTS });
    const { ask, sandbox, timers } = program;
    const countries = Promise.withResolvers<void>();
    sandbox.faults.set({ route: '/v1/countries', kind: 'paused', until: countries.promise });
    const asked = ask(`{ ${further} countries { name profile { record } } }`);
    await expect.poll(() => sandbox.log.length).toBe(1);
    timers.pass(TIMEOUT_MS);
    expect(codesOf(await asked)).toEqual(['OPERATION_TIMEOUT']);
    countries.resolve();
    await settled(program);
    expect(sandbox.log.map(({ route }) => route)).toEqual(['/v1/countries']);
  });

  it('an operation past its time gives up its retries', async () => {
    const timers = heldTimers(0);
    const clock = { ...systemClock, after: timers.after };
    await using program = await openProgram({ clock, env: { ...TIMEOUTS, UPSTREAM_RETRIES: '20' } });
    const { ask, sandbox } = program;
    sandbox.faults.set({ kind: 'status', status: 503, body: { detail: 'down' } });
    const asked = ask(`{ ${further} sources { key } }`);
    for (const attempts of [1, 2]) {
      // The time until the next attempt.
      const waits = () => timers.left().filter((ms) => ms < 1_000).length;
      await expect.poll(() => [answeredIn(sandbox.log), waits()]).toEqual([attempts, 1]);
      if (attempts === 1) timers.pass(100);
    }
    timers.pass(TIMEOUT_MS);
    const reply = await asked;
    expect(codesOf(reply)).toEqual(['OPERATION_TIMEOUT']);
    expect(reply.upstream.calls).toBe(2);
    await settled(program);
    expect(sandbox.log).toHaveLength(2);
  });
});

it('figures that came in time stay, though others of the same field did not', async () => {
  await using program = await openProgram({ env: { ...TIMEOUTS, CODES_PER_CALL: '1' } });
  const { sandbox } = program;
  sandbox.faults.set({ kind: 'hang', when: ({ country_codes }) => country_codes === 'NG' });
  const asked = program.ask(
    '{ countries(codes: ["KE", "NG"]) { observation(metricKey: "population_total") { value } } }',
  );
  await expect.poll(() => [sandbox.log.length, answeredIn(sandbox.log)]).toEqual([2, 1]);
  await roundTrips(program);
  program.timers.pass(TIMEOUT_MS);
  const reply = await asked;
  expect(reply.data.countries).toEqual([
    { observation: { value: expect.any(Number) } },
    { observation: null },
  ]);
  expect(codesOf(reply)).toEqual(['OPERATION_TIMEOUT']);
  expect(reply.upstream.calls).toBe(2);
});

it.each([
  ['a figure', '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }'],
  ['a list', '{ sources { key } }'],
])('a call that another operation waits for goes on: %s', async (_, query) => {
  // The second is asked when half of the time of the first is over, and has as much left when the call comes.
  const { clock, pass, timers } = movingClock(Date.parse('2026-03-10T12:00:30Z'));
  await using program = await openProgram({ clock, env: TIMEOUTS });
  const { ask, sandbox } = program;
  const call = Promise.withResolvers<void>();
  sandbox.faults.set({ kind: 'paused', until: call.promise });
  const first = ask(query);
  await expect.poll(() => sandbox.log.length).toBe(1);
  pass(30);
  const before = timers.left().length;
  const waiting = ask(query);
  await expect.poll(() => timers.left().length).toBe(before + 1);
  await settled(program);
  pass(30);
  expect(codesOf(await first)).toEqual(['OPERATION_TIMEOUT']);
  call.resolve();
  const second = await waiting;
  expect(second.errors).toEqual([]);
  expect(second.upstream).toMatchObject({ calls: 0, shared: 1 });
  expect(sandbox.log).toHaveLength(1);
});

it('what is held past its time answers where the new has not come', async () => {
  await using program = await openTimedProgram({ env: TIMEOUTS });
  const { ask, sandbox } = program;
  const fresh = await ask(QUERY, figure);
  program.pass(1_000);
  sandbox.faults.set({ kind: 'hang' });
  sandbox.log.clear();
  const asked = ask(QUERY, figure);
  await expect.poll(() => sandbox.log.length).toBeGreaterThan(0);
  program.timers.pass(TIMEOUT_MS);
  const old = await asked;
  expect([old.data, old.errors]).toEqual([fresh.data, []]);
  expect(old.upstream.stale?.map(({ code }) => code)).toContain('OPERATION_TIMEOUT');
});

it('no minute window is waited for that begins later', async () => {
  const nowMs = Date.parse('2026-11-21T10:00:30Z');
  const clock = { now: () => nowMs, sleep: () => new Promise<void>(() => {}) };
  const env = { RATE_LIMIT_WAIT_MS: '60000', OPERATION_TIMEOUT_MS: '29999' };
  await using program = await openProgram({ clock, sandbox: { now: clock.now }, env });
  const { ask, sandbox } = program;
  const key = sandbox.keys.free;
  for (let i = 0; i < 5; i += 1) await ask(QUERY, { key, ...figure });
  sandbox.log.clear();
  const reply = await ask('{ sources { key } }', { key });
  expect(codesOf(reply)).toEqual(['RATE_LIMITED']);
  expect([reply.upstream.calls, sandbox.log.length]).toEqual([0, 0]);
});

it('a wait for the minute ends with the time of the operation', async () => {
  const nowMs = Date.parse('2026-11-21T10:00:59.900Z');
  const clock = { now: () => nowMs, sleep: () => new Promise<void>(() => {}) };
  const env = { RATE_LIMIT_WAIT_MS: '60000', ...TIMEOUTS };
  await using program = await openProgram({ clock, sandbox: { now: clock.now }, env });
  const { ask, sandbox, timers } = program;
  sandbox.faults.set({ kind: 'status', status: 429, body: { detail: 'rate limit: 5 requests per minute' } });
  const asked = Promise.all([
    ask('{ sources { key } }'),
    ask('{ country(code: "KE") { observation(metricKey: "population_total") { value } } }'),
  ]);
  // Deadlines alone.
  await expect.poll(() => [answeredIn(sandbox.log) > 0, timers.left().length]).toEqual([true, 2]);
  await settled(program);
  timers.pass(TIMEOUT_MS);
  const [list, observation] = await asked;
  expect([codesOf(list), codesOf(observation)]).toEqual([['OPERATION_TIMEOUT'], ['OPERATION_TIMEOUT']]);
});
