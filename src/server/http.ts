import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { withoutPort } from '../keys/visitor.ts';
import { Failure } from '../shared/errors.ts';

export interface AnswerSending {
  readonly outgoing: Outgoing;
  /** `isClosing`: clients are asked to close their connections. `isDraining`: no new operations are taken. */
  readonly course: { readonly isClosing: boolean; readonly isDraining: boolean };
  /** Called with an internal error. */
  readonly problem: (error: unknown, requestId: string) => void;
}

/** The refusal of new operations during a drain: another gateway may take them at once, this one after a restart. */
export const SHUTTING_DOWN = new Failure('OVERLOADED', 'The gateway is shutting down.', {
  retryAfterSeconds: 1,
});

/** Headers that a request has once: Node keeps the first of several, and other programs the last. */
const ONCE = ['Authorization', 'Host'];

/** No key is as long. */
const MAX_KEY_LENGTH = 4_096;
const MALFORMED_KEY = `A key has up to ${MAX_KEY_LENGTH} printable ASCII characters and no blanks.`;

/** No route has a schema, so Fastify's compilers for them are neither loaded nor bundled. */
export const NO_COMPILERS = { buildValidator: withoutSchemas, buildSerializer: withoutSchemas };

function withoutSchemas(): never {
  throw new Error('No route has a schema.');
}

/** Some proxies write ports behind addresses. */
export function trusting(proxies: readonly string[]): (address: string, hop: number) => boolean {
  const isTrusted = proxyAddr.compile([...proxies]);
  return (address, hop) => isTrusted(withoutPort(address), hop);
}

export function flat(headers: IncomingMessage['headers']): Record<string, string> {
  const one: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) one[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return one;
}

/** Characters of an `Accept` header: to weigh the types in 16 KB would take 10 ms. */
const MAX_ACCEPT = 1_000;

/** Parameters of an address, which several stages read: the 7,500 that fit into 16 KB would take 30 ms. */
const MAX_PARAMETERS = 100;

/**
 * Returns the error of a request's key, its `Accept` header or its address; null if there is none.
 */
export function headError(request: IncomingMessage) {
  const {
    url = '',
    headers: { authorization, accept = '' },
  } = request;
  const miscounted = headerCountError(request);
  if (miscounted !== null) return miscounted;
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

/** Returns the error of a header that the request has several times, or lacks; null if there is none. */
export function headerCountError({ rawHeaders, httpVersion, headers: { host } }: IncomingMessage) {
  if (httpVersion === '1.1' && host === undefined) return badRequest('The request has no Host header.');
  const name = ONCE.find((header) => countOf(header, rawHeaders) > 1);
  return name === undefined ? null : badRequest(`The request has several ${name} headers.`);
}

function countOf(header: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === header.length && name.toLowerCase() === header.toLowerCase()) count += 1;
  }
  return count;
}

const badRequest = (message: string) => ({ status: 400, code: 'BAD_REQUEST', message }) as const;

export const marksOf = (requestId: string) => ({
  'x-request-id': requestId,
  'x-content-type-options': 'nosniff',
});

/**
 * Has every answer of a scope name its request, and be taken for nothing but its type. A shared cache repeats an answer to
 * others, whose requests it doesn't name.
 */
export function markAnswers(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(marksOf(request.id));
    done();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (reply.getHeader('cache-control')?.toString().startsWith('public')) reply.removeHeader('x-request-id');
    done(null, payload);
  });
}

/** True also without a key: the fields that need one say so. */
export function isWellFormed(authorization: string | undefined): boolean {
  if (authorization === undefined) return true;
  if (authorization.length > MAX_KEY_LENGTH || !/^[ -~]*$/.test(authorization)) return false;
  return !/^bearer +\S+ /i.test(authorization);
}

export function isBearer(authorization: string): boolean {
  return /^bearer +\S/i.test(authorization);
}

/** Nothing that a log or JSON would have to escape. */
const WELL_FORMED = /^[\w.:=+/@-]{1,128}$/;

/** @param given tried before the identifier that the request comes with */
export function requestIdOf(
  { headers }: { readonly headers: IncomingMessage['headers'] },
  given?: string,
): string {
  for (const id of [given, headers['x-request-id']])
    if (typeof id === 'string' && WELL_FORMED.test(id)) return id;
  return randomUUID();
}

/** Codes of errors of sockets and streams whose client has left. */
const OF_LEAVING: ReadonlySet<unknown> = new Set([
  ...['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT'],
  ...['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED'],
]);

/** Connections break, which is no error. */
export function unlessLeft(report: (error: unknown, requestId: string) => void): typeof report {
  return (error, requestId) => {
    if (!OF_LEAVING.has((error as Partial<NodeJS.ErrnoException> | null)?.code)) report(error, requestId);
  };
}

/** Takes a reply that comes in parts out of Fastify's hands, with its headers. Proxies may hold no part back. */
export function hijacked(reply: FastifyReply): FastifyReply['raw'] {
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  reply.raw.setHeader('x-accel-buffering', 'no');
  return reply.raw;
}

/** Answers that are written, but that their clients have not taken yet. */
export type Outgoing = ReturnType<typeof createOutgoing>;

/** Bytes below which answers don't count: they are sent at once, and few of them can wait on a connection. */
const SHORT_BYTES = 4_096;

/** Milliseconds that a client may take for an answer; and on top, the least speed for its bytes. */
const PATIENCE_MS = 30_000;

const MIN_BYTES_PER_MS = 100;

interface Waiting {
  readonly socket: Socket;
  /** Null if the answer isn't made yet. */
  body: Buffer | null;
  readonly bytes: number;
  timer: NodeJS.Timeout;
}

/**
 * Bounds the bytes that slow readers hold. A connection is cut if it takes too long for an answer, or asks for more and
 * more without reading. If too much waits in all, the one that has waited longest is cut.
 * @param maxPerConnection bytes that may wait on one connection, beside the answer that it is reading
 * @param maxInAll bytes that may wait in all; the same buffer for several clients counts once
 * @param onCut called for each connection that was cut: `late` if its reader was too slow, `crowded` if too much waited
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
  /** Bytes reserved for answers that aren't made yet. */
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
    // Former tables of the sets may still refer to it.
    waiting.body = null;
  }

  function cut(socket: Socket, reason: 'late' | 'crowded'): void {
    for (const waiting of byConnection.get(socket) ?? []) remove(waiting);
    socket.destroy();
    onCut(reason);
  }

  /** @returns null if there is no connection any more */
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
    /** Counts an answer that has been written to a connection, unless the client has taken all of it by now. */
    add(response: ServerResponse, socket: Socket, body: Buffer): void {
      // Node's `writableFinished` becomes true in a later turn.
      const isTaken = response.writableEnded && response.writableLength === 0;
      if (body.length < SHORT_BYTES || isTaken) return;
      const waiting = waitForAll(socket, body);
      if (waiting !== null) response.once('close', () => remove(waiting));
    },
    /**
     * Counts a part of an answer, until the client has taken it.
     * @returns a function to call then
     */
    addPart(socket: Socket, part: Buffer): () => void {
      const waiting = waitForAll(socket, part);
      return () => waiting !== null && remove(waiting);
    },
    /**
     * Counts an answer that is written as it is read, by the bytes that are reserved for it.
     * @returns a function to call before each chunk, which gives the client more time
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

function bytesOf(waiting: ReadonlySet<Waiting>): number {
  let sum = 0;
  for (const { bytes } of waiting) sum += bytes;
  return sum;
}
