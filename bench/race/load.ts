import { setTimeout as pause } from 'node:timers/promises';
import { coreMs, lineOf, startChild } from './child.ts';
import type { Row } from './rows.ts';
import { type RaceRequest, type Running, requestsFor } from './servers.ts';
import { expectedDigest, type Upstream } from './service.ts';

/** Argument of `bench/peers/load.ts`. */
export interface LoadOrder {
  readonly url: string;
  /** Letter of the row. */
  readonly row: string;
  /** True if the server's schema mirrors the REST service. */
  readonly isPlain: boolean;
  /** The requests, one per connection in turn, each with the digest of the expected response. */
  readonly requests: readonly (RaceRequest & { readonly expected: string })[];
  readonly connections: number;
  /** Seconds of load before the measured time. */
  readonly leadSeconds: number;
  readonly seconds: number;
  readonly key: string;
  /** True if each connection has a different key, made of `key` and a number. */
  readonly keyEach: boolean;
}

export interface LoadResult {
  readonly operations: number;
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Failed requests and wrong responses, those before the measured time included. */
  readonly wrong: number;
}

export interface Sample {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of the gateway per operation. */
  readonly cpuMs: number;
  /** Share of one core that the gateway used, from 0 to 1: well below 1, something else was the bottleneck. */
  readonly busy: number;
  /** Share of the gateway's core that other processes used; NaN if processes are not pinned. */
  readonly others: number;
  /** Upstream calls per operation. */
  readonly calls: number;
  readonly wrong: number;
}

/** One run under closed load: each connection sends its next request as soon as it has a response. */
export async function measure(
  running: Running,
  upstream: Upstream,
  row: Row,
  order: Pick<LoadOrder, 'connections' | 'leadSeconds' | 'seconds'>,
): Promise<Sample> {
  const full: LoadOrder = {
    ...order,
    ...(await requestsOn(running, upstream, row, order.connections)),
    url: running.child.url,
    key: 'demo-team',
    keyEach: running.server.keyEach === true,
  };
  const sample = await underLoad(running, upstream, full);
  await settled(running);
  return sample;
}

/** The requests of a row on the connections to a server, with the digests of the expected responses. */
export async function requestsOn(
  { server }: Running,
  upstream: Upstream,
  row: Row,
  connections: number,
): Promise<Pick<LoadOrder, 'row' | 'isPlain' | 'requests'>> {
  const requests = requestsFor(server, row, connections).map(async (each) => ({
    ...each,
    expected: await expectedDigest(upstream.url, row.letter, each.question),
  }));
  return { row: row.letter, isPlain: server.isPlain === true, requests: await Promise.all(requests) };
}

async function underLoad({ child }: Running, upstream: Upstream, order: LoadOrder): Promise<Sample> {
  await upstream.drawAnew();
  await using load = startChild({ args: ['bench/peers/load.ts', JSON.stringify(order)], core: 1 });
  await lineOf(load, /^begin$/);
  const cpuBefore = child.cpuMs();
  const coreBefore = coreMs();
  const callsBefore = await upstream.calls();
  const [line] = await lineOf(load, /^\{.*\}$/);
  const cpuMs = child.cpuMs() - cpuBefore;
  const others = coreMs() - coreBefore - cpuMs;
  const calls = (await upstream.calls()) - callsBefore;
  const { operations, elapsedMs, p50Ms, p99Ms, wrong } = JSON.parse(line) as LoadResult;
  return {
    perSecond: (operations / elapsedMs) * 1000,
    p50Ms,
    p99Ms,
    cpuMs: cpuMs / operations,
    busy: cpuMs / elapsedMs,
    others: others / elapsedMs,
    calls: calls / operations,
    wrong,
  };
}

const STEP_MS = 50;
const QUIET_STEPS = 3;
const MOST_STEPS = 200;

/** Waits until the gateway is idle: it may still be busy with abandoned requests, which would slow the next server's run. */
async function settled({ child }: Running): Promise<void> {
  for (let step = 0, quiet = 0; step < MOST_STEPS && quiet < QUIET_STEPS; step += 1) {
    const before = child.cpuMs();
    await pause(STEP_MS);
    quiet = child.cpuMs() - before > STEP_MS / 4 ? 0 : quiet + 1;
  }
}

/** The median; of an even number of values, the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** Coefficient of variation: the standard deviation divided by the mean, in per cent. NaN for fewer than two values. */
export function variation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return (Math.sqrt(squares / (values.length - 1)) / mean) * 100;
}

/**
 * Ratio of the throughputs of two servers: the median of the ratios within each round. Within a round, they are measured
 * one right after the other, while separate medians may come from minutes in which the machine was not equally fast.
 * @returns NaN if one of them has no rounds
 */
export function medianRatio(
  rounds: readonly Pick<Sample, 'perSecond'>[],
  base: readonly Pick<Sample, 'perSecond'>[],
): number {
  return median(rounds.map(({ perSecond }, i) => perSecond / (base[i]?.perSecond ?? Number.NaN)));
}

/** The median of each figure over the rounds; for wrong responses, the sum. */
export function medianOf(samples: readonly Sample[]): Sample {
  const of = (figure: (sample: Sample) => number) => median(samples.map(figure));
  return {
    perSecond: of((s) => s.perSecond),
    p50Ms: of((s) => s.p50Ms),
    p99Ms: of((s) => s.p99Ms),
    cpuMs: of((s) => s.cpuMs),
    busy: of((s) => s.busy),
    others: of((s) => s.others),
    calls: of((s) => s.calls),
    wrong: samples.reduce((sum, { wrong }) => sum + wrong, 0),
  };
}
