import type { Failure } from '../errors.ts';
import { createKeyTable } from './key-table.ts';
import type { Store } from './store.ts';

/**
 * The service's last word on each key. Gateways that share a store share that too: each read from the store brings the
 * others' knowledge.
 */
export interface KeyStatuses {
  /** Takes over the store's word on a key, as it was read under `nameOf`. Returns the instant of its last refusal. */
  learn(keyDigest: string, stored: unknown): number;
  /** Reads the store's word on a key. */
  lookUp(keyDigest: string): Promise<void>;
  /** Returns the name in the store. */
  nameOf(keyDigest: string): string;
  /** Returns the instant at which the service last refused the key, in milliseconds since the epoch; 0 for never. */
  refusedAtMs(keyDigest: string): number;
  isAccepted(keyDigest: string): boolean;
  /** Returns true if the service has ever answered for the key, so that it can't be one that anybody has made up. */
  isProven(keyDigest: string): boolean;
  refusal(keyDigest: string): Failure | null;
  accept(keyDigest: string): void;
  /**
   * Refuses the key. `wasAccepted`: it was accepted before. `isStored` settles once the store has the refusal, and
   * others have heard of it.
   */
  refuse(
    keyDigest: string,
    refusal: Failure,
  ): { readonly wasAccepted: boolean; readonly isStored: Promise<void> };
  /** Returns a number that changes with each `renew` for the key or for all, and with each refusal. */
  generation(keyDigest: string): number;
  renew(keyDigest: string): void;
}

/** The key digest of data that anybody may read. */
export const PUBLIC = 'public';

/** Instants are milliseconds since the epoch; 0 for never. */
interface KeyStatus {
  acceptedAtMs: number;
  refusedAtMs: number;
  /** Instant at which it was last written to the store. */
  writtenAtMs: number;
  generation: number;
  refusal: Failure | null;
}

export interface KeyStatusParts {
  readonly store: Store;
  readonly now: () => number;
  /** Milliseconds that an accepted key counts as accepted. */
  readonly authTtlMs: number;
  /** Milliseconds that anything is held at all. */
  readonly holdMs: number;
}

/** Keys whose status is remembered at once. */
const MAX_KEY_STATUSES = { proven: 10_000, unproven: 2_000 };

/** Interval at which the store is told that a key is still accepted, as a share of the time for which that counts. */
const WRITING_SHARE = 0.1;

export function createKeyStatuses({ store, now, authTtlMs, holdMs }: KeyStatusParts): KeyStatuses {
  const statuses = createKeyTable<KeyStatus>(MAX_KEY_STATUSES);
  /**
   * Number of the last generation: never the same twice, so that a key that was forgotten and comes back has no
   * generation of before.
   */
  let generations = 0;

  function statusOf(keyDigest: string): KeyStatus {
    let status = statuses.get(keyDigest);
    if (status === undefined) {
      generations += 1;
      status = { acceptedAtMs: 0, refusedAtMs: 0, writtenAtMs: 0, generation: generations, refusal: null };
      statuses.add(keyDigest, status);
      if (keyDigest === PUBLIC) statuses.prove(PUBLIC);
    }
    return status;
  }

  function renew(status: KeyStatus): void {
    generations += 1;
    status.generation = generations;
  }

  const nameOf = (keyDigest: string) => `${keyDigest}:keyStatus`;

  function write(keyDigest: string, status: KeyStatus): Promise<void> {
    const { acceptedAtMs, refusedAtMs } = status;
    status.writtenAtMs = now();
    return store.setMany([{ key: nameOf(keyDigest), value: { acceptedAtMs, refusedAtMs } }], holdMs);
  }

  function learn(keyDigest: string, stored: unknown): number {
    const status = statusOf(keyDigest);
    if (!isInstants(stored)) return status.refusedAtMs;
    if (stored.acceptedAtMs > 0) statuses.prove(keyDigest);
    if (stored.refusedAtMs > status.refusedAtMs) renew(status);
    status.acceptedAtMs = Math.max(status.acceptedAtMs, stored.acceptedAtMs);
    status.refusedAtMs = Math.max(status.refusedAtMs, stored.refusedAtMs);
    return status.refusedAtMs;
  }

  return {
    learn,
    nameOf,
    async lookUp(keyDigest) {
      const [stored] = await store.getMany([nameOf(keyDigest)]);
      learn(keyDigest, stored);
    },
    refusedAtMs: (keyDigest) => statusOf(keyDigest).refusedAtMs,
    isProven: statuses.isProven,
    isAccepted(keyDigest) {
      if (keyDigest === PUBLIC) return true;
      const { acceptedAtMs, refusedAtMs } = statusOf(keyDigest);
      return acceptedAtMs > refusedAtMs && now() - acceptedAtMs <= authTtlMs;
    },
    refusal(keyDigest) {
      const { acceptedAtMs, refusedAtMs, refusal } = statusOf(keyDigest);
      return refusedAtMs >= acceptedAtMs ? refusal : null;
    },
    accept(keyDigest) {
      const status = statusOf(keyDigest);
      const isNews = status.acceptedAtMs <= status.refusedAtMs;
      status.acceptedAtMs = Math.max(now(), status.refusedAtMs + 1);
      status.refusal = null;
      statuses.prove(keyDigest);
      if (isNews || now() - status.writtenAtMs >= authTtlMs * WRITING_SHARE) void write(keyDigest, status);
    },
    refuse(keyDigest, refusal) {
      const status = statusOf(keyDigest);
      const wasAccepted = status.acceptedAtMs > status.refusedAtMs;
      status.refusedAtMs = Math.max(now(), status.acceptedAtMs);
      status.refusal = refusal;
      renew(status);
      // A key that was never accepted has nothing that could be served to anybody.
      if (!wasAccepted) return { wasAccepted, isStored: Promise.resolve() };
      const { acceptedAtMs, refusedAtMs } = status;
      const told = store.news?.tell({ key: nameOf(keyDigest), value: { acceptedAtMs, refusedAtMs } });
      return { wasAccepted, isStored: Promise.all([told, write(keyDigest, status)]).then(() => {}) };
    },
    generation: (keyDigest) =>
      statusOf(keyDigest).generation + (keyDigest === PUBLIC ? 0 : statusOf(PUBLIC).generation),
    renew: (keyDigest) => renew(statusOf(keyDigest)),
  };
}

function isInstants(value: unknown): value is { acceptedAtMs: number; refusedAtMs: number } {
  if (typeof value !== 'object' || value === null) return false;
  if (!('acceptedAtMs' in value && 'refusedAtMs' in value)) return false;
  return typeof value.acceptedAtMs === 'number' && typeof value.refusedAtMs === 'number';
}
