import { afterEach, expect, it, vi } from 'vitest';
import { openProgram } from '../support/program.ts';

const QUERY =
  '{ observations(latest: true) { id country { code name } indicator { key name } year value unit source { key } } }';

/** However slow the machine is. */
const PATIENT = { UPSTREAM_TIMEOUT_MS: '60000', OPERATION_TIMEOUT_MS: '60000' };

afterEach(() => vi.restoreAllMocks());

it('a long answer is written in pieces from its first time on, since others would wait for it as a whole', async () => {
  await using program = await openProgram({ env: PATIENT });
  const stringify = JSON.stringify;
  let longest = 0;
  vi.spyOn(JSON, 'stringify').mockImplementation((...given: unknown[]) => {
    const text = stringify(...(given as Parameters<typeof stringify>));
    longest = Math.max(longest, text?.length ?? 0);
    return text;
  });
  for (let time = 0; time < 2; time += 1) {
    const { data, errors } = await program.ask(QUERY);
    expect(errors).toEqual([]);
    expect(data.observations.length).toBeGreaterThan(9_000);
  }
  // The answers of the sandbox are written in this process, too: a data call has half a million characters at the most.
  expect(longest).toBeLessThan(600_000);
});
