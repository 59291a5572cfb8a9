import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex, Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { Agent, type buildConnector, Client, type Dispatcher, EnvHttpProxyAgent, errors, Pool } from 'undici';
import type { OutgoingProxy } from '../config/config.ts';
import { Failure } from '../shared/errors.ts';
import type { Transport } from './attempt.ts';
import { ReceivedBody, read, readText, Unreadable, unspecified } from './bodies.ts';
import { type Answer, type Call, isElsewhere } from './call.ts';
import { health } from './endpoints.ts';
import { isObject, type JsonObject } from './records/envelope.ts';
import type { Read } from './repeated-rows.ts';
import type { Sending } from './sending.ts';

/** Bytes of answers that are cached, and of one of them: a full data call of 1,000 rows has half a megabyte. */
const MAX_CACHED_BYTES = 4 * 1024 * 1024;
const MAX_BODY_BYTES = 1024 * 1024;

/** Bytes, unpacked, beyond which a body is not read: a full data call of 1,000 rows has well under 1 MiB. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** Bytes beyond which the body of an error counts as none. */
const MAX_ERROR_BYTES = 1_000_000;

/** Encodings of bodies that are unpacked: all that Node knows. */
export const ENCODINGS = 'gzip, deflate, br, zstd';

const OUR_HEADERS = {
  accept: 'application/json',
  'accept-encoding': ENCODINGS,
  'user-agent': 'country-graph',
};

export interface HttpOptions {
  /** Base address of the service, without a trailing slash. */
  readonly baseUrl: string;
  /** One attempt, headers and body, in milliseconds. */
  readonly timeoutMs: number;
  readonly now: () => number;
  /** The clock that tells when an answer came; see `steadied`. */
  readonly steadyNow?: () => number;
  /** Proxies on the way to the service; an address of https is only ever reached through a tunnel. */
  readonly proxy?: OutgoingProxy;
  /** Makes connections that go over no network; left out to connect to the service. */
  readonly connect?: (() => Duplex) | undefined;
}

/**
 * Opens the innermost ring: it sends one request over kept-alive connections and reads the status before the body.
 * Answers with 200, 304 and 404 are answers. Others become a Failure: UNAUTHENTICATED (401), FORBIDDEN (403),
 * RATE_LIMITED (429, as yet without plan and time), BAD_USER_INPUT (400, 422), UPSTREAM_UNAVAILABLE (5xx, broken
 * connection, a 4xx that is not in the service's own words), UPSTREAM_TIMEOUT, UPSTREAM_INVALID_RESPONSE (anything else;
 * redirects are not followed, since the caller's key goes to no other address).
 */
export function createHttp({ baseUrl, timeoutMs, now, steadyNow = now, proxy = null, connect }: HttpOptions) {
  const connections = openConnections(proxy, connect);
  const { origin, pathname } = new URL(baseUrl);
  const prefix = pathname === '/' ? '' : pathname;
  /**
   * The last answers of the service by target, as bytes and as read. It mostly sends the same bytes to all that ask for the
   * same thing, or the same countries: then they are not read again, and what was parsed is shared. Nobody is given anything here
   * that the service has not just sent under their own key. Bytes that are kept stand alone in their memory.
   */
  const bodies = new LRUCache<string, Read>({
    maxSize: MAX_CACHED_BYTES,
    maxEntrySize: MAX_BODY_BYTES,
    sizeCalculation: ({ bytes }, target) => bytes.length + target.length,
  });

  function addressOf(call: Call) {
    if (!isElsewhere(call)) return { origin, path: prefix + call.target };
    const other = new URL(call.target);
    return { origin: other.origin, path: other.pathname + other.search };
  }

  /** Sends one request. A request that could not be written at all goes out once more, as if it had not been sent. */
  async function exchanged(call: Call, sending: Sending): Promise<Received> {
    const { signal, onLeaving, isAnew } = sending;
    const { authorization } = sending.caller;
    const key = call.isPublic || authorization === null ? {} : { authorization };
    const headers = { ...OUR_HEADERS, ...key, ...sending.headers };
    const request = { ...addressOf(call), headers, timeoutMs, signal };
    const over: Dispatcher = isAnew ? connections.anew : connections.persistent;
    try {
      return await exchange(over, { ...request, onLeaving });
    } catch (error) {
      if (!(error instanceof Forgotten)) throw error;
      connections.closeIdle(error.connection);
      if (error.mayHaveArrived) throw error;
      return exchange(connections.anew, { ...request, onLeaving: undefined });
    }
  }

  async function answered(call: Call, sending: Sending): Promise<Answer> {
    sending.signal.throwIfAborted();
    const { status, headers, body } = await exchanged(call, sending);
    sending.onStatus?.(status);
    if (status === 200) {
      const last = bodies.get(call.target);
      const result = await read(body, sending.caller, last);
      if (result !== last && call.route !== health.route && mayBeFailure(result.body)) {
        const failure = (await failedAnswers()).failureInBody(result.body, call, sending);
        if (failure !== null) throw failure;
      }
      if (result !== last) bodies.set(call.target, result);
      return { status, headers: plain(headers), body: result.body, receivedAt: steadyNow() };
    }
    if (status === 304) return { status, headers: plain(headers), body: undefined, receivedAt: steadyNow() };
    const text = await readText(body, sending.caller);
    const { notFound, refused } = await failedAnswers();
    if (status !== 404)
      throw refused({ status, text, retryAfter: headers['retry-after'] }, call, sending, now());
    return { status, headers: plain(headers), ...notFound(text, call, sending), receivedAt: steadyNow() };
  }

  /** Makes an attempt, and tells if its request has left: nothing else decides that. */
  const transport: Transport = async (call, sending) => {
    let left = false;
    const onLeaving = () => {
      sending.onLeaving?.();
      left = true;
    };
    try {
      return { left: true, answer: await answered(call, { ...sending, onLeaving }) };
    } catch (error) {
      return { left, error: failureIn(error, call) };
    }
  };

  return { transport, close: connections.close };
}

