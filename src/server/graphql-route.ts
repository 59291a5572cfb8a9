import { pipeline, Readable } from 'node:stream';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Gateway } from '../gateway/gateway.ts';
import { refusalTypeFor } from '../graphql/request/accept.ts';
import { ACCEPT_QUERY } from '../graphql/request/apollo.ts';
import { refusalOf } from '../graphql/request/refusals.ts';
import { type GatewayRequest, methodAnswered } from '../graphql/request/requests.ts';
import { type GatewayResponse, refusalBody, type WrittenBody } from '../graphql/request/responses.ts';
import { billIn } from '../graphql/request/upstream-bill.ts';
import { openBill } from '../service/bill.ts';
import type { PromiseOrValue } from '../shared/async/promises.ts';
import { errorBody, excerpt, type FailureCode } from '../shared/errors.ts';
import { isDeepJson, TOO_DEEP } from '../shared/exact-json.ts';
import { addVary, compressionFor, sendBody, sendNotModified } from './bodies.ts';
import { type AnswerSending, flat, headError, hijacked, SHUTTING_DOWN } from './http.ts';
import { readPacked } from './packed-requests.ts';

export interface GraphqlRouteOptions extends AnswerSending {
  readonly gateway: Gateway;
  /** True if errors are sent with status 200, as routers need it. */
  readonly isSubgraph: boolean;
}

const BILL = 'x-upstream-bill';

/** Has a scope read requests within bounds, and answer those that never become an operation with a GraphQL error. */
export function readAsGraphql(app: FastifyInstance, options: GraphqlRouteOptions): void {
  const { gateway, course, isSubgraph, problem } = options;
  readShallowJson(app);

  // Routers read the GraphQL errors of a refusal only under this status.
  if (isSubgraph) {
    app.addHook('onSend', (_request, reply, payload, done) => {
      if (reply.statusCode >= 400) reply.code(200);
      // What was refused before it ran has cost nothing.
      if (reply.statusCode !== 304 && !reply.hasHeader(BILL)) reply.header(BILL, JSON.stringify(openBill()));
      done(null, payload);
    });
  }

  app.addHook('onRequest', (request, reply, done) => {
    if (request.method === 'QUERY') reply.header(...ACCEPT_QUERY);
    const { headers, id: requestId } = request;
    if (course.isDraining)
      return sendAnswer(request, reply, refusalOf(SHUTTING_DOWN, { headers, requestId }), options);
    const error = headError(request.raw);
    if (error !== null) return void refuse(request, reply, error.status, error.code, error.message);
    const refusal = gateway.refuseUnread(headers, requestId);
    if (refusal === null) done();
    else sendAnswer(request, reply, refusal, options);
  });

  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const status = error.statusCode ?? 500;
    const message =
      error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE'
        ? 'This content type is not read: send a body of JSON, with `content-type: application/json`.'
        : excerpt(error.message);
    if (status < 500) return refuse(request, reply, status, 'BAD_REQUEST', message);
    problem(error, request.id);
    return refuse(request, reply, 500, 'INTERNAL_SERVER_ERROR', 'The gateway failed to answer.');
  });
}

/** Serves `/graphql`, by the gateway unless a plugin answers. */
export async function graphqlRoute(app: FastifyInstance, options: GraphqlRouteOptions) {
  const { gateway } = options;
  const lookers = gateway.plugins.http.flatMap(({ graphql }) => graphql ?? []);
  readAsGraphql(app, options);

  function answerWhole(request: FastifyRequest, reply: FastifyReply): void {
    const answer = gateway.handle(new ReceivedRequest(request, reply));
    const send = (response: GatewayResponse) => {
      const { body, headers, status } = response;
      const isWhole = typeof body === 'string' || Buffer.isBuffer(body);
      // Routers merge no extensions, but some pass headers on.
      if (options.isSubgraph && isWhole && status !== 304 && !headers.has(BILL))
        reply.header(BILL, JSON.stringify(billIn(body)));
      sendAnswer(request, reply, response, options);
    };
    if (!(answer instanceof Promise)) send(answer);
    else answer.then(send).catch((error: unknown) => reply.send(error));
  }

  /** True if a plugin has answered. */
  function isTaken(request: FastifyRequest, reply: FastifyReply, from = 0): PromiseOrValue<boolean> {
    for (const [i, look] of lookers.entries()) {
      const taken = i < from ? false : look(request, reply);
      if (taken === true) return true;
      if (taken !== false) return taken.then((is) => is || isTaken(request, reply, i + 1));
    }
    return false;
  }

  app.all('/graphql', (request, reply) => {
    const taken = isTaken(request, reply);
    if (taken === false) answerWhole(request, reply);
    else if (taken !== true)
      taken
        .then((is) => {
          if (!is) answerWhole(request, reply);
        })
        .catch((error: unknown) => reply.send(error));
  });
}

