import { describe, expect, it, vi } from 'vitest';
import { createLedger } from '../../src/keys/ledger.ts';
import type { AttemptsParts } from '../../src/service/attempts.ts';
import { openBill } from '../../src/service/bill.ts';
import type { Answer, Call, Send } from '../../src/service/call.ts';
import { coalescedStage } from '../../src/service/coalescing.ts';
import { CallGate } from '../../src/service/gate.ts';
import { createPacing } from '../../src/service/pacing.ts';
import { payerOf } from '../../src/service/payer.ts';
import { createRetries } from '../../src/service/retries.ts';
import { systemClock } from '../../src/shared/async/clock.ts';
import { Failure } from '../../src/shared/errors.ts';
import { tenantOf } from '../support/tenants.ts';
import { threadMs } from '../support/thread-ms.ts';
import { attemptsOver, createGate, sendingFor, settle } from './sending.ts';

const CALL: Call = { route: '/v1/data', isPublic: false, target: '/v1/data?country_codes=KE' };
const ANSWER: Answer = { status: 200, headers: {}, body: [], receivedAt: 0 };

/** A clock that moves when it is told to. */
function createHeldClock(startMs: number) {
  let nowMs = startMs;
  let sleepers: { untilMs: number; wake: () => void }[] = [];
  return {
    now: () => nowMs,
    sleep: (ms: number) => new Promise<void>((wake) => sleepers.push({ untilMs: nowMs + ms, wake })),
    async advanceTo(ms: number) {
      nowMs = ms;
      const due = sleepers.filter(({ untilMs }) => untilMs <= nowMs);
      sleepers = sleepers.filter(({ untilMs }) => untilMs > nowMs);
      for (const { wake } of due) wake();
      await settle();
    },
  };
}

describe('coalescedStage', () => {
  it('coalesced sends equal calls under one key once, and tells the followers that they shared', async () => {
    const { send, waiting } = createGate();
    const ring = coalescedStage(send);
    const [lead, follower] = [sendingFor(), sendingFor()];
    const both = Promise.all([ring(CALL, lead), ring({ ...CALL }, follower)]);
    expect(waiting).toHaveLength(1);
    waiting[0]?.land(ANSWER);
    expect(await both).toEqual([ANSWER, ANSWER]);
    expect([lead.bill.shared, follower.bill.shared]).toEqual([0, 1]);
  });

  it.each([
    ['another key', CALL, sendingFor('two')],
    ['another target', { ...CALL, target: '/v1/data?country_codes=NG' }, sendingFor()],
    ['other headers', { ...CALL, headers: { 'if-none-match': '"x"' } }, sendingFor()],
  ])('coalesced never shares with %s', async (_, call, sending) => {
    const { send, waiting } = createGate();
    const ring = coalescedStage(send);
    const both = Promise.all([ring(CALL, sendingFor()), ring(call, sending)]);
    expect(waiting).toHaveLength(2);
    for (const { land } of waiting) land(ANSWER);
    await both;
  });

  it('coalesced shares public calls with everybody', () => {
    const { send, waiting } = createGate();
    const ring = coalescedStage(send);
    const call = { ...CALL, isPublic: true };
    void ring(call, sendingFor('one'));
    void ring(call, sendingFor('two'));
    expect(waiting).toHaveLength(1);
  });

  it('coalesced goes on for the one that stays, and is given up with the last', async () => {
    const { send, waiting } = createGate();
    const ring = coalescedStage(send);
    const [first, second] = [new AbortController(), new AbortController()];
    const leaves = ring(CALL, sendingFor('one', { signal: first.signal }));
    const stays = ring(CALL, sendingFor('one', { signal: second.signal }));
    first.abort(new Error('first left'));
    await expect(leaves).rejects.toThrow('first left');
    expect(waiting[0]?.sending.signal.aborted).toBe(false);
    second.abort(new Error('second left'));
    await expect(stays).rejects.toThrow('second left');
    expect(waiting[0]?.sending.signal.aborted).toBe(true);
  });

  it('coalesced fails all with one failure, and sends anew after that', async () => {
    const { send, waiting } = createGate();
    const ring = coalescedStage(send);
    const both = [ring(CALL, sendingFor()), ring(CALL, sendingFor())];
    const failure = new Failure('FORBIDDEN', 'no');
    waiting[0]?.fail(failure);
    for (const one of both) await expect(one).rejects.toBe(failure);
    void ring(CALL, sendingFor());
    expect(waiting).toHaveLength(2);
  });
});

