import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settingsError } from '../../config/config.ts';
import { messageOf } from '../../shared/errors.ts';

const PREFIX = 'country-graph-run-';
const FILE = 'store.db';

/** Milliseconds in which a run has opened its file. */
const BEGINNING_MS = 60_000;

/**
 * Makes a folder for the file that the workers of one run share, which only this user may enter. It removes those of
 * runs that were killed.
 * @throws ConfigError if there is no place for it
 */
export async function openRunFolder(): Promise<{ readonly path: string; remove(): void }> {
  const parent = tmpdir();
  try {
    const folder = mkdtempSync(join(parent, PREFIX));
    await removeLeftOver(parent);
    return { path: join(folder, FILE), remove: () => rmSync(folder, { recursive: true, force: true }) };
  } catch (error) {
    throw settingsError(
      `CACHE_URL: with WORKERS above 1 and no store named, workers share a file in ${parent}, which can't be written (${messageOf(error)}): name another folder in TMPDIR, or a store here`,
    );
  }
}

async function removeLeftOver(parent: string): Promise<void> {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(PREFIX)) continue;
    const folder = join(parent, name);
    try {
      const { mtimeMs, uid } = statSync(folder);
      // In one of another user, the file might lead anywhere.
      if (uid !== (process.getuid?.() ?? uid) || Date.now() - mtimeMs < BEGINNING_MS) continue;
      if (await isInUse(join(folder, FILE))) continue;
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // It is removed by a later run, or went with its own.
    }
  }
}

/** A file that others have open can't leave its journal mode. Unlike a process's number, this holds across containers. */
async function isInUse(path: string): Promise<boolean> {
  const { DatabaseSync: Database } = await import('node:sqlite');
  const db = new Database(path);
  try {
    db.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE;');
    return false;
  } catch {
    return true;
  } finally {
    db.close();
  }
}
