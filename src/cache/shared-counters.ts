/** What gateways that share a store have spent under one key, and what the service has told them of its plan. */
export interface SharedCounters {
  /**
   * Takes one request of the minute and of the month, unless the shared counters say that there is none to be had: atomic, and in
   * one round trip.
   * @returns null where the shared counters can't be reached
   */
  take(account: string, at: Window): Promise<CounterSnapshot | null>;
  /** As `take`, but takes nothing. */
  read(account: string, at: Window): Promise<CounterSnapshot | null>;
  /** Writes down what the service has told. */
  note(account: string, note: Note): Promise<void>;
}

/** The windows that a request falls into, as the service counts them, and the time. */
export interface Window {
  /** Minutes since the epoch. */
  readonly minute: number;
  /** Months since year 0, UTC. */
  readonly month: number;
  readonly nowMs: number;
}

export interface CounterSnapshot {
  /** Whether a request was taken. */
  readonly isTaken: boolean;
  readonly callsThisMinute: number;
  readonly callsThisMonth: number;
  readonly note: Note | null;
}

export interface Note {
  readonly plan: string | null;
  readonly requestsPerMinute: number | null;
  readonly monthlyRequests: number | null;
  /** Whether the service has taken more in a minute than the smallest plan allows. */
  readonly isPlanLarger: boolean;
  /** The minute that the service said was spent. */
  readonly spentMinute: number | null;
  /** The month that the service said was spent. */
  readonly spentMonth: number | null;
  /** When one request may go out all the same, to see whether the month is still spent. */
  readonly nextProbeAtMs: number;
}

/** How long counters and notes are kept: longer than any window. */
export const MINUTE_KEPT_MS = 120_000;
export const MONTH_KEPT_MS = 32 * 86_400_000;

/** Whether a request may be taken, as the shared counters stand. */
export function mayTake(callsThisMinute: number, note: Note | null, at: Window): boolean {
  if (note === null) return true;
  const { requestsPerMinute, spentMinute, spentMonth, nextProbeAtMs } = note;
  if (spentMonth === at.month && nextProbeAtMs > at.nowMs) return false;
  return spentMinute !== at.minute && (requestsPerMinute === null || callsThisMinute < requestsPerMinute);
}

/** The note in a text; null where there is none that can be read. */
export function noteIn(text: string | null | undefined): Note | null {
  try {
    const note = JSON.parse(text ?? 'null');
    return typeof note === 'object' && note !== null && typeof note.nextProbeAtMs === 'number' ? note : null;
  } catch {
    return null;
  }
}
