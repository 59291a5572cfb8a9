import { lineOf, startChild } from './child.ts';
import { type LoadOrder, median } from './load.ts';
import type { Running } from './servers.ts';

/** Argument of `bench/race/paced.ts`. */
export interface PacedOrder extends Pick<LoadOrder, 'url' | 'row' | 'isPlain' | 'requests'> {
  readonly perSecond: number;
  readonly seconds: number;
}

export interface PacedSample {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly wrong: number;
  /** The samples of which this has the medians; only in a result, not in the sample of one round. */
  readonly rounds?: readonly PacedSample[];
}

/** Measures servers at one fixed rate, in turn, round after round. Returns the medians of each. */
export async function measurePaced(
  entered: readonly ({ readonly running: Running } & Pick<LoadOrder, 'row' | 'isPlain' | 'requests'>)[],
  { perSecond, seconds, rounds }: { perSecond: number; seconds: number; rounds: number },
): Promise<PacedSample[]> {
  const taken = entered.map((): PacedSample[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [i, { running, ...requests }] of entered.entries()) {
      const order: PacedOrder = { url: running.child.url, ...requests, perSecond, seconds };
      await using load = startChild({ args: ['bench/race/paced.ts', JSON.stringify(order)], core: 1 });
      const [line] = await lineOf(load, /^\{.*\}$/);
      taken[i]?.push(JSON.parse(line) as PacedSample);
    }
  }
  return taken.map((samples) => ({
    p50Ms: median(samples.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(samples.map(({ p99Ms }) => p99Ms)),
    wrong: samples.reduce((sum, { wrong }) => sum + wrong, 0),
    rounds: samples,
  }));
}