describe('retries', () => {
  const retriedOver = (send: Send, firstDelayMs: number) =>
    attemptsOver(send, { retries: createRetries(2, systemClock.after, firstDelayMs) });
  const failing = (code: ConstructorParameters<typeof Failure>[0], times: number, fields = {}) => {
    let attempts = 0;
    const send: Send = async () => {
      attempts += 1;
      if (attempts <= times) throw new Failure(code, 'failed', fields);
      return ANSWER;
    };
    return { ring: retriedOver(send, 1), attempts: () => attempts };
  };

  it('retries follow a 5xx or a broken connection', async () => {
    const { ring, attempts } = failing('UPSTREAM_UNAVAILABLE', 2);
    expect(await ring(CALL, sendingFor())).toBe(ANSWER);
    expect(attempts()).toBe(3);
  });

  it('retries end, and the failure says after how many attempts', async () => {
    const { ring, attempts } = failing('UPSTREAM_UNAVAILABLE', 9);
    await expect(ring(CALL, sendingFor())).rejects.toMatchObject({ fields: { attempts: 3 } });
    expect(attempts()).toBe(3);
  });

  it('retries do not come before the service has said that it will be back', async () => {
    vi.useFakeTimers();
    try {
      const { ring, attempts } = failing('UPSTREAM_UNAVAILABLE', 1, { retryAfterSeconds: 5 });
      const answer = ring(CALL, sendingFor());
      await vi.advanceTimersByTimeAsync(4_990);
      expect(attempts()).toBe(1);
      await vi.advanceTimersByTimeAsync(20);
      expect(await answer).toBe(ANSWER);
      expect(attempts()).toBe(2);
    } finally {
      vi.useRealTimers();
    }
  });

  it('retries do not wait for a service that will be away for long', async () => {
    const { ring, attempts } = failing('UPSTREAM_UNAVAILABLE', 9, { retryAfterSeconds: 6 });
    await expect(ring(CALL, sendingFor())).rejects.toMatchObject({
      fields: { attempts: 1, retryAfterSeconds: 6 },
    });
    expect(attempts()).toBe(1);
  });

  it('retries come no more often than the budget of all calls allows, a tenth of them in the long run', async () => {
    let [calls, attempts, isDown] = [0, 0, true];
    const send: Send = async () => {
      attempts += 1;
      if (isDown) throw new Failure('UPSTREAM_UNAVAILABLE', 'failed');
      return ANSWER;
    };
    const ring = retriedOver(send, 0);
    const attemptsOf = async () => {
      calls += 1;
      return ring(CALL, sendingFor()).catch(({ fields }: Failure) => fields.attempts);
    };
    // Ten are there at the beginning, and each call adds a tenth.
    for (let i = 0; i < 5; i += 1) expect(await attemptsOf()).toBe(3);
    expect(await attemptsOf()).toBe(1);
    for (let i = 0; i < 94; i += 1) await attemptsOf();
    expect(attempts - calls).toBe(19);
    isDown = false;
    for (let i = 0; i < 1_000; i += 1) await attemptsOf();
    isDown = true;
    [calls, attempts] = [0, 0];
    for (let i = 0; i < 20; i += 1) await attemptsOf();
    expect(attempts - calls).toBe(11);
  });

  it('retries are not made for an operation that has been given up, and then take nothing from the others', async () => {
    const ends = new AbortController();
    const send: Send = async () => {
      ends.abort();
      throw new Failure('UPSTREAM_UNAVAILABLE', 'failed');
    };
    const ring = retriedOver(send, 0);
    await expect(ring(CALL, sendingFor('one', { signal: ends.signal }))).rejects.toMatchObject({
      fields: { attempts: 1 },
    });
    for (const attempts of [3, 3, 3, 3, 3, 1])
      await expect(ring(CALL, sendingFor())).rejects.toMatchObject({ fields: { attempts } });
  });

  it.each([
    'UNAUTHENTICATED',
    'FORBIDDEN',
    'RATE_LIMITED',
    'MONTHLY_QUOTA_EXCEEDED',
    'BAD_USER_INPUT',
    'UPSTREAM_TIMEOUT',
    'UPSTREAM_INVALID_RESPONSE',
  ] as const)('retries never follow %s', async (code) => {
    const { ring, attempts } = failing(code, 9);
    await expect(ring(CALL, sendingFor())).rejects.toMatchObject({ code });
    expect(attempts()).toBe(1);
  });
});

