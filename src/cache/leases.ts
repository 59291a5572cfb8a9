import { createLru } from './lru.ts';

/**
 * Fetches under way among all that share a store: the holder of a name's lease asks the service for it, and the others
 * wait for the answer. A lease ends by itself when its holder is lost.
 */
export interface Leases {
  /**
   * Takes the lease of each name that nobody has, in one round trip; nothing comes between.
   * @returns the state of each name, by its place; null if that can't be told
   */
  take(lease: Lease, terms: LeaseTerms): Promise<readonly LeaseState[] | null>;
  /** Tells of each name, by its place, if others are still fetching it; null if that can't be told. */
  look(group: string, names: readonly string[]): Promise<readonly boolean[] | null>;
  /**
   * Ends leases of the holder.
   * @param isFetched true if the fetched values lie in the store: for {@link FETCHED_MS} the names say so
   */
  end(lease: Lease, isFetched: boolean): Promise<void>;
}

export interface LeaseTerms {
  /**
   * State of a name, by its place, that doesn't keep it from being taken, since the fetched value has been looked at
   * and wasn't enough. A value that another holder has fetched since is in another state. Null if nothing has been
   * looked at.
   */
  readonly passedOver: readonly (HeldState | null)[];
  /** True if nothing is taken while others are at some of the names. */
  readonly isWhole: boolean;
}

export interface Lease {
  /** Group of the names: names of one group lie together. */
  readonly group: string;
  readonly names: readonly string[];
  /** Names the holder: no two have the same. */
  readonly holder: string;
  /** Milliseconds that it lasts if nobody ends it. */
  readonly lifeMs: number;
}

/**
 * State of a name in a store, with the holder. `fetched`: it was fetched a moment ago, and lies in the store. `away`:
 * others are at it.
 */
export type HeldState = `${'away' | 'fetched'} ${string}`;

/** `own`: it was taken. `free`: it could have been. */
export type LeaseState = 'own' | 'free' | HeldState;

/**
 * Milliseconds for which a fetched name says so: longer than it takes from a look at the store to a call, so that a
 * process that looked too early looks again before it asks.
 */
export const FETCHED_MS = 3_000;

/** Names that are remembered at once. */
const MAX_NAMES = 200_000;

interface Taken {
  readonly state: HeldState;
  readonly untilMs: number;
}

/** Opens leases in this process. */
export function createLeases(now: () => number): Leases {
  const taken = createLru<Taken>(MAX_NAMES);
  const keyOf = (group: string, name: string) => `${group} ${name}`;
  const stateOf = (key: string) => {
    const lease = taken.get(key);
    return lease !== undefined && lease.untilMs > now() ? lease.state : null;
  };
  return {
    async take({ group, names, holder, lifeMs }, terms) {
      const keys = names.map((name) => keyOf(group, name));
      const states = statesOf(keys.map(stateOf), terms);
      for (const [i, key] of keys.entries()) {
        if (states[i] === 'own') taken.set(key, { state: awayState(holder), untilMs: now() + lifeMs });
      }
      return states;
    },
    look: async (group, names) => names.map((name) => isAway(stateOf(keyOf(group, name)))),
    async end({ group, names, holder }, isFetched) {
      for (const name of names) {
        const key = keyOf(group, name);
        if (stateOf(key) !== awayState(holder)) continue;
        if (isFetched) taken.set(key, { state: fetchedState(holder), untilMs: now() + FETCHED_MS });
        else taken.delete(key);
      }
    },
  };
}

export function awayState(holder: string): HeldState {
  return `away ${holder}`;
}

export function fetchedState(holder: string): HeldState {
  return `fetched ${holder}`;
}

export function isAway(state: string | null): boolean {
  return state?.startsWith('away ') ?? false;
}

export function isHeld(state: LeaseState): state is HeldState {
  return state !== 'own' && state !== 'free';
}

/** Returns the state of a name, found in another state, once its holder has fetched it. */
export function onceFetched(found: HeldState): HeldState {
  return fetchedState(found.slice(found.indexOf(' ') + 1));
}

/** Returns the states that somebody who wants names finds; names that are `own` are then to be taken. */
export function statesOf(
  held: readonly (HeldState | null)[],
  { passedOver, isWhole }: LeaseTerms,
): readonly LeaseState[] {
  const free = isWhole && held.some(isAway) ? 'free' : 'own';
  return held.map((state, i) => (state === null || state === passedOver[i] ? free : state));
}
