import { describe, expect, it } from 'vitest';
import { cachedFiguresStage } from '../../src/observations/cached.ts';
import type { FiguresParts } from '../../src/observations/client.ts';
import type { ObservationEntry } from '../../src/observations/entry-reader.ts';
import type { Outcome } from '../../src/observations/fetch.ts';
import { type Demand, demandFor, yearRange } from '../../src/observations/planner/demand.ts';
import { createPrefetch, type Prefetch } from '../../src/observations/prefetch.ts';
import type { Revalidation } from '../../src/observations/revalidation.ts';
import { observations } from '../../src/service/endpoints.ts';
import { Failure } from '../../src/shared/errors.ts';
import { sendingFor } from '../service/sending.ts';
import { tenantOf } from '../support/tenants.ts';
import { type FurtherParts, NO_ENTRIES, partsWith } from './parts.ts';
import { entryOf, fetchBy, latest, NOW_MS, nextFrom, rowsOf, TTL_MS, tenantCacheThat } from './stages.ts';

const DOWN = new Failure('UPSTREAM_UNAVAILABLE', 'The service is down.');
const accepted = tenantCacheThat(() => true);

/** The stage over an outcome of each country, and entries by country. */
function open(
  comes: Readonly<Record<string, Outcome>>,
  entries: Readonly<Record<string, ObservationEntry>> = {},
  further: FurtherParts & { calls?: number; onAsked?: () => void } = {},
) {
  const { next, asked } = nextFrom(comes, further.onAsked);
  const wanted: Demand[] = [];
  type Checked = Parameters<Revalidation['check']>;
  const checked: { figures: Checked[0]; costs: Checked[1] }[] = [];
  const counted: number[] = [];
  const revalidation: Revalidation = {
    async check(figures, costs) {
      checked.push({ figures, costs });
      return ({ entry }) => entry.checkedAtMs;
    },
    countCalls: (_tenant, calls) => counted.push(calls),
  };
  const prefetch: Prefetch = {
    wanted: (_tenant, demands) => wanted.push(...demands),
    brought() {},
    of: () => [],
  };
  const parts = partsWith({
    tenantCache: accepted,
    now: () => NOW_MS,
    entries: {
      ...NO_ENTRIES,
      read: async (_tenant, demands) =>
        new Map(
          demands.flatMap(({ key, countryCode }) => {
            const entry = entries[countryCode];
            return entry === undefined ? [] : [[key, entry] as const];
          }),
        ),
    },
    ...further,
  });
  const stage = cachedFiguresStage(
    async (demands, sending) => {
      sending.bill.byRoute[observations.route] = further.calls ?? 0;
      return next(demands, sending);
    },
    { ...parts, prefetch, revalidation },
  );
  return { stage, asked, wanted, checked, counted };
}

