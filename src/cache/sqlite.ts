import { settingsError } from '../config/config.ts';
import { messageOf } from '../shared/errors.ts';
import type { Adapter, Backing, OnError, Peek } from './backing.ts';
import { COUNTS_TABLE, countsInFile } from './counts.ts';
import { countersOver } from './shared-counters.ts';
import { isPassing, SqliteFile } from './sqlite-file.ts';
import type { Leases } from './store.ts';

/** Milliseconds that work waits for another process. */
const PATIENCE_MS = 100;

const WRITES_BETWEEN_SWEEPS = 500;

/** Milliseconds for which a look counts among workers: under load, each look by each request costs them a tenth. */
const WORKERS_LOOK_MS = 1;

/** Interval at which looks that don't wait make sure that the file is still the one at its path, in milliseconds. */
const CHECK_MS = 100;

const TABLES = `
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT NOT NULL, expires INTEGER) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS firsts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  ${COUNTS_TABLE}
  CREATE TABLE IF NOT EXISTS leases (name TEXT PRIMARY KEY, holder TEXT NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;
`;

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
  const file = new SqliteFile({ path, name: 'cache', tables: TABLES, patienceMs: PATIENCE_MS, onError });
  const { read, write, clear, first } = entriesIn(file, mostBytes);
  const adapter: Adapter = {
    getMany: (keys) => file.work(() => read(keys)),
    setMany: (entries) => file.atOnce(() => write(entries)),
  };
  const backing = {
    peek: peekIn(file, read, mostBytes < Number.POSITIVE_INFINITY ? WORKERS_LOOK_MS : 0),
    adapter,
    sharedCounters: countersOver(countsInFile(file), adapter),
    leases: leasesIn(file),
    clear: (prefix) => file.work(() => clear(prefix)),
    first: (name, value) => file.work(() => first(name, value)),
    onReturn: (listener) => void file.onAnother.push(listener),
    close: async () => file.close(),
  } satisfies Backing;
  try {
    file.open();
  } catch (error) {
    if (!isPassing(error)) throw settingsError(`CACHE_URL: ${path} can't hold a cache: ${messageOf(error)}`);
  }
  return backing;
}

function entriesIn(file: SqliteFile, mostBytes: number) {
  const select = file.prepare(
    'SELECT key, value FROM entries WHERE key IN (SELECT value FROM json_each(?)) AND coalesce(expires, ?) >= ?',
  );
  const upsert = file.prepare(
    'INSERT INTO entries VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires = excluded.expires',
  );
  const sweepEntries = file.prepare('DELETE FROM entries WHERE expires < ?');
  const sweepLeases = file.prepare('DELETE FROM leases WHERE expires < ?');
  const clear = file.prepare('DELETE FROM entries WHERE key >= ? AND key < ?');
  const setFirst = file.prepare('INSERT OR IGNORE INTO firsts VALUES (?, ?)');
  const firstOf = file.prepare('SELECT value FROM firsts WHERE name = ?');
  const read = (keys: readonly string[]) => {
    const nowMs = Date.now();
    const rows = select.all(JSON.stringify(keys), nowMs, nowMs);
    const byKey = new Map(rows.map(({ key, value }) => [key, value]));
    return keys.map((key) => byKey.get(key));
  };
  const evict = file.prepare(
    'DELETE FROM entries WHERE key IN (SELECT key FROM entries ORDER BY expires LIMIT (SELECT count(*) / 10 + 1 FROM entries))',
  );
  let writes = 0;
  return {
    read,
    write(entries: Parameters<Backing['adapter']['setMany']>[0]): void {
      for (const { key, value, expires } of entries) upsert.run(key, String(value), expires ?? null);
      if (mostBytes < Number.POSITIVE_INFINITY && file.bytes > mostBytes) evict.run();
      if (writes % WRITES_BETWEEN_SWEEPS === 0) {
        sweepEntries.run(Date.now());
        sweepLeases.run(Date.now());
      }
      writes += 1;
    },
    clear: (prefix: string) => void clear.run(prefix, `${prefix}\u{10ffff}`),
    first(name: string, value: string): string {
      const first = () => firstOf.get(name)?.value;
      if (first() === undefined) setFirst.run(name, value);
      return String(first() ?? value);
    },
  };
}

/** Looks by the file that is open: only work that may wait opens another in place of one that is lost. */
function peekIn(file: SqliteFile, read: ReturnType<Peek>['read'], lookMs: number): Peek {
  const dataVersion = file.prepare('PRAGMA data_version');
  let look: { readonly version: number; readonly opens: number; readonly atMs: number } | null = null;
  let checkedMs = 0;
  return () => {
    const nowMs = performance.now();
    if (look?.opens === file.opens && nowMs - look.atMs < lookMs) return { version: look.version, read };
    if (nowMs - checkedMs > CHECK_MS || !file.isOpen) {
      if (!file.isThere) throw new Error('The file of the cache is not open, or another one.');
      checkedMs = nowMs;
    }
    // It changes with each commit of another connection. Each connection counts on its own.
    const version = file.opens * 2 ** 32 + Number(dataVersion.get()?.data_version);
    look = { version, opens: file.opens, atMs: nowMs };
    return { version, read };
  };
}

function leasesIn(file: SqliteFile): Leases {
  const take = file.prepare(
    'INSERT INTO leases VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires = excluded.expires WHERE holder = excluded.holder OR expires <= ? RETURNING 1',
  );
  const look = file.prepare('SELECT 1 FROM leases WHERE name = ? AND expires > ?');
  const end = file.prepare('DELETE FROM leases WHERE name = ? AND holder = ?');
  const keyOf = (group: string, name: string) => `${group} ${name}`;
  return {
    take: ({ group, names, holder, lifeMs }) =>
      file.atOnce(() => {
        const nowMs = Date.now();
        return names.map((name) => take.get(keyOf(group, name), holder, nowMs + lifeMs, nowMs) !== undefined);
      }),
    look: (group, names) =>
      file.work(() => names.map((name) => look.get(keyOf(group, name), Date.now()) !== undefined)),
    end: ({ group, names, holder }) =>
      file.atOnce(() => {
        for (const name of names) end.run(keyOf(group, name), holder);
      }),
  };
}
