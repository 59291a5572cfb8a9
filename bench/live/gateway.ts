import { once } from 'node:events';
import { startServing } from '../../test/support/serving.ts';

/** Heap that a gateway may take. */
const HEAP_MIB = 256;

export interface GatewayParts {
  readonly serviceUrl: string;
  readonly redisUrl: string;
  readonly pollSeconds: number;
}

/** A gateway as a user starts it. */
export async function startGateway({ serviceUrl, redisUrl, pollSeconds }: GatewayParts) {
  const { child, url } = await startServing({
    // Ends it beyond that, so that growth is told from garbage that nobody has collected as yet.
    nodeArgs: [`--max-old-space-size=${HEAP_MIB}`],
    env: {
      COUNTRY_DATA_URL: serviceUrl,
      CACHE_URL: redisUrl,
      // Waits long for the store, on a busy machine too: its late values count as not held.
      CACHE_TIMEOUT_MS: '5000',
      SUBSCRIPTIONS: 'on',
      SUBSCRIPTIONS_POLL_SECONDS: String(pollSeconds),
      MAX_SUBSCRIPTIONS: '5000',
      LOG_LEVEL: 'silent',
    },
  });
  const ended = once(child, 'exit');
  return {
    url,
    end: async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await ended;
    },
    /** A number that its metrics tell. */
    async metric(name: string): Promise<number> {
      const text = await (await fetch(new URL('/metrics', url))).text();
      return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? ([\\d.e+]+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
    },
    /** Sends so many operations under a key, to show that its plan allows more than the smallest one does. */
    async ask(key: string, queries: readonly string[]): Promise<void> {
      for (const query of queries) {
        const answer = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
          body: JSON.stringify({ query }),
        });
        await answer.text();
      }
    },
  };
}

export type Gateway = Awaited<ReturnType<typeof startGateway>>;
