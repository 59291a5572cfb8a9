import { randomUUID } from 'node:crypto';
import {
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import proxyAddr from '@fastify/proxy-addr';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ExecutionArgs } from 'graphql';
import {
  createHandler,
  type Handler,
  type OperationResult,
  type Request,
  type RequestParams,
  type Response as StreamResponse,
} from 'graphql-sse';
import { handleProtocols, makeServer, type ServerOptions } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Config } from '../../config/config.ts';
import type { Live } from '../../gateway/gateway.ts';
import type { GatewayRequest } from '../../graphql/request/messages.ts';
import { visitorOf } from '../../keys/visitor.ts';
import {
  flat,
  headFault,
  hijacked,
  isBearer,
  isWellFormed,
  requestIdOf,
  trusting,
} from '../../server/http.ts';
import { isObject } from '../../service/records/envelope.ts';
import { errorBody, Failure, type FailureCode } from '../../shared/errors.ts';
import { isDeepJson, MAX_NESTING, TOO_DEEP } from '../../shared/exact-json.ts';
import type { LiveResults } from './subscriptions.ts';

interface Reading {
  /** Waits before the next result is made: until then, its reader isn't ready. */
  readonly ready?: () => Promise<void>;
  readonly onResult?: () => void;
}

/** Results as the libraries of transports end them. */
type WatchedResults = LiveResults & { throw(error: unknown): Promise<never> };

/** Begins a subscription; from then until it is over, its connection isn't idle. */
async function beginSubscription(
  { subscriptions, enter }: Live,
  request: Parameters<Live['subscriptions']['open']>[0] & Pick<GatewayRequest, 'headers' | 'address'>,
  idleness: Idleness,
  reading: Reading = {},
) {
  idleness.begin();
  let isBegun = false;
  try {
    const { query, operationName, variables, headers, address, requestId, signal } = request;
    const body = { query, operationName, variables };
    const entering = enter({ method: 'POST', headers, search: '', body, address, requestId, signal });
    const opened = await subscriptions.open(request, entering);
    if ('errors' in opened) return opened;
    isBegun = true;
    return { ...opened, results: watched(opened.results, reading, () => idleness.end()) };
  } finally {
    if (!isBegun) idleness.end();
  }
}

/**
 * Makes results when their reader is ready for them, as a generator: libraries end nothing else.
 * @param onEnd called once there will be no more
 */
function watched(results: LiveResults, { ready, onResult }: Reading, onEnd: () => void): WatchedResults {
  let isOver = false;
  const end = () => {
    if (!isOver) onEnd();
    isOver = true;
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      await ready?.();
      const result = await results.next();
      if (result.done) end();
      else onResult?.();
      return result;
    },
    async return() {
      end();
      return results.return();
    },
    async throw(error) {
      end();
      await results.return();
      throw error;
    },
  };
}

/** Milliseconds that a connection may be without a subscription: as long as one of HTTP without a request. */
const IDLE_MS = 72_000;

/** Ends a connection that nobody uses: calls back after a time without a subscription. */
class Idleness {
  readonly #onIdle: () => void;
  #underWay = 0;
  #timer: NodeJS.Timeout;

  constructor(onIdle: () => void) {
    this.#onIdle = onIdle;
    this.#timer = this.#wait();
  }

