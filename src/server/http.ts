import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { entityTag, hasCopy } from '../graphql/request/entity-tags.ts';
import { withoutPort } from '../keys/visitor.ts';
import { Failure } from '../shared/errors.ts';

/** The means by which answers are sent. */
export interface AnswerSending {
  readonly outgoing: Outgoing;
  /** True once clients are asked to close their connections, and once no new operations are taken. */
  readonly course: { readonly isClosing: boolean; readonly isDraining: boolean };
  /** Called with an error that only a defect of ours can explain. */
  readonly problem: (error: unknown, requestId: string) => void;
}

/** The refusal of new operations during a drain: another gateway may take them at once, this one after a restart. */
export const SHUTTING_DOWN = new Failure('OVERLOADED', 'The gateway is shutting down.', {
  retryAfterSeconds: 1,
});

const AUTHORIZATION = 'authorization';
/** Characters that no key reaches. */
const MAX_KEY_LENGTH = 4_096;
const MALFORMED_KEY = `A key has up to ${MAX_KEY_LENGTH} printable ASCII characters and no blanks.`;

/** No route has a schema of Fastify's, so readers and writers by one are not loaded: the bundle has none. */
export const NO_COMPILERS = { buildValidator: withoutSchemas, buildSerializer: withoutSchemas };

function withoutSchemas(): never {
  throw new Error('No route has a schema.');
}

/** Makes the test of an address for that of a trusted proxy: some proxies write ports behind addresses. */
export function trusting(proxies: readonly string[]): (address: string, hop: number) => boolean {
  const isTrusted = proxyAddr.compile([...proxies]);
  return (address, hop) => isTrusted(withoutPort(address), hop);
}

/** Returns headers with one value each. */
export function flat(headers: IncomingMessage['headers']): Record<string, string> {
  const one: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) one[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return one;
}

/** Characters of an `Accept` header that is read: to weigh the types that 16 KB have room for would take 10 ms. */
const MAX_ACCEPT = 1_000;

/** Parameters of an address that are read, which several stages do: 16 KB have room for 7,500, which would take 30 ms. */
const MAX_PARAMETERS = 100;

/**
 * Returns the error of a request's key, of its `Accept` header, or of its address; null if there is none. Node keeps the
 * first of several keys, others the last.
 */
export function headError({
  rawHeaders,
  url = '',
  headers: { authorization, accept = '' },
}: IncomingMessage) {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) count += 1;
  }
  if (count > 1) return badRequest('The request has several Authorization headers.');
  if (!isWellFormed(authorization))
    return { status: 401, code: 'UNAUTHENTICATED', message: MALFORMED_KEY } as const;
  if (accept.length > MAX_ACCEPT)
    return badRequest(`The Accept header has ${accept.length} characters; this gateway reads ${MAX_ACCEPT}.`);
  let otherCount = 0;
  for (let at = url.indexOf('&'); at >= 0; at = url.indexOf('&', at + 1)) otherCount += 1;
  if (otherCount < MAX_PARAMETERS) return null;
  return badRequest(
    `The address has more than ${MAX_PARAMETERS} parameters, which is as many as this gateway reads.`,
  );
}

const badRequest = (message: string) => ({ status: 400, code: 'BAD_REQUEST', message }) as const;

/** True if a header may be a key at all. If there is no key in it, the fields that need one say so. */
export function isWellFormed(authorization: string | undefined): boolean {
  if (authorization === undefined) return true;
  if (authorization.length > MAX_KEY_LENGTH || !/^[ -~]*$/.test(authorization)) return false;
  return !/^bearer +\S+ /i.test(authorization);
}

/** True if there is a key in a header. */
export function isBearer(authorization: string): boolean {
  return /^bearer +\S/i.test(authorization);
}

/** The form of identifiers that clients and proxies write: nothing that a log or JSON would have to escape. */
const WELL_FORMED = /^[\w.:=+/@-]{1,128}$/;

/**
 * Returns the identifier of a request, if it is well-formed; otherwise a new one.
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

/** Codes of errors of a connection that its client has left, as sockets and streams name them. */
const OF_LEAVING: ReadonlySet<unknown> = new Set([
  ...['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT'],
  ...['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED'],
]);

/** Makes a reporter of errors that reports no client that has left: connections break, which is no error. */
export function unlessLeft(report: (error: unknown, requestId: string) => void): typeof report {
  return (error, requestId) => {
    if (!OF_LEAVING.has((error as Partial<NodeJS.ErrnoException> | null)?.code)) report(error, requestId);
  };
}

/** Takes a reply out of the server's hands. The raw response sends its headers with the first part. */
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
    if (!hasCopy(headers['if-none-match'], etag)) return text;
    reply.code(304);
    return '';
  };
}

/** Answers that are written, but not yet taken by their clients. */
export type Outgoing = ReturnType<typeof createOutgoing>;

/** Bytes below which an answer is gone at once, and a connection can't have enough of them wait to matter. */
const SHORT_BYTES = 4_096;

/** Milliseconds that a client may take for an answer, and on top as long as a slow line needs for its bytes. */
const PATIENCE_MS = 30_000;

const MIN_BYTES_PER_MS = 100;

interface Waiting {
  readonly socket: Socket;
  /** Null if the answer is not made yet. */
  body: Buffer | null;
  readonly bytes: number;
  timer: NodeJS.Timeout;
}

