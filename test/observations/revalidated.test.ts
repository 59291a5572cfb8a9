import { expect, it } from 'vitest';
import type { Fetch } from '../../src/figures/fetch.ts';
import type { HeldDemand } from '../../src/figures/held.ts';
import {
  type FetchCosts,
  type HeldFigures,
  type Revalidation,
  revalidated,
} from '../../src/figures/revalidation.ts';
import { observations } from '../../src/service/endpoints.ts';
import { entryOf, fetchBy, held, latest, NOW_MS, parts, TTL_MS } from './stages.ts';

function open(callsBelow = 0) {
  const checked: { figures: readonly HeldFigures[]; costs: FetchCosts }[] = [];
  const counted: number[] = [];
  const revalidation: Revalidation = {
    async check(figures, costs) {
      checked.push({ figures, costs });
      return () => NOW_MS;
    },
    countCalls: (_key, calls) => counted.push(calls),
  };
  const passed: HeldDemand[] = [];
  const next: Fetch<HeldDemand> = async (demands, { bill }) => {
    passed.push(...demands);
    bill.byRoute[observations.route] = (bill.byRoute[observations.route] ?? 0) + callsBelow;
  };
  return { stage: revalidated(next, { ...parts, revalidation }), checked, counted, passed };
}

it('puts right how long entries past their time are known to hold, and passes everything on', async () => {
  const { stage, checked, passed } = open();
  const [fresh, old, never] = [entryOf([], 0), entryOf([], 2 * TTL_MS), entryOf([], 2 * TTL_MS)];
  const demands = [
    held(latest('KE'), fresh),
    held(latest('NG'), old),
    held(latest('GH')),
    held(latest('ZA', 0), never),
  ];
  await fetchBy(stage, demands);
  expect(checked[0]?.figures.map(({ entry }) => entry)).toEqual([old]);
  expect([old.checkedAtMs, never.checkedAtMs]).toEqual([NOW_MS, NOW_MS - 2 * TTL_MS]);
  expect(passed).toEqual(demands);
});

it('tells what fetching costs with a look at the sources and without', async () => {
  const { stage, checked } = open();
  await fetchBy(stage, [held(latest('KE'), entryOf([], 2 * TTL_MS))]);
  const costs = checked[0]?.costs;
  expect([costs?.calls(), costs?.callsIfRenewed()]).toEqual([1, 0]);
});

it('counts the data calls that are sent below', async () => {
  const { stage, counted } = open(3);
  await fetchBy(stage, [held(latest('KE'))]);
  await fetchBy(stage, [held(latest('KE'))]);
  expect(counted).toEqual([3, 3]);
});
