import type { Figures } from '../../observations/fetch.ts';
import { type Bill, openBill } from '../../service/bill.ts';
import type { Caller } from '../../service/caller.ts';
import type { SourceRecord } from '../../service/records/reference.ts';
import type { Sending } from '../../service/sending.ts';
import type { Failure } from '../../shared/errors.ts';
import type { LiveWarning } from '../../shared/warnings.ts';
import type { ServiceMeans } from './live-parts.ts';
import type { Change } from './subscribing.ts';

export interface LiveEvent<Value> extends Change<Value> {
  readonly warning: LiveWarning | null;
  /** Calls that this subscriber is the first to pay for, and those that others have paid for it. */
  readonly bill: Bill;
}

export function mergeBill(into: Bill, { calls, byRoute, shared, cached }: Bill): void {
  into.calls += calls;
  into.shared += shared;
  into.cached += cached;
  for (const [route, count] of Object.entries(byRoute))
    into.byRoute[route] = (into.byRoute[route] ?? 0) + count;
}

/** Reports the calls of a bill to whoever counts those of the caller; those of `before` were reported already. */
export function noteCalls({ note }: Caller, bill: Bill, before = openBill()): void {
  const calls = bill.calls - before.calls;
  const [shared, cached] = [bill.shared - before.shared, bill.cached - before.cached];
  if (calls + shared + cached > 0)
    note?.({ name: null, calls, shared, cached, errorCodes: [], isPart: true });
}

export interface LiveParts extends ServiceMeans {
  readonly maxUpstreamCalls: number;
  readonly timeoutMs: number;
  /** Milliseconds between two looks at the sources. */
  readonly pollMs: number;
  /** Milliseconds that a new subscription may wait for the next minute window. */
  readonly waitMs: number;
  readonly onError: (error: unknown, where: string) => void;
}

/** One round of a feed's calls to the service, planned, billed and bounded like an operation. */
export interface Task {
  readonly sending: Sending;
  readonly figures: Figures;
  readonly bill: Bill;
  close(): void;
}

/**
 * Pending news for one subscriber. An event is built when it is read, from everything that has arrived by then. A slow
 * reader therefore takes no more memory, and misses intermediate events but never the last one.
 */
export class EventQueue<Value> implements AsyncIterableIterator<LiveEvent<Value>> {
  readonly #take: () => Value | null;
  readonly #nothing: () => Value | null;
  #bill = openBill();
  #pause: LiveWarning | null = null;
  #sentPause: LiveWarning | null = null;
  #failure: Failure | null = null;
  #isClosed = false;
  #wake: (() => void) | null = null;
  readonly #onClosed: (() => void)[];

  /**
   * @param take removes all pending news and returns it as one event; null if there is none
   * @param nothing returns the value of an event that only reports a pause
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

  pause(pause: LiveWarning | null): void {
    this.#pause = pause;
    this.notify();
  }

  /** Ends the subscription once its news have been read. */
  fail(failure: Failure): void {
    this.#failure ??= failure;
    this.notify();
  }

  /** Returns and resets the calls charged since the last event. */
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

  /** Calls the listener when the queue is closed; at once if it already is. */
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

/** The service's list of its sources at one instant. */
export interface Look {
  readonly records: readonly SourceRecord[];
  /** Milliseconds since the epoch, by a clock that never goes back. */
  readonly atMs: number;
}

export interface SourceRuns {
  readonly records: readonly SourceRecord[];
  /** Sources whose last run is given too coarsely to tell whether there has been another. */
  readonly possible: readonly SourceRecord[];
  /** False if unreadable records may hide further runs. */
  readonly areAll: boolean;
}
