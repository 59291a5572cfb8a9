import KeyvRedis, { createClient } from '@keyv/redis';
import type { Backing } from './store.ts';

/** How many keys one step of a purge looks at. */
const SCAN_STEP = 1_000;

const CONNECT_TIMEOUT_MS = 2_000;

/** The longest pause between two attempts to reach a Redis that is away. */
const MAX_PAUSE_MS = 2_000;

/** How much longer a pause may be, so that gateways don't return all at once. */
const JITTER_MS = 100;

/**
 * Values in a Redis, which several gateways may share. While it is away nothing queues: each command fails at once, and
 * the connection is tried again in the background.
 */
export async function openRedis(url: string): Promise<Backing> {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      reconnectStrategy: (attempts) => Math.min(2 ** attempts * 50, MAX_PAUSE_MS) + Math.random() * JITTER_MS,
    },
  });
  // Each command that fails for it says so; without a listener the client would end the process.
  client.on('error', () => {});
  await Promise.race([
    client.connect().catch(() => {}),
    new Promise((resolve) => setTimeout(resolve, CONNECT_TIMEOUT_MS).unref()),
  ]);
  const adapter = new KeyvRedis(client, { throwOnErrors: true, throwOnConnectError: true });

  return {
    adapter: {
      getMany: (keys) => adapter.getMany(keys),
      setMany: (entries) => adapter.setMany(entries),
    },
    holdsObjects: false,
    async clear(prefix) {
      const pattern = `${prefix.replace(/[*?[\]\\]/g, '\\$&')}*`;
      for await (const keys of client.scanIterator({ MATCH: pattern, COUNT: SCAN_STEP })) {
        if (keys.length > 0) await client.unlink(keys);
      }
    },
    async first(name, value) {
      const held = await client.set(name, value, { condition: 'NX', GET: true });
      return held ?? value;
    },
    async close() {
      client.destroy();
    },
  };
}
