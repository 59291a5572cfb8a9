import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLError } from 'graphql';
import {
  createHandler,
  type Handler,
  type OperationResult,
  type Request,
  type RequestParams,
  type Response as StreamResponse,
} from 'graphql-sse';
import {
  errorBody,
  Failure,
  isObject,
  type RouteHost,
  statusOfError,
  visitorOf,
} from '../../plugin/index.ts';
import { beginSubscription, Idleness, type Live } from './connection.ts';

const RESULT = 'event: next';

/** Counts the results on their way to one reader: the next is made once the last has been read. */
class Outflow {
  readonly gone = new AbortController();
  readonly idleness: Idleness;
  #results = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(onIdle: () => void) {
    this.idleness = new Idleness(onIdle);
  }

  readonly add = () => {
    this.#results += 1;
  };

  taken(message: string): void {
    if (message.startsWith(RESULT)) this.#results -= 1;
    if (this.#results === 0) this.#goOn();
  }

  readonly empty = async () => {
    while (this.#results > 0 && !this.gone.signal.aborted) {
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

const ADDRESS = '/graphql/stream';

const NO_KEY = new Failure(
  'UNAUTHENTICATED',
  'Subscriptions need a key: send `Authorization: Bearer <API_KEY>`.',
);

/** Milliseconds that a reserved stream waits for its reader. */
const RESERVED_MS = 30_000;

/** Most streams that are reserved and not yet read. Of keys that the service hasn't accepted lately, the oldest gives way. */
const MAX_RESERVED = { inAll: 1_000, ofKey: 100, ofVisitor: 25, ofUnprovenKey: 8, ofUnproven: 200 };

/** `Retry-After` of a refused reservation. */
const RESERVE_AGAIN_SECONDS = 2;

/** Milliseconds that a reader may take for one message before it is cut off. */
const READ_TIMEOUT_MS = 60_000;

interface SharedStream {
  /** Name of the holder of the key that reserved it. */
  readonly holder: string;
  /** The visitor that reserved it, under an issued key; null under any other. */
  readonly visitor: string | null;
  readonly isUnproven: boolean;
  readonly outflow: Outflow;
  /** Ends the reading; null while nobody reads. */
  end: (() => void) | null;
}

interface StreamContext {
  /** The outflow of the stream that the request names, or else its own. */
  outflow: Outflow;
  /** Null if the request is a stream by itself. */
  token: string | null;
}

type StreamRequest = Request<FastifyRequest, StreamContext>;
type StreamHandler = Handler<FastifyRequest, StreamContext>;

/** Serves `/graphql/stream` by the protocol of graphql-sse: distinct connections, and single ones that are reserved first. */
export function eventStreams(app: FastifyInstance, live: Live, host: RouteHost) {
  const { problem, inParts, isKey } = host;
  const openEnds = new Set<() => void>();
  let isOver = false;
  const streams = new SharedStreams(live, isKey, () => handler);
  const handler: StreamHandler = createHandler<FastifyRequest, StreamContext>({
    authenticate: (request) => streams.of(request),
    onSubscribe: (request, params) => begin(request, params, live, host),
  });

  async function answer(request: FastifyRequest, reply: FastifyReply) {
    const responseFlow = new Outflow(() => {});
    reply.raw.once('close', () => responseFlow.close());
    const context: StreamContext = { outflow: responseFlow, token: null };
    const [body, { status, headers: responseHeaders = {} }] = await handler(streamRequest(request, context));
    // The library sends `Content-Encoding: none`, which HTTP doesn't know and some clients fail on.
    const { 'content-encoding': _, ...headers } = responseHeaders;
    if (body === null || typeof body === 'string') {
      responseFlow.idleness.stop();
      if (status === 401) reply.header('www-authenticate', 'Bearer');
      return reply
        .code(status)
        .header('cache-control', 'no-store')
        .headers(headers)
        .send(body ?? '');
    }
    const { outflow, token } = context;
    const end = () => {
      reply.raw.end();
      void body.return();
    };
    openEnds.add(end);
    streams.isRead(token, end);
    const onClosed = () => {
      openEnds.delete(end);
      streams.isLeft(token);
      outflow.close();
      void body.return();
    };
    const raw = inParts(reply.headers(headers));
    // The client may have left while the subscription began.
    if (raw.closed) return onClosed();
    raw.once('close', onClosed);
    raw.appendHeader('vary', 'Authorization');
    if (isOver) raw.setHeader('connection', 'close');
    raw.writeHead(status);
    if (isOver) return end();
    return pour(body, raw, outflow).catch((error: unknown) => problem(error, request.id));
  }

  app.all(ADDRESS, answer);
  return {
    /** Answers a subscription at `/graphql`, where routers send all their requests; false at once for anything else. */
    answers(request: FastifyRequest, reply: FastifyReply): false | Promise<boolean> {
      const isStreamed = isForStream(request, live);
      if (isStreamed === false) return false;
      return isStreamed.then(async (is) => {
        if (is) await answer(request, reply);
        return is;
      });
    },
    /** Ends all streams; their clients reconnect. */
    end() {
      isOver = true;
      for (const end of openEnds) end();
    },
  };
}

async function begin(
  { context: { outflow }, raw }: StreamRequest,
  { query, operationName, variables }: RequestParams,
  live: Live,
  { headersOf }: RouteHost,
): Promise<OperationResult> {
  // The library drops parameters that it doesn't know.
  const params = raw.method === 'GET' ? raw.query : raw.body;
  const asked = { query, operationName, variables, onError: isObject(params) ? params.onError : undefined };
  const began = await beginSubscription(
    live,
    {
      ...asked,
      requestId: raw.id,
      signal: outflow.gone.signal,
      headers: headersOf(raw.headers),
      address: raw.ip,
    },
    outflow.idleness,
    { ready: outflow.empty, onResult: outflow.add },
  );
  if ('results' in began) return began.results;
  return { data: null, errors: began.errors as readonly GraphQLError[] };
}

/** Streams that were reserved for several subscriptions each, by token. */
class SharedStreams {
  readonly #streams = new Map<string, SharedStream>();
  readonly #live: Live;
  readonly #isKey: RouteHost['isKey'];
  readonly #handler: () => StreamHandler;

  constructor(live: Live, isKey: RouteHost['isKey'], handler: () => StreamHandler) {
    this.#live = live;
    this.#isKey = isKey;
    this.#handler = handler;
  }

  /** Returns the token of a request's stream, null for a stream of its own, or a refusal. */
  async of({ method, headers, raw, context }: StreamRequest): Promise<string | null | StreamResponse> {
    if (context.token !== null) return context.token;
    const { authorization } = raw.headers;
    const requestId = raw.id;
    if (authorization === undefined || !this.#isKey(authorization)) return refusalOf(NO_KEY, requestId);
    const holder = await this.#live.holderOf(authorization).catch((error: unknown) => {
      if (error instanceof Failure) return error;
      throw error;
    });
    if (holder instanceof Failure) return refusalOf(holder, requestId);
    // A client that reconnects still sends the token of its lost stream.
    if (method === 'PUT') return this.#reserve(raw, holder);
    const token = tokenOf(raw);
    if (token === null) {
      if (headers.get('accept') === EVENT_STREAM) return null;
      return badRequest(406, `Accept ${EVENT_STREAM}, or reserve a stream by PUT first.`, requestId);
    }
    const stream = this.#streams.get(token);
    if (stream === undefined || stream.holder !== holder.name)
      return badRequest(404, 'There is no stream of this token. Reserve one by PUT.', requestId);
    context.outflow = stream.outflow;
    context.token = token;
    return token;
  }

  isRead(token: string | null, end: () => void): void {
    const stream = this.#streams.get(token ?? '');
    if (stream !== undefined) stream.end = end;
  }

  isLeft(token: string | null): void {
    this.#streams.delete(token ?? '');
  }

  #reserve(
    raw: FastifyRequest,
    { name: holder, isUnproven, isIssued }: Awaited<ReturnType<Live['holderOf']>>,
  ): string | StreamResponse {
    const reserved = [...this.#streams].filter(([, { end }]) => end === null);
    const ofHolder = reserved.filter(([, stream]) => stream.holder === holder);
    const visitor = isIssued ? visitorOf(raw.ip) : null;
    const ofVisitor = ofHolder.filter(([, stream]) => stream.visitor === visitor).length;
    if (isIssued && ofVisitor >= MAX_RESERVED.ofVisitor)
      return tooMany(`${MAX_RESERVED.ofVisitor} streams of one visitor are reserved and not read.`, raw.id);
    const most = isUnproven ? MAX_RESERVED.ofUnprovenKey : MAX_RESERVED.ofKey;
    if (ofHolder.length >= most)
      return tooMany(`${most} streams are reserved under this key and not read.`, raw.id);
    const ofUnproven = reserved.filter(([, stream]) => stream.isUnproven);
    const [oldest] = ofUnproven;
    if (isUnproven && oldest !== undefined && ofUnproven.length >= MAX_RESERVED.ofUnproven)
      void this.#discard(raw, ...oldest);
    else if (reserved.length >= MAX_RESERVED.inAll)
      return tooMany(`${MAX_RESERVED.inAll} streams are reserved and not read.`, raw.id);
    const token = randomUUID();
    const forget = () => {
      const stream = this.#streams.get(token);
      if (stream === undefined) return;
      if (stream.end === null) void this.#discard(raw, token, stream);
      else stream.end();
    };
    this.#streams.set(token, { holder, visitor, isUnproven, outflow: new Outflow(forget), end: null });
    setTimeout(() => {
      if (this.#streams.get(token)?.end === null) forget();
    }, RESERVED_MS).unref();
    return token;
  }

  /** Ends a stream that nobody reads. The library forgets a stream when its reader leaves, so this reads it and leaves. */
  async #discard(raw: FastifyRequest, token: string, { outflow }: SharedStream): Promise<void> {
    this.#streams.delete(token);
    const headers = { get: (name: string) => (name === 'accept' ? EVENT_STREAM : null) };
    const context = { outflow, token };
    const [body] = await this.#handler()({ method: 'GET', url: ADDRESS, headers, body: null, raw, context });
    outflow.close();
    if (body !== null && typeof body !== 'string') await body.return();
  }
}

async function pour(messages: AsyncIterable<string>, to: ServerResponse, outflow: Outflow): Promise<void> {
  for await (const message of messages) {
    // `writable` stays true after the end.
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

function isForStream({ method, headers, query, body }: FastifyRequest, { subscriptions }: Live) {
  if (!headers.accept?.includes(EVENT_STREAM)) return false;
  const params = method === 'POST' ? body : query;
  return isObject(params) && subscriptions.isSubscription(params.query, params.operationName);
}

function streamRequest(raw: FastifyRequest, context: StreamContext): StreamRequest {
  return {
    method: raw.method,
    url: raw.url,
    headers: {
      get(name) {
        const value = raw.headers[name];
        const text = Array.isArray(value) ? value.join(', ') : value;
        // The library only recognises it alone, without other types.
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
  const given = headers['x-graphql-event-stream-token'] ?? (isObject(query) ? query.token : undefined);
  return typeof given === 'string' && given !== '' ? given : null;
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

function badRequest(status: number, message: string, requestId: string): StreamResponse {
  const body = errorBody('BAD_REQUEST', message, { requestId });
  return [body, { status, statusText: '', headers: JSON_TYPE }];
}

function refusalOf({ code, message, fields, retryable }: Failure, requestId: string): StreamResponse {
  const { retryAfterSeconds } = fields;
  const body = errorBody(code, message, { retryable, ...fields, requestId });
  const retry = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  const status = statusOfError({ extensions: { code } });
  return [body, { status, statusText: '', headers: { ...JSON_TYPE, ...retry } }];
}

function tooMany(words: string, requestId: string): StreamResponse {
  const message = `${words} Read those first, or come again later.`;
  return refusalOf(
    new Failure('OVERLOADED', message, { retryAfterSeconds: RESERVE_AGAIN_SECONDS }),
    requestId,
  );
}
