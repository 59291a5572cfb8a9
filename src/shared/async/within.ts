import { setTimeout } from 'node:timers/promises';

/** Waits for work, but no longer than so many milliseconds: it goes on by itself then. */
export async function within(ms: number, work: PromiseLike<unknown>): Promise<void> {
  const over = new AbortController();
  const limit = setTimeout(ms, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([work, limit]);
  over.abort();
}
