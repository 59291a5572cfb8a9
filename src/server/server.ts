import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, Server as TcpServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import cors from '@fastify/cors';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { waitingBounds } from '../config/memory-budget.ts';
import { isAmong, patternOf } from '../config/origins.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { HttpHost, ModelsSection, PluginHttp, Upgrade } from '../gateway/plugin.ts';
import { METHODS } from '../graphql/request/requests.ts';
import { printClientSdl } from '../graphql/schema/sdl.ts';
import { within } from '../shared/async/within.ts';
import { errorBody, excerpt } from '../shared/errors.ts';
import { graphqlRoute, readAsGraphql, refuse } from './graphql-route.ts';
import {
  createOutgoing,
  NO_COMPILERS,
  type Outgoing,
  requestIdOf,
  taggedText,
  trusting,
  unlessLeft,
} from './http.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** Milliseconds in which one origin at most is told of that may not ask. */
const REPORT_INTERVAL_MS = 10_000;

/** Milliseconds, longer than common load balancers keep idle connections, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
const HEADERS_TIMEOUT_MS = 15_000;
/** Milliseconds for headers and body together. They bound the hold of a slow sender, a drain included. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Characters below which a text is not worth keeping count of. */
const SHORT_LENGTH = 4_096;
const PREFLIGHT_MAX_AGE_SECONDS = 600;
/** Headers that pages of other origins may read beside those that browsers show them anyway. */
const EXPOSED_HEADERS = [
  'retry-after',
  'etag',
  'accept-query',
  'x-request-id',
  'ratelimit',
  'ratelimit-policy',
  'server-timing',
  'x-upstream-bill',
  'x-graphql-errors',
  'x-graphql-warnings',
];

/** The progress of a server on the way to its end. */
interface Course {
  /** Set once clients are asked to close their connections. */
  isClosing: boolean;
  /** Set once probes of readiness are told that the program isn't ready. */
  isLeaving: boolean;
  /** Set once no new operations are taken. */
  isDraining: boolean;
}

interface ServerParts {
  readonly config: Config;
  readonly gateway: Gateway;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Demo keys of the embedded sandbox by name; null if the figures are real. */
  readonly demoKeys: Readonly<Record<string, string>> | null;
}

export function createServer(parts: ServerParts) {
  const { config, gateway, metrics, log, demoKeys } = parts;
  const ofPlugins = gateway.plugins.http;
  const upgrades = new Map(ofPlugins.flatMap(({ upgrades = {} }) => Object.entries(upgrades)));
  const app = fastify({
    bodyLimit: config.maxBodyBytes,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      ...(upgrades.size === 0
        ? {}
        : { shouldUpgradeCallback: (request: IncomingMessage) => upgrades.has(protocolOf(request)) }),
    },
    genReqId: (request) => requestIdOf(request),
    ...(config.trustedProxies.length === 0 ? {} : { trustProxy: trusting(config.trustedProxies) }),
    schemaController: { compilersFactory: NO_COMPILERS },
  });
  app.server.prependListener('clientError', answerMethodInOtherCase);
  if (upgrades.size > 0) takeUpgrades(app, upgrades);
  metrics.watch(gateway);
  const course: Course = { isClosing: false, isLeaving: false, isDraining: false };
  const open = watchOpenRequests(app);
  const outgoing = createOutgoing(waitingBounds(config), metrics.cut);
  const problem = unlessLeft((error, requestId) => {
    log.problem(error, 'server', requestId);
    metrics.problem(error, 'server');
  });

  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  writeTogether(app, course, outgoing, problem);

  allowOrigins(app, config, ofPlugins, log.note);
  const graphql = { gateway, course, outgoing, isSubgraph: config.subgraph, problem };
  const host: HttpHost = {
    config,
    course,
    outgoing,
    problem,
    demoKeys,
    trusted: () => gateway.trusted,
    asGraphql: (app) => readAsGraphql(app, graphql),
  };
  for (const { routes } of ofPlugins) if (routes) app.register(async (scope) => routes(scope, host));
  app.register(graphqlRoute, graphql);
  const models = ofPlugins.flatMap(({ models = [] }) => models);
  if (models.length > 0) llmsRoute(app, models);
  const admin = config.adminPort === undefined ? null : createAdminServer(parts, course);
  if (admin === null) addOperatorRoutes(app, metrics, course);
  if (config.introspection) {
    const sdl = taggedText(() => gateway.sdl);
    const clientSdl = taggedText(() => printClientSdl(gateway.schema));
    app.get<{ Querystring: { for?: string } }>('/schema.graphql', async (request, reply) => {
      reply.header('content-type', 'text/plain; charset=utf-8');
      return request.query.for === 'clients' ? clientSdl(request, reply) : sdl(request, reply);
    });
  }
  app.setNotFoundHandler(notFound);

  return {
    /** Takes requests. Resolves to the GraphQL address, and to that of health and metrics, if not beside the rest. */
    async listen() {
      const host = config.host.replace(/^\[(.*)\]$/, '$1');
      const origin = await listenAt(app, host, config.port);
      try {
        const adminUrl = await admin?.listen(host, config.adminPort ?? 0);
        return { url: `${origin}/graphql`, adminUrl };
      } catch (error) {
        await app.close();
        throw error;
      }
    },

    drain: (delayMs = config.drainDelayMs, isReplaced = false) =>
      drain({ app, course, open, admin }, parts, delayMs, isReplaced),
  };
}

