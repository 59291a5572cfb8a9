import { createLru } from './lru.ts';

/**
 * Keys that the service has accepted lately. Anybody can make up keys, so a caller who has not shown a good one gets
 * little of the memory and of the processor, and takes none away from callers who have.
 */
export interface ProvenKeys {
  has(keyDigest: string): boolean;
  accept(keyDigest: string): void;
  refuse(keyDigest: string): void;
}

/**
 * Milliseconds that a key counts after the service's last answer. Longer than anything is fresh: it gives room, not
 * data.
 */
const PROVEN_MS = 60 * 60_000;

/** Keys that are remembered: only the service can make these many. */
const MAX_PROVEN = 100_000;

export function createProvenKeys(now: () => number): ProvenKeys {
  const acceptedAtMs = createLru<number>(MAX_PROVEN);
  return {
    has(keyDigest) {
      const atMs = acceptedAtMs.get(keyDigest);
      return atMs !== undefined && now() - atMs <= PROVEN_MS;
    },
    accept: (keyDigest) => void acceptedAtMs.set(keyDigest, now()),
    refuse: (keyDigest) => void acceptedAtMs.delete(keyDigest),
  };
}
