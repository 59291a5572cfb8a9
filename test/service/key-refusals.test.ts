import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/cache/open-store.ts';
import { createLedger } from '../../src/keys/ledger.ts';
import { Tenants } from '../../src/keys/tenant.ts';
import { createTenantCache } from '../../src/keys/tenant-cache.ts';
import type { AttemptsParts } from '../../src/service/attempts.ts';
import type { Answer, Call, Send } from '../../src/service/call.ts';
import { CallGate } from '../../src/service/gate.ts';
import { createPacing } from '../../src/service/pacing.ts';
import { Failure, type FailureCode } from '../../src/shared/errors.ts';
import { openProgram } from '../support/program.ts';
import { callerOf, tenantOf } from '../support/tenants.ts';
import { attemptsOver, createGate, gateAt, sendingFor, settle } from './sending.ts';

const DATA: Call = { route: '/v1/data', isPublic: false, target: '/v1/data?country_codes=KE' };
const LIST: Call = { route: '/v1/countries', isPublic: false, target: '/v1/countries' };
const ANSWER: Answer = { status: 200, headers: {}, body: [], receivedAt: 0 };
const refusal = (code: FailureCode = 'UNAUTHENTICATED') =>
  new Failure(code, 'no', { route: '/v1/data', detail: 'Not authenticated' });

function around(next: Send, now: () => number, parts: Partial<AttemptsParts> = {}): Send {
  return attemptsOver(next, { gate: gateAt(now), ...parts });
}

/** The rings over a service that answers with the failure in `says`, at a time that the test moves. */
function open() {
  const told = { says: null as Failure | null, nowMs: 0, calls: 0 };
  const send: Send = async () => {
    told.calls += 1;
    if (told.says !== null) throw told.says;
    return ANSWER;
  };
  const ring = around(send, () => told.nowMs);
  /** Calls that a call took, and its outcome. */
  async function ask(call = DATA, key = 'one'): Promise<[calls: number, outcome: string]> {
    const before = told.calls;
    const outcome = await ring(call, sendingFor(key)).then(
      () => 'ok',
      (error: Failure) => `${error.code} on ${error.fields.route}: ${error.fields.detail}`,
    );
    return [told.calls - before, outcome];
  }
  return { told, ask };
}

