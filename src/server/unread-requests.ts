import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ALLOWED_METHODS, METHODS } from '../graphql/request/requests.ts';
import { errorBody } from '../shared/errors.ts';
import { marksOf, requestIdOf } from './http.ts';

const METHOD_IN_OTHER_CASE = new RegExp(`^(?:${[...METHODS.keys()].join('|')}) `, 'i');

/** Writes an answer to a connection that no hook of the server sees, and that takes no other request. */
export function writeRefusal(
  socket: Duplex,
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): void {
  const all = {
    ...headers,
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
    ...(body === '' ? {} : { 'Content-Type': 'application/json; charset=utf-8' }),
    'Content-Length': Buffer.byteLength(body),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

type Unread = Error & { readonly code?: string; readonly rawPacket?: unknown };

/** Answers a request that can't be read as HTTP, and closes its connection. */
export function refuseUnread(error: Unread, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (socket.writable) refuse(error, socket);
  socket.destroy(error);
}

/** Refuses requests that expect anything but leave to go on, which no hook sees. */
export function refuseExpectations(server: Server): void {
  // By the response, not the socket: there may be answers to earlier requests before it.
  server.on('checkExpectation', (request, response) => {
    response
      .writeHead(417, {
        ...marksOf(requestIdOf(request)),
        'Content-Type': 'application/json; charset=utf-8',
        Connection: 'close',
      })
      .end(wordsOf(417, 'Of expectations, only 100-continue is met here.'));
  });
}

function refuse({ code, rawPacket }: Unread, socket: Duplex): void {
  const method = code === 'HPE_INVALID_METHOD' ? methodInOtherCase(rawPacket) : null;
  if (method !== null) {
    const message = `Methods are in upper case: send ${method.toUpperCase()} in place of ${method}.`;
    writeRefusal(socket, 405, { Allow: ALLOWED_METHODS }, errorBody('BAD_REQUEST', message, {}));
  } else if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    writeRefusal(socket, 408, {}, wordsOf(408, 'The request took too long to arrive.'));
  } else if (code === 'HPE_HEADER_OVERFLOW') {
    writeRefusal(socket, 431, {}, wordsOf(431, 'The headers of the request are too long.'));
  } else {
    writeRefusal(socket, 400, {}, wordsOf(400, 'The request is not HTTP.'));
  }
}

/** `fetch` puts only the oldest methods into upper case, so clients send `query`. */
function methodInOtherCase(packet: unknown): string | null {
  const start = Buffer.isBuffer(packet) ? packet.toString('latin1', 0, 8) : '';
  return METHOD_IN_OTHER_CASE.exec(start)?.[0].trim() ?? null;
}

export function wordsOf(status: number, message: string): string {
  return JSON.stringify({ error: STATUS_CODES[status], message });
}
