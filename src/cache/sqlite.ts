import { chmodSync, closeSync, existsSync, openSync, renameSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { settingsError } from '../config/config.ts';
import { messageOf } from '../shared/errors.ts';
import {
  type AccountCounts,
  type Backing,
  countersOver,
  leasesOver,
  MONTH_RETENTION_MS,
  noteIn,
  type OnError,
  type Peek,
} from './backing.ts';
import type { Leases, SharedCounters, TakenState } from './store.ts';

/** Milliseconds that a write waits for another process. */
const BUSY_TIMEOUT_MS = 100;

const WRITES_BETWEEN_SWEEPS = 500;

/** Milliseconds for which a look counts among workers: under load, each look by each request costs them a tenth. */
const WORKERS_LOOK_MS = 1;

/** Interval at which looks that don't wait make sure that the file is still the one at its path, in milliseconds. */
const CHECK_MS = 100;

const IN_MEMORY = ':memory:';

/** SQLITE_CORRUPT, SQLITE_NOTADB. */
const DAMAGE = new Set([11, 26]);

/** SQLITE_IOERR, SQLITE_FULL. */
const FULL = new Set([10, 13]);

/** Also SQLITE_BUSY and SQLITE_LOCKED: another process has locked the file. */
const PASSING = new Set([...FULL, 5, 6]);

const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EIO']);

const FILE_ENDINGS = ['', '-wal', '-shm'];

/** Only the owner may read data that was fetched with a key. */
const MODE = 0o600;

/**
 * Loads Node's own library only if it is used, since it announces itself as experimental.
 * @returns a function that opens a file which several processes of one user may write
 */
export async function loadSqlite(): Promise<(path: string, busyTimeoutMs: number) => DatabaseSync> {
  const { DatabaseSync: Database } = await import('node:sqlite');
  return (path, busyTimeoutMs) => {
    makePrivate(path);
    const db = new Database(path);
    orClose(db, () => db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA journal_mode = WAL;`));
    return db;
  };
}

/** Closes the database if the work fails. */
export function orClose<T>(db: DatabaseSync, work: () => T): T {
  try {
    return work();
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Opens a store in one file, which survives a restart and may be shared by processes of one machine. A damaged file is
 * set aside, and an empty one takes its place: lost values can be fetched again. While there is no room, or another
 * process has it locked, it fails like any other store.
 * @param onError called with each file that was set aside
 * @param mostBytes of the file that workers share: beyond so many, the values that would expire first go
 * @throws ConfigError if the file can't be opened, or can't hold a cache
 */
export async function openSqlite(
  path: string,
  onError: OnError,
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<Backing> {
  const openDatabase = await loadSqlite();
  const open = () => {
    const db = openDatabase(path, BUSY_TIMEOUT_MS);
    const file = orClose(db, () => storeIn(db, mostBytes));
    waitForNobody(db);
    opens += 1;
    return { ...file, inode: inodeOf(path), opens };
  };
  const listeners: (() => void)[] = [];
  let file: ReturnType<typeof open> | null = null;
  let opens = 0;
  const lookMs = mostBytes === Number.POSITIVE_INFINITY ? 0 : WORKERS_LOOK_MS;
  let looked: (ReturnType<Peek> & { readonly atMs: number }) | null = null;
  /** True from the loss of the file until another one is open. */
  let isLost = false;

  function opened(): ReturnType<typeof open> {
    try {
      file = open();
    } catch (error) {
      if (!isDamage(error)) throw error;
      setAside(path, error, onError);
      file = open();
    }
    if (isLost) for (const listener of listeners) listener();
    isLost = false;
    return file;
  }

  try {
    opened();
  } catch (error) {
    if (!isPassing(error)) throw settingsError(`CACHE_URL: ${path} can't hold a cache: ${messageOf(error)}`);
  }

  /** Later work must not find the closed file. */
  function lose(used: ReturnType<typeof open>): void {
    file = null;
    looked = null;
    isLost = true;
    void used.close();
  }

  /**
   * Damage may show at any time: the work that meets it fails, and later work finds another file. So it does if the file
   * was deleted or replaced, or has lost a table: others would go on with another.
   */
  async function withFile<T>(work: (opened: ReturnType<typeof open>) => Promise<T>): Promise<T> {
    if (file !== null && inodeOf(path) !== file.inode) {
      lose(file);
      onError(
        new Error(
          `The file of the cache (${path}) was deleted or replaced. Another one is used from now on.`,
        ),
      );
    }
    const used = file ?? opened();
    try {
      return await onceUnlocked(() => work(used), BUSY_TIMEOUT_MS);
    } catch (error) {
      if ((isDamage(error) || lacksTable(error)) && used === file) {
        lose(used);
        // Another process may have been faster.
        if (isDamage(error) && inodeOf(path) === used.inode) setAside(path, error, onError);
        opened();
      }
      throw error;
    }
  }

  let checkedMs = 0;

  /** Only work that may wait opens another file in place of one that is lost. */
  function peek(): ReturnType<Peek> {
    const nowMs = performance.now();
    if (looked !== null && nowMs - looked.atMs < lookMs) return looked;
    if (nowMs - checkedMs > CHECK_MS) {
      if (file !== null && inodeOf(path) !== file.inode) throw new Error(`${path} was replaced.`);
      checkedMs = nowMs;
    }
    if (file === null) throw new Error(`${path} is not open.`);
    // Each connection counts on its own.
    looked = { version: file.opens * 2 ** 32 + file.version(), read: file.read, atMs: nowMs };
    return looked;
  }

  return {
    peek,
    adapter: {
      getMany: (keys) => withFile(({ adapter }) => adapter.getMany(keys)),
      setMany: (entries) => withFile(({ adapter }) => adapter.setMany(entries)),
    },
    sharedCounters: {
      take: (account, at) => withFile(({ sharedCounters }) => sharedCounters.take(account, at)),
      read: (account, at) => withFile(({ sharedCounters }) => sharedCounters.read(account, at)),
      putBack: (account, at) => withFile(({ sharedCounters }) => sharedCounters.putBack(account, at)),
      note: (account, note) => withFile(({ sharedCounters }) => sharedCounters.note(account, note)),
    },
    leases: {
      take: (lease, terms) => withFile(({ leases }) => leases.take(lease, terms)),
      look: (group, names) => withFile(({ leases }) => leases.look(group, names)),
      end: (lease, isFetched) => withFile(({ leases }) => leases.end(lease, isFetched)),
    },
    clear: (prefix) => withFile((opened) => opened.clear(prefix)),
    first: (name, value) => withFile((opened) => opened.first(name, value)),
    onReturn: (listener) => void listeners.push(listener),
    close: async () => file?.close(),
  };
}

function storeIn(db: DatabaseSync, mostBytes: number) {
  prepareTables(db);
  const select = db.prepare(
    'SELECT key, value FROM entries WHERE key IN (SELECT value FROM json_each(?)) AND coalesce(expires, ?) >= ?',
  );
  const upsert = db.prepare(
    'INSERT INTO entries VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires = excluded.expires',
  );
  const sweepEntries = db.prepare('DELETE FROM entries WHERE expires < ?');
  const sweepLeases = db.prepare('DELETE FROM leases WHERE expires < ?');
  const sweepCounters = db.prepare('DELETE FROM shared_counters WHERE minute < ?');
  const clear = db.prepare('DELETE FROM entries WHERE key >= ? AND key < ?');
  const setFirst = db.prepare('INSERT OR IGNORE INTO firsts VALUES (?, ?)');
  const firstOf = db.prepare('SELECT value FROM firsts WHERE name = ?');
  const version = db.prepare('PRAGMA data_version');
  const read = (keys: readonly string[]) => {
    const nowMs = Date.now();
    const rows = select.all(JSON.stringify(keys), nowMs, nowMs);
    const byKey = new Map(rows.map(({ key, value }) => [key, value]));
    return keys.map((key) => byKey.get(key));
  };
  const usedBytes = db.prepare(
    'SELECT (page_count - freelist_count) * page_size AS used FROM pragma_page_count, pragma_freelist_count, pragma_page_size',
  );
  const evict = db.prepare(
    'DELETE FROM entries WHERE key IN (SELECT key FROM entries ORDER BY expires LIMIT (SELECT count(*) / 10 + 1 FROM entries))',
  );
  const isFull = () => mostBytes < Number.POSITIVE_INFINITY && Number(usedBytes.get()?.used) > mostBytes;
  let writes = 0;
  const sweep = () => {
    sweepEntries.run(Date.now());
    sweepLeases.run(Date.now());
    sweepCounters.run(Math.floor((Date.now() - MONTH_RETENTION_MS) / 60_000));
  };
  sweep();

  return {
    read,
    /** Changes with each commit of another connection. */
    version: () => Number(version.get()?.data_version),
    adapter: {
      getMany: async (keys) => read(keys),
      async setMany(entries) {
        inTransaction(db, () => {
          for (const { key, value, expires } of entries) upsert.run(key, String(value), expires ?? null);
          if (isFull()) evict.run();
          writes += 1;
          if (writes % WRITES_BETWEEN_SWEEPS === 0) sweep();
        });
      },
    },
    sharedCounters: countersIn(db),
    leases: leasesIn(db),
    async clear(prefix) {
      clear.run(prefix, `${prefix}\u{10ffff}`);
    },
    async first(name, value) {
      const first = () => firstOf.get(name)?.value;
      if (first() === undefined) setFirst.run(name, value);
      return String(first() ?? value);
    },
    close: async () => db.close(),
  } satisfies Backing & { read: unknown; version: unknown };
}

/** One row for each account. */
function countersIn(db: DatabaseSync): SharedCounters {
  const select = db.prepare(
    'SELECT minute, calls, month, calls_in_month AS callsInMonth, note FROM shared_counters WHERE account = ?',
  );
  const write = db.prepare('INSERT OR REPLACE INTO shared_counters VALUES (?, ?, ?, ?, ?, ?)');
  return countersOver(
    {
      read(account) {
        const row = select.get(account);
        return row && ({ ...row, note: noteIn(row.note as string | null) } as AccountCounts);
      },
      write: (account, { minute, calls, month, callsInMonth, note }) =>
        write.run(account, minute, calls, month, callsInMonth, note && JSON.stringify(note)),
    },
    (work) => inTransaction(db, work),
  );
}

function leasesIn(db: DatabaseSync): Leases {
  const select = db.prepare('SELECT holder AS state FROM leases WHERE name = ? AND expires > ?');
  const write = db.prepare(
    'INSERT INTO leases VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires = excluded.expires',
  );
  const remove = db.prepare('DELETE FROM leases WHERE name = ?');
  return leasesOver(
    {
      read: (key) => (select.get(key, Date.now())?.state as TakenState | undefined) ?? null,
      write: (key, state, lifeMs) => write.run(key, state, Date.now() + lifeMs),
      remove: (key) => remove.run(key),
    },
    (work) => inTransaction(db, work),
  );
}

function prepareTables(db: DatabaseSync): void {
  db.exec(`
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT NOT NULL, expires INTEGER) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS firsts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS shared_counters (
      account TEXT PRIMARY KEY, minute INTEGER, calls INTEGER, month INTEGER, calls_in_month INTEGER, note TEXT
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS leases (name TEXT PRIMARY KEY, holder TEXT NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;
  `);
}

/** Returns SQLite's code of an error, without its details, which the higher bits hold; 0 if it is none of SQLite's. */
function codeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
}

function isDamage(error: unknown): boolean {
  return DAMAGE.has(codeOf(error));
}

export function lacksTable(error: unknown): boolean {
  return error instanceof Error && /^no such table/.test(error.message);
}

/** True if another try may succeed later. */
function isPassing(error: unknown, codes = PASSING): error is Error {
  const isNoRoom = error instanceof Error && 'code' in error && NO_ROOM.has(String(error.code));
  return isNoRoom || codes.has(codeOf(error));
}

/**
 * Opens a file without which the program can't start.
 * @throws Error that says what to do if there is no room for it, in the shape of those of the operating system
 */
export function withRoom<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (!isPassing(error, FULL)) throw error;
    const words = `CACHE_URL: ${path} can't be written (${error.message}): is its disk full? Make room on it, and start again.`;
    throw Object.assign(new Error(words, { cause: error }), { code: 'ENOSPC', syscall: 'write', path });
  }
}

