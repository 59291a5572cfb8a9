import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { CancelSignal } from '../async/cancellation.ts';

/** What came of one request. */
export interface Received {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: IncomingHttpHeaders;
  readonly body: ReceivedBody;
}

/** A body in the pieces in which it came. They are part of all that was read from the connection at once. */
export class ReceivedBody {
  readonly #chunks: readonly Buffer[];
  /** In bytes. */
  readonly length: number;

  constructor(chunks: readonly Buffer[]) {
    this.#chunks = chunks;
    this.length = chunks.reduce((sum, { length }) => sum + length, 0);
  }

  /** A copy in one piece, which keeps nothing else alive. */
  copy(): Buffer {
    return Buffer.concat(this.#chunks, this.length);
  }

  equals(bytes: Buffer): boolean {
    if (bytes.length !== this.length) return false;
    let at = 0;
    return this.#chunks.every((chunk) => {
      const from = at;
      at += chunk.length;
      return bytes.compare(chunk, 0, chunk.length, from, at) === 0;
    });
  }
}

export interface ExchangeParts {
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Record<string, string>;
  /** One deadline for headers and body, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: CancelSignal;
  /** Called when a connection is there and the request is about to be written; what it throws keeps it back. */
  readonly onLeaving: (() => void) | undefined;
}

/** The service gave no full answer in time. */
export class Late extends Error {}

/** The connection broke, or there was none; the cause says how. */
export class Broken extends Error {}

/**
 * One GET, straight through undici's dispatcher: its `request` makes a stream of each body, and an abort signal's listeners,
 * which take as long as all the rest.
 *
 * @throws Late, Broken, the signal's reason, or what `onLeaving` throws
 */
export function exchange(dispatcher: Dispatcher, parts: ExchangeParts): Promise<Received> {
  return new Promise((resolve, reject) => {
    const handler = new Exchange(parts, resolve, reject);
    const { origin, path, headers } = parts;
    const options = { origin, path, method: 'GET', headers, headersTimeout: 0, bodyTimeout: 0 } as const;
    try {
      dispatcher.dispatch(options, handler);
    } catch (error) {
      handler.onResponseError(null, error);
    }
  });
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #parts: ExchangeParts;
  readonly #resolve: (received: Received) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort = () => this.#giveUp(this.#parts.signal.reason);
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | null = null;
  #isOver = false;
  #status = 0;
  #headers: IncomingHttpHeaders = {};

  constructor(
    parts: ExchangeParts,
    resolve: (received: Received) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#parts = parts;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(() => this.#giveUp(new Late()), parts.timeoutMs);
    parts.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) {
      controller.abort(new Error('Nobody waits for this request any longer.'));
      return;
    }
    try {
      this.#parts.onLeaving?.();
    } catch (error) {
      this.#giveUp(error);
    }
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // A 1xx is followed by the answer itself.
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (!this.#end()) return;
    this.#resolve({ status: this.#status, headers: this.#headers, body: new ReceivedBody(this.#chunks) });
  }

  onResponseError(_: unknown, cause: unknown): void {
    if (this.#end()) this.#reject(new Broken('The connection broke.', { cause }));
  }

  #giveUp(reason: unknown): void {
    if (!this.#end()) return;
    this.#reject(reason);
    this.#controller?.abort(reason instanceof Error ? reason : new Error('The request was given up.'));
  }

  /** Whether it was under way until now. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#parts.signal.removeEventListener('abort', this.#onAbort);
    return true;
  }
}
