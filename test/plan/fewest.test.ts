import { expect, it } from 'vitest';
import { createFewestCalls } from '../../src/graphql/cost/fewest-calls.ts';
import { cover } from '../../src/observations/planner/cover.ts';
import { type Demand, demandFor, type Mode, type RowsOf } from '../../src/observations/planner/demand.ts';
import { Dice } from '../execution/dice.ts';

const LIMITS = { maxRows: 100, maxCodes: 10, maxAddress: 6_000 };

function fewestCalls(demands: readonly Demand[], rowsOf: RowsOf): number {
  const fewest = createFewestCalls(LIMITS, () => rowsOf);
  for (const demand of demands) fewest.add(demand);
  return fewest.calls();
}

const table = (mode: Mode, countries: number, metrics: number) =>
  Array.from({ length: countries * metrics }, (_, i) =>
    demandFor(mode, `C${i % countries}`, `m${Math.floor(i / countries)}`),
  );

it.each<[string, number, Parameters<typeof table>]>([
  ['no figures', 0, ['latest', 0, 0]],
  ['latest figures by their number', 2, ['latest', 10, 11]],
  ['series by their rows', 5, ['series', 5, 5]],
  ['names that are more than a call takes', 3, ['latest', 1, 21]],
])('the fewest calls bound %s', (_, calls, of) => {
  expect(fewestCalls(table(...of), () => 20)).toBe(calls);
});

it('the fewest calls count a figure once, and latest figures not beside series, which may hold them', () => {
  const fewest = createFewestCalls(LIMITS, () => () => 60);
  for (let time = 0; time < 3; time += 1) fewest.add(demandFor('series', 'KE', 'a'));
  expect([fewest.figures(), fewest.calls()]).toEqual([1, 1]);
  for (const demand of table('latest', 9, 9)) fewest.add(demand);
  expect([fewest.figures(), fewest.calls()]).toEqual([82, 1]);
});

it('the fewest calls count a series beyond the rows of a call as a call of its own', () => {
  expect(fewestCalls(table('series', 2, 1), () => 5_000)).toBe(2);
});

it('the fewest calls are never more than what a cover takes', () => {
  const dice = new Dice(20_270_101);
  for (let round = 0; round < 60; round += 1) {
    const [countries, metrics] = [1 + dice.below(15), 1 + dice.below(15)];
    const demands = table('series', countries, metrics).filter(() => dice.below(3) > 0);
    const rows = new Map(demands.map(({ key }) => [key, dice.below(160)]));
    const rowsOf = (code: string, metric: string) => rows.get(demandFor('series', code, metric).key) ?? 20;
    expect(fewestCalls(demands, rowsOf)).toBeLessThanOrEqual(cover(demands, LIMITS, rowsOf).length);
  }
});