/** The reader of answers that bring nothing, loaded by the first of them. */
const failedAnswers = () => import('./failed-answers.ts');

/** Names of members by which the `meta` of a list may tell of a failure. */
const FAILURE_MEMBER = /^(?:error|exception|success$|ok$)/;

/** True if the body of a 200 may tell of a failure: any object may, except one that holds a list, and counts at the most. */
function mayBeFailure(body: unknown): body is JsonObject {
  if (!isObject(body)) return false;
  const { data, meta = null, ...rest } = body;
  const isList = Array.isArray(data) && Object.keys(rest).length === 0;
  return !isList || (isObject(meta) && Object.keys(meta).some((name) => FAILURE_MEMBER.test(name)));
}

/** Words the failure of a request. An error that is no failure of the service stays as it is. */
function failureIn(error: unknown, call: Call): unknown {
  const { route } = call;
  if (error instanceof Late)
    return new Failure('UPSTREAM_TIMEOUT', 'The service gave no full answer in time.', { route });
  if (error instanceof Unreadable) return unspecified(call, error.message, error);
  if (!(error instanceof Broken)) return error;
  const cause = error instanceof Forgotten ? error : error.cause;
  if (cause instanceof errors.ResponseExceededMaxSizeError)
    return unspecified(call, 'the body is too large', cause);
  return new Failure('UPSTREAM_UNAVAILABLE', 'The connection to the service broke.', { route }, { cause });
}

/** Makes headers as an answer has them: one value a name. */
function plain(headers: IncomingHttpHeaders): Answer['headers'] {
  const values = Object.entries(headers);
  if (values.every(([, value]) => typeof value === 'string')) return headers as Answer['headers'];
  return Object.fromEntries(values.map(([name, value = '']) => [name, [value].flat().join(', ')]));
}

/** True if a call failed since its connection had been closed before, which says nothing of the service. */
export function isForgotten(error: unknown): boolean {
  return error instanceof Failure && error.cause instanceof Forgotten;
}

/** True if the service gave no answer of its own at all. */
export function isUnanswered(error: unknown): error is Failure {
  return (
    error instanceof Failure && (error.code === 'UPSTREAM_UNAVAILABLE' || error.code === 'UPSTREAM_TIMEOUT')
  );
}

/** Connections to the service that are open at once; calls beyond wait for one. */
const MAX_CONNECTIONS = 64;

/** One place for a connection to the service, and the traffic over the connection that is there. */
interface ServiceConnection {
  socket: Socket | null;
  /** Answers that have come over it. */
  answers: number;
  /** Requests that have no answer yet. */
  running: number;
  /** Time of its last answer, in milliseconds of the process. */
  usedAtMs: number;
}

