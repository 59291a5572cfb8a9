import { LRUCache } from 'lru-cache';
import type { Failure } from '../errors.ts';
import { createCorners } from './corners.ts';
import type { Store } from './store.ts';

/**
 * What is held for each key: figures and lists as the service sent them, and whether the service still accepts the
 * key. Nothing held for one partition ever answers another.
 */
export interface Shelf {
  /**
   * What is held under these names, in one round trip; a name that nothing is held under is not in the map. What is
   * older than the service's last refusal of the key, or past all use, is not held.
   */
  read<Value>(partition: string, names: readonly string[]): Promise<ReadonlyMap<string, Held<Value>>>;
  /** What is held under one name: at once, where the store is in this process. */
  readOne<Value>(partition: string, name: string): Held<Value> | undefined | Promise<Held<Value> | undefined>;
  /** Whether the store is in this process, so that whatever is held can be read at once. */
  readonly isAtHand: boolean;
  /** Holds values that the service sent at an instant; they can be read at once. */
  keep(partition: string, values: ReadonlyMap<string, unknown>, atMs: number): void;
  /** Learns what other gateways that share the store know of a key. */
  lookUp(partition: string): Promise<void>;
  /** Changes whenever this process puts anything on the shelf for a key or for all, or hears that the key is refused. */
  edition(partition: string): number;
  /** Whether the service has accepted the key lately, so that what is held may be served without asking. */
  isAccepted(partition: string): boolean;
  /** Why the service refuses the key; null where it doesn't, or nobody has asked. */
  refusal(partition: string): Failure | null;
  /** The service has accepted the key. */
  accept(partition: string): void;
  /** The service has refused the key: all that is held for it is purged. */
  refuse(partition: string, refusal: Failure): void;
}

/** A value as it came. It is shared: whoever reads it leaves it as it is. */
export interface Held<Value> {
  readonly value: Value;
  /** When the service sent it, in milliseconds since the epoch. */
  readonly atMs: number;
}

/** Partition of what anybody may read. */
export const PUBLIC = 'public';

/** What the service last said of a key. Instants are milliseconds since the epoch; 0 for never. */
interface Standing {
  acceptedAtMs: number;
  refusedAtMs: number;
  /** When it was last written to the store. */
  writtenAtMs: number;
  edition: number;
  refusal: Failure | null;
}

export interface ShelfParts {
  readonly store: Store;
  readonly now: () => number;
  /** How long a key that was accepted counts as accepted. */
  readonly authTtlMs: number;
  /** How long anything is held at all. */
  readonly holdMs: number;
}

/** Keys whose standing is remembered at once. */
const MAX_STANDINGS = { proven: 10_000, unproven: 2_000 };

/** Partitions whose keys in the store are at hand, and keys of each. */
const MAX_KEYED = 100;
const MAX_KEYS = 30_000;

/** How often the store is told that a key is still accepted, as a share of how long that counts. */
const TELLING_SHARE = 0.1;

