import { type Listening, pinSelf, startListening } from './child.ts';
import { pick, type ServiceBody, targetsOf } from './pick.ts';
import type { Question } from './questions.ts';
import { digestOf } from './settled.ts';

export interface Upstream {
  readonly url: string;
  /** Requests that it has received. */
  calls(): Promise<number>;
  /** Has answers take the time that they are to take; or none, while servers warm up. */
  setLate(isLate: boolean): Promise<void>;
  /** Begins the draws of times anew, so that each run meets the same ones. */
  drawAnew(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Time that each answer waits, in milliseconds: always this long, and by an exponential tail of this mean.
 */
export interface Latency {
  readonly leastMs: number;
  readonly tailMs: number;
}

/** What of an answer differs from the last one to the same address: a tenth of its rows, half of them, or nothing. */
export type Bodies = 'changing' | 'half' | 'same';

const AT_ONCE: Latency = { leastMs: 0, tailMs: 0 };

/**
 * The service of `bench/upstream.ts`.
 */
export async function startUpstream(
  latency: Latency = AT_ONCE,
  bodies: Bodies = 'changing',
): Promise<Upstream> {
  pinSelf();
  const env = { LATENCY_MS: String(latency.leastMs), TAIL_MS: String(latency.tailMs), BODIES: bodies };
  const child: Listening = await startListening({ args: ['bench/upstream.ts'], core: 1, env });
  return {
    url: child.url,
    calls: () => callsTo(child.url),
    setLate: (isLate) => tell(child.url, isLate ? '__late' : '__prompt'),
    drawAnew: () => tell(child.url, '__draws'),
    [Symbol.asyncDispose]: child[Symbol.asyncDispose],
  };
}

async function tell(url: string, what: string): Promise<void> {
  await (await fetch(`${url}/${what}`)).arrayBuffer();
}

/** The digest of the right answer to a row's question, made of the service's own words. */
export async function rightDigest(url: string, letter: string, question: Question): Promise<string> {
  const bodies = targetsOf(letter, question).map(async (target) => (await fetch(url + target)).json());
  return digestOf(pick(letter, question, (await Promise.all(bodies)) as ServiceBody[]));
}

/** Requests that the service at this address has received. */
export async function callsTo(url: string): Promise<number> {
  const counts = (await (await fetch(`${url}/__counts`)).json()) as Record<string, number>;
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
