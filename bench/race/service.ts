import { type Listening, pinSelf, startListening } from './child.ts';
import { pick, type ServiceBody, targetsOf } from './pick.ts';
import type { Question } from './questions.ts';
import { digestOf } from './settled.ts';

export interface Upstream {
  readonly url: string;
  /** Requests that it has received. */
  calls(): Promise<number>;
  /** Turns the latency on, or off while servers warm up. */
  setLate(isLate: boolean): Promise<void>;
  /** Restarts the sequence of drawn latencies, so that each run gets the same ones. */
  drawAnew(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Latency of each response, in milliseconds: a minimum, plus an exponentially distributed part with this mean. */
export interface Latency {
  readonly leastMs: number;
  readonly tailMs: number;
}

/** How a response differs from the previous one from the same URL: in a tenth of its rows, in half of them, or not at all. */
export type Bodies = 'changing' | 'half' | 'same';

const NO_LATENCY: Latency = { leastMs: 0, tailMs: 0 };

/** Starts the service of `bench/upstream.ts`, and moves this process to the same core. */
export async function startUpstream(
  latency: Latency = NO_LATENCY,
  bodies: Bodies = 'changing',
): Promise<Upstream> {
  pinSelf();
  const env = { LATENCY_MS: String(latency.leastMs), TAIL_MS: String(latency.tailMs), BODIES: bodies };
  const child: Listening = await startListening({ args: ['bench/upstream.ts'], core: 1, env });
  return {
    url: child.url,
    calls: () => callsTo(child.url),
    setLate: (isLate) => control(child.url, isLate ? '__late' : '__prompt'),
    drawAnew: () => control(child.url, '__draws'),
    [Symbol.asyncDispose]: child[Symbol.asyncDispose],
  };
}

async function control(url: string, what: string): Promise<void> {
  await (await fetch(`${url}/${what}`)).arrayBuffer();
}

/** The digest of the expected response, computed from the service's responses without a gateway. */
export async function expectedDigest(url: string, letter: string, question: Question): Promise<string> {
  const bodies = targetsOf(letter, question).map(async (target) => (await fetch(url + target)).json());
  return digestOf(pick(letter, question, (await Promise.all(bodies)) as ServiceBody[]));
}

/** Requests that the service at this URL has received. */
export async function callsTo(url: string): Promise<number> {
  const counts = (await (await fetch(`${url}/__counts`)).json()) as Record<string, number>;
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
