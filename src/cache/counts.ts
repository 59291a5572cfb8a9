import type { SqliteFile } from './sqlite-file.ts';

export interface Count {
  readonly name: string;
  /** Calls that the window has room for; null for any number. */
  readonly most: number | null;
  /** Calls that are counted at once; left out for one. */
  readonly by?: number;
  /** Milliseconds for which the count is retained. */
  readonly retentionMs: number;
}

/**
 * Counts calls for all gateways that share the store. Unlike a cache it forgets nothing, and each method fails if the
 * store can't be reached. A call is counted in up to six windows at once, in all or none: libraries for rate limits
 * count one at a time.
 */
export interface CallCounts {
  /** True if other processes count in it as well. */
  readonly isShared: boolean;
  /**
   * Counts a call in each of the windows, or in none if one has no room, as one transaction.
   * @returns the counts as they stand, and the place of the first that has no room; null if the call was taken
   */
  take(
    counts: readonly Count[],
  ): Promise<{ readonly calls: readonly number[]; readonly full: number | null }>;
  /** Takes back a call that was not sent, from the counts that are still retained. */
  putBack(names: readonly string[]): Promise<void>;
  read(names: readonly string[]): Promise<readonly number[]>;
  close(): Promise<void>;
}

const byOf = (count: Count | undefined) => count?.by ?? 1;

function firstFull(wanted: readonly Count[], calls: readonly number[]): number | null {
  // Written so that NaN has no room.
  const full = wanted.findIndex(
    (count, i) => count.most !== null && !((calls[i] ?? 0) + byOf(count) <= count.most),
  );
  return full === -1 ? null : full;
}

const TAKES_BETWEEN_SWEEPS = 1_000;

export const COUNTS_TABLE =
  'CREATE TABLE IF NOT EXISTS counts (name TEXT PRIMARY KEY, calls INTEGER NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;';

export function countsInFile(file: SqliteFile) {
  const select = file.prepare('SELECT calls FROM counts WHERE name = ?');
  const add = file.prepare(
    'INSERT INTO counts VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET calls = calls + excluded.calls',
  );
  const takeBack = file.prepare('UPDATE counts SET calls = calls - 1 WHERE name = ?');
  const sweep = file.prepare('DELETE FROM counts WHERE expires < ?');
  const callsOf = (names: readonly string[]) => names.map((name) => Number(select.get(name)?.calls ?? 0));
  let takes = 0;
  return {
    take: (wanted) =>
      file.atOnce(() => {
        const calls = callsOf(wanted.map(({ name }) => name));
        const full = firstFull(wanted, calls);
        if (full !== null) return { calls, full };
        const nowMs = Date.now();
        for (const count of wanted) add.run(count.name, byOf(count), nowMs + count.retentionMs);
        if (takes % TAKES_BETWEEN_SWEEPS === 0) sweep.run(nowMs);
        takes += 1;
        return { calls: calls.map((count, i) => count + byOf(wanted[i])), full };
      }),
    putBack: (names) =>
      file.atOnce(() => {
        for (const name of names) takeBack.run(name);
      }),
    read: (names) => file.work(() => callsOf(names)),
  } satisfies Partial<CallCounts>;
}

/** Does the same as a file's `take`. A window without a limit has -1. */
const TAKE = `
local calls, full = {}, 0
for i, key in ipairs(KEYS) do
  calls[i] = tonumber(redis.call('GET', key) or '0')
  local most, by = tonumber(ARGV[3 * i - 2]), tonumber(ARGV[3 * i - 1])
  if full == 0 and most >= 0 and calls[i] + by > most then full = i end
end
if full > 0 then return {full, calls} end
for i, key in ipairs(KEYS) do
  calls[i] = redis.call('INCRBY', key, ARGV[3 * i - 1])
  redis.call('PEXPIRE', key, ARGV[3 * i])
end
return {0, calls}
`;

const PUT_BACK = `for _, key in ipairs(KEYS) do if redis.call('EXISTS', key) == 1 then redis.call('DECR', key) end end`;

/** The part of a client of Redis that counts take. */
interface RedisClient {
  eval(script: string, order: { readonly keys: string[]; readonly arguments: string[] }): Promise<unknown>;
  mGet(keys: string[]): Promise<readonly (string | null)[]>;
}

/** @param inTime fails if a reply takes too long */
export function countsInRedis(
  client: RedisClient,
  prefix: string,
  inTime: <Reply>(asking: Promise<Reply>) => Promise<Reply> = (asking) => asking,
) {
  const named = (names: readonly string[]) => names.map((name) => prefix + name);
  return {
    async take(wanted) {
      const order = {
        keys: named(wanted.map(({ name }) => name)),
        arguments: wanted.flatMap((count) => [count.most ?? -1, byOf(count), count.retentionMs].map(String)),
      };
      const [full, calls] = (await inTime(client.eval(TAKE, order))) as [number, number[]];
      return { calls, full: full === 0 ? null : full - 1 };
    },
    async putBack(names) {
      await inTime(client.eval(PUT_BACK, { keys: named(names), arguments: [] }));
    },
    read: async (names) => (await inTime(client.mGet(named(names)))).map(Number),
  } satisfies Partial<CallCounts>;
}
