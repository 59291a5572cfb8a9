import { randomUUID } from 'node:crypto';
import { createClient } from '@redis/client';
import { settingsError } from '../config/config.ts';
import { LATE, within } from '../shared/async/within.ts';
import {
  awayState,
  type Backing,
  FETCHED_MS,
  fetchedState,
  isAway,
  MONTH_RETENTION_MS,
  noteIn,
} from './backing.ts';
import type { CounterSnapshot, LeaseState, Leases, SharedCounters, Window } from './store.ts';

/** Milliseconds that counters of a minute are kept: longer than it lasts. */
const MINUTE_RETENTION_MS = 120_000;

/** Keys that one step of a purge looks at. */
const SCAN_STEP = 1_000;

const CONNECT_TIMEOUT_MS = 2_000;

/**
 * Interval at which each connection is asked for a sign of life, and the time that it may take. A host that is gone, or a
 * firewall that has forgotten a connection, leaves it open and silent, until the system gives it up after a quarter of an hour.
 */
const PING_INTERVAL_MS = 1_000;
const PING_TIMEOUT_MS = 2_000;

/** The longest pause between two attempts to reach a Redis that is away. */
const MAX_PAUSE_MS = 2_000;

/** Milliseconds by which a pause may be longer, so that gateways don't return all at once. */
const JITTER_MS = 100;

/** Milliseconds after which a reply is late: many times what one takes within a data centre. */
const LATE_MS = 40;

/** Connections that are asked while a reply is late, so many that hardly ever all of them wait for one. */
const FURTHER_CONNECTIONS = 3;

/** Creates a client that fails at once while its Redis is away, and comes back by itself. */
function createConnection(url: string) {
  return createClient({
    url,
    disableOfflineQueue: true,
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      // For one that is silent from its first moment. Pings keep others from being idle for so long.
      socketTimeout: 2 * PING_TIMEOUT_MS,
      reconnectStrategy: (attempts) => Math.min(2 ** attempts * 50, MAX_PAUSE_MS) + Math.random() * JITTER_MS,
    },
  });
}

const expiresIn = (atMs: number) =>
  ({ type: 'PX', value: Math.max(1, Math.ceil(atMs - Date.now())) }) as const;

type Connection = ReturnType<typeof createConnection>;

/** Watches a connection until its user ends it, and connects anew where it falls silent. */
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
      // Once the old socket has told of its end, which would otherwise be taken for that of the new one.
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
 * True if a Redis is a part of a cluster, which keeps names that are used together apart.
 * @throws Error if it can't be asked
 */
async function isInCluster(connection: Connection): Promise<boolean> {
  return /^cluster_enabled:1/m.test(await connection.info('cluster'));
}

/**
 * Connects to a Redis, and over further connections. One that is away is gone on without, and comes back.
 * @throws ConfigError if it is a part of a cluster
 */
export async function connectedTo(url: string, further = 0): Promise<[Connection, ...Connection[]]> {
  const all: [Connection, ...Connection[]] = [
    createConnection(url),
    ...Array.from({ length: further }, () => createConnection(url)),
  ];
  // Each command that fails for it says so; without a listener the client would end the process.
  for (const connection of all) connection.on('error', () => {});
  await within(
    CONNECT_TIMEOUT_MS,
    Promise.all(all.map((connection) => connection.connect().catch(() => {}))),
  );
  const [first] = all;
  // One that may not be asked, or is away, is taken for a Redis by itself.
  const asking = first.isReady ? isInCluster(first).catch(() => false) : Promise.resolve(false);
  if (await within(PING_TIMEOUT_MS, asking, false)) {
    for (const connection of all) connection.destroy();
    throw settingsError(
      "CACHE_URL: is part of a Redis Cluster, which can't be used: name a Redis that is none",
    );
  }
  for (const connection of all) watch(connection);
  return all;
}

/** Sends what may be sent several times. */
type AskAny = <Reply>(question: (connection: Connection) => Promise<Reply>) => Promise<Reply>;

