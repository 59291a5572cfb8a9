import { lineOf, startChild } from './child.ts';
import type { Running } from './servers.ts';

/** Argument of `bench/race/mixed.ts`. */
export interface MixedOrder {
  readonly url: string;
  readonly count: number;
  readonly seed: number;
  readonly connections: number;
  /** Seconds after which no further operation is sent. */
  readonly mostSeconds: number;
}

export interface MixedResult {
  readonly operations: number;
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly wrong: number;
  /** Operations that were rejected with 503; not among the wrong ones. */
  readonly turnedAway: number;
  /** A digest of the data of every tenth response. */
  readonly answers: string;
}

/** Sends drawn operations to a server over 32 connections, one at a time on each. */
export async function sendMixed(
  { child }: Running,
  order: Omit<MixedOrder, 'url' | 'connections'>,
): Promise<MixedResult> {
  const full: MixedOrder = { ...order, url: child.url, connections: 32 };
  await using load = startChild({ args: ['bench/race/mixed.ts', JSON.stringify(full)], core: 1 });
  const [line] = await lineOf(load, /^\{.*\}$/);
  return JSON.parse(line) as MixedResult;
}
