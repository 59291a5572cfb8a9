import { setImmediate } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Asking, Program, Reply } from './program.ts';

interface TimingOut extends Asking {
  /** Requests that reach the service, and stay without an answer. */
  readonly calls: number;
  /** Their timeout, or that of the operation: a second or more, in milliseconds. */
  readonly timeoutMs: number;
}

/** Asks, and has the timeout pass once all calls have reached the service, and again for those that follow them. */
export async function askTimedOut(
  { ask, sandbox, timers }: Pick<Program, 'ask' | 'sandbox' | 'timers'>,
  query: string,
  { calls, timeoutMs, ...asking }: TimingOut,
): Promise<Reply> {
  const before = sandbox.log.length;
  let isOver = false;
  const asked = ask(query, asking).finally(() => {
    isOver = true;
  });
  await expect.poll(() => sandbox.log.length).toBe(before + calls);
  for (let sent = 0; !isOver; await setImmediate()) {
    if (sandbox.log.length === sent) continue;
    sent = sandbox.log.length;
    timers.pass(timeoutMs);
  }
  return asked;
}
