import { createLru } from './lru.ts';

/**
 * Who is fetching what, among all that share a store: whoever has the lease of a name asks the service for it, and the
 * others wait for what comes. A lease ends by itself when its holder is lost.
 */
export interface Leases {
  /**
   * Takes the lease of each name that nobody has: atomic, and in one round trip.
   * @param group names of one group lie together
   * @param isAgain whether a name that was fetched a moment ago is taken all the same
   * @returns how it stands with each name, by its place; null where that can't be told
   */
  take(lease: Lease, isAgain: boolean): Promise<readonly LeaseState[] | null>;
  /** Whether others are still fetching a name, by its place; null where that can't be told. */
  look(group: string, names: readonly string[]): Promise<readonly boolean[] | null>;
  /**
   * Ends leases of the holder.
   * @param isFetched whether what they were for lies in the store: for {@link FETCHED_MS} the names say so
   */
  end(lease: Lease, isFetched: boolean): Promise<void>;
}

export interface Lease {
  readonly group: string;
  readonly names: readonly string[];
  /** Names the holder: no two have the same. */
  readonly holder: string;
  /** How long it lasts where nobody ends it, in milliseconds. */
  readonly lifeMs: number;
}

/** `own`: it was taken. `fetched`: it was fetched a moment ago, and lies in the store. `away`: others are at it. */
export type LeaseState = 'own' | 'fetched' | 'away';

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
    take: async ({ group, names, holder, lifeMs }, isAgain) =>
      names.map((name) => {
        const key = keyOf(group, name);
        const state = stateOf(holderOf(key), isAgain);
        if (state === 'own') taken.set(key, { holder, untilMs: now() + lifeMs });
        return state;
      }),
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

/** What somebody who wants a name finds, where `holder` has it. */
export function stateOf(holder: string | null, isAgain: boolean): LeaseState {
  if (holder === null || (isAgain && holder === FETCHED)) return 'own';
  return holder === FETCHED ? 'fetched' : 'away';
}

export function isAway(holder: string | null): boolean {
  return holder !== null && holder !== FETCHED;
}
