import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import type { Failure } from '../errors.ts';
import { createLru } from '../store/lru.ts';
import type { Store } from '../store/store.ts';

/** Names the holder of a bearer key without holding the key. */
type Digest = (authorization: string) => string;

/** Bytes of a pepper that nobody chose. */
const PEPPER_BYTES = 32;

/** Headers whose digests are at hand: a digest takes as long to make as a kept answer takes to find. */
const MAX_AT_HAND = 256;

/**
 * Makes keyed digests of the `Authorization` header, the same for all spellings of its scheme. Gateways that share a
 * store must agree on the pepper: if none is given, the first of them makes one and leaves it in the store; without a
 * store it lives as long as the process. If the store could not be reached, or has lost it, the pepper is read again as
 * soon as the store is back, since others may have left another there.
 */
export async function createDigest(pepper: string | undefined, store: Store | null): Promise<Digest> {
  let text = pepper ?? randomBytes(PEPPER_BYTES).toString('base64url');
  /** The pepper as a key, since a text would be made one for each digest. */
  let secret = createSecretKey(text, 'utf8');
  const atHand = new Map<string, string>();
  if (pepper === undefined && store !== null) {
    const agree = async () => {
      text = (await store.first('pepper', text)) ?? text;
      secret = createSecretKey(text, 'utf8');
      atHand.clear();
    };
    await agree();
    store.onReturn(() => void agree());
  }
  return (authorization) => {
    const known = atHand.get(authorization);
    if (known !== undefined) return known;
    const digest = createHmac('sha256', secret).update(sameHowever(authorization)).digest('base64url');
    if (atHand.size >= MAX_AT_HAND) atHand.clear();
    atHand.set(authorization, digest);
    return digest;
  };
}

/** Spells the scheme in one way, with one blank before the key. */
function sameHowever(authorization: string): string {
  return authorization.replace(/^bearer +/i, 'Bearer ');
}

/**
 * Values that are remembered of keys, within bounds: keys that the service has answered for apart from keys that
 * anybody can have made up, so that none of the latter takes the place of one of the former.
 */
interface KeyTable<Value extends object> {
  readonly isEmpty: boolean;
  get(keyDigest: string): Value | undefined;
  /** Remembers a key of which nothing is known yet. */
  add(keyDigest: string, value: Value): void;
  /** Notes that the service has answered for the key. */
  prove(keyDigest: string): void;
  isProven(keyDigest: string): boolean;
  /** Gives the values of the keys that the service has answered for, the most recently used first. */
  provenEntries(): Iterable<[keyDigest: string, value: Value]>;
  /** Gives all values. */
  entries(): Iterable<[keyDigest: string, value: Value]>;
}

interface KeyTableSize {
  readonly proven: number;
  readonly unproven: number;
}

export function createKeyTable<Value extends object>({ proven, unproven }: KeyTableSize): KeyTable<Value> {
  const known = createLru<Value>(proven);
  const others = createLru<Value>(unproven);
  /**
   * The key that was last in use: an operation looks for its own key dozens of times. Nothing takes its place in the
   * caches, since it is the newest there until another one is in use.
   */
  let last: { readonly keyDigest: string; readonly value: Value; readonly isProven: boolean } | null = null;

  function find(keyDigest: string): typeof last {
    if (last?.keyDigest === keyDigest) return last;
    const ofProven = known.get(keyDigest);
    const value = ofProven ?? others.get(keyDigest);
    if (value === undefined) return null;
    last = { keyDigest, value, isProven: ofProven !== undefined };
    return last;
  }

  return {
    get isEmpty() {
      return known.size === 0 && others.size === 0;
    },
    get: (keyDigest) => find(keyDigest)?.value,
    add(keyDigest, value) {
      others.set(keyDigest, value);
      last = null;
    },
    prove(keyDigest) {
      const found = find(keyDigest);
      if (found === null || found.isProven) return;
      others.delete(keyDigest);
      known.set(keyDigest, found.value);
      last = null;
    },
    isProven: (keyDigest) => find(keyDigest)?.isProven === true,
    provenEntries: () => known.entries(),
    entries: () => inTurn(known.entries(), others.entries()),
  };
}

function* inTurn<Entry>(first: Iterable<Entry>, then: Iterable<Entry>): Generator<Entry> {
  yield* first;
  yield* then;
}

/**
 * The service's last word on each key. Gateways that share a store share that too: each read from the store brings the
 * others' knowledge.
 */
interface KeyStatuses {
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
