import KeyvRedis, { createClient } from '@keyv/redis';
import type { Backing } from './backing.ts';
import {
  type CounterSnapshot,
  MINUTE_KEPT_MS,
  MONTH_KEPT_MS,
  noteIn,
  type SharedCounters,
  type Window,
} from './shared-counters.ts';

/** How many keys one step of a purge looks at. */
const SCAN_STEP = 1_000;

const CONNECT_TIMEOUT_MS = 2_000;

/** The longest pause between two attempts to reach a Redis that is away. */
const MAX_PAUSE_MS = 2_000;

/** How much longer a pause may be, so that gateways don't return all at once. */
const JITTER_MS = 100;

/** A client that queues nothing while its Redis is away, so that commands fail at once, and that comes back by itself. */
function createConnection(url: string) {
  return createClient({
    url,
    disableOfflineQueue: true,
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      reconnectStrategy: (attempts) => Math.min(2 ** attempts * 50, MAX_PAUSE_MS) + Math.random() * JITTER_MS,
    },
  });
}

type Connection = ReturnType<typeof createConnection>;

/**
 * Values in a Redis, which several gateways may share.
 * @param namespace what the names of the shared counters begin with
 */
export async function openRedis(url: string, namespace: string): Promise<Backing> {
  const client = createConnection(url);
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
    sharedCounters: countersIn(client, namespace),
    leases: null,
    holdsObjects: false,
    peek: null,
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
    onReturn: (listener) => void client.on('ready', listener),
    async close() {
      client.destroy();
    },
  };
}

/** As `mayTake` of the shared counters has it, where nothing can come between the look and the count. */
const TAKE = `
local minute, month, now, takes = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == 'take'
local calls = tonumber(redis.call('GET', KEYS[1]) or '0')
local callsInMonth = tonumber(redis.call('GET', KEYS[2]) or '0')
local text = redis.call('GET', KEYS[3]) or ''
if not takes then return {0, calls, callsInMonth, text} end
local isNoted, note = pcall(cjson.decode, text)
if isNoted and type(note) == 'table' then
  local limit, probeAt = note.requestsPerMinute, note.nextProbeAtMs
  if note.spentMonth == month and type(probeAt) == 'number' and probeAt > now then return {0, calls, callsInMonth, text} end
  if note.spentMinute == minute then return {0, calls, callsInMonth, text} end
  if type(limit) == 'number' and calls >= limit then return {0, calls, callsInMonth, text} end
end
calls = redis.call('INCR', KEYS[1])
callsInMonth = redis.call('INCR', KEYS[2])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('PEXPIRE', KEYS[2], ARGV[6])
return {1, calls, callsInMonth, text}
`;

/** The braces keep an account's keys together in a cluster. */
function countersIn(client: Connection, namespace: string): SharedCounters {
  const keyOf = (account: string, what: string) => `${namespace}ledger:{${account}}:${what}`;

  async function run(
    account: string,
    { minute, month, nowMs }: Window,
    verb: 'take' | 'read',
  ): Promise<CounterSnapshot> {
    const reply = await client.eval(TAKE, {
      keys: [keyOf(account, `minute:${minute}`), keyOf(account, `month:${month}`), keyOf(account, 'note')],
      arguments: [minute, month, nowMs, verb, MINUTE_KEPT_MS, MONTH_KEPT_MS].map(String),
    });
    const [isTaken, callsThisMinute, callsThisMonth, text] = reply as [number, number, number, string];
    return { isTaken: isTaken === 1, callsThisMinute, callsThisMonth, note: noteIn(text || null) };
  }

  return {
    take: (account, at) => run(account, at, 'take'),
    read: (account, at) => run(account, at, 'read'),
    async note(account, note) {
      await client.set(keyOf(account, 'note'), JSON.stringify(note), {
        expiration: { type: 'PX', value: MONTH_KEPT_MS },
      });
    },
  };
}
