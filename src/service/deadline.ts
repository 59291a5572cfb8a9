import type { Clock } from '../shared/async/clock.ts';
import { Failure } from '../shared/errors.ts';

/**
 * The deadline of one operation: its signal aborts when the client leaves or the time is over. No timer is set before
 * the operation first waits for the service, since most operations find everything cached.
 */
export class Deadline {
  readonly #timeoutMs: number;
  readonly #request: { readonly signal: AbortSignal };
  readonly #after: Clock['after'];
  readonly #startedAtMs = performance.now();
  readonly #ends = new AbortController();
  /** Removes the timer and the listener; null before `start`. */
  #unwatch: (() => void) | null = null;
  #isOver = false;

  /**
   * @param timeoutMs from now
   * @param request its signal, which aborts when the client leaves, is made on first use
   */
  constructor(timeoutMs: number, request: { readonly signal: AbortSignal }, after: Clock['after']) {
    this.#timeoutMs = timeoutMs;
    this.#request = request;
    this.#after = after;
  }

  /** Aborts only after `start`; if the time is over, with a Failure as its reason. */
  get signal(): AbortSignal {
    return this.#ends.signal;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Called when the operation is about to wait. */
  start(): void {
    if (this.#unwatch !== null || this.#isOver) return;
    const client = this.#request.signal;
    const onLeave = () => this.#ends.abort(client.reason);
    const leftMs = this.#startedAtMs + this.#timeoutMs - performance.now();
    const cancel = this.#after(Math.max(0, leftMs), () => endLate(this.#ends, this.#timeoutMs));
    client.addEventListener('abort', onLeave, { once: true });
    if (client.aborted) onLeave();
    const unwatch = () => {
      cancel();
      client.removeEventListener('abort', onLeave);
    };
    this.#unwatch = unwatch;
  }

  /** Called when the operation is over. */
  stop(): void {
    this.#isOver = true;
    this.#unwatch?.();
  }
}

function endLate(ends: AbortController, timeoutMs: number): void {
  const message = `The operation took longer than the ${timeoutMs} ms that it may (OPERATION_TIMEOUT_MS), and this had not come by then. Ask again later, or for less at once.`;
  ends.abort(new Failure('OPERATION_TIMEOUT', message));
}
