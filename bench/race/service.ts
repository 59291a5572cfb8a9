import { type Listening, pinSelf, startListening } from './child.ts';

export interface Upstream {
  readonly url: string;
  /** Requests that it has received. */
  calls(): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** How long each answer waits, in milliseconds: always this long, and by an exponential tail of this mean. */
export interface Latency {
  readonly leastMs: number;
  readonly tailMs: number;
}

/** The service of `bench/upstream.ts`. */
export async function startUpstream(latency: Latency = { leastMs: 0, tailMs: 0 }): Promise<Upstream> {
  pinSelf();
  const env = { LATENCY_MS: String(latency.leastMs), TAIL_MS: String(latency.tailMs) };
  const child: Listening = await startListening({ args: ['bench/upstream.ts'], core: 1, env });
  return {
    url: child.url,
    calls: () => callsTo(child.url),
    [Symbol.asyncDispose]: child[Symbol.asyncDispose],
  };
}

/** Requests that the service at this address has received. */
export async function callsTo(url: string): Promise<number> {
  const counts = (await (await fetch(`${url}/__counts`)).json()) as Record<string, number>;
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
