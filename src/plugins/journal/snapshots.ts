import { randomBytes } from 'node:crypto';
import type { JournalFile } from './journal.ts';

/** Times are milliseconds since the epoch. The data stands last, so that the rest is read without it. */
export const SNAPSHOT_TABLES = `
  CREATE TABLE IF NOT EXISTS snapshots (token TEXT PRIMARY KEY, holder TEXT NOT NULL, operation TEXT NOT NULL, at_ms INTEGER NOT NULL, bytes INTEGER NOT NULL, extensions TEXT NOT NULL, data BLOB NOT NULL);
  CREATE INDEX IF NOT EXISTS snapshots_of_holder ON snapshots (holder, at_ms, bytes);
  CREATE INDEX IF NOT EXISTS snapshots_at ON snapshots (at_ms);
`;

/** Of the data of one answer: it is written in one turn. */
const MOST_SNAPSHOT_BYTES = 2_000_000;

const TOKEN_BYTES = 16;

/** An answer that can be given again. */
export interface Snapshot {
  /** Who may have it again. */
  readonly holder: string;
  /** Digest of what was asked. */
  readonly operation: string;
  /** JSON, as it was sent. */
  readonly data: Uint8Array;
  /** JSON of the answer's extensions, without its bill. */
  readonly extensions: string;
}

const statementsIn = (file: JournalFile) => ({
  add: file.prepare('INSERT INTO snapshots VALUES (?, ?, ?, ?, ?, ?, ?)'),
  read: file.prepare(
    'SELECT holder, operation, data, extensions FROM snapshots WHERE token = ? AND at_ms >= ?',
  ),
  expire: file.prepare('DELETE FROM snapshots WHERE at_ms < ?'),
  bytes: file.prepare('SELECT total(bytes) AS bytes FROM snapshots'),
  largestHolder: file.prepare(
    'SELECT holder FROM snapshots GROUP BY holder ORDER BY sum(bytes) DESC, holder LIMIT 1',
  ),
  dropOldest: file.prepare(
    'DELETE FROM snapshots WHERE token = (SELECT token FROM snapshots WHERE holder = ? ORDER BY at_ms LIMIT 1)',
  ),
});

/** Answers that are kept for so long, in a share of the journal. */
export class Snapshots {
  readonly #file: JournalFile;
  readonly #sql: ReturnType<typeof statementsIn>;
  readonly #mostBytes: number;
  readonly #keptMs: number;
  /** Bytes of the data of one answer. */
  readonly mostBytesOfOne: number;

  constructor(file: JournalFile, mostBytes: number, keptMs: number) {
    this.#file = file;
    this.#sql = statementsIn(file);
    this.#mostBytes = mostBytes;
    this.#keptMs = keptMs;
    this.mostBytesOfOne = Math.min(mostBytes, MOST_SNAPSHOT_BYTES);
  }

  /**
   * Beyond the bound, those that have the most lose their oldest, so that nobody evicts what others keep.
   * @returns the token that it is given again for
   */
  put({ holder, operation, data, extensions }: Snapshot, nowMs: number): Promise<string> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    return this.#file.atOnce(() => {
      this.#sql.expire.run(nowMs - this.#keptMs);
      this.#sql.add.run(token, holder, operation, nowMs, data.length, extensions, data);
      while (this.bytes > this.#mostBytes) this.#dropOne();
      return token;
    });
  }

  /** Null if there is none, or it has expired. */
  get(token: string, nowMs: number): Snapshot | null {
    const row = this.#sql.read.get(token, nowMs - this.#keptMs);
    return (row as Snapshot | undefined) ?? null;
  }

  get bytes(): number {
    return Number(this.#sql.bytes.get()?.bytes);
  }

  #dropOne(): void {
    const { holder } = this.#sql.largestHolder.get() ?? {};
    this.#sql.dropOldest.run(String(holder));
  }
}