describe('pacing', () => {
  const START = Date.parse('2026-11-21T10:00:30Z');
  const NEXT_MINUTE = Date.parse('2026-11-21T10:01:00Z');
  const LIMITED = new Failure('RATE_LIMITED', 'no', {
    detail: "rate limit exceeded for plan 'free': 5 requests per minute",
  });

  function open(next: Send, startMs = START, parts: Partial<AttemptsParts> = {}) {
    const clock = createHeldClock(startMs);
    const ledger = createLedger(clock.now);
    const outcomes: string[] = [];
    const ring = attemptsOver(next, {
      ledger,
      pacing: createPacing(ledger, clock),
      clock,
      onAttempt: ({ outcome }) => outcomes.push(outcome),
      ...parts,
    });
    return { clock, ledger, outcomes, ring };
  }

  it.each([
    ['blanks', `5${' '.repeat(1_000_000)}`],
    ['digits', '5'.repeat(1_000_000)],
    ['digits and blanks', '5 '.repeat(500_000)],
    ['quotes', '"a'.repeat(500_000)],
  ])('pacing reads a long text of a 429 by no more than its length: %s', async (_, detail) => {
    const { ring, ledger } = open(async () => {
      throw new Failure('RATE_LIMITED', 'no', { detail });
    });
    const before = process.threadCpuUsage();
    await expect(ring(CALL, sendingFor())).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(threadMs(before)).toBeLessThan(200);
    expect(ledger.quota(tenantOf('one')).state).toBe('MINUTE_SPENT');
  });

  it('pacing bills each call to the operation and to the key', async () => {
    const { ring, ledger, outcomes } = open(async () => ANSWER);
    const sending = sendingFor();
    await ring(CALL, sending);
    await ring({ ...CALL, route: '/v1/countries' }, sending);
    expect(sending.bill).toMatchObject({ calls: 2, byRoute: { '/v1/data': 1, '/v1/countries': 1 } });
    expect(ledger.quota(tenantOf('one'))).toMatchObject({
      callsThisMinute: 2,
      callsThisMonth: 2,
      state: 'OK',
    });
    expect(ledger.quota(tenantOf('two')).callsThisMinute).toBe(0);
    expect(outcomes).toEqual(['ok', 'ok']);
  });

  it('pacing counts no call that is kept back as it is about to leave', async () => {
    const bill = openBill();
    const payer = payerOf(bill);
    let checks = 0;
    const check = () => {
      checks += 1;
      if (checks === 2) payer.close();
    };
    const gate = { visit: () => ({ probe: null, check, hear() {}, end() {} }) };
    const { ring, ledger } = open(async () => ANSWER, START, { gate });
    const sending = sendingFor('one', { bill, payer });
    await expect(ring(CALL, sending)).rejects.toThrow('Nobody waits');
    expect([bill.calls, ledger.quota(tenantOf('one')).callsThisMinute]).toEqual([0, 0]);
  });

  it('pacing sends nothing after a 429 before the next minute begins', async () => {
    let isLimited = true;
    const { ring, clock, ledger } = open(async () => {
      if (isLimited) throw LIMITED;
      return ANSWER;
    });
    await expect(ring(CALL, sendingFor())).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      fields: {
        plan: 'free',
        requestsPerMinute: 5,
        retryAfterSeconds: 30,
        retryAt: '2026-11-21T10:01:00.000Z',
      },
    });
    isLimited = false;
    const refused = sendingFor();
    await expect(ring(CALL, refused)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(refused.bill.calls).toBe(0);
    expect(ledger.quota(tenantOf('one')).state).toBe('MINUTE_SPENT');
    await clock.advanceTo(NEXT_MINUTE);
    expect(await ring(CALL, sendingFor())).toBe(ANSWER);
  });

  it('pacing lets those who may wait leave when the minute begins, the earliest deadline first, within the budget', async () => {
    const seen: string[] = [];
    let isLimited = true;
    const { ring, clock } = open(async (call) => {
      if (isLimited) throw LIMITED;
      seen.push(call.target);
      return ANSWER;
    });
    await expect(ring(CALL, sendingFor())).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    isLimited = false;
    const order = [3, 1, 6, 2, 5, 4, 7];
    const patients = order.map((n) =>
      ring({ ...CALL, target: `${n}` }, sendingFor('one', { waitDeadlineMs: NEXT_MINUTE + 100 + n })),
    );
    const impatient = ring(
      { ...CALL, target: 'late' },
      sendingFor('one', { waitDeadlineMs: NEXT_MINUTE - 1 }),
    );
    await expect(impatient).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    const outcomes = Promise.allSettled(patients);
    await clock.advanceTo(NEXT_MINUTE);
    expect(seen).toEqual(['1', '2', '3', '4', '5']);
    const refused = (await outcomes).filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(2);
  });

  it('pacing sends a call again that met a 429 and may wait', async () => {
    let calls = 0;
    const { ring, clock } = open(async () => {
      calls += 1;
      if (calls === 1) throw LIMITED;
      return ANSWER;
    });
    const sending = sendingFor('one', { waitDeadlineMs: NEXT_MINUTE });
    const answer = ring(CALL, sending);
    await settle();
    await clock.advanceTo(NEXT_MINUTE);
    expect(await answer).toBe(ANSWER);
    expect(sending.bill.calls).toBe(2);
  });

  it('pacing asks a spent month with rare probes only, and notices when it is restored', async () => {
    let isSpent = true;
    let calls = 0;
    const { ring, clock, ledger } = open(async () => {
      calls += 1;
      if (!isSpent) return ANSWER;
      const detail = "the monthly request limit for plan 'free' (1000 requests) was reached";
      throw new Failure('RATE_LIMITED', 'no', { detail });
    });
    const spent = {
      code: 'MONTHLY_QUOTA_EXCEEDED',
      fields: { resetsAt: '2026-12-01T00:00:00.000Z', monthlyRequests: 1000 },
    };
    for (let i = 0; i < 4; i += 1) await expect(ring(CALL, sendingFor())).rejects.toMatchObject(spent);
    expect(calls).toBe(1);
    isSpent = false;
    await clock.advanceTo(START + 15 * 60_000);
    expect(await ring(CALL, sendingFor())).toBe(ANSWER);
    expect(ledger.quota(tenantOf('one')).state).toBe('OK');
  });

  it('pacing takes a 429 of a public route for no sign of the key, and does not wait for it', async () => {
    const { ring, ledger } = open(async () => {
      throw LIMITED;
    });
    const sending = sendingFor('one', { waitDeadlineMs: NEXT_MINUTE });
    await expect(ring({ ...CALL, isPublic: true }, sending)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(sending.bill.calls).toBe(1);
    expect(ledger.quota(tenantOf('one'))).toMatchObject({ state: 'OK', callsThisMinute: 0 });
  });

  it('pacing has a few calls of a key under way at once, and one where the next may be refused', async () => {
    const { send, waiting } = createGate();
    const { ring } = open(send);
    const calls = Array.from({ length: 12 }, (_, i) => ring({ ...CALL, target: `${i}` }, sendingFor()));
    await settle();
    // Counts five calls, the allowance of the smallest plan: a larger one shows in the sixth.
    expect(waiting).toHaveLength(5);
    for (const { land } of waiting) land(ANSWER);
    await settle();
    expect(waiting).toHaveLength(6);
    waiting[5]?.land(ANSWER);
    await settle();
    expect(waiting).toHaveLength(12);
    for (const { land } of waiting) land(ANSWER);
    expect(await Promise.all(calls)).toHaveLength(12);
  });

  describe('hears answers of calls that left before things changed', () => {
    const MONTHLY = new Failure('RATE_LIMITED', 'no', {
      detail: "the monthly request limit for plan 'free' (1000 requests) was reached",
    });

    it.each([
      ['minute', LIMITED, START, NEXT_MINUTE],
      ['month', MONTHLY, Date.parse('2026-11-30T23:59:59Z'), Date.parse('2026-12-01T00:00:00Z')],
    ])(
      'pacing sends a call anew whose 429 is of a %s that is over, and leaves the new one open',
      async (...[, refusal, leftMs, overMs]) => {
        const { send, waiting } = createGate();
        const { ring, clock, ledger } = open(send, leftMs);
        const sending = sendingFor();
        const answer = ring(CALL, sending);
        await settle();
        await clock.advanceTo(overMs + 50);
        waiting[0]?.fail(refusal);
        await settle();
        expect(ledger.quota(tenantOf('one')).state).toBe('OK');
        waiting[1]?.land(ANSWER);
        expect(await answer).toBe(ANSWER);
        expect(sending.bill.calls).toBe(2);
      },
    );

    it('pacing takes no plan for a larger one by calls of two minutes', async () => {
      const { send, waiting } = createGate();
      const { ring, clock } = open(send);
      const last = Array.from({ length: 5 }, (_, i) => ring({ ...CALL, target: `${i}` }, sendingFor()));
      await settle();
      await clock.advanceTo(NEXT_MINUTE);
      for (const { land } of waiting.splice(0)) land(ANSWER);
      await Promise.all(last);
      const calls = Array.from({ length: 8 }, (_, i) => ring({ ...CALL, target: `${i}` }, sendingFor()));
      await settle();
      for (const { land } of waiting.splice(0, 5)) land(ANSWER);
      await settle();
      // The sixth of this minute may be refused.
      expect(waiting).toHaveLength(1);
      waiting.shift()?.land(ANSWER);
      await settle();
      expect(waiting).toHaveLength(2);
      for (const { land } of waiting) land(ANSWER);
      expect(await Promise.all(calls)).toHaveLength(8);
    });

    it('pacing takes no month for restored by a call that left before it was found spent', async () => {
      const { send, waiting } = createGate();
      const { ring, ledger } = open(send);
      const [first, second] = [ring(CALL, sendingFor()), ring({ ...CALL, target: 'x' }, sendingFor())];
      await settle();
      waiting[0]?.fail(MONTHLY);
      await expect(first).rejects.toMatchObject({ code: 'MONTHLY_QUOTA_EXCEEDED' });
      waiting[1]?.land(ANSWER);
      await second;
      const third = sendingFor();
      await expect(ring(CALL, third)).rejects.toMatchObject({ code: 'MONTHLY_QUOTA_EXCEEDED' });
      expect([third.bill.calls, waiting.length, ledger.quota(tenantOf('one')).state]).toEqual([
        0,
        2,
        'MONTH_SPENT',
      ]);
    });

    it('pacing forgets the plan whose month was spent once the service takes a call of it', async () => {
      let isSpent = true;
      const { ring, clock, ledger } = open(async () => {
        if (isSpent) throw MONTHLY;
        return ANSWER;
      });
      await expect(ring(CALL, sendingFor())).rejects.toMatchObject({ code: 'MONTHLY_QUOTA_EXCEEDED' });
      isSpent = false;
      await clock.advanceTo(START + 15 * 60_000);
      // Upgraded from 5 calls a minute to more.
      for (let i = 0; i < 20; i += 1) expect(await ring(CALL, sendingFor())).toBe(ANSWER);
      expect(ledger.quota(tenantOf('one'))).toMatchObject({ state: 'OK', plan: null, callsThisMinute: 20 });
    });

    it('pacing probes a spent month within a quarter of an hour although the clock was set back', async () => {
      let calls = 0;
      const { ring, clock } = open(async () => {
        calls += 1;
        throw MONTHLY;
      });
      await expect(ring(CALL, sendingFor())).rejects.toMatchObject({ code: 'MONTHLY_QUOTA_EXCEEDED' });
      const earlier = START - 10 * 86_400_000;
      await clock.advanceTo(earlier);
      await expect(ring(CALL, sendingFor())).rejects.toMatchObject({ code: 'MONTHLY_QUOTA_EXCEEDED' });
      await clock.advanceTo(earlier + 15 * 60_000);
      await expect(ring(CALL, sendingFor())).rejects.toMatchObject({ code: 'MONTHLY_QUOTA_EXCEEDED' });
      expect(calls).toBe(2);
    });

    it('pacing takes no limit of nothing from the words of a 429', async () => {
      let isLimited = true;
      const { ring, clock } = open(async () => {
        if (isLimited) throw new Failure('RATE_LIMITED', 'no', { detail: '0 requests per minute are left' });
        return ANSWER;
      });
      await expect(ring(CALL, sendingFor())).rejects.toMatchObject({ code: 'RATE_LIMITED' });
      isLimited = false;
      await clock.advanceTo(NEXT_MINUTE);
      expect(await ring(CALL, sendingFor())).toBe(ANSWER);
    });
  });

  it('pacing forgets those who leave while they wait', async () => {
    const { send, waiting } = createGate();
    const { ring } = open(send);
    const busy = Array.from({ length: 5 }, (_, i) => ring({ ...CALL, target: `${i}` }, sendingFor()));
    await settle();
    const leaving = new AbortController();
    const leaves = ring({ ...CALL, target: 'leaves' }, sendingFor('one', { signal: leaving.signal }));
    await settle();
    leaving.abort(new Error('left'));
    await expect(leaves).rejects.toThrow('left');
    for (const { land } of waiting) land(ANSWER);
    await Promise.all(busy);
    expect(waiting.map(({ call }) => call.target)).not.toContain('leaves');
  });
});

