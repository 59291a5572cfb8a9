import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Outgoing } from './outgoing.ts';

const AUTHORIZATION = 'authorization';
/** Characters that no key reaches. */
const MAX_KEY_LENGTH = 4_096;
export const SEVERAL_KEYS = 'The request has several Authorization headers.';
export const MALFORMED_KEY = `A key has up to ${MAX_KEY_LENGTH} printable ASCII characters and no blanks.`;

/**
 * Tells if a request has several keys. Node keeps the first of them, and others on the way of a request may take the
 * last.
 */
export function hasSeveralKeys({ rawHeaders }: IncomingMessage): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) count += 1;
  }
  return count > 1;
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

/** Returns the identifier that a request comes with, if it is well-formed; else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return isRequestId(given) ? given : randomUUID();
}

export function isRequestId(given: unknown): given is string {
  return typeof given === 'string' && WELL_FORMED.test(given);
}

/**
 * Copies the headers of a reply to the raw response, which sends them once the reply is taken out of the server's hands
 * (`hijack`).
 */
export function copyHeaders(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
}

export interface PartStreamParts {
  readonly outgoing: Outgoing;
  /** True if clients are asked to close their connections. */
  readonly isClosing: () => boolean;
  /** Called with an error that only a fault of ours can explain. */
  readonly problem: (error: unknown, requestId: string) => void;
}

const inParts = new WeakSet<object>();

/** Tells if an answer comes in parts: until it has ended, its operation may be under way. */
export function isInParts(raw: FastifyReply['raw']): boolean {
  return inParts.has(raw);
}

/**
 * Sends an answer that comes in parts, each as soon as it is there, with the status and the headers of the reply. Bytes
 * that a slow reader has not taken count with all other answers that wait, and are cut with them.
 */
export function sendParts(
  { id, raw: { socket } }: FastifyRequest,
  reply: FastifyReply,
  body: AsyncIterable<string>,
  { outgoing, isClosing, problem }: PartStreamParts,
): void {
  const { raw } = reply;
  if (isClosing()) reply.header('connection', 'close');
  reply.hijack();
  inParts.add(raw);
  copyHeaders(reply);
  raw.writeHead(reply.statusCode);
  const pour = async () => {
    for await (const part of body) {
      if (raw.destroyed) return;
      const { bytes, taken } = outgoing.addPart(socket, Buffer.from(part));
      raw.write(bytes, taken);
    }
    raw.end();
  };
  pour().catch((error: unknown) => {
    problem(error, id);
    raw.destroy();
  });
}
