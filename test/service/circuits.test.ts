import { describe, expect, it } from 'vitest';
import type { Answer, Call, Send } from '../../src/service/call.ts';
import { createOutage } from '../../src/service/outage.ts';
import { createRetries } from '../../src/service/retries.ts';
import { systemClock } from '../../src/shared/async/clock.ts';
import { Failure, type FailureCode } from '../../src/shared/errors.ts';
import { movingClock } from '../support/moving-clock.ts';
import { openProgram } from '../support/program.ts';
import { attemptsOver, createGate, gateAt, sendingFor, settle } from './sending.ts';

const DATA: Call = { route: '/v1/data', isPublic: false, target: '/v1/data?country_codes=KE' };
const LIST: Call = { route: '/v1/countries', isPublic: false, target: '/v1/countries' };
const HEALTH: Call = { route: '/health', isPublic: true, target: '/health' };
const ANSWER: Answer = { status: 200, headers: {}, body: [], receivedAt: 0 };
const START = Date.parse('2026-03-10T12:00:00Z');

/** The rings over a service that fails as `says` tells, at a time that the test moves. */
function open() {
  const told = {
    nowMs: 0,
    calls: 0,
    says: (_call: Call, _key: string): FailureCode | 'abort' | null => 'UPSTREAM_UNAVAILABLE',
  };
  const send: Send = async (call, { caller }) => {
    told.calls += 1;
    const code = told.says(call, caller.tenant.digest);
    if (code === 'abort') throw new DOMException('left', 'AbortError');
    if (code !== null) throw new Failure(code, 'no', { detail: 'down' });
    return ANSWER;
  };
  const gate = gateAt(
    () => told.nowMs,
    () => START + told.nowMs,
  );
  const ring = attemptsOver(send, { gate });
  async function ask(call = DATA, key = 'one', times = 1): Promise<number> {
    const before = told.calls;
    for (let i = 0; i < times; i += 1) await ring(call, sendingFor(key)).catch(() => {});
    return told.calls - before;
  }
  return { told, send, ring, ask, gate };
}

describe('a circuit', () => {
  it.each(['UPSTREAM_UNAVAILABLE', 'UPSTREAM_TIMEOUT'] as const)(
    'a circuit opens after ten %s in a row, and calls fail at once',
    async (code) => {
      const { told, ring, ask } = open();
      told.says = () => code;
      expect(await ask(DATA, 'one', 20)).toBe(10);
      await expect(ring(DATA, sendingFor())).rejects.toMatchObject({
        code: 'UPSTREAM_UNAVAILABLE',
        retryable: true,
        fields: {
          route: '/v1/data',
          detail: 'down',
          attempts: 0,
          retryAfterSeconds: 1,
          retryAt: '2026-03-10T12:00:01.000Z',
        },
      });
    },
  );

  it.each([null, 'UNAUTHENTICATED', 'RATE_LIMITED', 'BAD_USER_INPUT', 'UPSTREAM_INVALID_RESPONSE'] as const)(
    'a circuit takes %s for an answer, after which failures are counted anew',
    async (code) => {
      const { told, ask } = open();
      await ask(DATA, 'one', 9);
      told.says = () => code;
      await ask();
      told.says = () => 'UPSTREAM_UNAVAILABLE';
      // A key that was refused is tried again by then.
      told.nowMs += 1_000;
      expect(await ask(DATA, 'one', 20)).toBe(10);
    },
  );

  it('a circuit does not count those who leave', async () => {
    const { told, ask } = open();
    told.says = () => 'abort';
    expect(await ask(DATA, 'one', 30)).toBe(30);
  });

  it('a circuit lets one call through after 1, 2, 4 and then each 5 seconds, until one is answered', async () => {
    const { told, ask } = open();
    await ask(DATA, 'one', 10);
    for (const seconds of [1, 2, 4, 5, 5]) {
      told.nowMs += seconds * 1000 - 1;
      expect(await ask(DATA, 'one', 3)).toBe(0);
      told.nowMs += 1;
      expect(await ask(DATA, 'one', 3)).toBe(1);
    }
    told.nowMs += 5_000;
    told.says = () => null;
    expect(await ask(DATA, 'one', 3)).toBe(3);
    told.says = () => 'UPSTREAM_UNAVAILABLE';
    expect(await ask(DATA, 'one', 20)).toBe(10);
    told.nowMs += 1_000;
    expect(await ask()).toBe(1);
  });

  it('a circuit is another one for each route', async () => {
    const { told, ask } = open();
    told.says = ({ route }) => (route === DATA.route ? 'UPSTREAM_UNAVAILABLE' : null);
    await ask(DATA, 'one', 10);
    expect(await ask(LIST, 'one', 3)).toBe(3);
    expect(await ask(DATA)).toBe(0);
  });

  it('a circuit is that of a single key where only its calls fail', async () => {
    const { told, ask } = open();
    told.says = (_, key) => (key === 'one' ? 'UPSTREAM_UNAVAILABLE' : null);
    expect(await ask(DATA, 'one', 20)).toBe(10);
    expect(await ask(DATA, 'two', 3)).toBe(3);
    expect(await ask(DATA, 'one')).toBe(0);
  });

  it('a circuit is that of all keys where those of several fail', async () => {
    const { ask } = open();
    await ask(DATA, 'one', 5);
    await ask(DATA, 'two', 5);
    expect(await ask(DATA, 'three')).toBe(0);
    expect(await ask(LIST, 'three')).toBe(1);
  });

  it('a circuit of a public route is that of everybody', async () => {
    const { ask, gate } = open();
    expect(await ask(HEALTH, 'one', 6)).toBe(6);
    expect(await ask(HEALTH, 'two', 6)).toBe(4);
    expect(gate.open()).toEqual([{ route: '/health', isOpenForAll: true, keys: 0 }]);
  });

  it('a circuit stays as it is while the call that looks is under way, and if that is given up', async () => {
    const { send, waiting } = createGate();
    let nowMs = 0;
    const gate = gateAt(() => nowMs);
    const ring = attemptsOver(send, { gate });
    const failing = Promise.allSettled(Array.from({ length: 12 }, () => ring(DATA, sendingFor())));
    await settle();
    for (const { fail } of waiting.splice(0)) fail(new Failure('UPSTREAM_TIMEOUT', 'no'));
    await failing;
    // Two that had left before it opened make its pause no longer.
    nowMs = 1_000;
    const leaving = new AbortController();
    const looking = ring(DATA, sendingFor('one', { signal: leaving.signal }));
    await settle();
    expect(waiting).toHaveLength(1);
    await expect(ring(DATA, sendingFor())).rejects.toMatchObject({ fields: { attempts: 0 } });
    leaving.abort(new Error('left'));
    await expect(looking).rejects.toThrow('left');
    const next = ring(DATA, sendingFor());
    await settle();
    waiting[1]?.land(ANSWER);
    expect(await next).toBe(ANSWER);
  });

  it('a circuit that is open is no reason to try again, and no further failure of the service', async () => {
    const { told, send, ask, gate } = open();
    const outage = createOutage(() => told.nowMs);
    const outer = attemptsOver(send, { gate, outage, retries: createRetries(2, systemClock.after, 1) });
    await ask(DATA, 'one', 9);
    await expect(outer(DATA, sendingFor())).rejects.toMatchObject({ fields: { attempts: 1 } });
    for (let i = 0; i < 5; i += 1)
      await expect(outer(DATA, sendingFor())).rejects.toMatchObject({ fields: { attempts: 0 } });
    expect(told.calls).toBe(10);
    expect(outage.failure(DATA.route)).toBeNull();
  });
});

