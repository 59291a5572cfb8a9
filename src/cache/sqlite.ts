import type { DatabaseSync } from 'node:sqlite';
import { ConfigError } from '../config.ts';
import { type Books, MONTH_KEPT_MS, mayTake, noteIn, type Page, type Window } from './books.ts';
import type { Backing } from './store.ts';

/** How long a write waits for another process that writes, in milliseconds. */
const BUSY_TIMEOUT_MS = 100;

/** Writes after which entries past their time are swept out. */
const WRITES_BETWEEN_SWEEPS = 500;

/** Values in one file, which survives a restart and may be shared by processes of one machine. */
export async function openSqlite(path: string): Promise<Backing> {
  const db = await openDatabase(path);
  const select = db.prepare(
    'SELECT key, value FROM entries WHERE key IN (SELECT value FROM json_each(?)) AND coalesce(expires, ?) >= ?',
  );
  const upsert = db.prepare(
    'INSERT INTO entries VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires = excluded.expires',
  );
  const sweepEntries = db.prepare('DELETE FROM entries WHERE expires < ?');
  const sweepBooks = db.prepare('DELETE FROM books WHERE minute < ?');
  const clear = db.prepare('DELETE FROM entries WHERE key >= ? AND key < ?');
  let writes = 0;
  const sweep = () => {
    sweepEntries.run(Date.now());
    sweepBooks.run(Math.floor((Date.now() - MONTH_KEPT_MS) / 60_000));
  };
  sweep();

  return {
    adapter: {
      async getMany(keys) {
        const nowMs = Date.now();
        const rows = select.all(JSON.stringify(keys), nowMs, nowMs);
        const byKey = new Map(rows.map(({ key, value }) => [key, value]));
        return keys.map((key) => byKey.get(key));
      },
      async setMany(entries) {
        inTransaction(db, () => {
          for (const { key, value, expires } of entries) upsert.run(key, String(value), expires ?? null);
          writes += 1;
          if (writes % WRITES_BETWEEN_SWEEPS === 0) sweep();
        });
        return entries.map(() => true);
      },
    },
    books: booksIn(db),
    holdsObjects: false,
    peek: null,
    async clear(prefix) {
      clear.run(prefix, `${prefix}\u{10ffff}`);
    },
    async first(name, value) {
      db.prepare('INSERT OR IGNORE INTO firsts VALUES (?, ?)').run(name, value);
      return String(db.prepare('SELECT value FROM firsts WHERE name = ?').get(name)?.value ?? value);
    },
    async close() {
      db.close();
    },
  };
}

/** One page an account; a transaction that writes keeps other processes out. */
function booksIn(db: DatabaseSync): Books {
  const select = db.prepare('SELECT * FROM books WHERE account = ?');
  const count = db.prepare(`
    INSERT INTO books (account, minute, calls, month, calls_in_month) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (account) DO UPDATE SET
      minute = excluded.minute, calls = excluded.calls,
      month = excluded.month, calls_in_month = excluded.calls_in_month
  `);
  const write = db.prepare(
    'INSERT INTO books (account, note) VALUES (?, ?) ON CONFLICT (account) DO UPDATE SET note = excluded.note',
  );

  function pageOf(account: string, { minute, month }: Window): Page {
    const row = select.get(account);
    return {
      isTaken: false,
      callsThisMinute: row?.minute === minute ? Number(row.calls) : 0,
      callsThisMonth: row?.month === month ? Number(row.calls_in_month) : 0,
      note: noteIn(row?.note as string | null | undefined),
    };
  }

  return {
    async take(account, at) {
      return inTransaction(db, () => {
        const page = pageOf(account, at);
        if (!mayTake(page.callsThisMinute, page.note, at)) return page;
        const callsThisMinute = page.callsThisMinute + 1;
        const callsThisMonth = page.callsThisMonth + 1;
        count.run(account, at.minute, callsThisMinute, at.month, callsThisMonth);
        return { ...page, isTaken: true, callsThisMinute, callsThisMonth };
      });
    },
    read: async (account, at) => pageOf(account, at),
    async note(account, note) {
      write.run(account, JSON.stringify(note));
    },
  };
}

/**
 * The library that comes with Node is loaded only where it is asked for: it announces itself as experimental.
 * @throws ConfigError where the file can't be opened, or holds something else
 */
async function openDatabase(path: string): Promise<DatabaseSync> {
  const { DatabaseSync } = await import('node:sqlite');
  try {
    const db = new DatabaseSync(path);
    db.exec(`
    PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT NOT NULL, expires INTEGER) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS firsts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS books (
      account TEXT PRIMARY KEY, minute INTEGER, calls INTEGER, month INTEGER, calls_in_month INTEGER, note TEXT
    ) WITHOUT ROWID;
  `);
    return db;
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`The settings have 1 fault(s):\n  CACHE_URL: ${path} can't hold a cache: ${words}`);
  }
}

function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}