  begin(): void {
    this.#underWay += 1;
    clearTimeout(this.#timer);
  }

  end(): void {
    this.#underWay -= 1;
    if (this.#underWay > 0) return;
    clearTimeout(this.#timer);
    this.#timer = this.#wait();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #wait(): NodeJS.Timeout {
    return setTimeout(this.#onIdle, IDLE_MS).unref();
  }
}

export interface LiveTransport {
  /**
   * Asks all clients to come back, to another gateway or to this one once it is there again.
   * @returns a promise that settles once they have heard it
   */
  end(): Promise<unknown>;
  cut(): void;
}

const RESULT = 'event: next';

/** The results on their way to one reader: the next is made once it has taken the last. */
class Outflow {
  readonly gone = new AbortController();
  readonly idleness: Idleness;
  #results = 0;
  readonly #waiting: (() => void)[] = [];

  /** @param onIdle called when nobody has made use of it for long */
  constructor(onIdle: () => void) {
    this.idleness = new Idleness(onIdle);
  }

  readonly add = () => {
    this.#results += 1;
  };

  /** Notes that the reader has taken a message. */
  taken(message: string): void {
    if (message.startsWith(RESULT)) this.#results -= 1;
    if (this.#results === 0) this.#goOn();
  }

  readonly empty = async () => {
    while (this.#results > 0 && !this.gone.signal.aborted) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  };

  close(): void {
    this.idleness.stop();
    this.gone.abort();
    this.#goOn();
  }

  #goOn(): void {
    for (const goOn of this.#waiting.splice(0)) goOn();
  }
}

/** Called with an error that only a fault of ours can explain. */
type Problem = (error: unknown, requestId: string) => void;

const ADDRESS = '/graphql/stream';

const TOKEN_HEADER = 'x-graphql-event-stream-token';

/** Milliseconds that a reserved stream waits for its reader. */
const RESERVED_MS = 30_000;

/**
 * Most streams that are reserved and that nobody reads as yet: in all, of one key, of one visitor of an issued key, and of all keys together that the
 * service has not accepted lately, of which the oldest gives way.
 */
const MAX_RESERVED = { inAll: 1_000, ofKey: 100, ofVisitor: 25, ofUnprovenKey: 8, ofUnproven: 200 };

/** Seconds after which a client may come again for a stream. */
const RESERVE_AGAIN_SECONDS = 2;

/** Milliseconds that a reader may take for a message; then it is cut, and comes back. */
const READ_TIMEOUT_MS = 60_000;

/** A stream that was reserved for several subscriptions. */
interface SharedStream {
  /** Name of the holder that it is reserved for. */
  readonly holder: string;
  /** Whoever reserved it, of the many that an issued key may have; null under any other key. */
  readonly visitor: string | null;
  /** Set if the service had not accepted the key lately when it was reserved. */
  readonly isUnproven: boolean;
  readonly outflow: Outflow;
  /** Ends the reading; null while nobody reads. */
  end: (() => void) | null;
}

interface StreamContext {
  /** The outflow of a request that is a stream for itself; else that of the stream that it names. */
  outflow: Outflow;
  /** The stream that a request belongs to; null if it is one for itself. */
  token: string | null;
}

type StreamRequest = Request<FastifyRequest, StreamContext>;
type StreamHandler = Handler<FastifyRequest, StreamContext>;

/**
 * Serves `/graphql/stream`: server-sent events in the protocol of graphql-sse, a connection for each subscription or
 * one for several (a stream that is reserved first).
 */
export function liveStream(app: FastifyInstance, live: Live, problem: Problem) {
  /** Functions that end the streams that are read at the moment. */
  const open = new Set<() => void>();
  const streams = new SharedStreams(live, () => handler);
  const handler: StreamHandler = createHandler<FastifyRequest, StreamContext>({
    authenticate: (request) => streams.of(request),
    onSubscribe: (request, params) => begin(request, params, live),
  });

  async function answer(request: FastifyRequest, reply: FastifyReply) {
    const own = new Outflow(() => {});
    reply.raw.once('close', () => own.close());
    const context: StreamContext = { outflow: own, token: null };
    const [body, { status, headers: told = {} }] = await handler(streamRequest(request, context));
    // The library names a coding `none`, which HTTP has not: clients that unpack by that header give up.
    const { 'content-encoding': _, ...headers } = told;
    if (body === null || typeof body === 'string') {
      own.idleness.stop();
      if (status === 401) reply.header('www-authenticate', 'Bearer');
      return reply
        .code(status)
        .header('cache-control', 'no-store')
        .headers(headers)
        .send(body ?? '');
    }
    const { outflow, token } = context;
    const end = () => {
      reply.raw.end();
      void body.return();
    };
    open.add(end);
    streams.isRead(token, end);
    const onClosed = () => {
      open.delete(end);
      streams.isLeft(token);
      outflow.close();
      void body.return();
    };
    const raw = hijacked(reply.headers(headers));
    // The client may have left while the subscription began.
    if (raw.closed) return onClosed();
    raw.once('close', onClosed);
    raw.appendHeader('vary', 'Authorization');
    raw.writeHead(status);
    return pour(body, raw, outflow).catch((error: unknown) => problem(error, request.id));
  }

  app.all(ADDRESS, answer);
  return {
    /**
     * Tells if a request to `/graphql` is to be answered by a stream: one that takes events, for a subscription. Most
     * are not, and are told so at once.
     */
    isFor: (request: FastifyRequest) => isForStream(request, live),
    answer,
    async end() {
      for (const end of open) end();
    },
    // The server cuts the connections that are left, like any other request.
    cut() {},
  };
}

/** Begins a subscription: its results come as its stream can take them. */
async function begin(
  { context: { outflow }, raw }: StreamRequest,
  { query, operationName, variables }: RequestParams,
  live: Live,
): Promise<OperationResult> {
  // The library hands on no parameter that it doesn't know.
  const params = raw.method === 'GET' ? raw.query : raw.body;
  const asked = { query, operationName, variables, onError: isObject(params) ? params.onError : undefined };
  const began = await beginSubscription(
    live,
    { ...asked, requestId: raw.id, signal: outflow.gone.signal, headers: flat(raw.headers), address: raw.ip },
    outflow.idleness,
    { ready: outflow.empty, onResult: outflow.add },
  );
  return 'errors' in began ? { data: null, errors: began.errors } : began.results;
}

/** Keeps streams that were reserved for several subscriptions each, by their tokens. */
class SharedStreams {
  readonly #streams = new Map<string, SharedStream>();
  readonly #live: Live;
  readonly #handler: () => StreamHandler;

  constructor(live: Live, handler: () => StreamHandler) {
    this.#live = live;
    this.#handler = handler;
  }

  /** Returns the token of a request's stream, null for one of its own, or the refusal if there is none. */
  async of({ method, headers, raw, context }: StreamRequest): Promise<string | null | StreamResponse> {
    if (context.token !== null) return context.token;
    const { authorization } = raw.headers;
    const requestId = raw.id;
    if (authorization === undefined || !isBearer(authorization))
      return refusal(
        401,
        'UNAUTHENTICATED',
        'Subscriptions need a key: send `Authorization: Bearer <API_KEY>`.',
        { requestId },
      );
    const holder = await this.#live.holderOf(authorization).catch((error: unknown) => {
      if (error instanceof Failure) return error;
      throw error;
    });
    if (holder instanceof Failure) return refusalOf(holder, requestId);
    // Clients that come back send the token of the stream that they have lost.
    if (method === 'PUT') return this.#reserve(raw, holder);
    const token = tokenOf(raw);
    if (token === null) {
      if (headers.get('accept') === EVENT_STREAM) return null;
      return refusal(406, 'BAD_REQUEST', `Accept ${EVENT_STREAM}, or reserve a stream by PUT first.`, {
        requestId,
      });
    }
    const stream = this.#streams.get(token);
    if (stream === undefined || stream.holder !== holder.name)
      return refusal(404, 'BAD_REQUEST', 'There is no stream of this token. Reserve one by PUT.', {
        requestId,
      });
    context.outflow = stream.outflow;
    context.token = token;
    return token;
  }

  /** Notes that somebody reads a stream, if there is one of the token; `end` ends the reading. */
  isRead(token: string | null, end: () => void): void {
    const stream = this.#streams.get(token ?? '');
    if (stream !== undefined) stream.end = end;
  }

  /** Notes that the reader of a stream has left. */
  isLeft(token: string | null): void {
    this.#streams.delete(token ?? '');
  }

  #reserve(
    raw: FastifyRequest,
    { name: holder, isUnproven, isIssued }: Awaited<ReturnType<Live['holderOf']>>,
  ): string | StreamResponse {
    const reserved = [...this.#streams].filter(([, { end }]) => end === null);
    const ofHolder = reserved.filter(([, stream]) => stream.holder === holder);
    const ofKey = ofHolder.length;
    const visitor = isIssued ? visitorOf(raw.ip) : null;
    const ofVisitor = ofHolder.filter(([, stream]) => stream.visitor === visitor).length;
    if (isIssued && ofVisitor >= MAX_RESERVED.ofVisitor)
      return tooMany(`${MAX_RESERVED.ofVisitor} streams of one visitor are reserved and not read.`, raw.id);
    const most = isUnproven ? MAX_RESERVED.ofUnprovenKey : MAX_RESERVED.ofKey;
    if (ofKey >= most) return tooMany(`${most} streams are reserved under this key and not read.`, raw.id);
    const ofUnproven = reserved.filter(([, stream]) => stream.isUnproven);
    const [oldest] = ofUnproven;
    if (isUnproven && oldest !== undefined && ofUnproven.length >= MAX_RESERVED.ofUnproven)
      void this.#discard(raw, ...oldest);
    else if (reserved.length >= MAX_RESERVED.inAll)
      return tooMany(`${MAX_RESERVED.inAll} streams are reserved and not read.`, raw.id);
    const token = randomUUID();
    const forget = () => {
      const stream = this.#streams.get(token);
      if (stream === undefined) return;
      if (stream.end === null) void this.#discard(raw, token, stream);
      else stream.end();
    };
    this.#streams.set(token, { holder, visitor, isUnproven, outflow: new Outflow(forget), end: null });
    setTimeout(() => {
      if (this.#streams.get(token)?.end === null) forget();
    }, RESERVED_MS).unref();
    return token;
  }

  /** Ends a stream that nobody reads: the library forgets one when its reader leaves, so somebody comes and leaves. */
  async #discard(raw: FastifyRequest, token: string, { outflow }: SharedStream): Promise<void> {
    this.#streams.delete(token);
    const headers = { get: (name: string) => (name === 'accept' ? EVENT_STREAM : null) };
    const context = { outflow, token };
    const [body] = await this.#handler()({ method: 'GET', url: ADDRESS, headers, body: null, raw, context });
    outflow.close();
    if (body !== null && typeof body !== 'string') await body.return();
  }
}

/** Sends messages one by one, each once the reader has taken the one before. */
async function pour(messages: AsyncIterable<string>, to: ServerResponse, outflow: Outflow): Promise<void> {
  for await (const message of messages) {
    // `writable` stays true once it has ended.
    if (to.writableEnded || to.destroyed) break;
    const cut = setTimeout(() => to.destroy(), READ_TIMEOUT_MS);
    await new Promise<void>((resolve) => {
      to.once('close', resolve);
      to.write(message, () => {
        to.off('close', resolve);
        resolve();
      });
    });
    clearTimeout(cut);
    outflow.taken(message);
  }
  to.end();
}

function isForStream({ method, headers, query, body }: FastifyRequest, { subscriptions }: Live) {
  if (!headers.accept?.includes(EVENT_STREAM)) return false;
  const params = method === 'POST' ? body : query;
  return isObject(params) && subscriptions.isSubscription(params.query, params.operationName);
}

function streamRequest(raw: FastifyRequest, context: StreamContext): StreamRequest {
  return {
    method: raw.method,
    url: raw.url,
    headers: {
      get(name) {
        const value = raw.headers[name];
        const text = Array.isArray(value) ? value.join(', ') : value;
        // The library takes it for nothing else beside other types.
        return name === 'accept' && text?.includes(EVENT_STREAM) ? EVENT_STREAM : text;
      },
    },
    body: isObject(raw.body) ? raw.body : null,
    raw,
    context,
  };
}

const EVENT_STREAM = 'text/event-stream';

function tokenOf({ headers, query }: FastifyRequest): string | null {
  const header = headers[TOKEN_HEADER];
  const given =
    header ?? (typeof query === 'object' && query !== null && 'token' in query ? query.token : undefined);
  return typeof given === 'string' && given !== '' ? given : null;
}

function refusal(
  status: number,
  code: FailureCode | 'BAD_REQUEST',
  message: string,
  fields: { readonly requestId: string; readonly retryAfterSeconds?: number | undefined },
): StreamResponse {
  const { retryAfterSeconds } = fields;
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
  };
  return [errorBody(code, message, fields), { status, statusText: '', headers }];
}

function refusalOf({ code, message, fields }: Failure, requestId: string): StreamResponse {
  const { retryAfterSeconds } = fields;
  return refusal(code === 'UNAUTHENTICATED' ? 401 : 503, code, message, { retryAfterSeconds, requestId });
}

function tooMany(words: string, requestId: string): StreamResponse {
  const message = `${words} Read those first, or come again later.`;
  return refusal(503, 'OVERLOADED', message, { retryAfterSeconds: RESERVE_AGAIN_SECONDS, requestId });
}

/** Milliseconds between two pings to a client, and those that it may take to answer. */
const PING_MS = 12_000;
const PONG_MS = 30_000;

/** Characters of the name of a subscription in the log. */
const MAX_REQUEST_ID = 128;

/** Bytes of the reason of closing (RFC 6455). */
const MAX_REASON_BYTES = 123;

/** Codes of closing, as RFC 6455 and its registry have them; the last one is that of `graphql-transport-ws`. */
const CLOSING = {
  goingAway: 1001,
  serviceRestart: 1012,
  fault: 4500,
  badRequest: 4400,
  unauthorized: 4401,
} as const;

const NO_KEY =
  'UNAUTHENTICATED: send Bearer <API_KEY> as Authorization, or as authorization in connection_init';

interface SocketConnection extends Record<PropertyKey, unknown> {
  readonly request: IncomingMessage;
  readonly socket: WebSocket;
  readonly requestId: string;
  readonly gone: AbortController;
  readonly idleness: Idleness;
  readonly address: string;
  /** The key that its client gives; null until it has. */
  authorization: string | null;
}

/**
 * Serves `/graphql` over WebSocket, in the protocol `graphql-transport-ws`.
 * @param config `maxBodyBytes` bounds the messages that are read, `maxAnswerBytes` those that may wait for one reader
 */
export function liveSockets(
  server: HttpServer,
  live: Live,
  config: Config,
  course: { readonly isDraining: boolean },
  problem: Problem,
): LiveTransport {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: config.maxBodyBytes,
    // One message of a connection in each iteration of the event loop: anybody may send thousands at once.
    allowSynchronousEvents: false,
    handleProtocols: (protocols) => handleProtocols(protocols),
  });
  // By the rule of Fastify, which tells the address of each other client.
  const isTrusted = trusting(config.trustedProxies);
  const protocol = makeServer<Record<string, unknown>, SocketConnection>(hooksOf(live));

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const status = refusalStatus(request, course.isDraining);
    if (status !== null) return refuse(socket, status);
    sockets.handleUpgrade(request, socket, head, (upgraded) => serve(upgraded, request));
  });

