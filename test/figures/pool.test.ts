import { describe, expect, it } from 'vitest';
import type { FiguresParts } from '../../src/observations/client.ts';
import type { FetchBatch, Outcome } from '../../src/observations/fetch.ts';
import { type Demand, demandFor } from '../../src/observations/planner/demand.ts';
import { createObservationPool } from '../../src/observations/pool.ts';
import type { Sending } from '../../src/service/sending.ts';
import { Failure } from '../../src/shared/errors.ts';
import { sendingFor } from '../service/sending.ts';
import { partsWith } from './parts.ts';

const START = Date.parse('2026-03-10T12:00:30Z');
const NEXT_MINUTE = Date.parse('2026-03-10T12:01:00Z');
const [WINDOW_MS, HOLD_MS] = [10, 100];

/** A clock that the test moves. */
function createTestClock() {
  let nowMs = START;
  let timers: { untilMs: number; then: () => void }[] = [];
  function after(ms: number, then: () => void) {
    const timer = { untilMs: nowMs + ms, then };
    timers.push(timer);
    return () => {
      timers = timers.filter((other) => other !== timer);
    };
  }
  return {
    now: () => nowMs,
    after,
    sleep: (ms: number) => new Promise<void>((wake) => after(ms, wake)),
    /** Lets time pass, and everything run that can. */
    async pass(ms: number) {
      const untilMs = nowMs + ms;
      for (;;) {
        await turns();
        const next = timers.toSorted((a, b) => a.untilMs - b.untilMs)[0];
        if (next === undefined || next.untilMs > untilMs) break;
        timers = timers.filter((other) => other !== next);
        nowMs = next.untilMs;
        next.then();
      }
      nowMs = untilMs;
    },
  };
}

/** Some turns of the event loop: more than a window waits for in quiet. */
async function turns() {
  for (let turn = 0; turn < 8; turn += 1) await new Promise((next) => setImmediate(next));
}

interface Sent {
  readonly demands: readonly string[];
  readonly sending: Sending;
  settle(demand: Demand, outcome?: Outcome): void;
  fail(fault: unknown): void;
  /** Says that a call is on its way that brings these. */
  bring(...demands: readonly Demand[]): void;
}

/** A pool over a next stage that answers when it is told to, and a ledger that the test sets. */
function open(setting: { windowMs?: number } = {}) {
  const clock = createTestClock();
  const sent: Sent[] = [];
  const ledger = {
    left: 1 as number | null,
    opensAt: 0,
    plenty: false,
    hasPlenty: () => ledger.plenty,
    shareLeft: () => ledger.left,
    opensAtMs: () => ledger.opensAt,
    refusal: () => new Failure('RATE_LIMITED', 'The minute is spent.'),
  };
  const next: FetchBatch = (demands, sending, { onOutcomes, onCall }) =>
    new Promise((done, fail) => {
      const missing = new Set(demands.map(({ key }) => key));
      sent.push({
        demands: demands.map(({ countryCode }) => countryCode),
        sending,
        settle(demand, outcome = []) {
          onOutcomes([demand], [outcome]);
          missing.delete(demand.key);
          if (missing.size === 0) done();
        },
        fail,
        bring: (...along) =>
          onCall?.(({ key }) => {
            const takes = along.some((one) => one.key === key);
            if (takes) missing.add(key);
            return takes;
          }),
      });
      sending.signal.addEventListener('abort', () => fail(sending.signal.reason));
    });
  const whole = ledger as unknown as FiguresParts['pooling']['ledger'];
  const parts = { clock, ledger: whole, windowMs: WINDOW_MS, holdMs: HOLD_MS, ...setting };
  const pool = createObservationPool(next, partsWith(parts).pooling);
  return { clock, ledger, sent, pool, enter: (further?: Partial<Sending>) => enter(pool, further) };
}

/** An operation that has joined the pool. */
function enter(pool: ReturnType<typeof createObservationPool>, further: Partial<Sending> = {}) {
  const ends = new AbortController();
  const sending = sendingFor('one', { signal: ends.signal, ...further });
  const participant = pool.join(sending.caller);
  const outcomes = new Map<string, Outcome>();
  return {
    ...participant,
    bill: sending.bill,
    abort: (reason?: unknown) => ends.abort(reason),
    /** Outcomes by country. */
    outcomes,
    async ask(...demands: Demand[]) {
      const came = await participant.fetch(demands, sending);
      for (const { key, countryCode } of demands) outcomes.set(countryCode, came.get(key) as Outcome);
    },
  };
}

