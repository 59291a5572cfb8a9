import { Cancellation, type CancelSignal } from '../async/cancellation.ts';
import { Failure } from '../errors.ts';

export interface DeadlineParts {
  /** When the operation came, by the same time as `now`; milliseconds. */
  readonly startedAtMs: number;
  /** How long an operation may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly now: () => number;
  /** Has the signal that aborts when the client leaves; it is only asked for where somebody waits. */
  readonly request: { readonly signal: CancelSignal };
}

/** What a deadline that has been started listens to. */
interface Started {
  readonly client: CancelSignal;
  readonly onLeave: () => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * When one operation is given up: by its client, or because its time is over. Nothing is set up before the operation
 * first waits for the service, since most take what they need from what is held.
 */
export class Deadline {
  readonly #parts: DeadlineParts;
  readonly #ends = new Cancellation();
  #started: Started | undefined;
  #isOver = false;

  constructor(parts: DeadlineParts) {
    this.#parts = parts;
  }

  /** Aborts once the deadline has been started; with a Failure as its reason where the time is over. */
  get signal(): CancelSignal {
    return this.#ends;
  }

  /** The operation is about to wait: from now on the signal tells when it is given up. */
  start(): void {
    if (this.#started !== undefined || this.#isOver) return;
    const { request, startedAtMs, timeoutMs, now } = this.#parts;
    const client = request.signal;
    const onLeave = () => this.#ends.abort(client.reason);
    const timer = setTimeout(endLate, Math.max(0, startedAtMs + timeoutMs - now()), this.#ends, timeoutMs);
    client.addEventListener('abort', onLeave, { once: true });
    if (client.aborted) onLeave();
    this.#started = { client, onLeave, timer };
  }

  /** The operation is over. */
  stop(): void {
    this.#isOver = true;
    if (this.#started === undefined) return;
    const { client, onLeave, timer } = this.#started;
    clearTimeout(timer);
    client.removeEventListener('abort', onLeave);
  }
}

function endLate(ends: Cancellation, timeoutMs: number): void {
  const message = `The operation took longer than the ${timeoutMs} ms that it may (OPERATION_TIMEOUT_MS), and this had not come by then. Ask again later, or for less at once.`;
  ends.abort(new Failure('OPERATION_TIMEOUT', message));
}
