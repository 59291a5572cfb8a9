import type { KeyvStorageEntry } from 'keyv';
import { createLru, type Shrinkable } from './lru.ts';

/** Takes a fault of the store. */
export type Fault = (error: unknown) => void;

/** One kind of store. Its methods may fail and hang: `store.ts` stands before it. */
export interface Backing extends Partial<Shrinkable> {
  /** A storage adapter as Keyv takes it. */
  readonly adapter: Adapter;
  /** True if values are held as they are, not as text. */
  readonly holdsObjects: boolean;
  /** Returns a value that is held as it is; null if values are text. */
  readonly peek: ((key: string) => unknown) | null;
  readonly sharedCounters: SharedCounters | null;
  readonly leases: Leases | null;
  clear(prefix: string): Promise<void>;
  first(name: string, value: string): Promise<string>;
  /** Has the listener called each time that the store is another, or connected anew; left out if that can't happen. */
  readonly onReturn?: (listener: () => void) => void;
  close(): Promise<void>;
}

/** The part of Keyv's storage contract that is used: text or Keyv's envelopes in, the same out. */
export interface Adapter {
  getMany(keys: string[]): Promise<unknown[]>;
  setMany(entries: KeyvStorageEntry[]): Promise<unknown>;
}

/** Calls that gateways that share a store have spent under one key, and the plan as the service has told it to them. */
export interface SharedCounters {
  /**
   * Takes one call of the minute and of the month, unless the shared counters say that there is none to be had: atomic,
   * and in one round trip.
   * @returns null if the shared counters can't be reached
   */
  take(account: string, at: Window): Promise<CounterSnapshot | null>;
  /** Reads as `take` does, but takes nothing. */
  read(account: string, at: Window): Promise<CounterSnapshot | null>;
  /** Writes down the service's news. */
  note(account: string, note: Note): Promise<void>;
}

/** The windows that a call falls into, as the service counts them, and the time. */
export interface Window {
  /** Minutes since the epoch. */
  readonly minute: number;
  /** Months since year 0, UTC. */
  readonly month: number;
  readonly nowMs: number;
}

export interface CounterSnapshot {
  /** True if a call was taken. */
  readonly isTaken: boolean;
  readonly callsThisMinute: number;
  readonly callsThisMonth: number;
  readonly note: Note | null;
}

export interface Note {
  readonly plan: string | null;
  readonly requestsPerMinute: number | null;
  readonly monthlyRequests: number | null;
  /** True if the service has taken more in a minute than the smallest plan allows. */
  readonly isPlanLarger: boolean;
  /** The minute that the service said was spent. */
  readonly spentMinute: number | null;
  /** The month that the service said was spent. */
  readonly spentMonth: number | null;
  /** Instant at which one call may go out all the same, to see if the month is still spent. */
  readonly nextProbeAtMs: number;
}
export const MONTH_KEPT_MS = 32 * 86_400_000;

/** Returns true if a call may be taken, as the shared counters stand. */
export function mayTake(callsThisMinute: number, note: Note | null, at: Window): boolean {
  if (note === null) return true;
  const { requestsPerMinute, spentMinute, spentMonth, nextProbeAtMs } = note;
  if (spentMonth === at.month && nextProbeAtMs > at.nowMs) return false;
  return spentMinute !== at.minute && (requestsPerMinute === null || callsThisMinute < requestsPerMinute);
}

/** Returns the note in a text; null if there is none that can be read. */
export function noteIn(text: string | null | undefined): Note | null {
  try {
    const note = JSON.parse(text ?? 'null');
    return typeof note === 'object' && note !== null && typeof note.nextProbeAtMs === 'number' ? note : null;
  } catch {
    return null;
  }
}

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

/** Returns the states that somebody who wants names finds; names that are `own` are then to be taken. */
export function statesOf(
  held: readonly (HeldState | null)[],
  { passedOver, isWhole }: LeaseTerms,
): readonly LeaseState[] {
  const free = isWhole && held.some(isAway) ? 'free' : 'own';
  return held.map((state, i) => (state === null || state === passedOver[i] ? free : state));
}