/**
 * Asks over one of several connections. A reply that is late holds back all that come behind it; so the same is asked over the
 * next connection, which later questions take first, and so it is if one fails. The reply that comes first counts.
 */
function askingAny(connections: readonly Connection[]): AskAny {
  let inTurn = connections;
  return async (question) => {
    const replies: ReturnType<typeof question>[] = [];
    for (const connection of inTurn) {
      replies.push(question(connection));
      const reply = await within(LATE_MS, Promise.any(replies), LATE).catch((): typeof LATE => LATE);
      if (reply !== LATE) return reply;
      inTurn = [...inTurn.filter((other) => other !== connection), connection];
    }
    // The error of one tells more than that of all.
    return Promise.any(replies).catch(() => replies[0] as Promise<never>);
  };
}

/**
 * Opens a store of values in a Redis, which several gateways may share.
 * @param namespace prefix of the names of the shared counters
 */
export async function openRedis(url: string, namespace: string): Promise<Backing> {
  const all = await connectedTo(url, FURTHER_CONNECTIONS);
  // Writes keep their order on this one.
  const [client] = all;
  const ask = askingAny(all);

  return {
    adapter: {
      getMany: async (keys) => (keys.length === 0 ? [] : ask((connection) => connection.mGet(keys))),
      async setMany(entries) {
        const writes = client.multi();
        for (const { key, value, expires } of entries) {
          // A duration, since the clock of a Redis may be another.
          const life = expires === undefined ? {} : { expiration: expiresIn(expires) };
          writes.set(key, String(value), life);
        }
        await writes.exec();
      },
    },
    sharedCounters: countersIn(client, ask, namespace),
    leases: leasesIn(client, ask, namespace),
    async clear(prefix) {
      const pattern = `${prefix.replace(/[*?[\]\\]/g, '\\$&')}*`;
      for await (const keys of client.scanIterator({ MATCH: pattern, COUNT: SCAN_STEP })) {
        if (keys.length > 0) await client.unlink(keys);
      }
    },
    async first(name, value) {
      const takenState = await client.set(name, value, { condition: 'NX', GET: true });
      return takenState ?? value;
    },
    onReturn: (listener) => void client.on('ready', listener),
    async close() {
      for (const connection of all) connection.destroy();
    },
  };
}

/** Milliseconds for which a take is known by its name: the longest that its reply is waited for. */
const TAKE_RETENTION_MS = 2_000;

/**
 * Does the same as `mayTake` of the shared counters, with nothing between the look and the count. A take that is
 * asked for again was counted the first time.
 */
const TAKE = `
local minute, month, now, takes = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == 'take'
local calls = tonumber(redis.call('GET', KEYS[1]) or '0')
local callsInMonth = tonumber(redis.call('GET', KEYS[2]) or '0')
local text = redis.call('GET', KEYS[3]) or ''
if not takes then return {0, calls, callsInMonth, text} end
if redis.call('EXISTS', KEYS[4]) == 1 then return {1, calls, callsInMonth, text} end
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
redis.call('SET', KEYS[4], '', 'PX', ARGV[7])
return {1, calls, callsInMonth, text}
`;

/** Puts a call back. Counters that are past their time stay away. */
const PUT_BACK = `
for _, key in ipairs(KEYS) do
  if tonumber(redis.call('GET', key) or '0') > 0 then redis.call('DECR', key) end
end
`;