const at = (countryCode: string) => demandFor('latest', countryCode, 'population_total');
const [KE, NG, GH] = [at('KE'), at('NG'), at('GH')];

describe('a window', () => {
  it('a window gathers what several operations ask for, and sends each thing once', async () => {
    const { enter, clock, sent } = open();
    const [a, b] = [enter(), enter()];
    const both = Promise.all([a.ask(KE, NG), b.ask(NG, GH)]);
    await clock.pass(WINDOW_MS - 1);
    expect(sent).toEqual([]);
    await clock.pass(1);
    expect(sent.map(({ demands }) => demands)).toEqual([['KE', 'NG', 'GH']]);
    for (const demand of [KE, NG, GH]) sent[0]?.settle(demand);
    await both;
    expect([[...a.outcomes.keys()], [...b.outcomes.keys()]]).toEqual([
      ['KE', 'NG'],
      ['NG', 'GH'],
    ]);
    expect([a.bill.shared, b.bill.shared]).toEqual([0, 1]);
  });

  it('a window is one for each key', async () => {
    const { enter, clock, sent } = open();
    const other = sendingFor('two').caller;
    void enter().ask(KE);
    void enter({ caller: other }).ask(KE);
    await clock.pass(WINDOW_MS);
    expect(sent.map(({ sending }) => sending.caller.tenant.digest)).toEqual(['one', 'two']);
  });

  it('a window is kept open by arrivals, but not for ever', async () => {
    const { enter, clock, sent } = open();
    void enter().ask(KE);
    for (let passed = 0; passed < 2 * WINDOW_MS; passed += 5) {
      expect(sent).toEqual([]);
      void enter().ask(NG);
      await clock.pass(5);
    }
    expect(sent).toHaveLength(1);
  });

  it('a window is kept open by an operation that joins, though it has asked for nothing yet', async () => {
    const { enter, clock, sent } = open();
    void enter().ask(KE);
    await clock.pass(8);
    enter();
    await clock.pass(8);
    expect(sent).toEqual([]);
    await clock.pass(2);
    expect(sent).toHaveLength(1);
  });

  it.each([
    ['half of the minute is left', 0.5, 3 * WINDOW_MS],
    ['nothing is left', 0, 5 * WINDOW_MS],
    ['nothing is known', null, 4 * WINDOW_MS],
  ])('a window is wider where %s', async (_, left, ms) => {
    const { enter, clock, sent, ledger } = open();
    ledger.left = left;
    void enter().ask(KE);
    await clock.pass(ms - 1);
    expect(sent).toEqual([]);
    await clock.pass(1);
    expect(sent).toHaveLength(1);
  });

  it('a window waits for whoever is at the door as it ends', async () => {
    const { enter, clock, sent } = open({ windowMs: 0 });
    void enter().ask(KE);
    setImmediate(() => void enter().ask(NG));
    await clock.pass(0);
    expect(sent.map(({ demands }) => demands)).toEqual([['KE', 'NG']]);
  });
});

