import { setTimeout as delay } from 'node:timers/promises';

/** Waits for the next minute if fewer than these seconds are left of this one: for pages, which use the real time. */
export async function untilMinuteHas(seconds: number): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < seconds * 1000) await delay(leftMs);
}
