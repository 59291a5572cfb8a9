import { lineOf, startChild } from './child.ts';
import type { Running } from './servers.ts';

/** Order for `bench/race/mixed.ts`. */
export interface MixedOrder {
  readonly url: string;
  readonly count: number;
  readonly seed: number;
  readonly connections: number;
  /** Time after which no further operation is sent. */
  readonly mostSeconds: number;
}

export interface MixedResult {
  readonly operations: number;
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly wrong: number;
  /** Operations that were refused because there was too much to do; not among the wrong ones. */
  readonly turnedAway: number;
  /** A digest of the data of every tenth answer. */
  readonly answers: string;
}

/** Sends drawn operations to a server, one after the other on each connection. */
export async function sendMixed(
  { child }: Running,
  order: Omit<MixedOrder, 'url' | 'connections'>,
): Promise<MixedResult> {
  const told: MixedOrder = { ...order, url: child.url, connections: 32 };
  await using load = startChild({ args: ['bench/race/mixed.ts', JSON.stringify(told)], core: 1 });
  const [line] = await lineOf(load, /^\{.*\}$/);
  return JSON.parse(line) as MixedResult;
}
