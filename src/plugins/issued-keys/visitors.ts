import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createLru, Failure, visitorOf } from '../../plugin/index.ts';
import type { IssuedKey } from './key.ts';
import { type KeyStore, LATE_MS } from './key-store.ts';

/** Visitors that a process counts. */
const MOST_VISITORS = 50_000;

const MINUTE_MS = 60_000;

/** Milliseconds that a count outlives its minute, for gateways whose clocks are behind. */
const RETENTION_MS = MINUTE_MS;

/**
 * Counts the operations of each visitor and minute, over all gateways of a store; per process while that can't be reached.
 * Addresses are only kept as digests under the gateway's key.
 */
export class Visitors {
  readonly #store: KeyStore;
  readonly #secret: string;
  readonly #counts = createLru<{ minute: number; operations: number }>(MOST_VISITORS);

  constructor(store: KeyStore, secret: string) {
    this.#store = store;
    this.#secret = secret;
  }

  nameOf({ name }: IssuedKey, address: string): string {
    return createHmac('sha256', this.#secret)
      .update(`visitor ${name} ${visitorOf(address)}`)
      .digest('base64url');
  }

  /** @throws Failure RATE_LIMITED if these operations are too many */
  async count(visitor: string, operations: number, most: number, nowMs: number): Promise<void> {
    const minute = Math.floor(nowMs / MINUTE_MS);
    const stored = this.#counts.get(visitor);
    const current = stored?.minute === minute ? stored : { minute, operations: 0 };
    this.#counts.set(visitor, current);
    // The shared count can't be lower than this one.
    if (current.operations + operations > most) throw tooMany(most, minute, nowMs);
    current.operations += operations;
    if (!this.#store.isShared) return;
    const retentionMs = (minute + 1) * MINUTE_MS - nowMs + RETENTION_MS;
    const count = { name: `visitor:${visitor}:${minute}`, most, by: operations, retentionMs };
    const taking = this.#store.take([count]).catch(() => null);
    const taken = await Promise.race([taking, pause(LATE_MS, null, { ref: false })]);
    if (taken === null || taken.full === null) return;
    current.operations -= operations;
    throw tooMany(most, minute, nowMs);
  }
}

function tooMany(most: number, minute: number, nowMs: number): Failure {
  const retryAtMs = (minute + 1) * MINUTE_MS;
  return new Failure('RATE_LIMITED', `One visitor may ask for ${most} operations a minute by this key.`, {
    limit: most,
    retryAfterSeconds: Math.max(1, Math.ceil((retryAtMs - nowMs) / 1000)),
    retryAt: new Date(retryAtMs).toISOString(),
  });
}
