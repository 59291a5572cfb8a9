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
    async calls() {
      const counts = (await (await fetch(`${child.url}/__counts`)).json()) as Record<string, number>;
      return Object.values(counts).reduce((sum, count) => sum + count, 0);
    },
    [Symbol.asyncDispose]: child[Symbol.asyncDispose],
  };
}