describe('where calls are plenty', () => {
  function openWithPlenty() {
    const opened = open();
    opened.ledger.plenty = true;
    return opened;
  }

  it('where calls are plenty, a batch leaves in the same turn, with all that is asked for in it', async () => {
    const { enter, clock, sent } = openWithPlenty();
    void enter().ask(KE);
    void enter().ask(NG);
    expect(sent).toEqual([]);
    await clock.pass(0);
    expect(sent.map(({ demands }) => demands)).toEqual([['KE', 'NG']]);
  });

  it('where calls are plenty, what is asked for meanwhile gathers behind it', async () => {
    const { enter, clock, sent } = openWithPlenty();
    void enter().ask(KE);
    await clock.pass(0);
    void enter().ask(NG);
    await clock.pass(WINDOW_MS - 1);
    void enter().ask(GH);
    await clock.pass(WINDOW_MS - 1);
    expect(sent).toHaveLength(1);
    await clock.pass(WINDOW_MS);
    expect(sent.map(({ demands }) => demands)).toEqual([['KE'], ['NG', 'GH']]);
  });

  it('where calls are plenty, the next one leaves at once when that has come', async () => {
    const { enter, clock, sent } = openWithPlenty();
    const first = enter().ask(KE);
    await clock.pass(0);
    sent[0]?.settle(KE);
    await first;
    void enter().ask(NG);
    await clock.pass(0);
    expect(sent).toHaveLength(2);
  });

  it('where calls are plenty, an operation that is expected is waited for', async () => {
    const { enter, clock, sent } = openWithPlenty();
    const [a, b] = [enter(), enter()];
    b.expect();
    void a.ask(KE);
    await clock.pass(0);
    expect(sent).toEqual([]);
    void b.ask(NG);
    await clock.pass(WINDOW_MS);
    expect(sent.map(({ demands }) => demands)).toEqual([['KE', 'NG']]);
  });
});

describe('operations that are expected', () => {
  it('operations that are expected are waited for, until the last one has asked', async () => {
    const { enter, clock, sent } = open();
    const [a, b, c] = [enter(), enter(), enter()];
    b.expect();
    c.expect();
    void a.ask(KE);
    await clock.pass(2 * WINDOW_MS);
    void b.ask(NG);
    await clock.pass(1);
    expect(sent).toEqual([]);
    c.leave();
    expect(sent.map(({ demands }) => demands)).toEqual([['KE', 'NG']]);
  });

  it('operations that are expected are not waited for longer than that, nor a second time', async () => {
    const { enter, clock, sent } = open();
    const [a, b] = [enter(), enter()];
    b.expect();
    void a.ask(KE);
    await clock.pass(WINDOW_MS + HOLD_MS - 1);
    expect(sent).toEqual([]);
    await clock.pass(1);
    expect(sent).toHaveLength(1);
    void a.ask(NG);
    await clock.pass(WINDOW_MS);
    expect(sent).toHaveLength(2);
  });

  it('operations that are expected are not waited for where they come after the window', async () => {
    const { enter, clock, sent } = open();
    const [a, b] = [enter(), enter()];
    b.expect();
    void a.ask(KE);
    await clock.pass(2 * WINDOW_MS);
    const late = enter();
    late.expect();
    void b.ask(NG);
    expect(sent.map(({ demands }) => demands)).toEqual([['KE', 'NG']]);
  });
});

