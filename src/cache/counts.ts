import type { SQLInputValue } from 'node:sqlite';
import { LATE, within } from '../shared/async/within.ts';

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

/** Counts may take so many times as long as cached figures: a late figure is a miss, but a late count is an error. */
const PATIENCE = 5;

/** Counts have a file of their own, since that of the figures may be deleted, or set aside if damaged; null for none. */
export function fileOf(url: string): string | null {
  const path = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : null;
  return path === null || path === ':memory:' ? null : `${path}.keys`;
}

const TAKES_BETWEEN_SWEEPS = 1_000;

export function countsInMemory(): CallCounts {
  const counts = new Map<string, { calls: number; readonly untilMs: number }>();
  const callsOf = (names: readonly string[]) => names.map((name) => counts.get(name)?.calls ?? 0);
  const sweep = () => {
    for (const [name, { untilMs }] of counts) if (untilMs < performance.now()) counts.delete(name);
  };
  let takes = 0;
  return {
    isShared: false,
    async take(wanted) {
      const calls = callsOf(wanted.map(({ name }) => name));
      const full = firstFull(wanted, calls);
      if (full !== null) return { calls, full };
      const taken = calls.map((count, i) => count + byOf(wanted[i]));
      for (const [i, { name, retentionMs }] of wanted.entries())
        counts.set(name, { calls: taken[i] ?? 0, untilMs: performance.now() + retentionMs });
      takes += 1;
      if (takes % TAKES_BETWEEN_SWEEPS === 0) sweep();
      return { calls: taken, full };
    },
    async putBack(names) {
      for (const name of names) {
        const count = counts.get(name);
        if (count !== undefined) count.calls -= 1;
      }
    },
    read: async (names) => callsOf(names),
    async close() {},
  };
}

const byOf = (count: Count | undefined) => count?.by ?? 1;

function firstFull(wanted: readonly Count[], calls: readonly number[]): number | null {
  // Written so that NaN has no room.
  const full = wanted.findIndex(
    (count, i) => count.most !== null && !((calls[i] ?? 0) + byOf(count) <= count.most),
  );
  return full === -1 ? null : full;
}

const COUNTS =
  'CREATE TABLE IF NOT EXISTS counts (name TEXT PRIMARY KEY, calls INTEGER NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;';

/** Milliseconds to wait for another process that has locked the file. */
const BUSY_MS = 1_000;

/**
 * Opens the file of the counts.
 * @param tables SQL that creates further tables in it
 * @throws Error for the operator, if there is no room for the file
 */
export async function openCountsFile(path: string, tables: string) {
  const sqlite = await import('./sqlite.ts');
  const { inodeOf, inTransaction, lacksTable, loadSqlite, onceUnlocked, orClose, waitForNobody, withRoom } =
    sqlite;
  const openDatabase = await loadSqlite();
  const open = () => {
    const opened = withRoom(path, () => openDatabase(path, BUSY_MS));
    orClose(opened, () => withRoom(path, () => opened.exec(COUNTS + tables)));
    waitForNobody(opened);
    return { opened, inode: inodeOf(path) };
  };
  let file = open();
  /** A file that was deleted or replaced, or has lost a table, isn't the one that others use. */
  function reopen(): void {
    const last = file.opened;
    file = open();
    last.close();
  }
  const db = {
    /** A statement of the file that is open when it runs. */
    prepare(sql: string) {
      let of = file.opened;
      let statement = of.prepare(sql);
      const current = () => {
        if (of !== file.opened) {
          of = file.opened;
          statement = of.prepare(sql);
        }
        return statement;
      };
      return {
        get: (...values: SQLInputValue[]) => current().get(...values),
        all: (...values: SQLInputValue[]) => current().all(...values),
        run: (...values: SQLInputValue[]) => current().run(...values),
      };
    },
  };
  const patiently = <T>(work: () => T): Promise<T> =>
    onceUnlocked(() => {
      if (inodeOf(path) !== file.inode) reopen();
      try {
        return work();
      } catch (error) {
        if (!lacksTable(error)) throw error;
        reopen();
        return work();
      }
    }, BUSY_MS);
  const atOnce = <T>(work: () => T): Promise<T> => patiently(() => inTransaction(file.opened, work));
  return { db, patiently, atOnce, close: async () => file.opened.close() };
}

export type CountsFile = Omit<Awaited<ReturnType<typeof openCountsFile>>, 'close'>;

export function countsIn({ db, patiently, atOnce }: CountsFile) {
  const getCount = db.prepare('SELECT calls FROM counts WHERE name = ?');
  const count = db.prepare(
    'INSERT INTO counts VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET calls = calls + excluded.calls',
  );
  const uncount = db.prepare('UPDATE counts SET calls = calls - 1 WHERE name = ?');
  const sweep = db.prepare('DELETE FROM counts WHERE expires < ?');
  let takes = 0;
  const callsOf = (names: readonly string[]) => names.map((name) => Number(getCount.get(name)?.calls ?? 0));
  return {
    take: (wanted) =>
      atOnce(() => {
        const calls = callsOf(wanted.map(({ name }) => name));
        const full = firstFull(wanted, calls);
        if (full === null)
          for (const one of wanted) count.run(one.name, byOf(one), Date.now() + one.retentionMs);
        if (takes % TAKES_BETWEEN_SWEEPS === 0) sweep.run(Date.now());
        takes += 1;
        return full === null
          ? { calls: calls.map((one, i) => one + byOf(wanted[i])), full }
          : { calls, full };
      }),
    putBack: (names) =>
      atOnce(() => {
        for (const name of names) uncount.run(name);
      }),
    read: (names) => patiently(() => callsOf(names)),
  } satisfies Partial<CallCounts>;
}

/** Does the same as the others' `take`. A window without a limit has -1. */
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

/** The braces keep all counts, and the keys beside them, together in a cluster. */
export const NAMESPACE = 'country-graph:{issued}:';

export async function connectCounts(url: string, timeoutMs: number) {
  const { connectedTo } = await import('./redis.ts');
  const [client] = await connectedTo(url);
  async function inTime<Reply>(asking: Promise<Reply>): Promise<Reply> {
    const reply = await within(PATIENCE * timeoutMs, asking, LATE);
    if (reply === LATE) throw new Error('The store of issued keys has not answered in time.');
    return reply;
  }
  return { client, inTime, close: async () => client.destroy() };
}

export type CountsConnection = Awaited<ReturnType<typeof connectCounts>>;

export function countsOver({ client, inTime }: CountsConnection) {
  const named = (names: readonly string[]) => names.map((name) => NAMESPACE + name);
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