/**
 * Bounds the bytes that slow readers hold. A connection is cut if it takes too long for an answer, or asks for ever
 * more and reads nothing. If too much waits in all, the one that has waited longest is cut.
 * @param maxPerConnection bytes that may wait on one connection beside the answer that it is at
 * @param maxInAll bytes that may wait in all; the same buffer for several clients counts once
 * @param onCut called for each connection that was cut: `late` for too slow a reader, `crowded` if too much waited
 */
export function createOutgoing(
  { maxPerConnection, maxInAll }: { readonly maxPerConnection: number; readonly maxInAll: number },
  onCut: (reason: 'late' | 'crowded') => void,
) {
  /** Answers that wait, the longest waiting first. */
  const all = new Set<Waiting>();
  const byConnection = new Map<Socket, Set<Waiting>>();
  /** Uses of each body that waits, and the bytes of all of them. */
  const uses = new Map<Buffer, number>();
  let bodyBytes = 0;
  /** Bytes that are reserved for answers that are not made yet. */
  let retainedBytes = 0;

  function use(body: Buffer): void {
    const before = uses.get(body) ?? 0;
    uses.set(body, before + 1);
    if (before === 0) bodyBytes += body.length;
  }

  function release(body: Buffer): void {
    const left = (uses.get(body) ?? 1) - 1;
    if (left > 0) {
      uses.set(body, left);
      return;
    }
    uses.delete(body);
    bodyBytes -= body.length;
  }

  function connectionOf(socket: Socket): Set<Waiting> {
    const waiting = byConnection.get(socket);
    if (waiting !== undefined) return waiting;
    const made = new Set<Waiting>();
    byConnection.set(socket, made);
    // Answers that wait for their turn on a connection don't hear of its end.
    socket.once('close', () => {
      for (const waiting of made) remove(waiting);
      byConnection.delete(socket);
    });
    return made;
  }

  function remove(waiting: Waiting): void {
    if (!all.delete(waiting)) return;
    clearTimeout(waiting.timer);
    byConnection.get(waiting.socket)?.delete(waiting);
    if (waiting.body === null) retainedBytes -= waiting.bytes;
    else release(waiting.body);
    // Tables that the sets had before may still lead here.
    waiting.body = null;
  }

  function cut(socket: Socket, reason: 'late' | 'crowded'): void {
    for (const waiting of byConnection.get(socket) ?? []) remove(waiting);
    socket.destroy();
    onCut(reason);
  }

  /** @returns null if nothing waits: there is no connection any more */
  function wait(socket: Socket, body: Buffer | null, bytes: number, patienceMs: number): Waiting | null {
    if (socket.destroyed) return null;
    const here = connectionOf(socket);
    if (here.size > 0 && bytesOf(here) + bytes > maxPerConnection) {
      cut(socket, 'crowded');
      return null;
    }
    const timer = setTimeout(cut, patienceMs, socket, 'late').unref();
    const waiting = { socket, body, bytes, timer };
    if (body === null) retainedBytes += bytes;
    else use(body);
    all.add(waiting);
    here.add(waiting);
    for (const { socket: longest } of all) {
      if (bodyBytes + retainedBytes <= maxInAll) break;
      if (longest !== socket) cut(longest, 'crowded');
    }
    return waiting;
  }

  function waitForAll(socket: Socket, body: Buffer): Waiting | null {
    return wait(socket, body, body.length, PATIENCE_MS + body.length / MIN_BYTES_PER_MS);
  }

  return {
    /** Takes note of an answer that has been written to a connection, unless all of it is taken by now. */
    add(response: ServerResponse, socket: Socket, body: Buffer): void {
      if (body.length < SHORT_BYTES || isTaken(response)) return;
      const waiting = waitForAll(socket, body);
      if (waiting !== null) response.once('close', () => remove(waiting));
    },
    /**
     * Takes note of a part of an answer, which waits until it is taken and not until the answer is over.
     * @returns a function to call once it is taken
     */
    addPart(socket: Socket, part: Buffer): () => void {
      const waiting = waitForAll(socket, part);
      return () => waiting !== null && remove(waiting);
    },
    /**
     * Takes note of an answer that is written as it is read, and of the bytes that are reserved for it until then.
     * @returns a function to call for each chunk that is about to be written: the client has longer then
     */
    follow(response: ServerResponse, socket: Socket, bytes: number): (chunkBytes: number) => void {
      const waiting = wait(socket, null, bytes, PATIENCE_MS);
      if (waiting === null) return () => {};
      response.once('close', () => remove(waiting));
      const beganAtMs = performance.now();
      let written = 0;
      return (chunkBytes) => {
        if (!all.has(waiting)) return;
        written += chunkBytes;
        clearTimeout(waiting.timer);
        const leftMs = PATIENCE_MS + written / MIN_BYTES_PER_MS - (performance.now() - beganAtMs);
        waiting.timer = setTimeout(cut, Math.max(0, leftMs), socket, 'late').unref();
      };
    },
  };
}

/** True if all of a response has left the process. Node's `writableFinished` becomes true in a later turn. */
function isTaken({ writableEnded, writableLength }: ServerResponse): boolean {
  return writableEnded && writableLength === 0;
}

function bytesOf(waiting: ReadonlySet<Waiting>): number {
  let sum = 0;
  for (const { bytes } of waiting) sum += bytes;
  return sum;
}
