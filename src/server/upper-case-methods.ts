import type { Duplex } from 'node:stream';
import { ALLOWED_METHODS, METHODS } from '../graphql/request/requests.ts';
import { errorBody } from '../shared/errors.ts';

const METHOD_IN_OTHER_CASE = new RegExp(`^(?:${[...METHODS.keys()].join('|')}) `, 'i');

/**
 * Tells a client that sent the method `query` why its request can't be read: `fetch` puts only the oldest methods into
 * upper case. Fastify closes the connection then.
 */
export function answerMethodInOtherCase(
  { code, rawPacket }: Error & { code?: string; rawPacket?: Buffer },
  socket: Duplex,
): void {
  const [method = ''] = METHOD_IN_OTHER_CASE.exec(rawPacket?.toString('latin1', 0, 8) ?? '') ?? [];
  if (code !== 'HPE_INVALID_METHOD' || method === '' || !socket.writable) return;
  const message = `Methods are in upper case: send ${method.toUpperCase()}in place of ${method.trim()}.`;
  const body = errorBody('BAD_REQUEST', message, {});
  socket.end(
    `HTTP/1.1 405 Method Not Allowed\r\nAllow: ${ALLOWED_METHODS}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