describe('the gate', () => {
  /** Words that the witness hears of a key by one answer. */
  async function heardOf(next: Send, call: Call = CALL) {
    const heard: string[] = [];
    const tenantCache = { accept: () => heard.push('accept'), refuse: () => void heard.push('refuse') };
    const gate = new CallGate(
      { all: () => [] },
      tenantCache,
      () => 0,
      () => 0,
    );
    await attemptsOver(next, { gate })(call, sendingFor()).catch(() => {});
    return heard;
  }

  it.for<[string, string[], Send]>([
    ['an answer', ['accept'], async () => ANSWER],
    ['a 304', ['accept'], async () => ({ ...ANSWER, status: 304, body: undefined })],
    [
      'a 404 that names what was asked for',
      ['accept'],
      async () => ({ ...ANSWER, status: 404, body: { detail: 'country not found: ke' } }),
    ],
    [
      'a 404 that may be of a proxy',
      [],
      async () => ({
        ...ANSWER,
        status: 404,
        body: undefined,
        stray: new Failure('UPSTREAM_INVALID_RESPONSE', 'x'),
      }),
    ],
    ...(
      ['BAD_USER_INPUT', 'UNAUTHENTICATED', 'FORBIDDEN', 'RATE_LIMITED', 'UPSTREAM_UNAVAILABLE'] as const
    ).map((code): [string, string[], Send] => [
      code,
      code === 'BAD_USER_INPUT' ? ['accept'] : /^(UNAU|FORB)/.test(code) ? ['refuse'] : [],
      async () => {
        throw new Failure(code, 'x');
      },
    ]),
  ])('the gate tells what %s says of the key', async ([, expected, next]) => {
    expect(await heardOf(next)).toEqual(expected);
    expect(await heardOf(next, { ...CALL, isPublic: true })).toEqual([]);
  });
});