describe('what is held', () => {
  it('what is held is served where it is fresh, and what is missing or old fetched alone', async () => {
    const [one, two, three] = [await rowsOf(1), await rowsOf(2), await rowsOf(3)];
    const entries = { KE: entryOf(one, TTL_MS - 1), NG: entryOf(one, TTL_MS) };
    const { stage, asked, wanted } = open({ NG: two, GH: three }, entries);
    const { outcomes, bill } = await fetchBy(stage, [latest('KE'), latest('NG'), latest('GH')]);
    expect(asked).toEqual([['NG', 'GH']]);
    expect(outcomes).toEqual({ KE: one, NG: two, GH: three });
    expect(bill.cached).toBe(1);
    expect(wanted.map(({ countryCode }) => countryCode)).toEqual(['KE', 'NG', 'GH']);
  });

  it('what is held is fetched once for demands that differ in age alone, and all of them are settled', async () => {
    const [old, rows] = [await rowsOf(1), await rowsOf(2)];
    const { stage, asked } = open({ KE: rows }, { KE: entryOf(old, 500) });
    const { outcomes } = await fetchBy(stage, [latest('KE', 0), latest('KE', 100)]);
    expect(asked).toEqual([['KE']]);
    expect(outcomes).toEqual({ 'KE 0': rows, 'KE 100': rows });
  });

  it('what is held is served past its time where the service gives no answer, and said to be old', async () => {
    const rows = await rowsOf(1);
    const old = entryOf(rows, 2 * TTL_MS);
    const { stage } = open({ KE: DOWN, NG: DOWN, GH: DOWN }, { KE: old, NG: old });
    const stale: string[] = [];
    const sending = sendingFor('one', { onStale: (_rows, why) => stale.push(why) });
    const demands = [latest('KE'), latest('NG', TTL_MS), latest('GH')];
    const { outcomes, bill } = await fetchBy(stage, demands, sending);
    expect(outcomes).toEqual({ KE: rows, [`NG ${TTL_MS}`]: DOWN, GH: DOWN });
    expect(stale).toEqual(['UPSTREAM_UNAVAILABLE']);
    expect(bill.stale).toMatchObject([{ answers: 1, code: 'UPSTREAM_UNAVAILABLE' }]);
  });

  it('what is held of some years does not stand in for the whole series while the service fails', async () => {
    const years = yearRange(2020, null);
    const [ofYears, whole] = [
      demandFor('series', 'KE', 'm', undefined, years),
      demandFor('series', 'KE', 'm'),
    ];
    const old = { ...entryOf(await rowsOf(1), 2 * TTL_MS), years };
    const { stage } = open(
      { KE: DOWN },
      {},
      {
        entries: { ...NO_ENTRIES, read: async () => new Map([[ofYears.key, old]]) },
      },
    );
    const outcomes = await stage([ofYears, whole], sendingFor());
    expect([outcomes.get(ofYears.name), outcomes.get(whole.name)]).toEqual([old.rows, DOWN]);
  });

  it('what is held is served at once while the service is down, where all of it may be', async () => {
    const rows = await rowsOf(1);
    const outage = { failure: () => DOWN };
    const { stage, asked } = open({}, { KE: entryOf(rows, 2 * TTL_MS) }, { outage });
    expect((await fetchBy(stage, [latest('KE')])).outcomes).toEqual({ KE: rows });
    // A demand that can't be served the old is asked for all the same.
    await fetchBy(stage, [latest('KE'), latest('NG')]);
    expect(asked).toEqual([[], ['KE', 'NG']]);
  });

  it('what is held past its time is checked, as the calls are told that this may save, and calls are counted', async () => {
    const [old, never] = [entryOf([], 2 * TTL_MS), entryOf([], 2 * TTL_MS)];
    const entries = { KE: entryOf([], 0), NG: old, ZA: never };
    const { stage, checked, counted } = open({}, entries, { calls: 3 });
    await fetchBy(stage, [latest('KE'), latest('NG'), latest('GH'), latest('ZA', 0)]);
    expect(checked[0]?.figures.map(({ entry }) => entry)).toEqual([old]);
    const costs = checked[0]?.costs;
    expect([costs?.calls(), costs?.callsIfRenewed()]).toEqual([1, 1]);
    expect(counted).toEqual([3]);
  });
});

describe('a name that the service refused lately', () => {
  const REFUSED = new Failure('BAD_USER_INPUT', 'Unknown.');
  const refusing = (
    refused: Readonly<Record<string, ReturnType<FiguresParts['cache']['refusedNames']['of']>>>,
  ) => ({
    refusedNames: {
      areNone: false,
      of: (_tenant: unknown, { countryCode }: { countryCode: string }) => refused[countryCode],
      add() {},
    },
  });

  it('a name that the service refused lately keeps its outcome, unless what is held is fresh', async () => {
    const lately = { outcome: REFUSED, atMs: NOW_MS - 10 };
    const refused = { KE: lately, NG: lately, GH: { ...lately, atMs: NOW_MS - TTL_MS } };
    const { stage, asked } = open({}, { KE: entryOf([], 0) }, refusing(refused));
    const demands = [latest('KE'), latest('NG'), latest('NG', 5), latest('GH')];
    const { outcomes, bill } = await fetchBy(stage, demands);
    expect(outcomes).toEqual({ KE: [], NG: REFUSED, 'NG 5': [], GH: [] });
    expect(asked).toEqual([['NG', 'GH']]);
    expect(bill.cached).toBe(2);
  });

  it('a name that the service refused lately is asked for anew under a key which may no longer be good', async () => {
    const refused = refusing({ NG: { outcome: REFUSED, atMs: NOW_MS } });
    const { stage, asked } = open({}, {}, { ...refused, tenantCache: tenantCacheThat(() => false) });
    await fetchBy(stage, [latest('NG')]);
    expect(asked).toEqual([['NG']]);
  });
});