  function serve(socket: WebSocket, request: IncomingMessage): void {
    const requestId = requestIdOf(request);
    const connection: SocketConnection = {
      request,
      socket,
      requestId,
      address: proxyAddr(request, isTrusted) ?? '',
      gone: new AbortController(),
      idleness: new Idleness(() => socket.close(CLOSING.goingAway, 'There is no subscription')),
      authorization: null,
    };
    const stopPinging = keepAlive(socket);
    const onClosed = protocol.opened(
      {
        protocol: socket.protocol,
        send: (text) => send(socket, text, config.maxAnswerBytes),
        close: (code, reason) => socket.close(code, fitting(reason)),
        onMessage: (take) =>
          socket.on('message', (message) => {
            const text = String(message);
            // To parse a megabyte of brackets takes a third of a second. What nests less deep is refused in words.
            if (isDeepJson(text, 2 * MAX_NESTING)) return socket.close(CLOSING.badRequest, TOO_DEEP);
            take(text).catch((error: unknown) => {
              problem(error, requestId);
              socket.close(CLOSING.fault, 'Internal server error');
            });
          }),
      },
      connection,
    );
    // A faulty frame closes the connection by itself; it is the client's fault.
    socket.on('error', () => {});
    socket.once('close', (code, reason) => {
      stopPinging();
      connection.idleness.stop();
      connection.gone.abort();
      onClosed(code, String(reason)).catch((error: unknown) => problem(error, requestId));
    });
  }

