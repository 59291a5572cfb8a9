import { describe, expect, it, vi } from 'vitest';
import { Deadline } from '../../src/service/deadline.ts';
import { openProgram } from '../support/program.ts';

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
    const deadline = new Deadline(timeoutMs, request);
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
/** Long enough for calls in time, though they all run beside each other on a busy machine. */
const SHORT = { OPERATION_TIMEOUT_MS: '4000' };
const figure = { variables: { figure: 'population_total' } };
const codesOf = (reply: { errors: readonly { extensions: { code: string } }[] }) =>
  reply.errors.map(({ extensions }) => extensions.code);

describe.concurrent.each(['', '__schema { queryType { name } }'])(
  'an operation past its time (%s)',
  (further) => {
    const query = QUERY.replace('{', `{ ${further} `);

    it('an operation past its time fails what has not come, keeps what was there, and sends nothing more', async () => {
      await using program = await openProgram({ env: SHORT });
      const { ask, sandbox } = program;
      sandbox.faults.set({ route: '/v1/countries/{code}/profile', kind: 'hang' });
      const reply = await ask(query, figure);
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
      await using program = await openProgram({ env: SHORT });
      const { ask, sandbox } = program;
      const countries = Promise.withResolvers<void>();
      sandbox.faults.set({ route: '/v1/countries', kind: 'paused', until: countries.promise });
      const reply = await ask(`{ ${further} countries { name profile { record } } }`);
      expect(codesOf(reply)).toEqual(['OPERATION_TIMEOUT']);
      countries.resolve();
      await new Promise((later) => setTimeout(later, 500));
      expect(sandbox.log.map(({ route }) => route)).toEqual(['/v1/countries']);
    });

    it('an operation past its time gives up its retries', async () => {
      await using program = await openProgram({ env: { ...SHORT, UPSTREAM_RETRIES: '20' } });
      const { ask, sandbox } = program;
      sandbox.faults.set({ kind: 'status', status: 503, body: { detail: 'down' } });
      const reply = await ask(`{ ${further} sources { key } }`);
      expect(codesOf(reply)).toEqual(['OPERATION_TIMEOUT']);
      const sent = sandbox.log.length;
      expect(reply.upstream.calls).toBe(sent);
      await new Promise((later) => setTimeout(later, 500));
      expect(sandbox.log).toHaveLength(sent);
    });
  },
);

it.concurrent('figures that came in time stay, though others of the same field did not', async () => {
  await using program = await openProgram({ env: { ...SHORT, CODES_PER_CALL: '1' } });
  program.sandbox.faults.set({ kind: 'hang', when: ({ country_codes }) => country_codes === 'NG' });
  const reply = await program.ask(
    '{ countries(codes: ["KE", "NG"]) { observation(metricKey: "population_total") { value } } }',
  );
  expect(reply.data.countries).toEqual([
    { observation: { value: expect.any(Number) } },
    { observation: null },
  ]);
  expect(codesOf(reply)).toEqual(['OPERATION_TIMEOUT']);
  expect(reply.upstream.calls).toBe(2);
});

it.concurrent.each([
  ['a figure', '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }'],
  ['a list', '{ sources { key } }'],
])('a call that another operation waits for goes on: %s', async (_, query) => {
  // The second is asked when half of the time of the first is over, and has as much left when the call comes.
  await using program = await openProgram({ env: { OPERATION_TIMEOUT_MS: '6000' } });
  const { ask, sandbox } = program;
  const call = Promise.withResolvers<void>();
  sandbox.faults.set({ kind: 'paused', until: call.promise });
  const first = ask(query);
  while (sandbox.log.length === 0) await new Promise((later) => setTimeout(later, 5));
  await new Promise((later) => setTimeout(later, 3_000));
  const waiting = ask(query);
  expect(codesOf(await first)).toEqual(['OPERATION_TIMEOUT']);
  call.resolve();
  const second = await waiting;
  expect(second.errors).toEqual([]);
  expect(second.upstream).toMatchObject({ calls: 0, shared: 1 });
  expect(sandbox.log).toHaveLength(1);
});

it.concurrent('what is held past its time answers where the new has not come', async () => {
  let nowMs = Date.parse('2026-03-10T12:00:30Z');
  const clock = { now: () => nowMs, sleep: async () => {} };
  const env = { ...SHORT, CACHE_URL: 'memory:', CACHE_RENEWAL: 'off' };
  await using program = await openProgram({ clock, env });
  const { ask, sandbox } = program;
  const fresh = await ask(QUERY, figure);
  nowMs += 1_000_000;
  sandbox.faults.set({ kind: 'hang' });
  const old = await ask(QUERY, figure);
  expect([old.data, old.errors]).toEqual([fresh.data, []]);
  expect(old.upstream.stale?.map(({ code }) => code)).toContain('OPERATION_TIMEOUT');
});

it.concurrent('no minute window is waited for that begins later', async () => {
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

it.concurrent('a wait for the minute ends with the time of the operation', async () => {
  const nowMs = Date.parse('2026-11-21T10:00:59.900Z');
  const clock = { now: () => nowMs, sleep: () => new Promise<void>(() => {}) };
  const env = { RATE_LIMIT_WAIT_MS: '60000', ...SHORT };
  await using program = await openProgram({ clock, sandbox: { now: clock.now }, env });
  const { ask, sandbox } = program;
  sandbox.faults.set({ kind: 'status', status: 429, body: { detail: 'rate limit: 5 requests per minute' } });
  const [list, observation] = await Promise.all([
    ask('{ sources { key } }'),
    ask('{ country(code: "KE") { observation(metricKey: "population_total") { value } } }'),
  ]);
  expect([codesOf(list), codesOf(observation)]).toEqual([['OPERATION_TIMEOUT'], ['OPERATION_TIMEOUT']]);
});
