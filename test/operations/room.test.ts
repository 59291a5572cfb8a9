import { expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';

const wide = (...metricKeys: readonly string[]) =>
  `{ countries { observations(metricKeys: ${JSON.stringify(metricKeys)}) { value } } }`;
const light =
  '{ observations(countryCodes: ["KE"], metricKeys: ["adolescent_fertility_per_1000"]) { value } }';

it('operations of many rows run one after the other where memory is short, of any key; those of few rows beside them', async () => {
  await using program = await openProgram({ env: { MEMORY_MB: '192' } });
  const { ask, sandbox } = program;
  const { promise: until, resolve: resume } = Promise.withResolvers<void>();
  const isOf = (metricKey: string) => (query: Readonly<Record<string, string>>) =>
    query.metric_keys?.includes(metricKey) === true;
  sandbox.faults.set({ route: '/v1/data', kind: 'paused', until, when: isOf('population_total') });
  const callsFor = (metricKey: string) => sandbox.log.filter(({ query }) => isOf(metricKey)(query)).length;

  const first = ask(wide('population_total', 'gdp_current_usd'));
  await expect.poll(() => callsFor('population_total')).toBeGreaterThan(0);
  const second = ask(wide('life_expectancy', 'urban_population_total'), { key: sandbox.keys.analyst });
  expect((await ask(light)).data.observations.length).toBeGreaterThan(0);
  expect(callsFor('life_expectancy')).toBe(0);
  resume();
  for (const { data, errors } of [await first, await second]) {
    expect(errors).toEqual([]);
    expect(data.countries.some(({ observations = [] }) => observations.length > 0)).toBe(true);
  }
  expect(callsFor('life_expectancy')).toBeGreaterThan(0);
});