  return {
    end: () =>
      Promise.all(
        Array.from(sockets.clients, (socket) => {
          socket.close(CLOSING.serviceRestart, 'Service restart');
          return new Promise((resolve) => socket.once('close', resolve));
        }),
      ),
    cut() {
      for (const socket of sockets.clients) socket.terminate();
    },
  };
}

/** Cuts a reason, which may repeat a name of the client's, to the bytes that a frame of closing has room for. */
function fitting(reason = ''): string {
  return reason.slice(0, new TextEncoder().encodeInto(reason, new Uint8Array(MAX_REASON_BYTES)).read);
}

/** Settles once the text has left, so that the maker of the next one waits for a slow reader. */
function send(socket: WebSocket, text: string, maxWaitingBytes: number): Promise<void> {
  // Only a client that asks and asks without reading comes to this: events are made one by one.
  if (socket.bufferedAmount > maxWaitingBytes) socket.terminate();
  if (socket.readyState !== socket.OPEN) return Promise.resolve();
  return new Promise((resolve, reject) => {
    socket.send(text, (error) => (error ? reject(error) : resolve()));
  });
}

/** Pings the client now and then, and cuts it if it is silent. */
function keepAlive(socket: WebSocket): () => void {
  let heardAtMs = performance.now();
  const hear = () => {
    heardAtMs = performance.now();
  };
  socket.on('pong', hear).on('message', hear);
  const timer = setInterval(() => {
    if (performance.now() - heardAtMs > PING_MS + PONG_MS) socket.terminate();
    else if (socket.readyState === socket.OPEN) socket.ping();
  }, PING_MS);
  return () => clearInterval(timer);
}

