import { createClient } from '@redis/client';
import { settingsError } from '../config/config.ts';
import { LATE, within } from '../shared/async/within.ts';
import type { Adapter, Backing } from './backing.ts';
import { countsInRedis } from './counts.ts';
import { countersOver } from './shared-counters.ts';
import type { Leases } from './store.ts';

const SCAN_STEP = 1_000;

const CONNECT_TIMEOUT_MS = 2_000;

/**
 * Interval of pings on each connection, and the time for their replies. If a host is gone, or a firewall has forgotten
 * the connection, it stays open and silent until the system gives it up after a quarter of an hour.
 */
const PING_INTERVAL_MS = 1_000;
const PING_TIMEOUT_MS = 2_000;

/** The longest pause between attempts to connect. */
const MAX_PAUSE_MS = 2_000;

/** Random milliseconds on top, so that gateways don't return all at once. */
const JITTER_MS = 100;

/** The client fails at once while its Redis is away, and reconnects by itself. */
function createConnection(url: string) {
  return createClient({
    url,
    disableOfflineQueue: true,
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      // For a connection that is silent from the start. Pings keep others from being idle for so long.
      socketTimeout: 2 * PING_TIMEOUT_MS,
      reconnectStrategy: (attempts) => Math.min(2 ** attempts * 50, MAX_PAUSE_MS) + Math.random() * JITTER_MS,
    },
  });
}

const expiresIn = (atMs: number) =>
  ({ type: 'PX', value: Math.max(1, Math.ceil(atMs - Date.now())) }) as const;

type Connection = ReturnType<typeof createConnection>;

/** Pings a connection until its user ends it, and replaces it if it falls silent. */
function watch(connection: Connection): void {
  let isPinging = false;
  let isReplacing = false;
  const timer = setInterval(async () => {
    if (isPinging || !connection.isReady) return;
    isPinging = true;
    const pong = connection.ping().catch(() => null);
    if ((await within(PING_TIMEOUT_MS, pong, LATE)) === LATE && connection.isReady) {
      isReplacing = true;
      connection.destroy();
      // The end of the old socket would otherwise be taken for that of the new one.
      await new Promise((resolve) => setImmediate(resolve));
      isReplacing = false;
      void connection.connect().catch(() => {});
    }
    isPinging = false;
  }, PING_INTERVAL_MS);
  timer.unref();
  connection.on('end', () => {
    if (!isReplacing) clearInterval(timer);
  });
}

/**
 * Opens a connection. A Redis that is away is no error: its connection comes back.
 * @throws ConfigError if it is part of a cluster
 */
export async function connectedTo(url: string): Promise<Connection> {
  const connection = createConnection(url);
  // Failed commands report errors themselves; without a listener the client would end the process.
  connection.on('error', () => {});
  const connecting = connection.connect().catch(() => {});
  await within(CONNECT_TIMEOUT_MS, connecting);
  // A cluster would keep names apart that scripts use together. A Redis that can't be asked is taken for no cluster.
  const info = connection.isReady ? connection.info('cluster').catch(() => '') : Promise.resolve('');
  if (/^cluster_enabled:1/m.test(await within(PING_TIMEOUT_MS, info, ''))) {
    connection.destroy();
    throw settingsError(
      "CACHE_URL: is part of a Redis Cluster, which can't be used: name a Redis that is none",
    );
  }
  watch(connection);
  return connection;
}

/** @param namespace prefix of the names of counters and leases */
export async function openRedis(url: string, namespace: string): Promise<Backing> {
  const client = await connectedTo(url);
  const adapter: Adapter = {
    getMany: async (keys) => (keys.length === 0 ? [] : client.mGet(keys)),
    async setMany(entries) {
      const writes = client.multi();
      for (const { key, value, expires } of entries) {
        // As a duration, since the clock of the Redis may differ.
        const life = expires === undefined ? {} : { expiration: expiresIn(expires) };
        writes.set(key, String(value), life);
      }
      await writes.exec();
    },
  };
  return {
    adapter,
    sharedCounters: countersOver(countsInRedis(client, namespace), adapter, namespace),
    leases: leasesIn(client, namespace),
    async clear(prefix) {
      const pattern = `${prefix.replace(/[*?[\]\\]/g, '\\$&')}*`;
      for await (const keys of client.scanIterator({ MATCH: pattern, COUNT: SCAN_STEP })) {
        if (keys.length > 0) await client.unlink(keys);
      }
    },
    async first(name, value) {
      // Mostly it is there, and a Redis that is full still reads.
      const first = await client.get(name);
      return first ?? (await client.set(name, value, { condition: 'NX', GET: true })) ?? value;
    },
    onReturn: (listener) => void client.on('ready', listener),
    close: async () => client.destroy(),
  };
}

/** Leases that the holder has already, since it asks again, are taken once more. */
const TAKE_LEASES = `
local taken = {}
for i, key in ipairs(KEYS) do
  local holder = redis.call('GET', key)
  taken[i] = 0
  if not holder or holder == ARGV[1] then
    redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
    taken[i] = 1
  end
end
return taken
`;

const END_LEASES = `
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end
end
`;

/** Names for one script, so that none keeps other clients waiting. */
const NAMES_A_SCRIPT = 500;

function leasesIn(client: Connection, namespace: string): Leases {
  const keysOf = (group: string, names: readonly string[]) =>
    names.map((name) => `${namespace}lease:{${group}}:${name}`);
  /** All parts are sent at once, so they take one round trip. */
  const inParts = <T>(
    group: string,
    names: readonly string[],
    run: (keys: string[]) => Promise<T>,
  ): Promise<T[]> =>
    Promise.all(
      Array.from({ length: Math.ceil(names.length / NAMES_A_SCRIPT) }, (_, part) =>
        run(keysOf(group, names.slice(part * NAMES_A_SCRIPT, (part + 1) * NAMES_A_SCRIPT))),
      ),
    );
  return {
    async take({ group, names, holder, lifeMs }) {
      const parts = await inParts(group, names, (keys) =>
        client.eval(TAKE_LEASES, { keys, arguments: [holder, String(lifeMs)] }),
      );
      return parts.flat().map((taken) => taken === 1);
    },
    async look(group, names) {
      const parts = await inParts(group, names, (keys) => client.mGet(keys));
      return parts.flat().map((holder) => holder !== null);
    },
    async end({ group, names, holder }) {
      await inParts(group, names, (keys) => client.eval(END_LEASES, { keys, arguments: [holder] }));
    },
  };
}
