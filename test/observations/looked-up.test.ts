import { expect, it } from 'vitest';
import { Failure } from '../../src/errors.ts';
import { lookedUp } from '../../src/figures/client.ts';
import { createSeveralFigures } from '../../src/figures/entries.ts';
import type { Fetch } from '../../src/figures/fetch.ts';
import type { HeldDemand } from '../../src/figures/held.ts';
import type { Refused } from '../../src/figures/names.ts';
import type { Demand } from '../../src/plan/demand.ts';
import { entryOf, fetchBy, latest, NOW_MS, parts, rowsOf, TTL_MS, tenantCacheThat } from './stages.ts';

const REFUSED = new Failure('BAD_USER_INPUT', 'Unknown.');

function open(refused: Readonly<Record<string, Refused>>, isAccepted = true) {
  const passed: HeldDemand[] = [];
  const next: Fetch<HeldDemand> = async (demands) => {
    passed.push(...demands);
  };
  const reads: (readonly Demand[])[] = [];
  const held = new Map([['latest KE m', entryOf([], 0)]]);
  const stage = lookedUp(next, {
    ...parts,
    tenantCache: tenantCacheThat(() => isAccepted),
    entries: {
      atHand: () => undefined,
      async read(_key, demands) {
        reads.push(demands);
        return held;
      },
      keep() {},
      several: createSeveralFigures(),
    },
    refusedNames: { of: (_key, { countryCode }) => refused[countryCode] },
  });
  return { stage, passed, reads, held };
}

it('reads what is held of all demands at once, and passes it on', async () => {
  const { stage, passed, reads, held } = open({});
  const demands = [latest('KE'), latest('NG')];
  const { outcomes } = await fetchBy(stage, demands);
  expect(reads).toEqual([demands]);
  expect(passed.map(({ key, entry }) => [key, entry])).toEqual([
    ['latest KE m', held.get('latest KE m')],
    ['latest NG m', undefined],
  ]);
  expect(outcomes).toEqual({});
});

it('settles names that the service refused lately, unless what is held is fresh', async () => {
  const lately = { outcome: REFUSED, atMs: NOW_MS - 10 };
  const { stage, passed } = open({ KE: lately, NG: lately, GH: { ...lately, atMs: NOW_MS - TTL_MS } });
  const { outcomes, bill } = await fetchBy(stage, [
    latest('KE'),
    latest('NG'),
    latest('NG', 5),
    latest('GH'),
  ]);
  expect(outcomes).toEqual({ NG: REFUSED });
  expect(passed.map(({ countryCode }) => countryCode)).toEqual(['KE', 'NG', 'GH']);
  expect(bill.cached).toBe(1);
});

it('lets nothing stand that was refused to a key which may no longer be good', async () => {
  const { stage, passed } = open({ NG: { outcome: REFUSED, atMs: NOW_MS } }, false);
  await fetchBy(stage, [latest('NG')]);
  expect(passed).toHaveLength(1);
});

it('hands on rows that are held, fresh or not', async () => {
  const rows = await rowsOf(1);
  const { stage, passed, held } = open({});
  held.set('latest NG m', entryOf(rows, 10 * TTL_MS));
  await fetchBy(stage, [latest('NG')]);
  expect(passed[0]?.entry?.rows).toBe(rows);
});
