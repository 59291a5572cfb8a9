import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it, vi } from 'vitest';
import { Dice } from '../execution/dice.ts';
import { drawn } from '../support/draws.ts';
import { WHOLE_GRAPH } from '../support/golden-settings.ts';
import { openProgram } from '../support/program.ts';

const QUERIES = fileURLToPath(new URL('../queries/', import.meta.url));
const names = globSync('*/*.graphql', { cwd: QUERIES })
  .map((file) => file.replace('.graphql', ''))
  .filter((name) => !name.startsWith('live/'))
  .sort();

/** More than a turn. */
const JUMP_MS = 3;

afterEach(() => {
  vi.restoreAllMocks();
});

/** Has time jump, so that each turn ends at its first look at the clock, or at drawn ones, as on a busy machine. */
function endTurns(share: number, dice: Dice): void {
  const now = performance.now.bind(performance);
  let jumpedMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    if (dice.chance(share)) jumpedMs += JUMP_MS;
    return now() + jumpedMs;
  });
}

/** What an operation costs, cold and warm, and what its price is in between. */
async function costOf(name: string, onOpen = () => {}) {
  await using program = await openProgram({ env: { ...WHOLE_GRAPH, CACHE_URL: 'memory:' } });
  onOpen();
  const file = `${QUERIES}${name}.variables.json`;
  const variables = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  const query = readFileSync(`${QUERIES}${name}.graphql`, 'utf8');
  await program.ask(query, { variables });
  const cold = program.requests().sort();
  const { extensions } = await program.ask(query, { variables, headers: { 'x-explain': '1' } });
  const { calls } = extensions.explain as { calls: number };
  expect(program.requests()).toEqual([]);
  await program.ask(query, { variables });
  return { cold, price: calls, warm: program.requests().sort() };
}

it.for([...new Set(['derived/every-country', ...drawn(names)])])(
  'calls and prices do not depend on where turns end: %s',
  async (name) => {
    const expected = await costOf(name);
    for (const [share, seed] of [
      [1, 0],
      [0.3, 1],
      [0.3, 2],
    ] as const) {
      expect(await costOf(name, () => endTurns(share, new Dice(seed)))).toEqual(expected);
      vi.restoreAllMocks();
    }
  },
);