/** Returns the protocol that a client wants to go on with, in lower case; empty if it wants none. */
function protocolOf({ headers }: IncomingMessage): string {
  return headers.upgrade?.toLowerCase() ?? '';
}

/**
 * Hands on connections that clients upgrade. Other upgrades that they offer, such as that to HTTP/2, are answered as if
 * they had not: but older versions of Node don't ask which, and these can't be answered any more.
 */
function takeUpgrades(app: FastifyInstance, upgrades: ReadonlyMap<string, Upgrade>): void {
  app.server.on('upgrade', (request, socket, head) => {
    const take = upgrades.get(protocolOf(request));
    if (take !== undefined) take(request, socket, head);
    else socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });
}

/** A method that brings operations, in letters of another case. */
const METHOD_IN_OTHER_CASE = new RegExp(`^(?:${[...METHODS.keys()].join('|')}) `, 'i');

/**
 * Tells a client that writes `query` for `QUERY` why its request can't be read: `fetch` puts none but the oldest methods
 * into upper case. Fastify closes the connection then.
 */
function answerMethodInOtherCase(
  { code, rawPacket }: Error & { code?: string; rawPacket?: Buffer },
  socket: Duplex,
): void {
  const [method = ''] = METHOD_IN_OTHER_CASE.exec(rawPacket?.toString('latin1', 0, 8) ?? '') ?? [];
  if (code !== 'HPE_INVALID_METHOD' || method === '' || !socket.writable) return;
  const message = `Methods are in upper case: send ${method.toUpperCase()}in place of ${method.trim()}.`;
  const body = errorBody('BAD_REQUEST', message, {});
  socket.end(
    `HTTP/1.1 405 Method Not Allowed\r\nAllow: ${[...METHODS.keys()].join(', ')}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/** Has whole answers written together with others that are ready. If that fails, the connection is cut. */
function writeTogether(
  app: FastifyInstance,
  course: Course,
  outgoing: Outgoing,
  problem: (error: unknown, requestId: string) => void,
): void {
  const writes = new WriteQueue();
  app.addHook('onSend', (request, reply, payload, done) => {
    if (course.isClosing) reply.header('connection', 'close');
    const isString = typeof payload === 'string';
    if (!isString && !Buffer.isBuffer(payload)) {
      done(null, payload);
      return;
    }
    writes.add(function writeAnswer() {
      const { socket } = request.raw;
      try {
        if (isString && payload.length < SHORT_LENGTH) done(null, payload);
        else {
          const body = isString ? Buffer.from(payload) : payload;
          done(null, body);
          outgoing.add(reply.raw, socket, body);
        }
      } catch (error) {
        problem(error, request.id);
        socket.destroy();
      }
    });
  });
}

/** Lets pages of the origins of `CORS_ORIGINS` ask from browsers, and says to the operator that others may not. */
function allowOrigins(
  app: FastifyInstance,
  { corsOrigins: origins }: Config,
  ofPlugins: readonly PluginHttp[],
  note: Log['note'],
): void {
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  app.addHook('onRequest', (request, reply, done) => {
    if (request.method !== 'OPTIONS') return done();
    const { origin, 'access-control-request-method': asked } = request.headers;
    if (asked === undefined || origin === undefined) return done();
    if (isAmong(origin, origins) || origins.includes('*')) return done();
    const message = `Pages of ${excerpt(origin)} may not ask here: CORS_ORIGINS doesn't list that origin.`;
    // The browser shows none of it to the page.
    const nowMs = performance.now();
    if (nowMs - reportedAtMs >= REPORT_INTERVAL_MS) {
      note(message);
      reportedAtMs = nowMs;
    }
    refuse(request, reply, 403, 'BAD_REQUEST', message);
  });
  if (origins.length === 0) return;
  app.register(cors, {
    origin: origins.map(patternOf),
    methods: [...METHODS.keys(), ...ofPlugins.flatMap(({ corsMethods = [] }) => corsMethods)],
    // There is no list of allowed headers: a preflight may ask for any, since clients and tracing libraries have
    // headers of their own. The list of origins counts, and no page sends a key but one that has it.
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_MAX_AGE_SECONDS,
    strictPreflight: false,
  });
}

