import type { ServiceMeans } from '../../gateway/plugin.ts';
import type { Figures } from '../../observations/fetch.ts';
import { type Bill, openBill } from '../../service/bill.ts';
import type { Caller } from '../../service/caller.ts';
import type { ObservationRecord } from '../../service/records/observations.ts';
import type { SourceRecord } from '../../service/records/reference.ts';
import type { Sending } from '../../service/sending.ts';
import type { Failure } from '../../shared/errors.ts';
import type { LiveWarning } from '../../shared/warnings.ts';

/** A figure as it was: the graph gives it no identifier. */
export type FormerObservationRecord = ObservationRecord;

export interface ObservationChangeRecord {
  readonly kind: 'ADDED' | 'REVISED' | 'REMOVED';
  /** The figure as it is now; a removed one, as it was. */
  readonly observation: ObservationRecord;
  /** Null if it was added. */
  readonly before: FormerObservationRecord | null;
}

/** Changes of figures since the last word on them. */
export interface ObservationChangesRecord {
  readonly changes: readonly ObservationChangeRecord[];
  /** True if these are all figures there are. */
  readonly isWhole: boolean;
  readonly revision: string;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** One event of a subscription, before its fields are resolved. */
export interface LiveEvent<Value> {
  /** Null if there is nothing to tell but the warning. */
  readonly value: Value | null;
  readonly warning: LiveWarning | null;
  /** Cost that this subscriber is the first to pay for, and cost that others have paid for it. */
  readonly bill: Bill;
}

/** Adds the calls of one bill to another, as far as events tell them. */
export function mergeBill(into: Bill, { calls, byRoute, shared, cached }: Bill): void {
  into.calls += calls;
  into.shared += shared;
  into.cached += cached;
  for (const [route, count] of Object.entries(byRoute))
    into.byRoute[route] = (into.byRoute[route] ?? 0) + count;
}

/** Notes calls that a caller has sent, if somebody counts; those of the bill before were noted already. */
export function noteCalls({ note }: Caller, bill: Bill, before = openBill()): void {
  const calls = bill.calls - before.calls;
  const [shared, cached] = [bill.shared - before.shared, bill.cached - before.cached];
  if (calls + shared + cached > 0)
    note?.({ name: null, calls, shared, cached, errorCodes: [], isPart: true });
}

/** What feeds look, plan and ask with. */
export interface LiveParts extends ServiceMeans {
  readonly maxUpstreamCalls: number;
  readonly timeoutMs: number;
  /** Milliseconds after a look at the sources in which there is no other. */
  readonly pollMs: number;
  /** Milliseconds that a new subscription may wait for the next minute window. */
  readonly waitMs: number;
}

/** One round of a feed's calls to the service: it is planned, billed and bounded like an operation. */
export interface Task {
  readonly sending: Sending;
  readonly figures: Figures;
  readonly bill: Bill;
  close(): void;
}

/**
 * The news for one subscriber. Events are made when they are read, of all that has come by then: so a slow reader takes
 * no more room, misses the events in between, and never the last.
 */
export class EventQueue<Value> implements AsyncIterableIterator<LiveEvent<Value>> {
  readonly #take: () => Value | null;
  readonly #nothing: () => Value | null;
  #bill: Bill = openBill();
  #pause: LiveWarning | null = null;
  #sentPause: LiveWarning | null = null;
  #failure: Failure | null = null;
  #isClosed = false;
  #wake: (() => void) | null = null;
  readonly #onClosed: (() => void)[];

  /**
   * @param take takes all news as one event; null if there is none
   * @param nothing returns the value of an event that only tells of a pause
   * @param onClose called once, when nobody reads any more
   */
  constructor(take: () => Value | null, nothing: () => Value | null, onClose: () => void) {
    this.#take = take;
    this.#nothing = nothing;
    this.#onClosed = [onClose];
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Wakes the reader: there may be news to take. */
  notify(): void {
    this.#wake?.();
  }

  charge(bill: Bill): void {
    mergeBill(this.#bill, bill);
  }

  /** Pauses the subscription, or lets it go on if `pause` is null. */
  pause(pause: LiveWarning | null): void {
    this.#pause = pause;
    this.notify();
  }

  /** Ends the subscription once its news have been read. */
  fail(failure: Failure): void {
    this.#failure ??= failure;
    this.notify();
  }

  /** Takes the calls that have been charged and are on no event's bill. */
  takeBill(): Bill {
    const bill = this.#bill;
    this.#bill = openBill();
    return bill;
  }

  async next(): Promise<IteratorResult<LiveEvent<Value>>> {
    for (;;) {
      if (this.#isClosed) return { done: true, value: undefined };
      const event = this.#event();
      if (event !== null) return { done: false, value: event };
      if (this.#failure !== null) {
        this.close();
        throw this.#failure;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
  }

  async return(): Promise<IteratorResult<LiveEvent<Value>>> {
    this.close();
    return { done: true, value: undefined };
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const listener of this.#onClosed.splice(0)) listener();
    this.notify();
  }

  /** Has a listener called when nobody reads any more; at once if that is so already. */
  onceClosed(listener: () => void): void {
    if (this.#isClosed) listener();
    else this.#onClosed.push(listener);
  }

  #event(): LiveEvent<Value> | null {
    const isPauseNews = this.#pause !== this.#sentPause;
    const value = this.#take() ?? (isPauseNews ? this.#nothing() : null);
    if (value === null && !isPauseNews) return null;
    this.#sentPause = this.#pause;
    return { value, warning: this.#pause, bill: this.takeBill() };
  }
}

/** The service's list of its sources, as it was at a look. */
export interface Look {
  readonly records: readonly SourceRecord[];
  /** Instant of the look, in milliseconds since the epoch, by a clock that never goes back. */
  readonly atMs: number;
}

export interface SourceRuns {
  readonly records: readonly SourceRecord[];
  /** Sources that may have run: their last run is given too coarsely to tell a further one from it. */
  readonly possible: readonly SourceRecord[];
  /** True if there are no others: records of sources that can't be read may hide some. */
  readonly areAll: boolean;
}
