import { createLru } from './lru.ts';

/**
 * What is remembered of keys, within bounds: those that the service has answered for and those that anybody can have made up,
 * in corners of their own, so that none of the latter takes the place of one of the former.
 */
export interface Corners<Value extends object> {
  get(keyDigest: string): Value | undefined;
  /** Remembers a key of which nothing is known yet. */
  add(keyDigest: string, value: Value): void;
  /** The service has answered for the key. */
  prove(keyDigest: string): void;
  isProven(keyDigest: string): boolean;
  /** What is remembered of the keys that the service has answered for, those that were last in use first. */
  provenEntries(): Iterable<[keyDigest: string, value: Value]>;
  /** All that is remembered. */
  entries(): Iterable<[keyDigest: string, value: Value]>;
}

export interface CornersSize {
  readonly proven: number;
  readonly unproven: number;
}

export function createCorners<Value extends object>({ proven, unproven }: CornersSize): Corners<Value> {
  const known = createLru<Value>(proven);
  const others = createLru<Value>(unproven);
  return {
    get: (keyDigest) => known.get(keyDigest) ?? others.get(keyDigest),
    add: (keyDigest, value) => void others.set(keyDigest, value),
    prove(keyDigest) {
      const value = others.get(keyDigest);
      if (value === undefined) return;
      others.delete(keyDigest);
      known.set(keyDigest, value);
    },
    isProven: (keyDigest) => known.has(keyDigest),
    provenEntries: () => known.entries(),
    *entries() {
      yield* known.entries();
      yield* others.entries();
    },
  };
}
