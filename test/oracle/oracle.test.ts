import { describe, expect, it } from 'vitest';
import { drawn, draws } from '../support/draws.ts';
import { runTasks } from './crew.ts';
import { KEPT } from './kept.ts';
import { summary } from './run.ts';
import { play } from './session.ts';

/** A short form of the campaign (`npm run oracle`), of which CI runs a longer one. */
const SERVICES = draws(3, 1);
const OPERATIONS = 15;

describe('the graph, held against a naive one over services with drawn habits', () => {
  it(`the graph answers ${SERVICES} services as the naive one does, and bills what they received`, async () => {
    const tasks = Array.from({ length: SERVICES }, (_, service) => {
      return { seed: 1, service, operations: OPERATIONS, shown: 0, kind: undefined, verbose: false };
    });
    const lines: string[] = [];
    const tally = await runTasks(tasks, 1, (line) => lines.push(line));
    expect(tally.operations).toBeGreaterThan(SERVICES * OPERATIONS * 0.8);
    expect(tally.mismatches, [...lines, summary(tally)].join('\n')).toEqual({});
  }, 300_000);

  it.each(drawn(KEPT))('a failure that the oracle has found is mended: $name', async ({ scenario }) => {
    const outcomes = await play(scenario);
    expect(outcomes.length).toBeGreaterThan(0);
    // The first few tell enough.
    expect(outcomes.flatMap((outcome) => outcome.findings).slice(0, 3)).toEqual([]);
  });
});