describe('over the whole program', () => {
  const codes = 'KE NG GH ZA EG MA TN UG TZ RW ET DZ AO BJ BW BF BI CM CV CF TD KM CG CD CI DJ GQ ER SZ GA'
    .split(' ')
    .map((code) => `${code}: country(code: "${code}") { profile { record } }`);

  async function openAt(startMs: number, env: Record<string, string> = {}) {
    const { clock, pass } = movingClock(startMs);
    const program = await openProgram({ clock, env });
    return Object.assign(program, { pass });
  }

  it('over the whole program, a route that is down costs a few calls, says when to ask again, and leaves the others be', async () => {
    await using program = await openAt(START);
    const { ask, sandbox, pass } = program;
    const route = '/v1/countries/{code}/profile';
    sandbox.faults.set({ route, kind: 'status', status: 500 });
    const reply = await ask(`{ ${codes.join(' ')} sources { key } }`);
    expect(reply.errors).toHaveLength(codes.length);
    expect(reply.data.sources).not.toBeNull();
    // Ten, and those that had left by then.
    expect(reply.upstream.byRoute[route]).toBeLessThanOrEqual(18);
    expect(sandbox.log).toHaveLength(reply.upstream.calls);
    sandbox.log.clear();

    const again = await ask(`{ ${codes[0]} }`);
    expect(again.errors[0]?.extensions).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      retryable: true,
      route,
      attempts: 0,
      retryAfterSeconds: 1,
      retryAt: '2026-03-10T12:00:01.000Z',
    });
    expect(again.headers.get('retry-after')).toBe('1');
    expect([again.upstream.calls, sandbox.log.length]).toEqual([0, 0]);

    sandbox.faults.clear();
    pass(1);
    expect(await ask(`{ ${codes[0]} }`)).toMatchObject({ errors: [], upstream: { calls: 1 } });
    expect((await ask(`{ ${codes.join(' ')} }`)).errors).toEqual([]);
  });

  it('over the whole program, what is held past its time is served while the circuit is open', async () => {
    const env = { CACHE_URL: 'memory:', CACHE_RENEWAL: 'off', UPSTREAM_RETRIES: '0' };
    await using program = await openAt(START, env);
    const { ask, sandbox, pass } = program;
    const fresh = await ask(`{ ${codes[0]} }`);
    pass(1_000);
    sandbox.faults.set({ kind: 'status', status: 500 });
    await ask(`{ ${codes.slice(1, 21).join(' ')} }`);
    sandbox.log.clear();
    const old = await ask(`{ ${codes[0]} }`);
    expect([old.data, old.errors]).toEqual([fresh.data, []]);
    expect(old.upstream).toMatchObject({ calls: 0, stale: [{ code: 'UPSTREAM_UNAVAILABLE' }] });
    expect(sandbox.log).toHaveLength(0);
  });
});
