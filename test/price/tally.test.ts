import { describe, expect, it } from 'vitest';
import { createFewestCalls } from '../../src/graphql/cost/fewest-calls.ts';
import { openTally } from '../../src/graphql/cost/tally.ts';
import { demandFor, type Mode } from '../../src/observations/planner/demand.ts';
import { Failure } from '../../src/shared/errors.ts';

const LIMITS = { maxAddress: 6_000, maxRows: 1_000, maxCodes: 1_000 };

function tallyOf(ceilings: Partial<Parameters<typeof openTally>[0]> = {}) {
  return openTally({
    limit: 60,
    isExplained: false,
    isProven: true,
    isCertain: true,
    isDeriving: false,
    fewest: createFewestCalls(LIMITS, () => () => 77),
    dearest: (route) => `field of ${route}`,
    ...ceilings,
  });
}

/** Figures that are counted before the tally has had enough, and its words then. */
function wantAll(tally: ReturnType<typeof tallyOf>, mode: Mode, figures: number) {
  for (let count = 0; count < figures; count += 1) {
    try {
      tally.want(demandFor(mode, `C${count % 54}`, `m${Math.floor(count / 54)}`));
    } catch (refusal) {
      expect(refusal).toBe(tally.refusal());
      return { count, refusal: refusal as Failure };
    }
  }
  return { count: figures, refusal: null };
}

describe('figures that are wanted', () => {
  it('figures that are wanted end the pricing as soon as their rows are more than the calls that may be sent can bring', () => {
    const { count, refusal } = wantAll(tallyOf(), 'series', 54 * 207);
    expect(count).toBe(Math.floor((60 * 1_000) / 77));
    expect(refusal?.fields).toEqual({
      planned: 61,
      limit: 60,
      route: '/v1/data',
      field: 'field of /v1/data',
    });
    expect(refusal?.message).toMatch(/plans at least 61 upstream calls, most of them to \/v1\/data/);
  });

  it('figures that are wanted are counted further where a known key asks for the plan, but not without end', () => {
    const { count, refusal } = wantAll(tallyOf({ isExplained: true }), 'series', 54 * 207);
    expect(count).toBe(Math.floor((600 * 1_000) / 77));
    expect(refusal?.fields.planned).toBe(601);
  });

  it('figures that are wanted are not counted further under a key that anybody may have made up', () => {
    const unproven = { isExplained: true, isProven: false };
    expect(wantAll(tallyOf(unproven), 'series', 54 * 207).refusal?.fields.planned).toBe(61);
    const { count, refusal } = wantAll(tallyOf(unproven), 'latest', 54 * 207);
    expect([count, refusal?.fields.limit]).toEqual([2_500, 2_500]);
    expect(refusal?.message).toMatch(/Ask for something small first/);
  });

  it('figures that are wanted are all counted where they are within what may be sent', () => {
    expect(wantAll(tallyOf(), 'latest', 54 * 207)).toEqual({ count: 54 * 207, refusal: null });
  });
});

describe('calls', () => {
  const send = (tally: ReturnType<typeof tallyOf>, count: number) => {
    for (let i = 0; i < count; i += 1) tally.payer.reserve('/v1/things/{id}').charge();
  };

  it('planned calls are told exactly some way beyond the limit, and then at least', () => {
    const tally = tallyOf();
    send(tally, 600);
    expect(() => send(tally, 1)).toThrow(/at least 601 .*\/v1\/things\/{id}/);
    const lower = tallyOf();
    send(lower, 164);
    lower.close();
    expect(lower.refusal()).toBeInstanceOf(Failure);
    expect(lower.refusal()?.message).toMatch(/^The operation plans 164 upstream calls/);
  });

  it('planned calls are not asked for any more once the operation is refused', () => {
    const tally = tallyOf();
    wantAll(tally, 'series', 1_000);
    expect(() => send(tally, 1)).toThrow(tally.refusal()?.message);
    expect(tally.bill.calls).toBe(0);
  });
});
