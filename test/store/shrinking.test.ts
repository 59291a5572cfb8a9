import { expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';

const figure = (code: string) =>
  `{ observations(countryCodes: ["${code}"], metricKeys: ["population_total"], latest: true) { value } }`;

it('what is given back where memory is short is asked for anew, and what was used last stays', async () => {
  // Answers that are kept whole would hide which figures are.
  const env = { CACHE_URL: 'memory:', CACHE_MAX_BYTES: '1048576', ANSWERS_MAX_BYTES: '0' };
  await using program = await openProgram({ env });
  const callsOf = async (code: string) => (await program.ask(figure(code))).upstream.calls;
  for (const code of ['KE', 'NG', 'GH']) expect(await callsOf(code)).toBe(1);
  for (const code of ['NG', 'GH', 'KE']) expect(await callsOf(code)).toBe(0);
  program.shrink(1);
  for (const code of ['NG', 'GH', 'KE']) expect(await callsOf(code)).toBe(0);
  // Room for one of them.
  program.shrink(0.0012);
  expect(await callsOf('KE')).toBe(0);
  expect(await callsOf('NG')).toBe(1);
  program.shrink(0);
  for (const code of ['KE', 'GH', 'NG']) expect(await callsOf(code)).toBe(1);
});

it('answers that are given back are made anew of what is held', async () => {
  await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
  const hits = async () => {
    const text = await (await fetch(new URL('/metrics', program.url))).text();
    return Number(
      /^country_graph_cache_lookups_total\{kind="answers",result="hit"\} (\d+)$/m.exec(text)?.[1] ?? 0,
    );
  };
  for (let i = 0; i < 3; i += 1) await program.ask(figure('KE'));
  const before = await hits();
  expect(before).toBeGreaterThan(0);
  program.shrink(0);
  const { data, upstream } = await program.ask(figure('KE'));
  expect([upstream.calls, data.observations.length, await hits()]).toEqual([1, 1, before]);
});
