import { expect, it } from 'vitest';
import { openProgram, type Program } from '../support/program.ts';

/** A clock that stands still until everybody who can go on has gone to sleep. */
function createHeldClock(startMs: number) {
  let nowMs = startMs;
  let sleepers: { untilMs: number; wake: () => void }[] = [];
  return {
    clock: {
      now: () => nowMs,
      sleep: (ms: number) =>
        new Promise<void>((wake) => {
          sleepers.push({ untilMs: nowMs + ms, wake });
        }),
    },
    sleeping: () => sleepers.length,
    /** Moves on to the first moment that somebody waits for. */
    advance() {
      nowMs = Math.min(...sleepers.map(({ untilMs }) => untilMs));
      const woken = sleepers.filter(({ untilMs }) => untilMs <= nowMs);
      sleepers = sleepers.filter(({ untilMs }) => untilMs > nowMs);
      for (const { wake } of woken) wake();
    },
  };
}

const CODES = ['KE', 'NG', 'GH', 'ZA', 'EG', 'MA', 'TN', 'UG', 'TZ', 'RW'];
const figureOf = (code: string | undefined) =>
  `{ country(code: "${code}") { observation(metricKey: "population_total") { value } } }`;
const profileOf = (code: string | undefined) => `{ country(code: "${code}") { profile { record } } }`;

/** 40 operations that take nine calls at the least: one for all figures, eight profiles. */
const BURST = Array.from({ length: 40 }, (_, i) =>
  i % 5 === 0 ? profileOf(CODES[i / 5]) : figureOf(CODES[i % 10]),
);

/** Lets the gateway see a per-minute 429 of the free plan, in the minute before. */
async function teachPlan(program: Program) {
  for (const code of CODES.slice(0, 6)) {
    void program.ask(profileOf(code), { key: program.sandbox.keys.free });
    await expect.poll(() => program.sandbox.log.length + 0).toBeGreaterThan(CODES.indexOf(code));
  }
}

/** Asks in one request, so that nothing comes after the time has been moved on. */
async function askAtOnce({ url, sandbox }: Program, queries: readonly string[]) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${sandbox.keys.free}` },
    body: JSON.stringify(queries.map((query) => ({ query }))),
  });
  return (await response.json()) as {
    readonly data: { readonly country: unknown };
    readonly errors?: readonly unknown[];
  }[];
}

it('a burst of 40 operations is answered in two windows, without a refused call', async () => {
  const { clock, sleeping, advance } = createHeldClock(Date.parse('2026-11-21T09:59:30Z'));
  await using program = await openProgram({
    sandbox: { now: clock.now },
    clock,
    env: { RATE_LIMIT_WAIT_MS: '61000', OPERATION_TIMEOUT_MS: '120000', MAX_BATCHED_OPERATIONS: '40' },
  });
  const { sandbox } = program;
  await teachPlan(program);
  await expect.poll(sleeping).toBe(1);
  advance();
  await expect.poll(() => sandbox.log.length).toBe(7);
  expect(new Date(clock.now()).toISOString()).toBe('2026-11-21T10:00:00.000Z');

  sandbox.log.clear();
  const replies = askAtOnce(program, BURST);
  // The call that was left over has taken one of the five of this minute.
  await expect.poll(() => sandbox.log.length).toBe(4);
  await expect.poll(sleeping).toBeGreaterThan(0);
  advance();
  const answered = await replies;

  expect(answered).toHaveLength(BURST.length);
  expect(answered.flatMap(({ errors = [] }) => errors)).toEqual([]);
  expect(answered.every(({ data }) => data.country !== null)).toBe(true);
  expect(sandbox.log.map(({ status }) => status)).toEqual(Array.from({ length: 9 }, () => 200));
  expect(sandbox.log.filter(({ path }) => path === '/v1/data')).toHaveLength(1);
  const windows = new Set(sandbox.log.map(({ receivedAt }) => Math.floor(receivedAt / 60_000)));
  expect(windows.size).toBe(2);
});

it('operations that may not wait are refused at once, and told when to come back', async () => {
  const { clock } = createHeldClock(Date.parse('2026-11-21T10:00:30Z'));
  await using program = await openProgram({ sandbox: { now: clock.now }, clock });
  const { ask, sandbox } = program;
  const key = sandbox.keys.free;
  for (const code of CODES.slice(0, 6)) await ask(profileOf(code), { key });
  sandbox.log.clear();

  const replies = await Promise.all(
    [figureOf('KE'), profileOf('KE'), '{ quota { state minuteResetsAt plan } }'].map((query) =>
      ask(query, { key }),
    ),
  );
  expect(sandbox.log).toHaveLength(0);
  for (const reply of replies.slice(0, 2)) {
    expect(reply.errors[0]?.extensions).toMatchObject({
      code: 'RATE_LIMITED',
      retryable: true,
      plan: 'free',
      requestsPerMinute: 5,
      retryAfterSeconds: 30,
      retryAt: '2026-11-21T10:01:00.000Z',
    });
    expect(reply.headers.get('retry-after')).toBe('30');
    expect(reply.upstream.calls).toBe(0);
  }
  expect(replies[2]?.data.quota).toEqual({
    state: 'MINUTE_SPENT',
    minuteResetsAt: '2026-11-21T10:01:00.000Z',
    plan: 'free',
  });
});
