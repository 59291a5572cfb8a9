import type { DatabaseSync } from 'node:sqlite';
import { type Books, mayTake, noteIn, type Page, type Window } from './books.ts';
import type { Backing } from './store.ts';

/** How long a write waits for another process that writes, in milliseconds. */
const BUSY_TIMEOUT_MS = 100;

/** Writes after which entries past their time are swept out. */
const WRITES_BETWEEN_SWEEPS = 500;

/**
 * Values in one file, which survives a restart and may be shared by processes of one machine. The library that comes
 * with Node is loaded only where it is asked for: it announces itself as experimental.
 */
export async function openSqlite(path: string): Promise<Backing> {
  const { DatabaseSync } = await import('node:sqlite');
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
  const select = db.prepare(
    'SELECT key, value FROM entries WHERE key IN (SELECT value FROM json_each(?)) AND coalesce(expires, ?) >= ?',
  );
  const upsert = db.prepare(
    'INSERT INTO entries VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires = excluded.expires',
  );
  const sweep = db.prepare('DELETE FROM entries WHERE expires < ?');
  const clear = db.prepare('DELETE FROM entries WHERE substr(key, 1, ?) = ?');
  let writes = 0;
  sweep.run(Date.now());

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
          if (writes % WRITES_BETWEEN_SWEEPS === 0) sweep.run(Date.now());
        });
        return entries.map(() => true);
      },
    },
    books: booksIn(db),
    holdsObjects: false,
    async clear(prefix) {
      clear.run(prefix.length, prefix);
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
