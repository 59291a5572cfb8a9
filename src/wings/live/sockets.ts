import { type Server as HttpServer, type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import proxyAddr from '@fastify/proxy-addr';
import type { ExecutionArgs } from 'graphql';
import { handleProtocols, makeServer, type ServerOptions } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Config } from '../../config.ts';
import type { Live } from '../../gateway.ts';
import { flat, headFault, isBearer, isWellFormed, requestIdOf } from '../../server/http.ts';
import { beginSubscription, Idleness, type LiveTransport } from './stream.ts';
import type { LiveResults } from './subscriptions.ts';

/** Milliseconds between two pings to a client, and those that it may take to answer. */
const PING_MS = 12_000;
const PONG_MS = 30_000;

/** Milliseconds that a connection may be without a subscription: as long as one of HTTP without a request. */
const IDLE_MS = 72_000;

/** Characters of the name of a subscription in the log. */
const MAX_REQUEST_ID = 128;

/** Codes of closing, as RFC 6455 and its registry have them; the last one is that of `graphql-transport-ws`. */
const CLOSING = { goingAway: 1001, serviceRestart: 1012, fault: 4500, unauthorized: 4401 } as const;

const NO_KEY =
  'UNAUTHENTICATED: send Bearer <API_KEY> as Authorization, or as authorization in connection_init';

/** One connection, as hooks of the library know it. */
interface SocketConnection extends Record<PropertyKey, unknown> {
  readonly request: IncomingMessage;
  readonly socket: WebSocket;
  readonly requestId: string;
  readonly gone: AbortController;
  readonly idleness: Idleness;
  /** Address of the client, as far as it is known. */
  readonly address: string;
  /** The key that its client gives; null until it has. */
  authorization: string | null;
}

/**
 * Serves `/graphql` over WebSocket, in the protocol `graphql-transport-ws`.
 * @param config `maxBodyBytes` bounds the messages that are read, `maxAnswerBytes` those that may wait for one reader
 * @param problem called with an error that only a fault of ours can explain
 */
export function liveSockets(
  server: HttpServer,
  live: Live,
  config: Config,
  course: { readonly isDraining: boolean },
  problem: (error: unknown, requestId: string) => void,
): LiveTransport {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: config.maxBodyBytes,
    handleProtocols: (protocols) => handleProtocols(protocols),
  });
  // By the rule of Fastify, which tells the address of each other client.
  const isTrusted = proxyAddr.compile([...config.trustedProxies]);
  const protocol = makeServer<Record<string, unknown>, SocketConnection>(hooksOf(live));

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const status = refusalOf(request, course.isDraining);
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
      idleness: new Idleness(IDLE_MS, () => socket.close(CLOSING.goingAway, 'There is no subscription')),
      authorization: null,
    };
    const stopPinging = keepAlive(socket);
    const onClosed = protocol.opened(
      {
        protocol: socket.protocol,
        send: (text) => send(socket, text, config.maxAnswerBytes),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (take) =>
          socket.on('message', (message) => {
            take(String(message)).catch((error: unknown) => {
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
      const given = extra.request.headers.authorization ?? authorization ?? Authorization;
      if (typeof given === 'string' && isBearer(given) && isWellFormed(given)) {
        extra.authorization = given;
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
function refusalOf(request: IncomingMessage, isDraining: boolean): number | null {
  const { pathname } = new URL(request.url ?? '', 'http://gateway');
  if (pathname !== '/graphql') return 404;
  return isDraining ? 503 : (headFault(request)?.status ?? null);
}

function refuse(socket: Duplex, status: number): void {
  socket.on('error', () => {});
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
