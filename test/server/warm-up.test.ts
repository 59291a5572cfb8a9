import { expect, it } from 'vitest';
import { warmUp } from '../../src/server/warm-up.ts';
import { openProgram } from '../support/program.ts';

const QUERY = '{ countries { name observation(metricKey: "population_total") { value } } }';

/** The counts that operators see, but for those of the process itself. */
async function countsOf(url: string): Promise<string[]> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  return text
    .split('\n')
    .filter((line) => /^country_graph_/.test(line) && !/duration|build|memory|heap/.test(line));
}

it('the warm-up answers all its operations, and nothing of it can be seen', async () => {
  await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
  const before = await countsOf(program.url);
  const answered = await warmUp(program.schema, async () => true);
  expect(answered).toBe(42);
  expect(await countsOf(program.url)).toEqual(before);
  expect([program.requests(), program.operations, program.problems]).toEqual([[], [], []]);
  const { upstream, errors } = await program.ask(QUERY);
  expect([errors, upstream.calls, upstream.cached]).toEqual([[], 2, 0]);
});

it('the warm-up ends once it is told that it is over', async () => {
  await using program = await openProgram();
  let left = 3;
  const answered = await warmUp(program.schema, async () => {
    left -= 1;
    return left >= 0;
  });
  expect(answered).toBe(3);
});
