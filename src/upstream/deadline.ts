import { Cancellation, type CancelSignal } from '../async/cancellation.ts';
import { Failure } from '../errors.ts';

export interface DeadlineParts {
  /** The time at which the operation came, by the same clock as `now`; milliseconds. */
  readonly startedAtMs: number;
  /** Milliseconds that an operation may take. */
  readonly timeoutMs: number;
  readonly now: () => number;
  /** The request, with the signal that aborts when the client leaves; it is only asked for if somebody waits. */
  readonly request: { readonly signal: CancelSignal };
}

/** The parts that a started deadline listens to. */
interface Started {
  readonly client: CancelSignal;
  readonly onLeave: () => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * The deadline of one operation, which is given up by its client, or because its time is over. Nothing is set up before
 * the operation first waits for the service, since most find all that they need held.
 */
export class Deadline {
  readonly #parts: DeadlineParts;
  readonly #ends = new Cancellation();
  #started: Started | undefined;
  #isOver = false;

  constructor(parts: DeadlineParts) {
    this.#parts = parts;
  }

  /** Aborts once the deadline has been started; with a Failure as its reason if the time is over. */
  get signal(): CancelSignal {
    return this.#ends;
  }

  /** Starts the deadline, since the operation is about to wait: from now on the signal tells when it is given up. */
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

  /** Stops the deadline, since the operation is over. */
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
