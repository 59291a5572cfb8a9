import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Clock } from '../shared/async/clock.ts';
import { IterationQueue } from '../shared/async/iteration-queue.ts';
import { MAX_RESPONSE_BYTES, type ServiceConnection, type TrackedHandler } from './connections.ts';
import { encodingsIn, openUnpacking, TooLarge, type Unpacked } from './unpacking.ts';

/** Bytes beyond which the body of an error is ignored. */
const MAX_ERROR_BYTES = 1_000_000;

/** The answer to one request. */
export interface Received {
  readonly status: number;
  /** Values by lower-case name. */
  readonly headers: IncomingHttpHeaders;
  /** The body, decompressed, as it arrived. */
  readonly chunks: readonly Buffer[];
}

interface GetRequest {
  readonly origin: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  /** One deadline for headers and body, in milliseconds. */
  readonly timeoutMs: number;
  readonly after: Clock['after'];
  readonly signal: AbortSignal;
  /** Called when the request is about to be written. Throws to keep it from being sent. */
  readonly onLeaving: (() => void) | undefined;
}

/** The service did not answer in full in time. */
export class Late extends Error {}

/** The connection broke or could not be opened; see its cause. */
export class Broken extends Error {}

/**
 * A reused connection broke before the first byte of the answer: most likely the service, or something in between, had
 * closed it while it was idle.
 */
export class Forgotten extends Broken {
  readonly connection: ServiceConnection;

  constructor(connection: ServiceConnection, cause: unknown) {
    super('The connection was closed when it was used again.', { cause });
    this.connection = connection;
  }

  /** False if the request could not even be written; otherwise the service may have received it. */
  get mayHaveArrived(): boolean {
    return (this.cause as Partial<NodeJS.ErrnoException> | undefined)?.syscall !== 'write';
  }
}

/**
 * Sends one GET straight through undici's dispatcher: `request` would make a stream for each body and listeners for the
 * signal, which cost as much as everything else together.
 * @throws Late, Broken, Unreadable, the signal's reason, or the error that `onLeaving` throws
 */
export function exchange(dispatcher: Dispatcher, request: GetRequest): Promise<Received> {
  return new Promise((resolve, reject) => {
    const handler = new Exchange(request, resolve, reject);
    const { origin, path, headers } = request;
    const options = { origin, path, method: 'GET', headers, headersTimeout: 0, bodyTimeout: 0 } as const;
    try {
      dispatcher.dispatch(options, handler);
    } catch (error) {
      handler.onResponseError(null, error);
    }
  });
}

/** Answers that ended in this iteration of the event loop. */
const ended = new IterationQueue();

class Exchange implements Dispatcher.DispatchHandler, TrackedHandler, Unpacked {
  readonly #request: GetRequest;
  readonly #resolve: (received: Received) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #endTimeout: () => void;
  readonly #onAbort = () => this.#giveUp(this.#request.signal.reason);
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | null = null;
  #isOver = false;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #bytes = 0;
  /** Decompresses the body, if it is compressed. */
  #unpacking: ReturnType<typeof openUnpacking> | null = null;
  #connection: ServiceConnection | null = null;
  /** Answers and bytes received over the connection before this request; null until it has left. */
  #before: { readonly answers: number; readonly bytes: number } | null = null;

  constructor(request: GetRequest, resolve: (received: Received) => void, reject: (reason: unknown) => void) {
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#endTimeout = request.after(request.timeoutMs, () => this.#giveUp(new Late()));
    request.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  goesOver(connection: ServiceConnection): void {
    this.#connection = connection;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) {
      controller.abort(new Error('Nobody waits for this request any longer.'));
      return;
    }
    try {
      this.#request.onLeaving?.();
    } catch (error) {
      this.#giveUp(error);
      return;
    }
    if (this.#connection === null) return;
    const { answers, socket } = this.#connection;
    this.#connection.running += 1;
    this.#before = { answers, bytes: socket?.bytesRead ?? 0 };
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // Called again after a 1xx.
    this.#status = status;
    this.#headers = headers;
    if (headers['content-encoding'] === undefined) return;
    try {
      const encodings = encodingsIn(headers['content-encoding']);
      this.#unpacking = encodings && openUnpacking(encodings, this.#maxBytes(), this);
    } catch (error) {
      this.onError(error);
    }
  }

  onData(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onDrain(): void {
    this.#controller?.resume();
  }

  #maxBytes(): number {
    return this.#status === 200 ? MAX_RESPONSE_BYTES : MAX_ERROR_BYTES;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#unpacking !== null) {
      if (!this.#unpacking.write(chunk)) controller.pause();
      return;
    }
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes()) this.onError(new TooLarge());
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#leaveConnection(true);
    if (this.#unpacking === null) this.onEnd();
    else if (!this.#isOver) this.#unpacking.end();
  }

  onResponseError(_: unknown, cause: unknown): void {
    const forgotten = this.#status === 0 ? this.#forgotten(cause) : null;
    this.#leaveConnection(false);
    if (this.#end()) this.#reject(forgotten ?? new Broken('The connection broke.', { cause }));
  }

  #forgotten(cause: unknown): Forgotten | null {
    if (this.#connection === null || this.#before === null || this.#before.answers === 0) return null;
    const { socket } = this.#connection;
    return socket?.bytesRead === this.#before.bytes ? new Forgotten(this.#connection, cause) : null;
  }

  #leaveConnection(isAnswered: boolean): void {
    if (this.#connection === null || this.#before === null) return;
    this.#before = null;
    this.#connection.running -= 1;
    if (!isAnswered) return;
    this.#connection.answers += 1;
    this.#connection.usedAtMs = performance.now();
  }

  /** Stops reading: of an error the status says enough, any other answer fails. */
  onError(reason: unknown): void {
    if (this.#status === 200) {
      this.#giveUp(reason);
      return;
    }
    this.#chunks.length = 0;
    this.onEnd();
    this.#controller?.abort(new Error('The body of the answer is not read.'));
  }

  onEnd(): void {
    if (this.#end()) ended.add(this.#passOn);
  }

  readonly #passOn = () => {
    this.#resolve({ status: this.#status, headers: this.#headers, chunks: this.#chunks });
  };

  #giveUp(reason: unknown): void {
    if (!this.#end()) return;
    this.#reject(reason);
    this.#controller?.abort(reason instanceof Error ? reason : new Error('The request was given up.'));
  }

  /** Returns true if the exchange was not over yet. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#endTimeout();
    this.#request.signal.removeEventListener('abort', this.#onAbort);
    this.#unpacking?.close();
    return true;
  }
}