describe('after a 401', () => {
  const refused = (route: string) => `UNAUTHENTICATED on ${route}: Not authenticated`;

  it('after a 401, a 404 that is not in the words of the service does not show that the key is accepted', async () => {
    let says: Answer | Failure = refusal();
    let nowMs = 0;
    const next: Send = async () => {
      if (says instanceof Failure) throw says;
      return says;
    };
    const ring = around(next, () => nowMs);
    await expect(ring(DATA, sendingFor())).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    nowMs += 1_000;
    const stray = new Failure('UPSTREAM_INVALID_RESPONSE', 'x');
    says = { ...ANSWER, status: 404, body: undefined, stray };
    await ring(DATA, sendingFor());
    says = refusal();
    await expect(ring(DATA, sendingFor())).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    nowMs += 1_999;
    says = ANSWER;
    // The second pause in a row is twice as long.
    await expect(ring(DATA, sendingFor())).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    nowMs += 1;
    await ring(DATA, sendingFor());
  });

  it('after a 401, nothing is sent under the key, on any route, and each call fails with the words of the service', async () => {
    const { told, ask } = open();
    told.says = refusal();
    expect(await ask()).toEqual([1, refused('/v1/data')]);
    expect(await ask()).toEqual([0, refused('/v1/data')]);
    expect(await ask(LIST)).toEqual([0, refused('/v1/countries')]);
    told.says = null;
    expect(await ask(DATA, 'another')).toEqual([1, 'ok']);
    expect(await ask({ ...LIST, isPublic: true })).toEqual([1, 'ok']);
  });

  it('after a 401, nothing leaves while others who share the store are being told', async () => {
    const told = Promise.withResolvers<void>();
    const tenantCache = { accept() {}, refuse: () => told.promise };
    const gate = new CallGate(
      { all: () => [] },
      tenantCache,
      () => 0,
      () => 0,
    );
    const { send, waiting } = createGate();
    const ring = attemptsOver(send, { gate });
    const first = ring(DATA, sendingFor());
    await settle();
    waiting[0]?.fail(refusal());
    await settle();
    await expect(ring(LIST, sendingFor())).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(waiting).toHaveLength(1);
    told.resolve();
    await expect(first).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('after a 401, an answer to a call that had left before does not show that the key is accepted', async () => {
    let nowMs = 5;
    const now = () => nowMs;
    const store = await openStore({ url: 'memory:', timeoutMs: 100, maxBytes: 10_000, onError() {} });
    const tenants = new Tenants((key) => key, now);
    const tenant = tenants.named('one');
    if (store === null) throw new Error('no store');
    const cache = createTenantCache({ store, tenants, authTtlMs: 60_000, retentionMs: 60_000 });
    const gate = new CallGate(tenants, cache, now, now);
    const { send, waiting } = createGate();
    const ring = attemptsOver(send, { gate });
    const caller = { ...callerOf('one'), tenant };
    const [first, second] = [
      ring(DATA, sendingFor('one', { caller })),
      ring(LIST, sendingFor('one', { caller })),
    ];
    await settle();
    waiting[0]?.fail(refusal());
    await expect(first).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    nowMs += 1;
    waiting[1]?.land({ ...ANSWER, receivedAt: nowMs });
    expect(await second).toMatchObject({ status: 200 });
    // Entries are served to accepted keys alone.
    expect([cache.isAccepted(tenant), tenant.isProven]).toEqual([false, false]);
    nowMs += 1_000;
    const third = ring(LIST, sendingFor('one', { caller }));
    await settle();
    waiting[2]?.land({ ...ANSWER, receivedAt: nowMs });
    await third;
    expect([cache.isAccepted(tenant), tenant.isProven, waiting.length]).toEqual([true, true, 3]);
  });

  it('after a 401, one call looks after a second, then after 2, 4 and at last 60', async () => {
    const { told, ask } = open();
    told.says = refusal();
    await ask();
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
      told.nowMs += seconds * 1000 - 1;
      expect((await ask())[0]).toBe(0);
      told.nowMs += 1;
      expect((await ask())[0]).toBe(1);
    }
  });

  it.each([
    ['an answer', null],
    ['a 422', new Failure('BAD_USER_INPUT', 'no')],
  ])('after a 401, %s to that call ends it, and the next refusal is the first again', async (_, says) => {
    const { told, ask } = open();
    told.says = refusal();
    for (let i = 0; i < 3; i += 1) {
      await ask();
      told.nowMs += 60_000;
    }
    told.says = says;
    expect((await ask())[0]).toBe(1);
    expect((await ask(LIST))[0]).toBe(1);
    told.says = refusal();
    expect((await ask())[0]).toBe(1);
    told.nowMs += 1_000;
    expect((await ask())[0]).toBe(1);
  });

  it('after a 401, a call that looks and gets no answer leaves it to the next', async () => {
    const { told, ask } = open();
    told.says = refusal();
    await ask();
    told.nowMs += 1_000;
    told.says = new Failure('UPSTREAM_UNAVAILABLE', 'down');
    expect((await ask())[0]).toBe(1);
    expect((await ask())[0]).toBe(1);
  });
});

describe('after a 403', () => {
  it('after a 403, nothing is sent to that route, but to all others', async () => {
    const { told, ask } = open();
    told.says = refusal('FORBIDDEN');
    expect((await ask())[0]).toBe(1);
    expect(await ask()).toEqual([0, 'FORBIDDEN on /v1/data: Not authenticated']);
    told.says = null;
    expect(await ask(LIST)).toEqual([1, 'ok']);
    expect((await ask())[0]).toBe(0);
    told.nowMs += 1_000;
    expect(await ask()).toEqual([1, 'ok']);
    expect(await ask()).toEqual([1, 'ok']);
  });

  it('after a 403, the key counts as known', async () => {
    const { told, ask } = open();
    told.says = refusal();
    await ask();
    told.nowMs += 1_000;
    told.says = refusal('FORBIDDEN');
    await ask();
    told.says = null;
    expect(await ask(LIST)).toEqual([1, 'ok']);
  });
});

describe('calls that are under way together', () => {
  function openGate() {
    const clock = { nowMs: 0 };
    const gate = createGate();
    const ring = around(gate.send, () => clock.nowMs);
    return { clock, ring, waiting: gate.waiting };
  }

  it('calls that are under way together are refused once, not each anew', async () => {
    const { clock, ring, waiting } = openGate();
    const all = Promise.allSettled([1, 2, 3].map(() => ring(DATA, sendingFor())));
    await settle();
    for (const { fail } of waiting.splice(0)) fail(refusal());
    await all;
    clock.nowMs = 1_000;
    const again = ring(DATA, sendingFor());
    await settle();
    waiting[0]?.land(ANSWER);
    expect(await again).toBe(ANSWER);
  });

  it('calls that are under way together are not accepted by an answer to one that had left before the refusal', async () => {
    const { ring, waiting } = openGate();
    const [first, second] = [ring(DATA, sendingFor()), ring(DATA, sendingFor())];
    await settle();
    waiting[0]?.fail(refusal());
    await expect(first).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    waiting[1]?.land(ANSWER);
    await second;
    await expect(ring(DATA, sendingFor())).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('calls that are under way together wait for the one that finds out', async () => {
    const { clock, ring, waiting } = openGate();
    const refused = ring(DATA, sendingFor());
    await settle();
    waiting.splice(0)[0]?.fail(refusal());
    await expect(refused).rejects.toThrow('no');
    clock.nowMs = 1_000;
    const all = Promise.all([DATA, LIST, DATA].map((call) => ring(call, sendingFor())));
    await settle();
    expect(waiting).toHaveLength(1);
    waiting[0]?.land(ANSWER);
    await settle();
    expect(waiting).toHaveLength(3);
    for (const { land } of waiting) land(ANSWER);
    expect(await all).toEqual([ANSWER, ANSWER, ANSWER]);
  });

  it('calls that are under way together do not leave after all where they waited for their turn, and are not billed', async () => {
    const { send, waiting } = createGate();
    const clock = { now: () => 0, sleep: async () => {} };
    const ledger = createLedger(clock.now);
    const ring = around(send, clock.now, { ledger, pacing: createPacing(ledger, clock) });
    const sending = sendingFor();
    const calls = Array.from({ length: 40 }, (_, i) => ring({ ...DATA, target: `${i}` }, sending));
    const all = Promise.allSettled(calls);
    await settle();
    // Counts as many as the smallest plan allows.
    expect(waiting).toHaveLength(5);
    for (const { fail } of waiting) fail(refusal());
    const codes = (await all).map((one) => one.status === 'rejected' && one.reason.code);
    expect(codes).toEqual(calls.map(() => 'UNAUTHENTICATED'));
    expect(waiting).toHaveLength(5);
    expect(sending.bill.calls).toBe(5);
    expect(ledger.quota(tenantOf('one')).callsThisMinute).toBe(5);
  });
});

describe('over the whole program', () => {
  const PROFILES = '{ countries { profile { record } } }';

  it('over the whole program, a refused key costs a handful of calls, and then none', async () => {
    await using program = await openProgram({ sandbox: { latencyMs: 5 } });
    const { ask, sandbox } = program;
    const query = `{ ${['KE', 'NG', 'GH', 'ZA', 'EG', 'MA', 'TN', 'UG', 'TZ', 'RW']
      .map((code) => `${code}: country(code: "${code}") { profile { record } offices { name } }`)
      .join(' ')} }`;
    const first = await ask(query, { key: 'nobody' });
    expect(first.errors).toHaveLength(20);
    for (const { extensions } of first.errors)
      expect(extensions).toMatchObject({ code: 'UNAUTHENTICATED', detail: 'Not authenticated' });
    expect(first.upstream.calls).toBe(sandbox.log.length);
    expect(first.upstream.calls).toBeLessThanOrEqual(8);
    sandbox.log.clear();
    const second = await ask(PROFILES, { key: 'nobody' });
    expect([second.upstream.calls, sandbox.log.length]).toEqual([0, 0]);
    expect(second.errors[0]?.extensions).toMatchObject({
      code: 'UNAUTHENTICATED',
      detail: 'Not authenticated',
    });
    expect(second.status).toBe(401);
  });

  it('over the whole program, a key that is accepted later on works again', async () => {
    let nowMs = Date.parse('2026-03-10T12:00:30Z');
    await using program = await openProgram({ clock: { now: () => nowMs, sleep: async () => {} } });
    const { ask, sandbox } = program;
    sandbox.faults.set({ kind: 'status', status: 401, times: 1 });
    const query = '{ country(code: "KE") { capital } }';
    expect((await ask(query)).upstream.calls).toBe(1);
    expect((await ask(query)).upstream.calls).toBe(0);
    nowMs += 1_000;
    expect(await ask(query)).toMatchObject({ errors: [], upstream: { calls: 1 } });
  });
});
