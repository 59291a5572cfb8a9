import type { Clock } from '../shared/async/clock.ts';
import type { Shrinkable } from './lru.ts';

/** One value to hold: anything that JSON can say. */
interface StoreEntry {
  readonly key: string;
  readonly value: unknown;
}

/** Never fails, and never takes longer than its bound: a store in trouble holds nothing. */
export interface Store extends Shrinkable {
  /** Returns values by the places of their keys, in one round trip; undefined if nothing is cached. */
  getMany(keys: readonly string[]): Promise<readonly unknown[]>;
  /** The same without waiting, of what can be read so: all values, or those cached here; null if the store is too far. */
  readonly peekMany: ((keys: readonly string[]) => readonly unknown[]) | null;
  /** True if this process holds all there is: otherwise `getMany` may find more. */
  readonly isAllHere: boolean;
  /** One round trip. Resolves to false if the store could not take the values. */
  setMany(entries: readonly StoreEntry[], ttlMs: number): Promise<boolean>;
  clear(prefix: string): Promise<void>;
  /**
   * Returns the first value that any gateway that shares the store has given under a name; null if that can't be known.
   * Such values stay until somebody deletes them by hand.
   */
  first(name: string, value: string): Promise<string | null>;
  /** Null if nobody shares the store. */
  readonly sharedCounters: SharedCounters | null;
  /** Null if nobody shares the store. */
  readonly leases: Leases | null;
  close(): Promise<void>;
}

/** Calls that gateways that share a store have spent under one key, and the plan as the service has stated it. */
export interface SharedCounters {
  /**
   * Takes one call of the minute and of the month, unless none is left: atomic, and in one round trip.
   * @returns null if the shared counters can't be reached
   */
  take(account: string, at: Window): Promise<CounterSnapshot | null>;
  /** Reads as `take` does, but takes nothing. */
  read(account: string, at: Window): Promise<CounterSnapshot | null>;
  /** Puts back a call that has not left, in the windows of it that are still counted. */
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
  /** Instant at which one call may go out to see if the month is still spent. */
  readonly nextProbeAtMs: number;
}

/**
 * Fetches under way among all that share a store: the holder of a name's lease asks the service, and the others wait
 * for the answer. A lease ends by itself if its holder is lost.
 */
export interface Leases {
  /** Takes the leases that nobody else has; returns, by the places of the names, if it could; null if that can't be known. */
  take(lease: Lease): Promise<readonly boolean[] | null>;
  /** Returns, by the places of the names, if somebody has their leases; null if that can't be known. */
  look(group: string, names: readonly string[]): Promise<readonly boolean[] | null>;
  /** Ends leases of the holder. */
  end(lease: Lease): Promise<void>;
}

export interface Lease {
  readonly group: string;
  readonly names: readonly string[];
  readonly holder: string;
  readonly lifeMs: number;
}

export interface StoreOptions {
  /** `memory:`, `sqlite:PATH`, `redis://…`, `rediss://…` or `none`. */
  readonly url: string;
  /** Milliseconds that one read or write may take before it is given up. */
  readonly timeoutMs: number;
  /** Bytes of a store in memory, roughly; of another store, half as much is cached in this process. */
  readonly maxBytes: number;
  /** Milliseconds since the epoch, by a clock that never goes back. */
  readonly now?: () => number;
  /** For timeouts. */
  readonly after?: Clock['after'];
  /** Bytes of a store in a file, roughly; left out for as many as there are. */
  readonly mostBytes?: number | undefined;
  /** Called with errors of the store, and with its outages as `StoreOutage`. */
  readonly onError: (error: unknown) => void;
}
