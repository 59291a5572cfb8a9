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
   * @param isFetched true if the fetched values lie in the store: the names say so for some seconds
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

export function awayState(holder: string): HeldState {
  return `away ${holder}`;
}

export function fetchedState(holder: string): HeldState {
  return `fetched ${holder}`;
}

export function isAway(state: string | null): boolean {
  return state?.startsWith('away ') ?? false;
}
