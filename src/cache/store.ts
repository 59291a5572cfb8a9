import type { Shrinkable } from './lru.ts';

/** One value to hold: anything that JSON can say. */
interface StoreEntry {
  readonly key: string;
  readonly value: unknown;
}

/** A store of values. It never fails or takes longer than its bound: one in trouble holds nothing. */
export interface Store extends Shrinkable {
  /** Reads values by their place among the keys, in one round trip; undefined if nothing is cached. */
  getMany(keys: readonly string[]): Promise<readonly unknown[]>;
  /** Reads values as `getMany` does, of those that are cached in this process; null if they are cached elsewhere. */
  readonly peekMany: ((keys: readonly string[]) => readonly unknown[]) | null;
  /** True if this process holds all there is: otherwise `getMany` may find more. */
  readonly isAllHere: boolean;
  /** Holds values, in one round trip. Resolves to false if the store could not take them. */
  setMany(entries: readonly StoreEntry[], ttlMs: number): Promise<boolean>;
  clear(prefix: string): Promise<void>;
  /**
   * Returns the value that was first given under a name by any of those who share the store; null if that can't be
   * known. Such values stay until somebody deletes them by hand.
   */
  first(name: string, value: string): Promise<string | null>;
  /** Has the listener called each time that the store can be used again after it could not, or may have lost everything. */
  onReturn(listener: () => void): void;
  /** Calls that all who share the store have spent; null if nobody shares it. */
  readonly sharedCounters: SharedCounters | null;
  /** Leases of all who share the store: the names that each is fetching; null if nobody shares it. */
  readonly leases: Leases | null;
  /** News that those who share the store tell each other; null if nobody holds any of its values besides. */
  readonly news: StoreNews | null;
  close(): Promise<void>;
}

interface StoreNews {
  /** Settles once all others have heard of the value, or too much time has passed. */
  publish(entry: StoreEntry): Promise<unknown>;
  onPublished(listener: (entry: StoreEntry) => void): void;
  /** Has the listener called with the keys of values that others have changed. */
  onChanged(listener: (keys: readonly string[]) => void): void;
}

/** Calls that gateways that share a store have spent under one key, and the plan as the service has stated it. */
export interface SharedCounters {
  /**
   * Takes one call of the minute and of the month, unless the shared counters say that there is none to be had: atomic,
   * and in one round trip.
   * @returns null if the shared counters can't be reached
   */
  take(account: string, at: Window): Promise<CounterSnapshot | null>;
  /** Reads as `take` does, but takes nothing. */
  read(account: string, at: Window): Promise<CounterSnapshot | null>;
  /** Puts a call back into the windows that it was taken in, as far as they are still counted: it has not left. */
  putBack(account: string, at: Pick<Window, 'minute' | 'month'>): Promise<void>;
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
  readonly spentMinute: number | null;
  readonly spentMonth: number | null;
  /** Instant at which one call may go out all the same, to see if the month is still spent. */
  readonly nextProbeAtMs: number;
}

/**
 * Fetches under way among all that share a store: the holder of a name's lease asks the service for it, and the others
 * wait for the answer. A lease ends by itself when its holder is lost.
 */
export interface Leases {
  /** Takes the leases that nobody has, at once; returns the states by place, or null if that can't be known. */
  take(lease: Lease, terms: LeaseTerms): Promise<readonly LeaseState[] | null>;
  /** Tells of each name, by its place, if others are still fetching it; null if that can't be known. */
  look(group: string, names: readonly string[]): Promise<readonly boolean[] | null>;
  /** Ends leases of the holder. If fetched values lie in the store, the names say so for some seconds. */
  end(lease: Lease, isFetched: boolean): Promise<void>;
}

export interface LeaseTerms {
  /**
   * State of a name, by its place, that doesn't keep it from being taken, since the fetched value has been looked at
   * and wasn't enough. A value that another holder has fetched since is in another state. Null if nothing has been
   * looked at.
   */
  readonly passedOver: readonly (TakenState | null)[];
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

/** State of a name, with the holder: `fetched` a moment ago, so that it lies in the store, or others are `away`. */
export type TakenState = `${'away' | 'fetched'} ${string}`;

/** `own`: it was taken. `free`: it could have been. */
export type LeaseState = 'own' | 'free' | TakenState;

/** A member's end of the way to a hub. */
export interface HubLink {
  /** @throws Error if the hub fails, has gone, or doesn't answer in time */
  ask(name: string, ...args: readonly unknown[]): Promise<unknown>;
  /** Bytes of the hub's values that may be cached here besides, roughly. */
  readonly nearCacheBytes: number;
  /** Has listeners called with the changes that others make, as do those below. */
  onChanged(listener: (keys: readonly string[]) => void): void;
  onCleared(listener: (prefix: string) => void): void;
  onPublished(listener: (key: string, text: string) => void): void;
}

export interface StoreOptions {
  /** `memory:`, `sqlite:PATH`, `redis://…`, `rediss://…` or `none`. */
  readonly url: string;
  /** Milliseconds that one read or write may take before it is given up. */
  readonly timeoutMs: number;
  /** Bytes that a store in memory may hold, roughly; of another one, half as much is cached in this process. */
  readonly maxBytes: number;
  /** Milliseconds since the epoch, by a clock that never goes back. */
  readonly now?: () => number;
  /** The way to the process that holds the store of `memory:` for several; left out if there is one alone. */
  readonly link?: HubLink | undefined;
  /** Takes errors of the store, and its outages as `StoreOutage`. */
  readonly onError: (error: unknown) => void;
}
