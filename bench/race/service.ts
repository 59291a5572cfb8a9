import { type Listening, pinSelf, startListening } from './child.ts';

export interface Upstream {
  readonly url: string;
  /** Requests that it has received. */
  calls(): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The service of `bench/upstream.ts`. */
export async function startUpstream(): Promise<Upstream> {
  pinSelf();
  const child: Listening = await startListening({ args: ['bench/upstream.ts'], core: 1 });
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
