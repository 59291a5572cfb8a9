import fc from 'fast-check';
import { expect } from 'vitest';
import { draws } from '../support/draws.ts';
import { heapBytes } from '../support/heap.ts';

/**
 * Length of each campaign: `FUZZ_RUNS` of each, or `FUZZ_SECONDS` for all of them together; a dozen runs if neither is
 * given, and 12 seconds in CI. `FUZZ_SEED` repeats a campaign by the seed that it printed.
 */
const CAMPAIGNS = 6;
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 12);
const RUNS =
  process.env.FUZZ_RUNS === undefined && process.env.FUZZ_SECONDS !== undefined
    ? null
    : Number(process.env.FUZZ_RUNS ?? draws(0, 12)) || null;
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);

const LIMIT_MS = (SECONDS * 1000) / CAMPAIGNS;

/** Options for `it` and `describe`. */
export const CAMPAIGN = { timeout: RUNS === null ? LIMIT_MS * 3 + 30_000 : 6 * 3_600_000 };

/** Most that the heap may grow from a tenth of the runs to their end. */
const MOST_GROWTH_BYTES = 60e6;

/** Runs after which most of the bounded holdings are there. */
const EARLY_RUNS = 10;

/**
 * Checks drawn values, again and again, one after the other, and that the heap doesn't grow.
 * @param told words that are printed beside the number of runs
 */
export async function campaign<Drawn>(
  name: string,
  drawn: fc.Arbitrary<Drawn>,
  check: (drawn: Drawn) => Promise<unknown>,
  told: () => string = () => '',
): Promise<void> {
  const startMs = performance.now();
  let runs = 0;
  let earlyBytes: number | null = null;
  // The last check may still be under way when time is over.
  let last: Promise<unknown> = Promise.resolve();
  const isTenth = () =>
    RUNS === null
      ? runs >= EARLY_RUNS && performance.now() - startMs > LIMIT_MS / 10
      : runs >= Math.ceil(RUNS / 10);
  const property = fc.asyncProperty(drawn, async (value) => {
    last = check(value);
    await last;
    runs += 1;
    if (earlyBytes === null && isTenth()) earlyBytes = heapBytes();
  });
  const limits =
    RUNS === null ? { numRuns: 1_000_000, interruptAfterTimeLimit: LIMIT_MS } : { numRuns: RUNS };
  try {
    await fc.assert(property, { seed: SEED, ...limits });
    await last.catch((error) => {
      // Passes over the last draw if it is none that is checked.
      if (!fc.PreconditionFailure.isFailure(error)) throw error;
    });
  } finally {
    const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
    console.log(`${name}: ${runs} runs in ${seconds} s, FUZZ_SEED=${SEED}${told()}`);
  }
  const growth = earlyBytes === null ? 0 : heapBytes() - earlyBytes;
  expect(growth, `${name}: bytes by which the heap has grown`).toBeLessThan(MOST_GROWTH_BYTES);
}

/** A seed for dice: it says nothing when it is smaller, so it isn't shrunk. */
export const seed = fc.noShrink(fc.integer({ min: 0, max: 2 ** 32 - 1 }));