/** @returns the origin at which the server takes requests from now on */
async function listenAt(app: FastifyInstance, host: string, port: number): Promise<string> {
  await app.ready();
  // Not app.listen: that binds a second server for `localhost`, which a drain could not reach.
  app.server.listen({ host, port });
  await once(app.server, 'listening');
  const address = app.server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}

/** Adds the routes of health and metrics, which ask for no key. */
function addOperatorRoutes(app: FastifyInstance, metrics: Metrics, course: Course): void {
  app.get('/health/live', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
    return { status: 'ok' };
  });
  app.get('/health/ready', async (_request, reply) => {
    reply.code(course.isLeaving ? 503 : 200).header('cache-control', 'no-store');
    return { status: course.isLeaving ? 'draining' : 'ok' };
  });
  app.get('/metrics', async (_request, reply) => {
    reply.header('content-type', metrics.contentType).header('cache-control', 'no-store');
    return metrics.text();
  });
}

async function notFound(request: FastifyRequest, reply: FastifyReply) {
  reply.code(404);
  return {
    error: 'Not Found',
    message: excerpt(`There is no ${request.method} ${request.url.split('?')[0]} here.`),
  };
}

/** Bounds of requests for metrics and health, which are small. */
const BOUNDS = {
  bodyLimit: 1_024,
  requestTimeout: 10_000,
  http: { headersTimeout: 5_000 },
  schemaController: { compilersFactory: NO_COMPILERS },
};

/** Makes a server for health, metrics and routes of operators. It answers until the program ends, through a drain too. */
function createAdminServer({ metrics, gateway: { plugins } }: ServerParts, course: Course) {
  const app = fastify({ ...BOUNDS, forceCloseConnections: true });
  addOperatorRoutes(app, metrics, course);
  for (const { operators } of plugins.http) if (operators) app.register(async (scope) => operators(scope));
  app.setNotFoundHandler(notFound);
  return {
    listen: (host: string, port: number) => listenAt(app, host, port),
    /** Takes no more connections, and answers on those that are open. */
    stopListening: () => void TcpServer.prototype.close.call(app.server),
    close: () => app.close(),
  };
}

/** Milliseconds left to close connections to the service and to the store, once nobody is answered any more. */
const STOP_TIMEOUT_MS = 2_000;

/** Counts the requests whose answers have not left yet. */
function watchOpenRequests(app: FastifyInstance) {
  const open = new Set<FastifyReply>();
  let lastClosed = () => {};
  app.addHook('onRequest', (_request, reply, done) => {
    open.add(reply);
    reply.raw.once('close', () => {
      open.delete(reply);
      if (open.size === 0) lastClosed();
    });
    done();
  });
  return {
    get count() {
      return open.size;
    },
    /** Number of them that the gateway still works on: the others wait for their clients to take or to send. */
    get underWay() {
      let count = 0;
      for (const reply of open) count += Number(!waitsForClient(reply));
      return count;
    },
    /** Resolves once there is none. */
    none(): Promise<void> {
      if (open.size === 0) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      lastClosed = resolve;
      return promise;
    },
  };
}

/** True if only the client's part is left: to send the rest of its request, or to take its answer. */
function waitsForClient({ request, raw }: FastifyReply): boolean {
  if (raw.writableEnded || !request.raw.complete) return true;
  // An answer that is written while it is read begins once all of it is known; one in parts may still have some to come.
  return raw.headersSent && !String(raw.getHeader('content-type')).startsWith('multipart/');
}

