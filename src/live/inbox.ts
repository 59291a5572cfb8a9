import type { Failure } from '../errors.ts';
import type { LiveEvent } from '../graph/live.ts';
import type { LiveWarning } from '../warnings.ts';
import { type FeedBill, mergeBill, openFeedBill } from './errand.ts';

export interface InboxParts<Value> {
  /** Takes all news as one event; null if there is none. */
  readonly take: () => Value | null;
  /** Returns the value of an event that only tells of a pause. */
  readonly nothing: () => Value | null;
  /** Called once, when nobody reads any more. */
  readonly onClose: () => void;
}

/**
 * The news for one subscriber. Events are made when they are read, of all that has come by then: so a slow reader takes
 * no more room, misses the events in between, and never the last.
 */
export class Inbox<Value> implements AsyncIterableIterator<LiveEvent<Value>> {
  readonly #parts: InboxParts<Value>;
  #bill: FeedBill = openFeedBill();
  #pause: LiveWarning | null = null;
  #toldPause: LiveWarning | null = null;
  #failure: Failure | null = null;
  #isClosed = false;
  #wake: (() => void) | null = null;
  readonly #onClosed: (() => void)[] = [];

  constructor(parts: InboxParts<Value>) {
    this.#parts = parts;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Wakes the reader: there may be news to take. */
  notify(): void {
    this.#wake?.();
  }

  /** Adds to the bill of the next event. */
  charge(bill: FeedBill): void {
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
  takeBill(): FeedBill {
    const bill = this.#bill;
    this.#bill = openFeedBill();
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
    this.#parts.onClose();
    for (const listener of this.#onClosed.splice(0)) listener();
    this.notify();
  }

  /** Has a listener called when nobody reads any more; at once if that is so already. */
  onceClosed(listener: () => void): void {
    if (this.#isClosed) listener();
    else this.#onClosed.push(listener);
  }

  #event(): LiveEvent<Value> | null {
    const isPauseNews = this.#pause !== this.#toldPause;
    const value = this.#parts.take() ?? (isPauseNews ? this.#parts.nothing() : null);
    if (value === null && !isPauseNews) return null;
    this.#toldPause = this.#pause;
    return { value, warning: this.#pause, bill: this.takeBill() };
  }
}
