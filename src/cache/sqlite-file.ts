import { chmodSync, closeSync, existsSync, openSync, renameSync, statSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
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

const PATIENCE_MS = 1_000;

/** Milliseconds between tries to use a locked file, the last one again and again. */
const BUSY_PAUSES_MS = [1, 2, 5, 10, 20] as const;

export interface FileOptions {
  readonly path: string;
  /** What the file is of, for words about it: `cache`. */
  readonly name: string;
  /** SQL that creates the tables which aren't there. */
  readonly tables: string;
  /** Of the tables: a file of another version is refused. Left out, any is taken. */
  readonly version?: number | undefined;
  /** Milliseconds that work waits for other processes; left out, a second. */
  readonly patienceMs?: number;
  /** Told of a file that was lost, or was damaged and is set aside; left out if none may be set aside. */
  readonly onError?: ((error: Error) => void) | undefined;
}

/**
 * A file of SQLite, for its owner alone, that several processes may write. It may be deleted, replaced or damaged while it is
 * open: then another one takes its place, since that is the one that other processes go on with. Node's library announces
 * itself as experimental, so this module is loaded by `import()`, with the first file.
 */
export class SqliteFile {
  readonly #options: FileOptions;
  readonly #onOpen: ((db: DatabaseSync) => void)[] = [];
  /** Called if another file is open in the place of one that was lost. */
  readonly onAnother: (() => void)[] = [];
  #db: DatabaseSync | null = null;
  #inode = 0;
  #opens = 0;
  readonly #usedBytes = this.prepare(
    'SELECT (page_count - freelist_count) * page_size AS used FROM pragma_page_count, pragma_freelist_count, pragma_page_size',
  );

  constructor(options: FileOptions) {
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

  /** Bytes that tables take, of which the file may have more. */
  get bytes(): number {
    return Number(this.#usedBytes.get()?.used);
  }

  /** Returns a statement of whichever file is open when it runs: to open one for which it makes no sense fails. */
  prepare(sql: string) {
    let statement!: StatementSync;
    const prepareIn = (db: DatabaseSync) => {
      statement = db.prepare(sql);
    };
    this.#onOpen.push(prepareIn);
    if (this.#db !== null) prepareIn(this.#db);
    const current = () => {
      if (!this.isOpen) this.open();
      return statement;
    };
    return {
      get: (...values: SQLInputValue[]) => current().get(...values),
      all: (...values: SQLInputValue[]) => current().all(...values),
      run: (...values: SQLInputValue[]) => current().run(...values),
    };
  }

  /**
   * Opens the file, as work does if none is open.
   * @throws if that isn't possible
   */
  open(): DatabaseSync {
    try {
      this.#db = this.#opened();
    } catch (error) {
      if (!this.#maySetAside(error)) throw error;
      this.#setAside(error);
      this.#db = this.#opened();
    }
    this.#inode = inodeOf(this.#options.path);
    this.#opens += 1;
    if (this.#opens > 1) for (const tell of this.onAnother) tell();
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
    const { path, patienceMs = PATIENCE_MS, tables } = this.#options;
    makePrivate(path);
    const db = new DatabaseSync(path);
    try {
      db.exec(`PRAGMA busy_timeout = ${patienceMs}; PRAGMA journal_mode = WAL;`);
      const found = Number(db.prepare('PRAGMA user_version').get()?.user_version);
      const { version = found } = this.#options;
      if (found !== 0 && found !== version)
        throw new Error(`it is of version ${found}, and this program reads version ${version}`);
      db.exec(tables);
      if (found !== version) db.exec(`PRAGMA user_version = ${version};`);
      for (const prepare of this.#onOpen) prepare(db);
      // SQLite's own wait would block the event loop, unlike that of `work`.
      db.exec('PRAGMA busy_timeout = 0;');
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  }

  #withFile<T>(work: (db: DatabaseSync) => T): Promise<T> {
    const { path, name, patienceMs = PATIENCE_MS, onError } = this.#options;
    return onceUnlocked(() => {
      if (this.isOpen && !this.isThere) {
        this.close();
        const words = `The file of the ${name} (${path}) was deleted or replaced. Another one is used from now on.`;
        onError?.(new Error(words));
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
   * Opens another file if work has shown that this one is damaged, or has lost a table. Tables of a version make sense only
   * together: a single one is not made anew.
   * @throws the error of the work if it shows neither
   */
  #openAnother(error: unknown): DatabaseSync {
    const { path, version } = this.#options;
    const isDamaged = this.#maySetAside(error);
    if (!isDamaged && (version !== undefined || !lacksTable(error))) throw error;
    this.close();
    // Another process may have been faster.
    if (isDamaged && inodeOf(path) === this.#inode) this.#setAside(error);
    return this.open();
  }

  #maySetAside(error: unknown): boolean {
    return DAMAGE.has(codeOf(error)) && this.#options.onError !== undefined;
  }

  /** Moves a damaged file out of the way, and says so. */
  #setAside(damage: unknown): void {
    const { path, name, onError } = this.#options;
    const aside = `${path}.damaged-${Date.now()}`;
    for (const ending of FILE_ENDINGS)
      if (existsSync(path + ending)) renameSync(path + ending, aside + ending);
    const words = `The file of the ${name} was damaged. It is set aside as ${aside}.`;
    onError?.(new Error(words, { cause: damage }));
  }
}

/** Returns SQLite's code of an error, without its details, which the higher bits hold; 0 if it is none of SQLite's. */
function codeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
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
