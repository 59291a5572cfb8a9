import { Failure } from '../shared/errors.ts';

/**
 * The deadline of one operation, which is given up by its client, or because its time is over. Nothing is set up before
 * the operation first waits for the service, since most find all that they need cached.
 */
export class Deadline {
  readonly #timeoutMs: number;
  readonly #request: { readonly signal: AbortSignal };
  readonly #startedAtMs = performance.now();
  readonly #ends = new AbortController();
  /** Ends the wait for the client and for the time; null before it has been started. */
  #unwatch: (() => void) | null = null;
  #isOver = false;

  /**
   * @param timeoutMs milliseconds that the operation may take, from now on
   * @param request has the signal that aborts when the client leaves; it is only asked for if somebody waits
   */
  constructor(timeoutMs: number, request: { readonly signal: AbortSignal }) {
    this.#timeoutMs = timeoutMs;
    this.#request = request;
  }

  /** Aborts once the deadline has been started; with a Failure as its reason if the time is over. */
  get signal(): AbortSignal {
    return this.#ends.signal;
  }

  /** Starts the deadline, since the operation is about to wait: from now on the signal tells when it is given up. */
  start(): void {
    if (this.#unwatch !== null || this.#isOver) return;
    const client = this.#request.signal;
    const onLeave = () => this.#ends.abort(client.reason);
    const leftMs = this.#startedAtMs + this.#timeoutMs - performance.now();
    const timer = setTimeout(endLate, Math.max(0, leftMs), this.#ends, this.#timeoutMs);
    client.addEventListener('abort', onLeave, { once: true });
    if (client.aborted) onLeave();
    const unwatch = () => {
      clearTimeout(timer);
      client.removeEventListener('abort', onLeave);
    };
    this.#unwatch = unwatch;
  }

  /** Stops the deadline, since the operation is over. */
  stop(): void {
    this.#isOver = true;
    this.#unwatch?.();
  }
}

function endLate(ends: AbortController, timeoutMs: number): void {
  const message = `The operation took longer than the ${timeoutMs} ms that it may (OPERATION_TIMEOUT_MS), and this had not come by then. Ask again later, or for less at once.`;
  ends.abort(new Failure('OPERATION_TIMEOUT', message));
}
