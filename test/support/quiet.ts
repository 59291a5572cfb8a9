import { expect } from 'vitest';
import type { Program } from './program.ts';

/** Longer than the windows of batches by default; shorter than what tests hold. */
const WINDOW_MS = 50;

/** Some requests of a gateway at no call, one after the other: it has read by then whatever was sent to it before. */
export async function roundTrips({ url }: { readonly url: string }): Promise<void> {
  for (let times = 0; times < 5; times += 1) await (await fetch(new URL('/health/live', url))).text();
}

/**
 * Waits until whatever goes on by itself has reached the service: windows that are open close before this timer fires,
 * since that is later and of the same event loop. So it tells of what has not been sent, however busy the machine is.
 */
export async function settled(gateway: { readonly url: string }): Promise<void> {
  await roundTrips(gateway);
  await new Promise((resolve) => setTimeout(resolve, WINDOW_MS));
  await roundTrips(gateway);
}

/**
 * Asks, and has the service hold its answers until the gateway has read all that was asked: operations are in flight
 * together, however busy the machine is.
 */
export async function inFlightTogether<Replies>(
  program: Pick<Program, 'url' | 'sandbox'>,
  ask: () => Promise<Replies>,
): Promise<Replies> {
  const { sandbox } = program;
  const held = Promise.withResolvers<void>();
  const endHold = sandbox.faults.set({ kind: 'paused', until: held.promise });
  const before = sandbox.log.length;
  const asked = ask();
  await expect.poll(() => sandbox.log.length).toBeGreaterThan(before);
  await settled(program);
  endHold();
  held.resolve();
  return asked;
}
