/** Tells work that nobody waits for it any longer: the part of an `AbortSignal` that is in use here. */
export interface CancelSignal {
  readonly aborted: boolean;
  /** The reason; undefined before. */
  readonly reason: unknown;
  /** @throws the reason once it is aborted */
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * Does the work of `AbortController` and `AbortSignal` without the cost of an `EventTarget`: an operation that asks the
 * service makes half a dozen of them, and hardly any is ever aborted.
 */
export class Cancellation implements CancelSignal {
  readonly #listeners: (() => void)[] = [];
  #aborted = false;
  #reason: unknown;

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.#aborted) this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const place = this.#listeners.indexOf(listener);
    if (place !== -1) this.#listeners.splice(place, 1);
  }

  /** Tells the listeners, each once; after the first time nothing. */
  abort(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    for (const listener of this.#listeners.splice(0)) listener();
  }
}

/** The end of a wait. */
type WaitEnd = 'fulfilled' | 'rejected' | 'aborted';

/**
 * Settles as the promise does, or rejects with the signal's reason if that comes first.
 * @param onEnd called once, as the wait comes to its end
 */
export function untilAborted<T>(
  promise: Promise<T>,
  signal: CancelSignal,
  onEnd?: (end: WaitEnd) => void,
): Promise<T> {
  if (signal.aborted) {
    onEnd?.('aborted');
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    let isOver = false;
    /** Ends the wait. @returns true if it was still going on */
    function end(as: WaitEnd): boolean {
      if (isOver) return false;
      isOver = true;
      signal.removeEventListener('abort', onAbort);
      onEnd?.(as);
      return true;
    }
    function onAbort(): void {
      if (end('aborted')) reject(signal.reason);
    }
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(
      (value) => {
        if (end('fulfilled')) resolve(value);
      },
      (error: unknown) => {
        if (end('rejected')) reject(error);
      },
    );
  });
}