describe('what is under way', () => {
  it('what is under way is waited for, not asked for again; it is paid by the first that still waits', async () => {
    const { enter, clock, sent } = open();
    const [a, b] = [enter(), enter()];
    void a.ask(KE);
    await clock.pass(WINDOW_MS);
    const second = b.ask(KE);
    await clock.pass(WINDOW_MS);
    expect(sent).toHaveLength(1);
    sent[0]?.sending.payer.reserve('/v1/data').charge();
    sent[0]?.settle(KE);
    await second;
    expect([a.bill.calls, b.bill.calls, a.bill.shared, b.bill.shared]).toEqual([1, 0, 0, 1]);
  });

  it('what is under way is handed on as it comes, and paid by whoever still waits', async () => {
    const { enter, clock, sent } = open();
    const [a, b] = [enter(), enter()];
    const first = a.ask(KE);
    void b.ask(NG);
    await clock.pass(WINDOW_MS);
    sent[0]?.settle(KE);
    await first;
    expect([...b.outcomes]).toEqual([]);
    sent[0]?.sending.payer.reserve('/v1/data').charge();
    expect([a.bill.calls, b.bill.calls]).toEqual([0, 1]);
  });

  it('what is under way goes on where one of two is given up, and is given up with the last', async () => {
    const { enter, clock, sent } = open();
    const [a, b] = [enter(), enter()];
    const both = [a.ask(KE), b.ask(KE)].map((asked) => asked.catch((reason: unknown) => reason));
    await clock.pass(WINDOW_MS);
    a.abort('left');
    expect(await both[0]).toBe('left');
    expect(sent[0]?.sending.signal.aborted).toBe(false);
    b.abort('left too');
    expect(await both[1]).toBe('left too');
    expect(sent[0]?.sending.signal.aborted).toBe(true);
    // Asks from now on without waiting for anything that was given up.
    void enter().ask(KE);
    await clock.pass(WINDOW_MS);
    expect(sent).toHaveLength(2);
  });

  it('what is under way is not sent where its operation is over before, nor for others', async () => {
    const { enter, clock, sent } = open();
    const [a, b] = [enter(), enter()];
    const asked = [a.ask(KE, NG), b.ask(NG, GH)];
    a.leave();
    await asked[0];
    await clock.pass(WINDOW_MS);
    expect(sent.map(({ demands }) => demands)).toEqual([['NG', 'GH']]);
    await expect(a.ask(KE)).rejects.toThrow('over');
    await clock.pass(WINDOW_MS);
    expect(sent).toHaveLength(1);
  });

  it('what is under way comes for whoever asks next where its operation is over meanwhile', async () => {
    const { enter, clock, sent } = open();
    const [a, b] = [enter(), enter()];
    void a.ask(KE);
    await clock.pass(WINDOW_MS);
    a.leave();
    expect(sent[0]?.sending.signal.aborted).toBe(false);
    const asked = b.ask(KE);
    await clock.pass(WINDOW_MS);
    sent[0]?.settle(KE);
    await asked;
    expect([[...b.outcomes.keys()], sent.length]).toEqual([['KE'], 1]);
  });

  it('what is under way is settled with the reason where the time of an operation is over, the rest as it came', async () => {
    const { enter, clock, sent } = open();
    const a = enter();
    const asked = a.ask(KE, NG);
    await clock.pass(WINDOW_MS);
    const over = new Failure('OPERATION_TIMEOUT', 'The time is over.');
    sent[0]?.settle(KE);
    a.abort(over);
    await asked;
    expect([...a.outcomes]).toEqual([
      ['KE', []],
      ['NG', over],
    ]);
    await a.ask(GH);
    expect(a.outcomes.get('GH')).toBe(over);
    expect(sent).toHaveLength(1);
  });

  it('what is under way fails with the fault where the next stage throws, and nothing else does', async () => {
    const { enter, clock, sent } = open();
    const a = enter();
    const asked = a.ask(KE, NG);
    await clock.pass(WINDOW_MS);
    sent[0]?.settle(KE);
    const fault = new Error('A fault of ours.');
    sent[0]?.fail(fault);
    await asked;
    expect([...a.outcomes.values()]).toEqual([[], fault]);
  });
});

describe('what a call under way brings anyway', () => {
  it('what a call under way brings anyway is waited for, and everything else is sent', async () => {
    const { enter, clock, sent } = open();
    const [a, b] = [enter(), enter()];
    const first = a.ask(KE);
    await clock.pass(WINDOW_MS);
    sent[0]?.bring(NG);
    const second = b.ask(NG, GH);
    await clock.pass(WINDOW_MS);
    expect(sent.map(({ demands }) => demands)).toEqual([['KE'], ['GH']]);
    sent[0]?.settle(KE);
    await first;
    sent[0]?.settle(NG);
    sent[1]?.settle(GH);
    await second;
    expect([a.bill.shared, b.bill.shared]).toEqual([0, 1]);
    // It is over: the next one asks for itself.
    void enter().ask(NG);
    await clock.pass(WINDOW_MS);
    expect(sent).toHaveLength(3);
  });

  it('what a call under way brings anyway is not sent though it was asked for before the call was planned', async () => {
    const { enter, clock, sent } = open();
    const [a, b, c] = [enter(), enter(), enter()];
    void a.ask(KE);
    await clock.pass(WINDOW_MS);
    const asked = [b.ask(NG), c.ask(NG, GH)];
    sent[0]?.bring(NG);
    await clock.pass(WINDOW_MS);
    expect(sent.map(({ demands }) => demands)).toEqual([['KE'], ['GH']]);
    sent[0]?.settle(NG);
    sent[1]?.settle(GH);
    await Promise.all(asked);
    expect([b.bill.shared, c.bill.shared]).toEqual([1, 1]);
  });

  it('what a call under way brings anyway fails with the call', async () => {
    const { enter, clock, sent } = open();
    const [a, b] = [enter(), enter()];
    const first = a.ask(KE);
    await clock.pass(WINDOW_MS);
    sent[0]?.bring(NG);
    const second = b.ask(NG);
    const fault = new Error('A fault of ours.');
    sent[0]?.fail(fault);
    await Promise.all([first, second]);
    expect([a.outcomes.get('KE'), b.outcomes.get('NG')]).toEqual([fault, fault]);
  });

  it('what a call under way brings anyway is asked for anew once the call is given up', async () => {
    const { enter, clock, sent } = open();
    const a = enter();
    const asked = a.ask(KE).catch((reason: unknown) => reason);
    await clock.pass(WINDOW_MS);
    sent[0]?.bring(NG);
    a.abort('left');
    await asked;
    sent[0]?.bring(GH);
    void enter().ask(NG, GH);
    await clock.pass(WINDOW_MS);
    expect(sent.map(({ demands }) => demands)).toEqual([['KE'], ['NG', 'GH']]);
  });

  it('what a call under way brings anyway keeps the call under way for the last that waits for it', async () => {
    const { enter, clock, sent } = open();
    const [a, b] = [enter(), enter()];
    const asked = a.ask(KE).catch((reason: unknown) => reason);
    await clock.pass(WINDOW_MS);
    sent[0]?.bring(NG);
    const second = b.ask(NG);
    a.abort('left');
    await asked;
    expect(sent[0]?.sending.signal.aborted).toBe(false);
    sent[0]?.settle(NG);
    await second;
    expect([...b.outcomes.keys()]).toEqual(['NG']);
  });
});