/** SQLite gives the files beside it the same mode. */
function makePrivate(path: string): void {
  if (path === IN_MEMORY) return;
  closeSync(openSync(path, 'a', MODE));
  for (const ending of FILE_ENDINGS) if (existsSync(path + ending)) chmodSync(path + ending, MODE);
}

export function inodeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? 0;
}

function setAside(path: string, damage: unknown, onError: OnError): void {
  const aside = `${path}.damaged-${Date.now()}`;
  for (const ending of FILE_ENDINGS) if (existsSync(path + ending)) renameSync(path + ending, aside + ending);
  onError(new Error(`The file of the cache was damaged. It is set aside as ${aside}.`, { cause: damage }));
}

/**
 * Has work on a locked file fail at once: SQLite's own wait would block the event loop, see {@link onceUnlocked}. Not
 * for the opening of a file.
 */
export function waitForNobody(db: DatabaseSync): void {
  db.exec('PRAGMA busy_timeout = 0;');
}

/** SQLITE_BUSY: another process has locked the file. */
const BUSY = 5;

/** Milliseconds between tries, the last one again and again. */
const BUSY_PAUSES_MS = [1, 2, 5, 10, 20] as const;

/**
 * Tries work until no other process has the file locked, without blocking the event loop.
 * @param work does all or nothing
 * @param patienceMs milliseconds after which it fails
 */
export async function onceUnlocked<T>(work: () => T | Promise<T>, patienceMs: number): Promise<T> {
  const untilMs = performance.now() + patienceMs;
  for (let tries = 0; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (codeOf(error) !== BUSY || performance.now() >= untilMs) throw error;
    }
    await pause(BUSY_PAUSES_MS[tries] ?? BUSY_PAUSES_MS.at(-1));
  }
}

/** All or nothing, and nothing in between. */
export function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    // A full disk has ended it already.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}
