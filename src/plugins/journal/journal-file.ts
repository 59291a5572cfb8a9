import { chmodSync, closeSync, existsSync, openSync, renameSync, statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds that a write waits while another process has the file locked, and between two tries. */
const PATIENCE_MS = 1_000;
const PAUSE_MS = 5;

/** SQLITE_BUSY, without the details in the higher bits. */
const BUSY = 5;

/** SQLITE_CORRUPT, SQLITE_NOTADB. */
const DAMAGE = new Set([11, 26]);

/** Only the owner may read figures that were fetched with a key. */
const MODE = 0o600;

const FILE_ENDINGS = ['', '-wal', '-shm'];

const IN_MEMORY = ':memory:';

/** Of the tables; a file of another is refused. */
const VERSION = 1;

/**
 * A file of SQLite that processes of one machine share. A damaged one is set aside, and one that was deleted is begun anew:
 * then nothing is known of before.
 */
export class JournalFile {
  readonly #path: string;
  readonly #tables: string;
  readonly #onSetAside: (words: string) => void;
  readonly #statements = new Map<string, StatementSync>();
  #db: DatabaseSync | null = null;
  #inode = 0;

  /**
   * @param tables SQL that creates those which aren't there
   * @param onSetAside called with words for the log
   */
  constructor(path: string, tables: string, onSetAside: (words: string) => void) {
    this.#path = path;
    this.#tables = tables;
    this.#onSetAside = onSetAside;
  }

  /** @throws Error if the file can't be opened, or another version has written it */
  open(): void {
    try {
      this.#openDatabase();
    } catch (error) {
      if (!DAMAGE.has(codeOf(error))) throw error;
      this.#setAside();
      this.#openDatabase();
    }
    this.#inode = inodeOf(this.#path);
  }

  /** A statement of the file that is open. */
  sql(text: string): StatementSync {
    if (this.#db === null) this.open();
    const prepared = this.#statements.get(text) ?? (this.#db as DatabaseSync).prepare(text);
    this.#statements.set(text, prepared);
    return prepared;
  }

  /**
   * Does work as one transaction, once no other process has the file locked.
   * @throws the error of SQLite, for a full disk for instance
   */
  async write<Result>(work: () => Result): Promise<Result> {
    const untilMs = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        return this.#transaction(work);
      } catch (error) {
        if (DAMAGE.has(codeOf(error))) this.#setAside();
        else if (codeOf(error) !== BUSY) throw error;
        if (performance.now() >= untilMs) throw error;
      }
      await pause(PAUSE_MS);
    }
  }

  get bytes(): number {
    const { used } = this.sql(
      'SELECT (page_count - freelist_count) * page_size AS used FROM pragma_page_count, pragma_freelist_count, pragma_page_size',
    ).get() as { readonly used: number };
    return used;
  }

  close(): void {
    this.#statements.clear();
    this.#db?.close();
    this.#db = null;
  }

  #openDatabase(): void {
    if (this.#path !== IN_MEMORY) makePrivate(this.#path);
    const db = new DatabaseSync(this.#path);
    try {
      // SQLite's own wait would block the event loop.
      db.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
      const version = Number(db.prepare('PRAGMA user_version').get()?.user_version);
      if (version !== 0 && version !== VERSION)
        throw new Error(`it is of version ${version}, and this program reads version ${VERSION}`);
      db.exec(`${this.#tables} PRAGMA user_version = ${VERSION};`);
    } catch (error) {
      db.close();
      throw error;
    }
    this.#db = db;
  }

  #transaction<Result>(work: () => Result): Result {
    if (this.#db !== null && inodeOf(this.#path) !== this.#inode) this.close();
    if (this.#db === null) this.open();
    const db = this.#db as unknown as DatabaseSync;
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

  #setAside(): void {
    this.close();
    const aside = `${this.#path}.damaged-${Date.now()}`;
    for (const ending of FILE_ENDINGS)
      if (existsSync(this.#path + ending)) renameSync(this.#path + ending, aside + ending);
    this.#onSetAside(`The journal was damaged. It is set aside as ${aside}, and begins anew.`);
  }
}

/** SQLite gives the files beside it the same mode. */
function makePrivate(path: string): void {
  closeSync(openSync(path, 'a', MODE));
  for (const ending of FILE_ENDINGS) if (existsSync(path + ending)) chmodSync(path + ending, MODE);
}

/** 0 for a file that isn't there, and in memory. */
function inodeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? 0;
}

function codeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
}
