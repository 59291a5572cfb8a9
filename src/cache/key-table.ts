import { createLru } from './lru.ts';

/**
 * Values that are remembered of keys, within bounds: keys that the service has answered for apart from keys that
 * anybody can have made up, so that none of the latter takes the place of one of the former.
 */
export interface KeyTable<Value extends object> {
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

export interface KeyTableSize {
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
