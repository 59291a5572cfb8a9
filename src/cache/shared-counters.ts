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

/** Milliseconds that counters and notes are kept: longer than any window. */
export const MINUTE_KEPT_MS = 120_000;
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