export function createShelf({ store, now, authTtlMs, holdMs }: ShelfParts): Shelf {
  const standings = createCorners<Standing>(MAX_STANDINGS);
  /** Never the same twice, so that a key that was forgotten meanwhile has no edition of before. */
  let editions = 0;
  /** Values on their way to the store, by their keys in it. */
  const writing = new Map<string, Held<unknown>>();

  /** Keys in the store by partition and name: most are wanted again and again. */
  const keys = new LRUCache<string, Map<string, string>>({ max: MAX_KEYED });
  function keyOf(partition: string, name: string): string {
    if (!standings.isProven(partition)) return keyIn(partition, name);
    let known = keys.get(partition);
    if (known === undefined || known.size >= MAX_KEYS) {
      known = new Map();
      keys.set(partition, known);
    }
    let key = known.get(name);
    if (key === undefined) {
      key = keyIn(partition, name);
      known.set(name, key);
    }
    return key;
  }
  const keyIn = (partition: string, name: string) => `${partition}:held:${name}`;
  const standingKey = (partition: string) => `${partition}:standing`;

  function standingOf(partition: string): Standing {
    let standing = standings.get(partition);
    if (standing === undefined) {
      editions += 1;
      standing = { acceptedAtMs: 0, refusedAtMs: 0, writtenAtMs: 0, edition: editions, refusal: null };
      standings.add(partition, standing);
      if (partition === PUBLIC) standings.prove(PUBLIC);
    }
    return standing;
  }

  function renew(standing: Standing): void {
    editions += 1;
    standing.edition = editions;
  }

  /** Other gateways may know more of the key. */
  function learn(partition: string, told: unknown): Standing {
    const standing = standingOf(partition);
    if (!isInstants(told)) return standing;
    if (told.acceptedAtMs > 0) standings.prove(partition);
    if (told.refusedAtMs > standing.refusedAtMs) renew(standing);
    standing.acceptedAtMs = Math.max(standing.acceptedAtMs, told.acceptedAtMs);
    standing.refusedAtMs = Math.max(standing.refusedAtMs, told.refusedAtMs);
    return standing;
  }

  function tell(partition: string, standing: Standing): Promise<void> {
    const { acceptedAtMs, refusedAtMs } = standing;
    standing.writtenAtMs = now();
    return store.setMany([{ key: standingKey(partition), value: { acceptedAtMs, refusedAtMs } }], holdMs);
  }

  const isAccepted = ({ acceptedAtMs, refusedAtMs }: Standing) =>
    acceptedAtMs > refusedAtMs && now() - acceptedAtMs <= authTtlMs;

  async function read<Value>(partition: string, names: readonly string[]) {
    const found = new Map<string, Held<Value>>();
    const { peek } = store;
    if (names.length === 0) return found;
    const keys = names.map((name) => keyOf(partition, name));
    const [told, ...values] =
      peek === null ? await store.getMany([standingKey(partition), ...keys]) : [undefined, ...keys.map(peek)];
    const standing = learn(partition, told);
    const oldestMs = Math.max(standing.refusedAtMs, now() - holdMs);
    for (const [i, name] of names.entries()) {
      const held = writing.get(keys[i] ?? '') ?? values[i];
      if (isHeld(held) && held.atMs > oldestMs) found.set(name, held as Held<Value>);
    }
    return found;
  }

  return {
    read,
    readOne<Value>(partition: string, name: string) {
      if (store.peek === null) return read<Value>(partition, [name]).then((found) => found.get(name));
      const key = keyOf(partition, name);
      const held = (writing.size > 0 ? writing.get(key) : undefined) ?? store.peek(key);
      const oldestMs = Math.max(standingOf(partition).refusedAtMs, now() - holdMs);
      return isHeld(held) && held.atMs > oldestMs ? (held as Held<Value>) : undefined;
    },
    isAtHand: store.peek !== null,
    async lookUp(partition) {
      const [told] = await store.getMany([standingKey(partition)]);
      learn(partition, told);
    },
    edition: (partition) =>
      standingOf(partition).edition + (partition === PUBLIC ? 0 : standingOf(PUBLIC).edition),
    keep(partition, values, atMs) {
      renew(standingOf(partition));
      const entries = [...values].map(([name, value]) => ({
        key: keyOf(partition, name),
        value: { value, atMs },
      }));
      for (const { key, value } of entries) writing.set(key, value);
      void store.setMany(entries, holdMs).then(() => {
        for (const { key, value } of entries) if (writing.get(key) === value) writing.delete(key);
      });
    },
    isAccepted: (partition) => partition === PUBLIC || isAccepted(standingOf(partition)),
    refusal(partition) {
      const { acceptedAtMs, refusedAtMs, refusal } = standingOf(partition);
      return refusedAtMs >= acceptedAtMs ? refusal : null;
    },
    accept(partition) {
      const standing = standingOf(partition);
      const isNews = standing.acceptedAtMs <= standing.refusedAtMs;
      standing.acceptedAtMs = Math.max(now(), standing.refusedAtMs + 1);
      standing.refusal = null;
      standings.prove(partition);
      if (isNews || now() - standing.writtenAtMs >= authTtlMs * TELLING_SHARE) void tell(partition, standing);
    },
    refuse(partition, refusal) {
      const standing = standingOf(partition);
      const wasAccepted = standing.acceptedAtMs > standing.refusedAtMs;
      standing.refusedAtMs = Math.max(now(), standing.acceptedAtMs);
      standing.refusal = refusal;
      renew(standing);
      // A key that was never accepted has nothing on the shelf, and a purge looks at all of the store.
      if (wasAccepted) void tell(partition, standing).then(() => store.clear(keyOf(partition, '')));
    },
  };
}

/** The shelf for a rehearsal: nothing is put on it or taken off, and what the service says of a key is forgotten. */
export function lookedAt(shelf: Shelf): Shelf {
  if (shelf === EMPTY_SHELF) return shelf;
  let isTakenForAccepted = false;
  return {
    ...shelf,
    keep() {},
    accept() {
      isTakenForAccepted = true;
    },
    isAccepted: (partition) => isTakenForAccepted || shelf.isAccepted(partition),
    refuse() {},
  };
}

/** Where nothing is held. */
export const EMPTY_SHELF: Shelf = {
  read: async () => new Map(),
  readOne: () => undefined,
  isAtHand: true,
  lookUp: async () => {},
  edition: () => 0,
  keep() {},
  isAccepted: () => false,
  refusal: () => null,
  accept() {},
  refuse() {},
};

function isHeld(value: unknown): value is Held<unknown> {
  return typeof value === 'object' && value !== null && 'value' in value && hasNumber(value, 'atMs');
}

function isInstants(value: unknown): value is { acceptedAtMs: number; refusedAtMs: number } {
  return (
    typeof value === 'object' &&
    value !== null &&
    hasNumber(value, 'acceptedAtMs') &&
    hasNumber(value, 'refusedAtMs')
  );
}

function hasNumber(value: object, name: string): boolean {
  return typeof (value as Record<string, unknown>)[name] === 'number';
}