describe('a key that the service has not accepted lately', () => {
  it('a key that the service has not accepted lately is put to the test by all that is held, where that is one call', async () => {
    const [old, rows] = [await rowsOf(1), await rowsOf(2)];
    let isAccepted = false;
    const fresh = entryOf(old, 0);
    const { stage, asked } = open(
      { KE: rows, NG: rows },
      { KE: fresh, NG: fresh },
      {
        tenantCache: tenantCacheThat(() => isAccepted),
        onAsked() {
          isAccepted = true;
        },
      },
    );
    const { outcomes } = await fetchBy(stage, [latest('KE'), latest('NG')]);
    expect(asked).toEqual([['KE', 'NG']]);
    expect(outcomes).toEqual({ KE: rows, NG: rows });
  });

  it('a key that the service has not accepted lately is served nothing where the service refuses it in between', async () => {
    const rows = await rowsOf(1);
    const refusal = new Failure('UNAUTHENTICATED', 'The key is not valid.');
    const tenantCache = tenantCacheThat(
      () => false,
      () => refusal,
    );
    const { stage } = open({ NG: refusal }, { KE: entryOf(rows, 0) }, { tenantCache });
    const { outcomes } = await fetchBy(stage, [latest('KE'), latest('NG')]);
    expect(outcomes).toEqual({ KE: refusal, NG: refusal });
  });

  it('a key that the service has not accepted lately is asked for the rest as well where what was fetched did not reach the service', async () => {
    const tenantCache = tenantCacheThat(() => false);
    const entries = { KE: entryOf(await rowsOf(1), 0) };
    const { stage, asked } = open({ KE: await rowsOf(1) }, entries, { tenantCache });
    await fetchBy(stage, [latest('KE'), latest('NG')]);
    expect(asked).toEqual([['NG'], ['KE']]);
  });
});

describe('figures that were asked for lately', () => {
  /** The stage, and a clock that the test sets. */
  function openAlong(outcomeOf: (countryCode: string) => Outcome = () => [], maxAskedLately = 1_000) {
    const time = { nowMs: 0 };
    const parts = partsWith({ now: () => time.nowMs, tenantCache: accepted, maxAskedLately });
    const prefetch = createPrefetch(parts.cache, maxAskedLately);
    const asked: string[][] = [];
    const revalidation: Revalidation = { check: async () => () => 0, countCalls() {} };
    const stage = cachedFiguresStage(
      async (demands) => {
        asked.push(demands.map(({ countryCode }) => countryCode));
        return new Map(demands.map(({ key, countryCode }) => [key, outcomeOf(countryCode)]));
      },
      { ...parts, prefetch, revalidation },
    );
    return { stage, prefetch, asked, time };
  }

  it('figures that were asked for lately go along once they have aged, and settle nothing', async () => {
    const { stage, prefetch, asked, time } = openAlong();
    prefetch.wanted(tenantOf('one'), [latest('KE')], [0], 0);
    time.nowMs = TTL_MS / 2;
    await fetchBy(stage, [latest('NG')]);
    time.nowMs += 1;
    const { outcomes } = await fetchBy(stage, [latest('NG')]);
    expect(asked).toEqual([['NG'], ['NG', 'KE']]);
    expect(outcomes).toEqual({ NG: [] });
  });

  it('figures that were asked for lately go along anew only where they did not come', async () => {
    const late = new Failure('UPSTREAM_TIMEOUT', 'Too late.');
    const { stage, prefetch, asked, time } = openAlong((code) => (code === 'KE' ? late : []));
    prefetch.wanted(tenantOf('one'), [latest('KE')], [0], 0);
    prefetch.wanted(tenantOf('one'), [latest('GH')], [0], 0);
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
  ])('figures that were asked for lately do not go along: %s', async (_, key, demand, nowMs) => {
    const { stage, prefetch, asked, time } = openAlong();
    prefetch.wanted(tenantOf(key), [demand], [0], 0);
    time.nowMs = nowMs;
    await fetchBy(stage, [latest('NG')]);
    expect(asked).toEqual([['NG']]);
  });

  it('figures that were asked for lately are forgotten of the key that asked the longest ago, where there are too many of all keys', async () => {
    const { stage, prefetch, asked, time } = openAlong(undefined, 3);
    for (const key of ['another', 'one', 'a third']) prefetch.wanted(tenantOf(key), [latest('KE')], [0], 0);
    prefetch.wanted(tenantOf('one'), [latest('GH')], [0], 0);
    time.nowMs = 600;
    expect(prefetch.of(tenantOf('another'), [latest('NG')], 600)).toEqual([]);
    expect(prefetch.of(tenantOf('a third'), [latest('NG')], 600)).toHaveLength(1);
    await fetchBy(stage, [latest('NG')]);
    expect(asked).toEqual([['NG', 'GH', 'KE']]);
  });

  it('figures that were asked for lately go along with nothing', async () => {
    const { stage, prefetch, asked, time } = openAlong();
    prefetch.wanted(tenantOf('one'), [latest('KE')], [0], 0);
    time.nowMs = 600;
    await fetchBy(stage, []);
    expect(asked).toEqual([[]]);
  });

  it('figures that were asked for lately go along as far as they add no call', async () => {
    const { stage, prefetch, asked, time } = openAlong();
    for (let i = 0; i < 300; i += 1) prefetch.wanted(tenantOf('one'), [latest(`C${i}`)], [0], 0);
    time.nowMs = 600;
    await fetchBy(stage, [latest('NG')]);
    // Short of the hundred rows that a call brings while nothing is known of the service.
    expect(asked[0]).toHaveLength(1 + 33);
  });
});
