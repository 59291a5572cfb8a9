import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';

/*
 * A client needs no valid key to send a few bytes that stand for a great deal of work: what is refused here is refused
 * before that work is begun. The times are bounds by orders of magnitude, not measurements.
 */

const opening = openProgram();
beforeEach(async () => (await opening).sandbox.log.clear());
afterAll(async () => (await opening)[Symbol.asyncDispose]());

const UNPROVEN = { key: 'cds_live_made_up' };
const EXPLAIN = { 'x-explain': '1' };

/** Asks under a key that nobody knows, and expects an early refusal of the code that costs no call. */
async function expectRefused(query: string, code: string, message: RegExp, asking: object = {}) {
  const { ask, sandbox, problems } = await opening;
  const startedAtMs = performance.now();
  const reply = await ask(query, { ...UNPROVEN, ...asking });
  expect(performance.now() - startedAtMs).toBeLessThan(1500);
  expect(reply.errors.map(({ extensions }) => extensions.code)).toEqual([code]);
  expect(reply.errors[0]?.message).toMatch(message);
  expect([reply.data ?? null, reply.upstream.calls, sandbox.log.length, problems]).toEqual([null, 0, 0, []]);
  return reply;
}

describe('fragments that spread each other', () => {
  const bomb = (levels: number) => {
    const fragments = Array.from(
      { length: levels },
      (_, i) => `fragment f${i} on Country{...f${i + 1} ...f${i + 1}}`,
    );
    return `{country(code:"KE"){...f0}}${fragments.join('')}fragment f${levels} on Country{code}`;
  };

  it.each([16, 24, 40, 1000])('2^%i paths are refused before anybody walks them', async (levels) => {
    const { errors } = await expectRefused(bomb(levels), 'OPERATION_TOO_EXPENSIVE', /selections.*MAX_TOKENS/);
    const { planned, limit } = errors[0]?.extensions as unknown as { planned: number; limit: number };
    expect(limit).toBe(15_000);
    expect(planned).toBeGreaterThan(2 ** Math.min(levels, 40));
  });

  it('are refused where the plan is asked for, too', () =>
    expectRefused(bomb(40), 'OPERATION_TOO_EXPENSIVE', /MAX_TOKENS/, { headers: EXPLAIN }));

  it('run where that is no more than a document without fragments may have', async () => {
    const { ask, sandbox } = await opening;
    const reply = await ask(bomb(10), { key: sandbox.keys.team });
    expect(reply.data).toEqual({ country: { code: 'KE' } });
    expect(reply.upstream.calls).toBe(1);
  });
});
