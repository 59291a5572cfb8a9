import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { entityTag, isHeld } from '../operations/messages.ts';

const AUTHORIZATION = 'authorization';
/** Characters that no key reaches. */
const MAX_KEY_LENGTH = 4_096;
const MALFORMED_KEY = `A key has up to ${MAX_KEY_LENGTH} printable ASCII characters and no blanks.`;

/** Returns headers with one value each. */
export function flat(headers: IncomingMessage['headers']): Record<string, string> {
  const one: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) one[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return one;
}

/**
 * Returns the fault of a request's key, and its status; null if it may be a key, or there is none. Node keeps the first of
 * several, and others on the way of a request may take the last.
 */
export function keyFault({ rawHeaders, headers: { authorization } }: IncomingMessage) {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) count += 1;
  }
  if (count > 1)
    return {
      status: 400,
      code: 'BAD_REQUEST',
      message: 'The request has several Authorization headers.',
    } as const;
  if (isWellFormed(authorization)) return null;
  return { status: 401, code: 'UNAUTHENTICATED', message: MALFORMED_KEY } as const;
}

/** Tells if a header may be a key at all. If there is no key in it, the fields that need one say so. */
export function isWellFormed(authorization: string | undefined): boolean {
  if (authorization === undefined) return true;
  if (authorization.length > MAX_KEY_LENGTH || !/^[ -~]*$/.test(authorization)) return false;
  return !/^bearer +\S+ /i.test(authorization);
}

/** Tells if there is a key in a header. */
export function isBearer(authorization: string): boolean {
  return /^bearer +\S/i.test(authorization);
}

/** The form of identifiers that clients and proxies write: nothing that a log or JSON would have to escape. */
const WELL_FORMED = /^[\w.:=+/@-]{1,128}$/;

/**
 * Returns the identifier of a request, if it is well-formed; else a new one.
 * @param given tried before the one that the request comes with
 */
export function requestIdOf(
  { headers }: { readonly headers: IncomingMessage['headers'] },
  given?: string,
): string {
  for (const id of [given, headers['x-request-id']])
    if (typeof id === 'string' && WELL_FORMED.test(id)) return id;
  return randomUUID();
}

/**
 * Takes a reply out of the server's hands, and copies its headers to the raw response, which sends them with the first
 * of its parts.
 */
export function hijacked(reply: FastifyReply): FastifyReply['raw'] {
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  return reply.raw;
}

/** Sends a text that never changes, with a tag: a client that has it already gets the tag alone. */
export function taggedText(read: () => string): (request: FastifyRequest, reply: FastifyReply) => string {
  let text: string | undefined;
  let etag = '';
  return ({ headers }, reply) => {
    if (text === undefined) {
      text = read();
      etag = entityTag([text]);
    }
    reply.header('etag', etag).header('cache-control', 'no-cache');
    if (!isHeld(headers['if-none-match'], etag)) return text;
    reply.code(304);
    return '';
  };
}
