import { open, rename, rm, stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

const LOOK_MS = 25;

/** Milliseconds after which a lock's holder must have ended without removing it: it needs less than a second. */
const STALE_MS = 10_000;

/** Does work that no other process does at the same time, for the same file. */
export async function withFileLock<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  const lock = `${file}.lock`;
  while (!(await isTaken(lock))) {
    await dropStale(lock);
    await pause(LOOK_MS);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function isTaken(lock: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx')).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function dropStale(lock: string): Promise<void> {
  const { mtimeMs } = await stat(lock).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
  if (Date.now() - mtimeMs < STALE_MS) return;
  // One of those that wait is the first.
  const dropped = `${lock}.${process.pid}`;
  await rename(lock, dropped).catch(() => {});
  await rm(dropped, { force: true });
}
