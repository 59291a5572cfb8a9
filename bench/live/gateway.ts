import { once } from 'node:events';
import { startServing } from '../../test/support/serving.ts';

/** Limit of a gateway's heap. */
const HEAP_MIB = 256;

export interface GatewayParts {
  readonly serviceUrl: string;
  readonly redisUrl: string;
  readonly pollSeconds: number;
}

/** Starts a gateway as a user does. */
export async function startGateway({ serviceUrl, redisUrl, pollSeconds }: GatewayParts) {
  const { child, url } = await startServing({
    // A small heap, so that garbage is collected before it looks like growth.
    nodeArgs: [`--max-old-space-size=${HEAP_MIB}`],
    env: {
      COUNTRY_DATA_URL: serviceUrl,
      CACHE_URL: redisUrl,
      // Long, for a busy machine: values that come later count as cache misses.
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
    /** The value of one of its metrics. */
    async metric(name: string): Promise<number> {
      const text = await (await fetch(new URL('/metrics', url))).text();
      return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? ([\\d.e+]+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
    },
    /** Sends operations one after the other. */
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