/** Opens the ways to the service: over connections that are kept alive, and anew for each request. */
function openConnections(proxy: OutgoingProxy, connect: HttpOptions['connect']) {
  const all = new Set<ServiceConnection>();

  class Tracked extends Client {
    readonly #connection: ServiceConnection;

    constructor(origin: string | URL, options: Client.Options & { connect: buildConnector.connector }) {
      const connection: ServiceConnection = { socket: null, answers: 0, running: 0, usedAtMs: 0 };
      super(origin, {
        ...options,
        connect: (target, callback) =>
          options.connect(target, (...[error, socket]) => {
            if (error !== null) return callback(error, null);
            Object.assign(connection, { socket, answers: 0, running: 0 });
            all.add(connection);
            socket.once('close', () => all.delete(connection));
            return callback(null, socket);
          }),
      });
      this.#connection = connection;
    }

    override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      if (handler instanceof Exchange) handler.goesOver(this.#connection);
      return super.dispatch(options, handler);
    }
  }

  const ownConnect = (_: unknown, callback: buildConnector.Callback) => {
    // A connection is there later than it was asked for.
    setImmediate(() => callback(null, connect?.() as Socket));
  };
  const within = connect === undefined ? {} : { connect: ownConnect };
  const limits = { connections: MAX_CONNECTIONS, maxResponseSize: MAX_RESPONSE_BYTES, ...within };
  const tracked = (origin: string | URL, options: object) =>
    new Tracked(origin, options as ConstructorParameters<typeof Tracked>[1]);
  const open = (poolOptions: Pool.Options) => {
    const options = { ...limits, ...poolOptions };
    // A proxy that passes requests on is given its own connections, which would forget the options.
    const factory = (origin: string | URL, further: object) => new Pool(origin, { ...options, ...further });
    return proxy === null
      ? new Agent({ ...options, factory })
      : new EnvHttpProxyAgent({ ...options, ...proxy, factory });
  };
  const keepAliveAgent = open({ keepAliveTimeout: 30_000, pipelining: 1, factory: tracked });
  const anew = open({ pipelining: 0, allowH2: false });

  return {
    persistent: keepAliveAgent,
    anew,
    /** Closes connections that have lain idle for as long as one that was found forgotten: the same may hold of them. */
    closeIdle(forgotten: ServiceConnection): void {
      for (const { socket, answers, running, usedAtMs } of all) {
        if (answers > 0 && running === 0 && usedAtMs <= forgotten.usedAtMs) socket?.destroy();
      }
    },
    async close() {
      await Promise.all([keepAliveAgent.close(), anew.close()]);
    },
  };
}

/** Encodings that a body may have one within the other. */
const MAX_ENCODINGS = 4;

/** Bytes that are unpacked at once. */
const CHUNK_BYTES = 65_536;

/** Parameters of zstd: windows beyond 8 MiB are none that HTTP allows (RFC 9659). */
const ZSTD_WINDOW = { [constants.ZSTD_d_windowLogMax]: 23 };

type Open = (first: Buffer) => Transform;

const gunzip: Open = () => createGunzip({ chunkSize: CHUNK_BYTES });

const OPEN: Readonly<Record<string, Open>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  // Some services send it without the header that the name stands for.
  deflate: ([byte = 0]) =>
    (byte & 0x0f) === 8
      ? createInflate({ chunkSize: CHUNK_BYTES })
      : createInflateRaw({ chunkSize: CHUNK_BYTES }),
  br: () => createBrotliDecompress({ chunkSize: CHUNK_BYTES }),
  zstd: () => createZstdDecompress({ chunkSize: CHUNK_BYTES, params: ZSTD_WINDOW }),
};

/** Finds the steps that undo the encodings of a body; null if it has none; throws Unreadable. */
export function encodingsIn(header: string | string[] | undefined): readonly Open[] | null {
  if (header === undefined) return null;
  const names = String(header)
    .split(',', MAX_ENCODINGS * 4)
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length === 0) return null;
  if (names.length > MAX_ENCODINGS) throw new Unreadable('the body has too many encodings');
  return names.reverse().map((name) => {
    if (!Object.hasOwn(OPEN, name))
      throw new Unreadable(`the body has an encoding that is not known: ${name.slice(0, 40)}`);
    return OPEN[name] as Open;
  });
}

/** More bytes came of a body than may. */
export class TooLarge extends Unreadable {
  constructor() {
    super('the body is too large');
  }
}

/** The receiver of a body as it is unpacked. */
interface Unpacked {
  onData(chunk: Buffer): void;
  onEnd(): void;
  onError(reason: Unreadable): void;
  /** Called when more may be written, after `write` has said that it has enough. */
  onDrain(): void;
}

