import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createHandler, type Handler, type Request, type Response as StreamResponse } from 'graphql-sse';
import { Cancellation } from '../async/cancellation.ts';
import { FAILURES, type FailureCode } from '../errors.ts';
import type { Live } from '../gateway.ts';
import { isObject } from '../upstream/records/fields.ts';
import { isBearer } from './keys.ts';
import { Idleness, type LiveTransport, watched } from './live-results.ts';

export interface LiveStreamParts {
  readonly live: Live;
  /** Called with what only a fault of ours can explain. */
  readonly problem: (error: unknown, requestId: string) => void;
}

const ADDRESS = '/graphql/stream';

const TOKEN_HEADER = 'x-graphql-event-stream-token';

/** How long a reserved stream waits for its reader, and one without a subscription for one, in milliseconds. */
const RESERVED_MS = 30_000;
const IDLE_MS = 72_000;

/** Streams that are reserved and that nobody reads as yet. */
const MAX_RESERVED = 1_000;

/** How long a reader may take for what it is sent, in milliseconds; then it is cut, and comes back. */
const READ_TIMEOUT_MS = 60_000;

/** The beginning of a message that is a result. */
const RESULT = 'event: next';

/** What is on its way to one reader: the next result is made once it has taken the last. */
class Outflow {
  readonly gone = new Cancellation();
  readonly idleness: Idleness;
  #results = 0;
  readonly #waiting: (() => void)[] = [];

  /** @param onIdle called when nobody has made use of it for long */
  constructor(idleMs: number, onIdle: () => void) {
    this.idleness = new Idleness(idleMs, onIdle);
  }

  readonly add = () => {
    this.#results += 1;
  };

