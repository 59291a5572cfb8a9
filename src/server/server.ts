import type { IncomingMessage } from 'node:http';
import fastify from 'fastify';
import { waitingBounds } from '../config/memory-budget.ts';
import { printClientSdl } from '../graphql/schema/sdl.ts';
import { taggedText } from './bodies.ts';
import { allowOrigins } from './cross-origin.ts';
import { drain } from './drain.ts';
import { graphqlRoute, refuse } from './graphql-route.ts';
import {
  createOutgoing,
  headerCountError,
  markAnswers,
  marksOf,
  NO_COMPILERS,
  requestIdOf,
  trusting,
  unlessLeft,
} from './http.ts';
import { listenAt, refuseUnrouted } from './listening.ts';
import { llmsRoute } from './llms-text.ts';
import { watchOpenRequests } from './open-requests.ts';
import { addOperatorRoutes, createAdminServer } from './operators.ts';
import { routeHost } from './route-host.ts';
import type { Course, ServerParts } from './server-parts.ts';
import { refuseExpectations, refuseUnread } from './unread-requests.ts';
import { protocolOf, takeUpgrades } from './upgrades.ts';
import { writeTogether } from './write-together.ts';

/** Longer than common load balancers keep idle connections, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

const HEADERS_TIMEOUT_MS = 15_000;

/** For headers and body together. It bounds slow senders, during a drain too. */
const REQUEST_TIMEOUT_MS = 30_000;

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
      // Node's own refusal would lack headers that every answer has.
      requireHostHeader: false,
      ...(upgrades.size === 0
        ? {}
        : { shouldUpgradeCallback: (request: IncomingMessage) => upgrades.has(protocolOf(request)) }),
    },
    genReqId: (request) => requestIdOf(request),
    clientErrorHandler: refuseUnread,
    // No hook sees a malformed address.
    frameworkErrors: (error, { id }, reply) => void reply.headers(marksOf(id)).send(error as never),
    ...(config.trustedProxies.length === 0 ? {} : { trustProxy: trusting(config.trustedProxies) }),
    schemaController: { compilersFactory: NO_COMPILERS },
  });
  refuseUnrouted(app);
  refuseExpectations(app.server);
  if (upgrades.size > 0) takeUpgrades(app, upgrades);
  metrics.watch(gateway);
  const course: Course = { isClosing: false, isLeaving: false, isDraining: false };
  const open = watchOpenRequests(app);
  const outgoing = createOutgoing(waitingBounds(config), metrics.cut);
  const problem = unlessLeft((error, requestId) => {
    log.problem(error, 'server', requestId);
    metrics.problem(error, 'server');
  });

  markAnswers(app);
  app.addHook('onRequest', (request, reply, done) => {
    const error = headerCountError(request.raw);
    if (error === null) done();
    else refuse(request, reply, error.status, error.code, error.message);
  });
  writeTogether(app, course, outgoing, problem);

  allowOrigins(app, config, ofPlugins, log.note);
  const graphql = { gateway, course, outgoing, isSubgraph: config.subgraph, problem };
  const host = routeHost(graphql, config, demoKeys);
  for (const { routes } of ofPlugins) if (routes) app.register(async (scope) => routes(scope, host));
  app.register(graphqlRoute, graphql);
  const models = ofPlugins.flatMap(({ models = [] }) => models);
  if (models.length > 0) llmsRoute(app, models, config.attribution);
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

  return {
    /** @returns the GraphQL address, and that of health and metrics, if not beside the rest */
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