describe('a spent minute', () => {
  const patient = { waitDeadlineMs: NEXT_MINUTE };

  it('a spent minute refuses those that may not wait, and keeps the others for one batch', async () => {
    const { enter, clock, sent, ledger } = open();
    ledger.opensAt = NEXT_MINUTE;
    const [a, b] = [enter(), enter(patient)];
    const refused = a.ask(KE, NG);
    void b.ask(NG);
    await clock.pass(WINDOW_MS);
    await refused;
    expect([...a.outcomes.values()]).toMatchObject([{ code: 'RATE_LIMITED' }, { code: 'RATE_LIMITED' }]);
    const c = enter(patient);
    void c.ask(GH);
    await clock.pass(NEXT_MINUTE - clock.now() - 1);
    expect(sent).toEqual([]);
    await clock.pass(1);
    expect(sent.map(({ demands }) => demands)).toEqual([['NG', 'GH']]);
  });

  it('a spent minute refuses what comes later after a window of its own', async () => {
    const { enter, clock, sent, ledger } = open();
    ledger.opensAt = NEXT_MINUTE;
    void enter(patient).ask(KE);
    await clock.pass(2 * WINDOW_MS);
    const late = enter();
    const asked = late.ask(KE);
    await clock.pass(WINDOW_MS);
    await asked;
    expect(late.outcomes.get('KE')).toMatchObject({ code: 'RATE_LIMITED' });
    expect(sent).toEqual([]);
  });

  it('a spent minute sends with the new minute what is still being gathered', async () => {
    const { enter, clock, sent, ledger } = open();
    ledger.opensAt = NEXT_MINUTE;
    void enter(patient).ask(KE);
    await clock.pass(NEXT_MINUTE - clock.now() - 1);
    void enter(patient).ask(NG);
    await clock.pass(1);
    expect(sent.map(({ demands }) => demands)).toEqual([['KE', 'NG']]);
    await clock.pass(HOLD_MS);
    expect(sent).toHaveLength(1);
  });

  it('a spent minute fails what has gathered where the ledger does, and nothing else', async () => {
    const { enter, clock, sent, ledger } = open();
    const fault = new Error('A fault of ours.');
    const { opensAtMs } = ledger;
    ledger.opensAtMs = () => {
      throw fault;
    };
    const a = enter();
    const asked = a.ask(KE);
    await clock.pass(WINDOW_MS);
    await asked;
    expect(a.outcomes.get('KE')).toBe(fault);
    ledger.opensAtMs = opensAtMs;
    void a.ask(NG);
    await clock.pass(WINDOW_MS);
    expect(sent).toHaveLength(1);
  });
});