  /** The reader has taken a message. */
  taken(message: string): void {
    if (message.startsWith(RESULT)) this.#results -= 1;
    if (this.#results === 0) this.#goOn();
  }

  readonly empty = async () => {
    while (this.#results > 0 && !this.gone.aborted) {
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

/** A stream that was reserved for several subscriptions. */
interface SharedStream {
  readonly authorization: string;
  readonly outflow: Outflow;
  /** Ends what its reader reads; null while nobody does. */
  end: (() => void) | null;
}

interface StreamContext {
  /** Of a request that is a stream for itself; else that of the stream that it names. */
  outflow: Outflow;
  /** The stream that a request belongs to; null where it is one for itself. */
  token: string | null;
}

type StreamRequest = Request<FastifyRequest, StreamContext>;

/**
 * `/graphql/stream`: server-sent events in the protocol of graphql-sse, a connection for each subscription or one for
 * several (a stream that is reserved first).
 */
export function liveStream(app: FastifyInstance, parts: LiveStreamParts): LiveTransport {
  const shared = new Map<string, SharedStream>();
  const open = new Set<() => void>();
  const handler: Handler<FastifyRequest, StreamContext> = createHandler<FastifyRequest, StreamContext>({
    authenticate: (request) => streamOf(request),
    async onSubscribe(request, { query, operationName, variables }) {
      const { outflow } = request.context;
      const authorization = request.raw.headers.authorization ?? null;
      outflow.idleness.begin();
      const requestId = request.raw.id;
      const asked = { query, operationName, variables, requestId, signal: outflow.gone };
      const began = await parts.live.subscriptions.open(asked, parts.live.callerOf({ authorization }));
      if ('errors' in began) {
        outflow.idleness.end();
        return { data: null, errors: began.errors };
      }
      return watched(began.results, {
        ready: outflow.empty,
        onResult: outflow.add,
        onEnd: () => outflow.idleness.end(),
      });
    },
  });

  /** The token of the stream that a request belongs to; null for one of its own; or why there is none. */
  function streamOf({ method, headers, raw, context }: StreamRequest): string | null | StreamResponse {
    if (context.token !== null) return context.token;
    const { authorization } = raw.headers;
    if (authorization === undefined || !isBearer(authorization))
      return refusal(
        401,
        'UNAUTHENTICATED',
        'Subscriptions need a key: send `Authorization: Bearer <API_KEY>`.',
      );
    // Clients that come back send the token of the stream that they have lost.
    if (method === 'PUT') return reserve(raw, authorization);
    const token = tokenOf(raw);
    if (token === null) {
      if (headers.get('accept') === EVENT_STREAM) return null;
      return refusal(406, 'BAD_REQUEST', `Accept ${EVENT_STREAM}, or reserve a stream by PUT first.`);
    }
    const stream = shared.get(token);
    if (stream === undefined || stream.authorization !== authorization)
      return refusal(404, 'BAD_REQUEST', 'There is no stream of this token. Reserve one by PUT.');
    context.outflow = stream.outflow;
    context.token = token;
    return token;
  }

  function reserve(raw: FastifyRequest, authorization: string): string | StreamResponse {
    const reserved = [...shared.values()].filter(({ end }) => end === null).length;
    if (reserved >= MAX_RESERVED)
      return refusal(
        503,
        'OVERLOADED',
        `${MAX_RESERVED} streams are reserved and not read. Come again later.`,
      );
    const token = randomUUID();
    const forget = () => {
      const stream = shared.get(token);
      if (stream === undefined) return;
      if (stream.end === null) void discard(raw, token, stream);
      else stream.end();
    };
    shared.set(token, { authorization, outflow: new Outflow(IDLE_MS, forget), end: null });
    setTimeout(() => {
      if (shared.get(token)?.end === null) forget();
    }, RESERVED_MS).unref();
    return token;
  }

  /** Ends a stream that nobody has come to read. The library forgets one when its reader leaves, so somebody comes and leaves. */
  async function discard(raw: FastifyRequest, token: string, { outflow }: SharedStream): Promise<void> {
    const headers = { get: (name: string) => (name === 'accept' ? EVENT_STREAM : null) };
    const context = { outflow, token };
    const [body] = await handler({ method: 'GET', url: ADDRESS, headers, body: null, raw, context });
    shared.delete(token);
    outflow.close();
    if (body !== null && typeof body !== 'string') await body.return();
  }

  app.all(ADDRESS, async (request, reply) => {
    const own = new Outflow(IDLE_MS, () => {});
    reply.raw.once('close', () => own.close());
    const context: StreamContext = { outflow: own, token: null };
    const [body, { status, headers = {} }] = await handler(streamRequest(request, context));
    if (body === null || typeof body === 'string') {
      own.idleness.stop();
      return reply
        .code(status)
        .headers(headers)
        .send(body ?? '');
    }
    const { outflow, token } = context;
    const end = () => {
      reply.raw.end();
      void body.return();
    };
    const stream = token === null ? undefined : shared.get(token);
    if (stream !== undefined) stream.end = end;
    open.add(end);
    reply.raw.once('close', () => {
      open.delete(end);
      if (token !== null) shared.delete(token);
      outflow.close();
      void body.return();
    });
    reply.hijack();
    for (const [name, value] of Object.entries({ ...reply.getHeaders(), ...headers })) {
      if (value !== undefined) reply.raw.setHeader(name, value);
    }
    reply.raw.appendHeader('vary', 'Authorization');
    reply.raw.writeHead(status);
    await pour(body, reply.raw, outflow).catch((error: unknown) => parts.problem(error, request.id));
    return reply;
  });

  return {
    async end() {
      for (const end of open) end();
    },
    // The server cuts what is left, like any other request.
    cut() {},
  };
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

function refusal(status: number, code: FailureCode | 'BAD_REQUEST', message: string): StreamResponse {
  const retryable = code !== 'BAD_REQUEST' && FAILURES[code].retryable;
  return [
    JSON.stringify({ errors: [{ message, extensions: { code, retryable } }] }),
    { status, statusText: '', headers: { 'content-type': 'application/json; charset=utf-8' } },
  ];
}