/** Counts in a Redis. The braces keep an account's keys together in a cluster. */
function countersIn(client: Connection, ask: AskAny, namespace: string): SharedCounters {
  const keyOf = (account: string, what: string) => `${namespace}ledger:{${account}}:${what}`;

  async function run(
    account: string,
    { minute, month, nowMs }: Window,
    verb: 'take' | 'read',
  ): Promise<CounterSnapshot> {
    const whats = [`minute:${minute}`, `month:${month}`, 'note', `take:${randomUUID()}`];
    const order = {
      keys: whats.map((what) => keyOf(account, what)),
      arguments: [minute, month, nowMs, verb, MINUTE_RETENTION_MS, MONTH_RETENTION_MS, TAKE_RETENTION_MS].map(
        String,
      ),
    };
    const reply = await ask((connection) => connection.eval(TAKE, order));
    const [isTaken, callsThisMinute, callsThisMonth, text] = reply as [number, number, number, string];
    return { isTaken: isTaken === 1, callsThisMinute, callsThisMonth, note: noteIn(text || null) };
  }

  return {
    take: (account, at) => run(account, at, 'take'),
    read: (account, at) => run(account, at, 'read'),
    async putBack(account, { minute, month }) {
      const keys = [`minute:${minute}`, `month:${month}`].map((what) => keyOf(account, what));
      // Over one connection: a call that was put back twice would count one too few.
      await client.eval(PUT_BACK, { keys, arguments: [] });
    },
    async note(account, note) {
      await client.set(keyOf(account, 'note'), JSON.stringify(note), {
        expiration: { type: 'PX', value: MONTH_RETENTION_MS },
      });
    },
  };
}

/**
 * Does the same as `statesOf` of the leases, with nothing between the look and the lease. Leases that are the holder's already,
 * since it asks again, are taken once more.
 */
const LEASE = `
local held, free, states = redis.call('MGET', unpack(KEYS)), 'own', {}
for i, state in ipairs(held) do
  if state == ARGV[1] then held[i] = false
  elseif ARGV[3] == 'whole' and state and string.sub(state, 1, 5) == 'away ' then free = 'free' end
end
for i, key in ipairs(KEYS) do
  if not held[i] or held[i] == ARGV[3 + i] then
    if free == 'own' then redis.call('SET', key, ARGV[1], 'PX', ARGV[2]) end
    states[i] = free
  else states[i] = held[i] end
end
return states
`;

const END = `
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then
    if ARGV[2] == '' then redis.call('DEL', key) else redis.call('SET', key, ARGV[2], 'PX', ARGV[3]) end
  end
end
`;

/** Names that one script looks at, so that none keeps others waiting. */
const NAMES_A_SCRIPT = 500;

function leasesIn(client: Connection, ask: AskAny, namespace: string): Leases {
  const keysOf = (group: string, names: readonly string[]) =>
    names.map((name) => `${namespace}lease:{${group}}:${name}`);
  /** Runs by parts: all are sent at once, and are one round trip. */
  const inParts = <T>(names: readonly string[], run: (some: readonly string[], from: number) => Promise<T>) =>
    Promise.all(
      Array.from({ length: Math.ceil(names.length / NAMES_A_SCRIPT) }, (_, part) => {
        const from = part * NAMES_A_SCRIPT;
        return run(names.slice(from, from + NAMES_A_SCRIPT), from);
      }),
    );
  const end = (group: string, names: readonly string[], args: string[]) =>
    inParts(names, (some) => client.eval(END, { keys: keysOf(group, some), arguments: args }));
  return {
    async take({ group, names, holder, lifeMs }, { passedOver, isWhole }) {
      const overridden = passedOver.map((state) => state ?? '');
      const parts = await inParts(names, (some, from) =>
        ask((connection) =>
          connection.eval(LEASE, {
            keys: keysOf(group, some),
            arguments: [
              awayState(holder),
              String(lifeMs),
              isWhole ? 'whole' : 'part',
              ...overridden.slice(from, from + some.length),
            ],
          }),
        ),
      );
      const states = parts.flat() as LeaseState[];
      // Each script has looked at its own names alone. Where others are at some of the batch, nothing of it is taken.
      if (!isWhole || parts.length < 2 || !states.some(isAway)) return states;
      await end(
        group,
        names.filter((_, i) => states[i] === 'own'),
        [awayState(holder), '', '0'],
      );
      return states.map((state) => (state === 'own' ? 'free' : state));
    },
    async look(group, names) {
      const parts = await inParts(names, (some) => ask((connection) => connection.mGet(keysOf(group, some))));
      return parts.flat().map(isAway);
    },
    async end({ group, names, holder }, isFetched) {
      await end(group, names, [awayState(holder), isFetched ? fetchedState(holder) : '', String(FETCHED_MS)]);
    },
  };
}
