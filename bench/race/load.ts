import { setTimeout as pause } from 'node:timers/promises';
import { coreMs, lineOf, startChild } from './child.ts';
import type { Question } from './questions.ts';
import type { Row } from './rows.ts';
import { askedOf, type Running } from './servers.ts';
import { rightDigest, type Upstream } from './service.ts';

/** Order for `bench/peers/load.ts`. */
export interface LoadOrder {
  readonly url: string;
  /** Letter of the row. */
  readonly row: string;
  /** True if it is asked in the shape of the service. */
  readonly isPlain: boolean;
  /** Request of each connection in turn, and the digest of the right answer. */
  readonly asked: readonly { readonly body: string; readonly question: Question; readonly right: string }[];
  readonly connections: number;
  /** Load before the measured time begins. */
  readonly leadSeconds: number;
  readonly seconds: number;
  readonly key: string;
  /** A key of its own for each connection, made of `key` and a number. */
  readonly keyEach: boolean;
}

export interface LoadResult {
  readonly operations: number;
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers that were none, or other ones than were asked for, in the lead too. */
  readonly wrong: number;
}

export interface Sample {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of the gateway for one operation. */
  readonly cpuMs: number;
  /** Share of one core that the gateway took: well below 1 means that something else was the bottleneck. */
  readonly busy: number;
  /** Share of the gateway's core that went to anything else; NaN if it has none of its own. */
  readonly others: number;
  readonly calls: number;
  readonly wrong: number;
}

/** One run under closed load: each connection asks again as soon as it has its answer. */
export async function measure(
  running: Running,
  upstream: Upstream,
  row: Row,
  order: Pick<LoadOrder, 'connections' | 'leadSeconds' | 'seconds'>,
): Promise<Sample> {
  const told: LoadOrder = {
    ...order,
    ...(await askedWith(running, upstream, row, order.connections)),
    url: running.child.url,
    key: 'demo-team',
    keyEach: running.server.keyEach === true,
  };
  const sample = await underLoad(running, upstream, told);
  await settled(running);
  return sample;
}

/** Questions of the connections to a server in this row, with the digests of the right answers. */
export async function askedWith(
  { server }: Running,
  upstream: Upstream,
  row: Row,
  connections: number,
): Promise<Pick<LoadOrder, 'row' | 'isPlain' | 'asked'>> {
  const asked = askedOf(server, row, connections).map(async (each) => ({
    ...each,
    right: await rightDigest(upstream.url, row.letter, each.question),
  }));
  return { row: row.letter, isPlain: server.isPlain === true, asked: await Promise.all(asked) };
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

/**
 * Waits until the gateway has finished work that nobody waits for any more: it would eat into the next
 * server's run.
 */
async function settled({ child }: Running): Promise<void> {
  for (let step = 0, quiet = 0; step < MOST_STEPS && quiet < QUIET_STEPS; step += 1) {
    const before = child.cpuMs();
    await pause(STEP_MS);
    quiet = child.cpuMs() - before > STEP_MS / 4 ? 0 : quiet + 1;
  }
}

/** The middle value; of an even number, halfway between the two middle ones, so that none is favoured. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** Spread of values: their standard deviation by their mean, in per cent. NaN if there are fewer than two. */
export function variation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return (Math.sqrt(squares / (values.length - 1)) / mean) * 100;
}

/**
 * Operations a second of some rounds by those of others: the median of the ratio in each round, in which they
 * follow one another. A machine may be half as fast for a minute, and medians of their own would be of
 * different minutes.
 * @returns NaN if there are no rounds of one of them
 */
export function medianRatio(
  rounds: readonly Pick<Sample, 'perSecond'>[],
  others: readonly Pick<Sample, 'perSecond'>[],
): number {
  return median(rounds.map(({ perSecond }, i) => perSecond / (others[i]?.perSecond ?? Number.NaN)));
}

/** Each figure's median over the rounds; of wrong answers, all. */
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
