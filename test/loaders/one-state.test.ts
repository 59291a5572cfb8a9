import { expect, it } from 'vitest';
import { OneState } from '../../src/observations/loaders/one-state.ts';
import { demandsFor } from '../../src/observations/planner/demand.ts';
import { figure } from '../support/figure.ts';
import { callerOf } from '../support/tenants.ts';

const METRICS = Array.from({ length: 5_000 }, (_, i) => `metric_${i}`);

const rowOf = (metricKey: string, year: number, value: number) =>
  figure({ metricKey, year, period: `${year}`, value });

it('fields that resolve thousands of figures in turns at the same time show each in the state that came first', async () => {
  const state = new OneState(callerOf('one'));
  const latest = METRICS.map((key) => [rowOf(key, 2024, 1)]);
  const series = METRICS.map((key) => [rowOf(key, 2023, 0), rowOf(key, 2024, 2)]);
  const snapshot = METRICS.map((key) => rowOf(key, 2024, 3));
  const demands = demandsFor('series', ['KE'], METRICS);
  expect(state.of(demandsFor('latest', ['KE'], METRICS), latest)).toBe(latest);
  const resolving = [state.of(demands, series), state.ofRows(snapshot), state.of(demands, series)];
  for (const one of resolving) expect(one).toBeInstanceOf(Promise);
  const [first, ofSnapshot, second] = await Promise.all(resolving);
  expect(ofSnapshot).toEqual(latest.flat());
  for (const [i, [row]] of latest.entries()) expect(first?.[i]).toEqual([series[i]?.[0], row]);
  expect(second).toEqual(first);
});
