import { describe, expect, it } from 'vitest';
import { Failure } from '../../src/errors.ts';
import type { Outcome } from '../../src/figures/entries.ts';
import type { Fetch } from '../../src/figures/fetch.ts';
import { createPrefetch, prefetched } from '../../src/figures/held.ts';
import { demandFor } from '../../src/plan/demand.ts';
import { tenantOf } from '../support/tenants.ts';
import { fetchBy, latest, parts, TTL_MS } from './stages.ts';

/** The stage, and a clock that the test sets. */
function open(outcomeOf: (countryCode: string) => Outcome = () => [], maxDemands = 40_000) {
  const time = { nowMs: 0 };
  const prefetch = createPrefetch({ now: () => time.nowMs, ttlMs: TTL_MS, maxDemands });
  const asked: string[][] = [];
  const next: Fetch = async (demands, _sending, settle) => {
    asked.push(demands.map(({ countryCode }) => countryCode));
    for (const demand of demands) settle(demand, outcomeOf(demand.countryCode));
  };
  return { stage: prefetched(next, { ...parts, prefetch }), prefetch, asked, time };
}

describe('figures that were asked for lately', () => {
  it('go along once they have aged, and settle nothing', async () => {
    const { stage, prefetch, asked, time } = open();
    prefetch.wanted(tenantOf('one'), latest('KE'), 0);
    time.nowMs = TTL_MS / 2;
    await fetchBy(stage, [latest('NG')]);
    time.nowMs += 1;
    const { outcomes } = await fetchBy(stage, [latest('NG')]);
    expect(asked).toEqual([['NG'], ['NG', 'KE']]);
    expect(outcomes).toEqual({ NG: [] });
  });

  it('go along anew only where they did not come', async () => {
    const { stage, prefetch, asked, time } = open((code) =>
      code === 'KE' ? new Failure('UPSTREAM_TIMEOUT', 'Too late.') : [],
    );
    prefetch.wanted(tenantOf('one'), latest('KE'), 0);
    prefetch.wanted(tenantOf('one'), latest('GH'), 0);
    time.nowMs = TTL_MS - 100;
    await fetchBy(stage, [latest('NG')]);
    await fetchBy(stage, [latest('NG')]);
    expect(asked).toEqual([
      ['NG', 'GH', 'KE'],
      ['NG', 'KE'],
    ]);
  });

  it.each([
    ['those of another key', 'two', latest('KE'), 600],
    ['those of another mode', 'one', demandFor('series', 'KE', 'm'), 600],
    ['those not asked for within their time', 'one', latest('KE'), TTL_MS + 1],
    ['those that are asked for anyway', 'one', latest('NG'), 600],
  ])('do not go along: %s', async (_, key, demand, nowMs) => {
    const { stage, prefetch, asked, time } = open();
    prefetch.wanted(tenantOf(key), demand, 0);
    time.nowMs = nowMs;
    await fetchBy(stage, [latest('NG')]);
    expect(asked).toEqual([['NG']]);
  });

  it('are forgotten of the key that asked the longest ago, where there are too many of all keys', async () => {
    const { stage, prefetch, asked, time } = open(undefined, 3);
    for (const key of ['another', 'one', 'a third']) prefetch.wanted(tenantOf(key), latest('KE'), 0);
    prefetch.wanted(tenantOf('one'), latest('GH'), 0);
    time.nowMs = 600;
    await fetchBy(stage, [latest('NG')]);
    expect(asked).toEqual([['NG', 'GH', 'KE']]);
    expect(prefetch.of(tenantOf('another'), [latest('NG')])).toEqual([]);
    expect(prefetch.of(tenantOf('a third'), [latest('NG')])).toHaveLength(1);
  });

  it('go along with nothing', async () => {
    const { stage, prefetch, asked, time } = open();
    prefetch.wanted(tenantOf('one'), latest('KE'), 0);
    time.nowMs = 600;
    await fetchBy(stage, []);
    expect(asked).toEqual([[]]);
  });

  it('go along as far as they add no call', async () => {
    const { stage, prefetch, asked, time } = open();
    for (let i = 0; i < 300; i += 1) prefetch.wanted(tenantOf('one'), latest(`C${i}`), 0);
    time.nowMs = 600;
    await fetchBy(stage, [latest('NG')]);
    // Short of the hundred rows that a call brings while nothing is known of the service.
    expect(asked[0]).toHaveLength(1 + 33);
  });
});
