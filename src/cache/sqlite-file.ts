import { chmodSync, closeSync, existsSync, openSync, renameSync, statSync } from 'node:fs';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';

const IN_MEMORY = ':memory:';

/** SQLITE_BUSY: another process has locked the file. */
const BUSY = 5;

/** SQLITE_CORRUPT, SQLITE_NOTADB. */
const DAMAGE = new Set([11, 26]);

/** SQLITE_IOERR, SQLITE_FULL. */
const FULL = new Set([10, 13]);

/** Also SQLITE_LOCKED. */
const PASSING = new Set([...FULL, BUSY, 6]);

const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EIO']);

const FILE_ENDINGS = ['', '-wal', '-shm'];

/** Only the owner may read data that was fetched with a key. */
const MODE = 0o600;

/** Milliseconds between tries to use a locked file, the last one again and again. */
const BUSY_PAUSES_MS = [1, 2, 5, 10, 20] as const;

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

interface FileOptions {
  readonly path: string;
  /** SQL that creates the tables which aren't there. */
  readonly tables: string;
  /** Milliseconds that work waits for other processes. */
  readonly patienceMs: number;
  /** Called with the error of a damaged file that was set aside; left out if none may be. */
  readonly onSetAside?: (error: Error) => void;
  /** Called if the file was deleted or replaced. */
  readonly onLost?: () => void;
  /** Called if another file is open in the place of one that was lost. */
  readonly onAnother?: () => void;
}

/**
 * A file of SQLite that may be deleted, replaced or damaged while it is open: then another one takes its place, since that
 * is the one that other processes go on with.
 */
export class SqliteFile {
  readonly #openDatabase: Awaited<ReturnType<typeof loadSqlite>>;
  readonly #options: FileOptions;
  readonly #onOpen: ((db: DatabaseSync) => void)[] = [];
  #db: DatabaseSync | null = null;
  #inode = 0;
  #opens = 0;

  constructor(openDatabase: Awaited<ReturnType<typeof loadSqlite>>, options: FileOptions) {
    this.#openDatabase = openDatabase;
    this.#options = options;
  }

  /** How often a file has been opened. */
  get opens(): number {
    return this.#opens;
  }

  get isOpen(): boolean {
    return this.#db !== null;
  }

  /** True if a file is open, and still the one at its path. */
  get isThere(): boolean {
    return this.#db !== null && inodeOf(this.#options.path) === this.#inode;
  }

  /** Returns a statement of whichever file is open when it runs; before the first one is. */
  prepare(sql: string) {
    let statement!: StatementSync;
    this.#onOpen.push((db) => {
      statement = db.prepare(sql);
    });
    return {
      get: (...values: SQLInputValue[]) => statement.get(...values),
      all: (...values: SQLInputValue[]) => statement.all(...values),
      run: (...values: SQLInputValue[]) => void statement.run(...values),
    };
  }

  /**
   * Opens the file, as work does if none is open.
   * @throws if that isn't possible
   */
  open(): DatabaseSync {
    const { path, onAnother, onSetAside } = this.#options;
    try {
      this.#db = this.#opened();
    } catch (error) {
      if (!isDamage(error) || onSetAside === undefined) throw error;
      onSetAside(setAside(path, error));
      this.#db = this.#opened();
    }
    this.#inode = inodeOf(path);
    this.#opens += 1;
    if (this.#opens > 1) onAnother?.();
    return this.#db;
  }

  /** Does work as soon as no other process has the file locked. Work of several statements is for {@link atOnce}. */
  work<T>(work: () => T): Promise<T> {
    return this.#withFile(work);
  }

  /** Does work as one transaction: all or nothing, and nothing in between. */
  atOnce<T>(work: () => T): Promise<T> {
    return this.#withFile((db) => inTransaction(db, work));
  }

  close(): void {
    this.#db?.close();
    this.#db = null;
  }

  #opened(): DatabaseSync {
    const { path, patienceMs, tables } = this.#options;
    const db = this.#openDatabase(path, patienceMs);
    return orClose(db, () => {
      db.exec(tables);
      for (const prepare of this.#onOpen) prepare(db);
      // SQLite's own wait would block the event loop, unlike that of `work`.
      db.exec('PRAGMA busy_timeout = 0;');
      return db;
    });
  }

  #withFile<T>(work: (db: DatabaseSync) => T): Promise<T> {
    const { patienceMs, onLost } = this.#options;
    return onceUnlocked(() => {
      if (this.isOpen && !this.isThere) {
        this.close();
        onLost?.();
      }
      const db = this.#db ?? this.open();
      try {
        return work(db);
      } catch (error) {
        return work(this.#openAnother(error));
      }
    }, patienceMs);
  }

  /**
   * Opens another file if work has shown that this one is damaged, or has lost a table.
   * @throws the error of the work if it shows neither
   */
  #openAnother(error: unknown): DatabaseSync {
    const { path, onSetAside } = this.#options;
    const isDamaged = isDamage(error) && onSetAside !== undefined;
    if (!isDamaged && !lacksTable(error)) throw error;
    this.close();
    // Another process may have been faster.
    if (isDamaged && inodeOf(path) === this.#inode) onSetAside(setAside(path, error));
    return this.open();
  }
}

/** Closes the database if the work fails. */
function orClose<T>(db: DatabaseSync, work: () => T): T {
  try {
    return work();
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Returns SQLite's code of an error, without its details, which the higher bits hold; 0 if it is none of SQLite's. */
function codeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
}

function isDamage(error: unknown): boolean {
  return DAMAGE.has(codeOf(error));
}

function lacksTable(error: unknown): boolean {
  return error instanceof Error && /^no such table/.test(error.message);
}

/** True if another try may succeed later. */
export function isPassing(error: unknown, codes = PASSING): error is Error {
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

function inodeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? 0;
}

/** Moves a damaged file out of the way; returns an error that says so. */
function setAside(path: string, damage: unknown): Error {
  const aside = `${path}.damaged-${Date.now()}`;
  for (const ending of FILE_ENDINGS) if (existsSync(path + ending)) renameSync(path + ending, aside + ending);
  return new Error(`The file of the cache was damaged. It is set aside as ${aside}.`, { cause: damage });
}

/**
 * Tries work until no other process has the file locked, without blocking the event loop.
 * @param work does all or nothing
 * @param patienceMs milliseconds after which it fails
 */
async function onceUnlocked<T>(work: () => T, patienceMs: number): Promise<T> {
  const untilMs = performance.now() + patienceMs;
  for (let tries = 0; ; tries += 1) {
    try {
      return work();
    } catch (error) {
      if (codeOf(error) !== BUSY || performance.now() >= untilMs) throw error;
    }
    await pause(BUSY_PAUSES_MS[tries] ?? BUSY_PAUSES_MS.at(-1));
  }
}

function inTransaction<T>(db: DatabaseSync, work: () => T): T {
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