interface RunningServer {
  readonly app: FastifyInstance;
  readonly course: Course;
  readonly open: ReturnType<typeof watchOpenRequests>;
  /** The server for operators; null if they ask at the same port. */
  readonly admin: ReturnType<typeof createAdminServer> | null;
}

/**
 * Says that it isn't ready, and asks clients to close their connections, but still answers. After `delayMs`, takes no
 * new connection, answers new operations on open ones with 503, and lets operations in flight finish for as long as
 * the settings allow. Then it cuts the connections that are left and stops the gateway.
 * @param isReplaced true if another process takes the connections from now on. Then no new ones are taken at once,
 * but open ones are answered until they have closed, as long as requests in flight may take; and probes of readiness
 * are told that the program is ready
 * @returns the number of requests that the gateway was at when they were cut, without those whose clients don't read,
 * or don't send
 */
async function drain(
  { app, course, open, admin }: RunningServer,
  { config, gateway, log }: ServerParts,
  delayMs: number,
  isReplaced: boolean,
): Promise<number> {
  course.isClosing = true;
  course.isLeaving = !isReplaced;
  // The TCP server's close alone: the HTTP server's would also drop idle connections, whose next request is to be
  // answered, or told 503, and stop watching for slow senders.
  const closed = Promise.withResolvers<void>();
  const stopListening = () => TcpServer.prototype.close.call(app.server, () => closed.resolve());
  if (isReplaced) {
    stopListening();
    admin?.stopListening();
    void gateway.beforeStop();
    await within(config.drainTimeoutMs, closed.promise);
    app.server.closeIdleConnections();
  } else if (delayMs > 0) await setTimeout(delayMs);
  course.isDraining = true;
  stopListening();
  const ended = gateway.beforeStop();
  await within(config.drainTimeoutMs, open.none());
  await ended;
  const cut = open.underWay;
  const left = open.count - cut;
  if (left > 0)
    log.note(`${left} client(s) did not take their answers, or send their requests, in DRAIN_TIMEOUT_MS`);
  app.server.closeAllConnections();
  await within(STOP_TIMEOUT_MS, Promise.all([app.close(), admin?.close()]).then(gateway.stop));
  return cut;
}

/** Milliseconds that the first of several writes waits for the others, at the most. */
const LONGEST_WAIT_MS = 1;

/**
 * Writes answers that are ready together, at the end of the event loop's iteration. A client on the same machine that
 * was woken for each of them would take turns with the gateway, and waking it costs as much as the write. If an
 * iteration takes long, answers that are ready don't wait for its end.
 */
export class WriteQueue {
  readonly #waiting: (() => void)[] = [];
  #sinceMs = 0;

  /** @param write is called soon, and must not throw */
  add(write: () => void): void {
    const nowMs = performance.now();
    if (this.#waiting.length === 0) {
      this.#sinceMs = nowMs;
      setImmediate(this.#writeAll);
    }
    this.#waiting.push(write);
    if (nowMs - this.#sinceMs > LONGEST_WAIT_MS) this.#writeAll();
  }

  readonly #writeAll = () => {
    for (const write of this.#waiting.splice(0)) write();
  };
}

/** Seconds for which others may keep the text: prices and documents change. */
const CACHE_SECONDS = 60;

const GRAPHQL = [
  '- [GraphQL](graphql): POST, GET or QUERY. With the header `x-explain: 1` nothing is sent, and the answer is the price.',
  '- [Schema](schema.graphql?for=clients): types and fields with their descriptions, where it is not switched off.',
];

/**
 * Serves `/llms.txt`: a text that tells a model of this gateway before it asks, with addresses as they are seen from that
 * one.
 */
function llmsRoute(app: FastifyInstance, sections: readonly ModelsSection[]): void {
  app.get('/llms.txt', async (_request, reply) => {
    reply.type('text/plain; charset=utf-8').header('cache-control', `public, max-age=${CACHE_SECONDS}`);
    const parts: string[] = [];
    for (const { heading, things } of sections) {
      const lines = (await things()).map(
        ({ name, words }) => `- ${name}: ${words.replaceAll(/\s+/g, ' ').trim()}`,
      );
      parts.push(`## ${heading}`, lines.join('\n'));
    }
    return `${[
      '# Country Graph',
      '> A GraphQL gateway over a metered service of figures about African countries: each answer tells what it has cost in calls.',
      '## Ways to ask',
      [...sections.map(({ way }) => way), ...GRAPHQL].join('\n'),
      ...parts,
    ].join('\n\n')}\n`;
  });
}
