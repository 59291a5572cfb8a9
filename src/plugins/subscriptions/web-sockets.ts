import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import proxyAddr from '@fastify/proxy-addr';
import type { ExecutionArgs } from 'graphql';
import { handleProtocols, makeServer, type ServerOptions } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { HttpHost } from '../../gateway/plugin.ts';
import type { Upgrade } from '../../plugin/definition.ts';
import { isDeepJson } from '../../plugin/index.ts';
import { flat, headError, isBearer, isWellFormed, requestIdOf, trusting } from '../../server/http.ts';
import { wordsOf, writeRefusal } from '../../server/unread-requests.ts';
import { within } from '../../shared/async/within.ts';
import { MAX_NESTING, TOO_DEEP } from '../../shared/exact-json.ts';
import { beginSubscription, Idleness, type Live } from './connection.ts';
import type { LiveResults } from './event-results.ts';

/** Milliseconds that clients have to leave once they are asked to. */
const LEAVING_MS = 1_500;

/** Milliseconds between two pings, and those that an answer may take. */
const PING_MS = 12_000;
const PONG_MS = 30_000;

/** Characters: it stands in the log, and includes an id of the client's choice. */
const MAX_REQUEST_ID = 128;

/** Bytes that a close frame has room for (RFC 6455). */
const MAX_REASON_BYTES = 123;

/** Close codes of RFC 6455's registry and of `graphql-transport-ws`. */
const CLOSING = {
  goingAway: 1001,
  serviceRestart: 1012,
  error: 4500,
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
  /** Null until the client has sent `connection_init`. */
  authorization: string | null;
}

/** Serves `graphql-transport-ws`. `MAX_BODY_BYTES` bounds a message, `MAX_ANSWER_BYTES` what may wait for one reader. */
export function webSockets(live: Live, { config, course, problem }: HttpHost) {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: config.maxBodyBytes,
    // One message per turn of the event loop: anybody may send thousands at once.
    allowSynchronousEvents: false,
    handleProtocols: (protocols) => handleProtocols(protocols),
  });
  sockets.on('wsClientError', ({ message }, socket) =>
    writeRefusal(socket, 400, { 'Sec-WebSocket-Version': '13, 8' }, wordsOf(400, message)),
  );
  // By the same rule as Fastify's `request.ip`.
  const isTrusted = trusting(config.trustedProxies);
  const protocol = makeServer<Record<string, unknown>, SocketConnection>(hooksOf(live));

  let isOver = false;

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

  const take: Upgrade = (request, socket, head) => {
    const status = refusalStatus(request, isOver || course.isDraining);
    if (status !== null) return refuse(socket, status);
    sockets.handleUpgrade(request, socket, head, (upgraded) => serve(upgraded, request));
  };

  return {
    take,
    /** Asks all clients to reconnect, and cuts off those that stay. */
    async end() {
      isOver = true;
      const left = Array.from(sockets.clients, (socket) => {
        socket.close(CLOSING.serviceRestart, 'Service restart');
        return new Promise((resolve) => socket.once('close', resolve));
      });
      await within(LEAVING_MS, Promise.all(left));
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
    // These are the arguments that `onSubscribe` has returned.
    subscribe: (args) => (args as ExecutionArgs & { readonly results: LiveResults }).results,
  };
}

/** Null if the connection is accepted. */
function refusalStatus(request: IncomingMessage, isDraining: boolean): number | null {
  // Not `new URL`: anybody may send a malformed address, and an exception here ends the program.
  if (URL.parse(request.url ?? '', 'http://gateway')?.pathname !== '/graphql') return 404;
  return isDraining ? 503 : (headError(request)?.status ?? null);
}

function refuse(socket: Duplex, status: number): void {
  socket.on('error', () => {});
  writeRefusal(socket, status, status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {});
}
