import { createLru } from './lru.ts';

/**
 * Who is fetching what, among all that share a store: whoever has the lease of a name asks the service for it, and the
 * others wait for what comes. A lease ends by itself when its holder is lost.
 */
export interface Leases {
  /**
   * Takes the lease of each name that nobody has, in one round trip; nothing comes between.
   * @returns how it stands with each name, by its place; null where that can't be told
   */
  take(lease: Lease, terms: LeaseTerms): Promise<readonly LeaseState[] | null>;
  /** Whether others are still fetching a name, by its place; null where that can't be told. */
  look(group: string, names: readonly string[]): Promise<readonly boolean[] | null>;
  /**
   * Ends leases of the holder.
   * @param isFetched whether what they were for lies in the store: for {@link FETCHED_MS} the names say so
   */
  end(lease: Lease, isFetched: boolean): Promise<void>;
}

export interface LeaseTerms {
  /** By the place of a name, whether it is taken although it was fetched a moment ago. */
  readonly again: readonly boolean[];
  /** Whether nothing is taken where others are at some of the names. */
  readonly isWhole: boolean;
}

export interface Lease {
  /** Names of one group lie together. */
  readonly group: string;
  readonly names: readonly string[];
  /** Names the holder: no two have the same. */
  readonly holder: string;
  /** How long it lasts where nobody ends it, in milliseconds. */
  readonly lifeMs: number;
}

/**
 * `own`: it was taken. `free`: it could have been. `fetched`: it was fetched a moment ago, and lies in the store. `away`: others
 * are at it.
 */
export type LeaseState = 'own' | 'free' | 'fetched' | 'away';

/**
 * How long a name that was fetched says so, in milliseconds: longer than it takes from a look at the store to a call, so that
 * whoever looked too early looks again before it asks.
 */
export const FETCHED_MS = 3_000;

/** What the holder of a name is called once it was fetched. */
export const FETCHED = 'fetched';

/** Names that are remembered at once. */
const MAX_NAMES = 200_000;

interface Taken {
  readonly holder: string;
  readonly untilMs: number;
}

/** Leases in this process. */
export function createLeases(now: () => number): Leases {
  const taken = createLru<Taken>(MAX_NAMES);
  const keyOf = (group: string, name: string) => `${group} ${name}`;
  const holderOf = (key: string) => {
    const lease = taken.get(key);
    return lease !== undefined && lease.untilMs > now() ? lease.holder : null;
  };
  return {
    async take({ group, names, holder, lifeMs }, terms) {
      const keys = names.map((name) => keyOf(group, name));
      const states = statesOf(keys.map(holderOf), terms);
      for (const [i, key] of keys.entries()) {
        if (states[i] === 'own') taken.set(key, { holder, untilMs: now() + lifeMs });
      }
      return states;
    },
    look: async (group, names) => names.map((name) => isAway(holderOf(keyOf(group, name)))),
    async end({ group, names, holder }, isFetched) {
      for (const name of names) {
        const key = keyOf(group, name);
        if (holderOf(key) !== holder) continue;
        if (isFetched) taken.set(key, { holder: FETCHED, untilMs: now() + FETCHED_MS });
        else taken.delete(key);
      }
    },
  };
}

/** What somebody who wants names finds, where these have them; what is `own` is then to be taken. */
export function statesOf(
  holders: readonly (string | null)[],
  { again, isWhole }: LeaseTerms,
): readonly LeaseState[] {
  const free = isWhole && holders.some(isAway) ? 'free' : 'own';
  return holders.map((holder, i) => {
    if (holder === null || (holder === FETCHED && again[i])) return free;
    return holder === FETCHED ? 'fetched' : 'away';
  });
}

export function isAway(holder: string | null): boolean {
  return holder !== null && holder !== FETCHED;
}