/** Reads bodies of JSON that isn't nested too deep, and no other bodies. */
export function readShallowJson(app: FastifyInstance): void {
  readPacked(app);
  app.removeContentTypeParser(['text/plain', 'application/json']);
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (isDeepJson(String(body))) done(Object.assign(new Error(TOO_DEEP), { statusCode: 400 }), undefined);
    else parseJson(request, String(body), done);
  });
}

/** A class, since V8 gives each object literal with getters a shape of its own. */
class ReceivedRequest implements GatewayRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly search: string;
  readonly body: unknown;
  readonly requestId: string;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  #signal: AbortSignal | undefined;

  constructor(request: FastifyRequest, reply: FastifyReply) {
    const { method, headers, url, body, id } = request;
    const query = url.indexOf('?');
    this.method = methodAnswered(method);
    this.headers = flat(headers);
    this.search = query < 0 ? '' : url.slice(query);
    this.body = body ?? '';
    this.requestId = id;
    this.#request = request;
    this.#reply = reply;
  }

  get address(): string {
    return this.#request.ip;
  }

  /** Made only if it is asked for: most answers are there at once. */
  get signal(): AbortSignal {
    this.#signal ??= goneSignal(this.#reply);
    return this.#signal;
  }
}

/** Writes an answer no faster than it is read. If that fails, the connection is cut, so nobody takes it for whole. */
function writeBody(
  request: FastifyRequest,
  reply: FastifyReply,
  body: WrittenBody,
  { outgoing, problem }: AnswerSending,
): void {
  const wrote = outgoing.follow(reply.raw, request.raw.socket, body.retainedBytes);
  const fail = (error: NodeJS.ErrnoException | null | undefined) => {
    if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') problem(error, request.id);
  };
  addVary(reply, 'Accept-Encoding');
  const source = Readable.from(noted(body, wrote));
  const compression = compressionFor(request.headers['accept-encoding']?.toString());
  if (compression === null) reply.send(source.once('error', fail));
  else
    reply.header('content-encoding', compression.encoding).send(pipeline(source, compression.stream(), fail));
}

async function* noted(
  chunks: AsyncIterable<Uint8Array>,
  note: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    note(chunk.length);
    yield chunk;
  }
}

/**
 * Sends each part of an answer as soon as it is there. Bytes that a slow reader has not taken count with all other
 * answers that wait, and are cut with them.
 */
function sendParts(
  { id, raw: { socket } }: FastifyRequest,
  reply: FastifyReply,
  body: AsyncIterable<string>,
  { outgoing, course, problem }: AnswerSending,
): void {
  if (course.isClosing) reply.header('connection', 'close');
  const raw = hijacked(reply);
  raw.writeHead(reply.statusCode);
  const pour = async () => {
    for await (const part of body) {
      if (raw.destroyed) return;
      const bytes = Buffer.from(part);
      raw.write(bytes, outgoing.addPart(socket, bytes));
    }
    raw.end();
  };
  pour().catch((error: unknown) => {
    problem(error, id);
    raw.destroy();
  });
}

export function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: GatewayResponse,
  options: AnswerSending,
): void {
  const { status, headers, body, encoded } = answer;
  for (const [name, value] of headers) {
    if (name === 'vary') addVary(reply, value);
    else reply.header(name, value);
  }
  if (status === 304) {
    addVary(reply, 'Accept-Encoding');
    sendNotModified(request, reply);
    return;
  }
  reply.code(status);
  // Not by its class: a plugin may have another copy of that.
  if (typeof body === 'object' && 'retainedBytes' in body) {
    writeBody(request, reply, body, options);
    return;
  }
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) {
    sendParts(request, reply, body, options);
    return;
  }
  sendBody(request, reply, body, encoded);
}

/** Returns a signal that aborts when the client leaves early. Fastify's own aborts once the body is read. */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  if (reply.raw.destroyed) gone.abort();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  return gone.signal;
}

export function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  code: FailureCode | 'BAD_REQUEST' | 'INTERNAL_SERVER_ERROR',
  message: string,
): FastifyReply {
  if (code === 'UNAUTHENTICATED') reply.header('www-authenticate', 'Bearer');
  addVary(reply, 'Authorization');
  // An internal error may follow calls that nobody has counted.
  const bodyOf = status === 500 ? errorBody : refusalBody;
  return reply
    .code(status)
    .header('content-type', refusalTypeFor(request.headers.accept ?? ''))
    .header('cache-control', 'no-store')
    .send(bodyOf(code, message, { requestId: request.id }));
}