function hooksOf(live: Live): ServerOptions<Record<string, unknown>, SocketConnection> {
  return {
    onConnect({ connectionParams = {}, extra }) {
      const { authorization, Authorization } = connectionParams;
      const bearer = extra.request.headers.authorization ?? authorization ?? Authorization;
      if (typeof bearer === 'string' && isBearer(bearer) && isWellFormed(bearer)) {
        extra.authorization = bearer;
        return true;
      }
      extra.socket.close(CLOSING.unauthorized, NO_KEY);
      return false;
    },
    async onSubscribe({ extra }, id, payload) {
      const { query, operationName, variables, onError }: typeof payload & { onError?: unknown } = payload;
      const { authorization, idleness, gone, requestId: socketId } = extra;
      const requestId = `${socketId}/${id}`.slice(0, MAX_REQUEST_ID);
      const asked = { query, operationName, variables, onError };
      const headers = {
        ...flat(extra.request.headers),
        ...(authorization === null ? {} : { authorization }),
      };
      const request = { ...asked, requestId, signal: gone.signal, headers, address: extra.address };
      const began = await beginSubscription(live, request, idleness);
      if ('errors' in began) return began.errors;
      return { ...began.args, results: began.results };
    },
    // The arguments are those that were made above.
    subscribe: (args) => (args as ExecutionArgs & { readonly results: LiveResults }).results,
  };
}

/** Returns the status that refuses a connection; null if it is made. */
function refusalStatus(request: IncomingMessage, isDraining: boolean): number | null {
  // Not `new URL`: what throws here ends the program, and anybody may send what is no address.
  if (URL.parse(request.url ?? '', 'http://gateway')?.pathname !== '/graphql') return 404;
  return isDraining ? 503 : (headFault(request)?.status ?? null);
}

function refuse(socket: Duplex, status: number): void {
  socket.on('error', () => {});
  const challenge = status === 401 ? 'WWW-Authenticate: Bearer\r\n' : '';
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${challenge}Connection: close\r\nContent-Length: 0\r\n\r\n`,
  );
}
