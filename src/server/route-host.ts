import type { Config } from '../config/config.ts';
import { isLoopback } from '../config/origins.ts';
import { siteOf } from '../gateway/adapted-plugin.ts';
import type { RouteHost } from '../plugin/definition.ts';
import { bodies } from './bodies.ts';
import {
  type GraphqlRouteOptions,
  goneSignal,
  readAsGraphql,
  readShallowJson,
  sendAnswer,
} from './graphql-route.ts';
import { flat, hijacked, isBearer, isWellFormed } from './http.ts';
import { unreadRefusals } from './unread-refusals.ts';
import { upgradeHost } from './upgrades.ts';

/**
 * What routes of plugins may use, of the program and of the library alike.
 * @param demoKeys those of the embedded sandbox; null without one
 */
export function routeHost(
  graphql: GraphqlRouteOptions,
  config: Config,
  demoKeys: RouteHost['demoKeys'],
): RouteHost {
  const { gateway, course, problem } = graphql;
  return {
    problem,
    isLocal: isLoopback(config.host),
    origins: config.corsOrigins,
    site: siteOf(config),
    demoKeys,
    bodies,
    trusted: () => gateway.trusted,
    asGraphql: (app) => readAsGraphql(app, graphql),
    readJson: readShallowJson,
    gone: goneSignal,
    sendAnswer: (request, reply, answer) => sendAnswer(request, reply, answer, graphql),
    unread: unreadRefusals(gateway, course),
    inParts: hijacked,
    headersOf: flat,
    isKey: (authorization) => isBearer(authorization) && isWellFormed(authorization),
    upgrades: upgradeHost(config),
  };
}