/**
 * Unpacks a body as it comes, within bounds: a body that would be too large is given up before it is.
 * @param maxBytes bytes that may come of each encoding
 */
export function openUnpacking(encodings: readonly Open[], maxBytes: number, to: Unpacked) {
  const streams: Transform[] = [];

  /** @returns true if more may be written at once */
  function write(chunk: Buffer, level = 0): boolean {
    if (chunk.length === 0) return true;
    const open = encodings[level];
    if (open === undefined) {
      to.onData(chunk);
      return true;
    }
    streams[level] ??= opened(level, open(chunk));
    return streams[level].write(chunk);
  }

  /** Ends the body; `onEnd` follows once all is unpacked. */
  function end(level = 0): void {
    if (level === encodings.length) to.onEnd();
    // Nothing at all has come: that is an empty body, in any encoding.
    else if (streams[level] === undefined) end(level + 1);
    else streams[level].end();
  }

  function opened(level: number, stream: Transform): Transform {
    let bytes = 0;
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) to.onError(new TooLarge());
      else write(chunk, level + 1);
    });
    stream.on('end', () => end(level + 1));
    stream.on('error', () => to.onError(new Unreadable('the body is not encoded as it says')));
    if (level === 0) stream.on('drain', () => to.onDrain());
    return stream;
  }

  return {
    write,
    end,
    close() {
      for (const stream of streams) stream.destroy();
    },
  };
}

/** The answer to one request. */
interface Received {
  readonly status: number;
  /** Values by lower-case name. */
  readonly headers: IncomingHttpHeaders;
  readonly body: ReceivedBody;
}

/** One GET, and who waits for it. */
interface GetRequest {
  readonly origin: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  /** One deadline for headers and body, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called when the request is about to be written; an error that it throws keeps the request back. */
  readonly onLeaving: (() => void) | undefined;
}

/** The service gave no full answer in time. */
class Late extends Error {}

/** The connection broke, or there was none; the cause says how. */
class Broken extends Error {}

/**
 * The connection broke before any byte of the answer, and answers had come over it before: the service, or something in
 * between, had most likely closed or forgotten it when the request was sent.
 */
class Forgotten extends Broken {
  readonly connection: ServiceConnection;

  constructor(connection: ServiceConnection, cause: unknown) {
    super('The connection was closed when it was used again.', { cause });
    this.connection = connection;
  }

  /** True if the service may have received the request: not if it could not even be written. */
  get mayHaveArrived(): boolean {
    return (this.cause as Partial<NodeJS.ErrnoException> | undefined)?.syscall !== 'write';
  }
}

/**
 * Sends one GET, straight through undici's dispatcher: its `request` makes a stream of each body, and an abort signal's
 * listeners, which take as long as all the rest.
 * @throws Late, Broken, Unreadable, the signal's reason, or the error that `onLeaving` throws
 */
function exchange(dispatcher: Dispatcher, request: GetRequest): Promise<Received> {
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

class Exchange implements Dispatcher.DispatchHandler, Unpacked {
  readonly #request: GetRequest;
  readonly #resolve: (received: Received) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort = () => this.#giveUp(this.#request.signal.reason);
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | null = null;
  #isOver = false;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #bytes = 0;
  /** Undoes the encodings of the body, if it has any. */
  #unpacking: ReturnType<typeof openUnpacking> | null = null;
  #connection: ServiceConnection | null = null;
  /** Answers and bytes that had come over the connection before the request; null while that hasn't left. */
  #before: { readonly answers: number; readonly bytes: number } | null = null;

  constructor(request: GetRequest, resolve: (received: Received) => void, reject: (reason: unknown) => void) {
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(() => this.#giveUp(new Late()), request.timeoutMs);
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
    // A 1xx is followed by the answer itself.
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

  /** Reads no further: of an error the status says enough, and any other answer is given up. */
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
    if (!this.#end()) return;
    this.#resolve({ status: this.#status, headers: this.#headers, body: new ReceivedBody(this.#chunks) });
  }

  #giveUp(reason: unknown): void {
    if (!this.#end()) return;
    this.#reject(reason);
    this.#controller?.abort(reason instanceof Error ? reason : new Error('The request was given up.'));
  }

  /** Ends the exchange. Returns true if it was under way until now. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#request.signal.removeEventListener('abort', this.#onAbort);
    this.#unpacking?.close();
    return true;
  }
}
