import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type ExecutionArgs,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  parse,
} from 'graphql';
import { handleProtocols, makeServer, type ServerOptions } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { isDeepJson, type RouteHost } from '../../plugin/index.ts';
import { beginSubscription, Idleness, type Live, type Results } from './connection.ts';

/** Milliseconds that clients have to leave once they are asked to. */
const LEAVING_MS = 1_500;

/** Milliseconds between two pings, and those that an answer may take. */
const PING_MS = 12_000;
const PONG_MS = 30_000;

/** Characters: it stands in the log, and includes an id of the client's choice. */
const MAX_REQUEST_ID = 128;

/** Bytes that a close frame has room for (RFC 6455). */
const MAX_REASON_BYTES = 123;

/** Levels of a request, as the gateway takes it. */
const MAX_NESTING = 500;

/** Close codes of RFC 6455's registry and of `graphql-transport-ws`. */
const CLOSING = {
  goingAway: 1001,
  serviceRestart: 1012,
  error: 4500,
  badRequest: 4400,
  unauthorized: 4401,
} as const;

const TOO_DEEP = `The request is nested more than ${MAX_NESTING} levels deep.`;

const NO_KEY =
  'UNAUTHENTICATED: send Bearer <API_KEY> as Authorization, or as authorization in connection_init';

interface SocketConnection extends Record<PropertyKey, unknown> {
  readonly request: IncomingMessage;
  readonly socket: WebSocket;
  readonly requestId: string;
  readonly gone: AbortController;
  readonly idleness: Idleness;
  readonly address: string;
  /** Null until the client has sent `connection_init`. */
  authorization: string | null;
}

/** Serves `graphql-transport-ws`. `MAX_BODY_BYTES` bounds a message, `MAX_ANSWER_BYTES` what may wait for one reader. */
export function webSockets(live: Live, host: RouteHost) {
  const { problem, upgrades } = host;
  const { bodyBytes, answerBytes } = live.limits;
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: bodyBytes,
    // One message per turn of the event loop: anybody may send thousands at once.
    allowSynchronousEvents: false,
    handleProtocols: (protocols) => handleProtocols(protocols),
  });
  sockets.on('wsClientError', ({ message }, socket) =>
    upgrades.refuse(socket, 400, { 'Sec-WebSocket-Version': '13, 8' }, message),
  );
  const protocol = makeServer<Record<string, unknown>, SocketConnection>(hooksOf(live, host));

  let isOver = false;

  function serve(socket: WebSocket, request: IncomingMessage): void {
    const { requestId, address } = upgrades.marksOf(request);
    const connection: SocketConnection = {
      request,
      socket,
      requestId,
      address,
      gone: new AbortController(),
      idleness: new Idleness(() => socket.close(CLOSING.goingAway, 'There is no subscription')),
      authorization: null,
    };
    const stopPinging = keepAlive(socket);
    const onClosed = protocol.opened(
      {
        protocol: socket.protocol,
        send: (text) => send(socket, text, answerBytes),
        close: (code, reason) => socket.close(code, fitting(reason)),
        onMessage: (take) =>
          socket.on('message', (message) => {
            const text = String(message);
            // Parsing a megabyte of brackets takes a third of a second. Shallower nesting gets a proper error later.
            if (isDeepJson(text, 2 * MAX_NESTING)) return socket.close(CLOSING.badRequest, TOO_DEEP);
            take(text).catch((error: unknown) => {
              problem(error, requestId);
              socket.close(CLOSING.error, 'Internal server error');
            });
          }),
      },
      connection,
    );
    // A malformed frame is the client's error and closes the connection by itself.
    socket.on('error', () => {});
    socket.once('close', (code, reason) => {
      stopPinging();
      connection.idleness.stop();
      connection.gone.abort();
      onClosed(code, String(reason)).catch((error: unknown) => problem(error, requestId));
    });
  }

  return {
    take(request: IncomingMessage, socket: Duplex, head: Buffer): void {
      const status = refusalStatus(request, isOver, host);
      if (status === null) {
        sockets.handleUpgrade(request, socket, head, (upgraded) => serve(upgraded, request));
        return;
      }
      socket.on('error', () => {});
      upgrades.refuse(socket, status, status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {});
    },
    /** Asks all clients to reconnect, and cuts off those that stay. */
    async end() {
      isOver = true;
      const left = Array.from(sockets.clients, (socket) => {
        socket.close(CLOSING.serviceRestart, 'Service restart');
        return new Promise((resolve) => socket.once('close', resolve));
      });
      await Promise.race([Promise.all(left), pause(LEAVING_MS, undefined, { ref: false })]);
      for (const socket of sockets.clients) socket.terminate();
    },
  };
}

/** Cuts a reason, which may repeat a client's text, to what a close frame has room for. */
function fitting(reason = ''): string {
  return reason.slice(0, new TextEncoder().encodeInto(reason, new Uint8Array(MAX_REASON_BYTES)).read);
}

/** Settles once the text has left, so that the next one waits for a slow reader. */
function send(socket: WebSocket, text: string, maxWaitingBytes: number): Promise<void> {
  // Events are made one by one: only a client that keeps asking without reading gets here.
  if (socket.bufferedAmount > maxWaitingBytes) socket.terminate();
  if (socket.readyState !== socket.OPEN) return Promise.resolve();
  return new Promise((resolve, reject) => {
    socket.send(text, (error) => (error ? reject(error) : resolve()));
  });
}

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

function hooksOf(
  live: Live,
  { headersOf, isKey }: RouteHost,
): ServerOptions<Record<string, unknown>, SocketConnection> {
  return {
    onConnect({ connectionParams = {}, extra }) {
      const { authorization, Authorization } = connectionParams;
      const bearer = extra.request.headers.authorization ?? authorization ?? Authorization;
      if (typeof bearer === 'string' && isKey(bearer)) {
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
        ...headersOf(extra.request.headers),
        ...(authorization === null ? {} : { authorization }),
      };
      const request = { ...asked, requestId, signal: gone.signal, headers, address: extra.address };
      const began = await beginSubscription(live, request, idleness);
      if ('errors' in began) return began.errors.map((error) => new ShownError(error));
      return { ...OF_ANY, results: began.results } as unknown as ExecutionArgs;
    },
    // These are the arguments that `onSubscribe` has returned.
    subscribe: (args) => (args as ExecutionArgs & { readonly results: Results }).results,
    // Otherwise the library would have errors be objects of its class.
    onNext: (_context, _id, _payload, _args, result) => result as FormattedExecutionResult,
  };
}

/** By these the library sees that it is a subscription. */
const OF_ANY = { document: parse('subscription { any }') };

/** The library takes errors of this class alone. */
class ShownError extends GraphQLError {
  readonly #shown: GraphQLFormattedError;

  constructor(shown: GraphQLFormattedError) {
    super(shown.message);
    this.#shown = shown;
  }

  override toJSON(): GraphQLFormattedError {
    return this.#shown;
  }
}

/** Null if the connection is accepted. */
function refusalStatus(raw: IncomingMessage, isOver: boolean, { unread }: RouteHost): number | null {
  // Not `new URL`: anybody may send a malformed address, and an exception here ends the program.
  if (URL.parse(raw.url ?? '', 'http://gateway')?.pathname !== '/graphql') return 404;
  return isOver || unread.ending() !== null ? 503 : (unread.malformed({ raw })?.status ?? null);
}
