import type { FastifyPluginAsync } from 'fastify';
import { ConfigError, readConfig, type SettingName, settingNames } from '../config.ts';
import { createGateway as openGateway } from '../gateway.ts';
import type { GatewayRequest } from '../operations/requests.ts';
import type { GatewayResponse } from '../operations/responses.ts';
import { graphqlRoute } from './graphql-route.ts';
import { createOutgoing, waitingBounds } from './outgoing.ts';
import { isRequestId, requestIdOf } from './request-ids.ts';

export type { OperationEvent } from '../operations/events.ts';
export type { Attempt } from '../upstream/call.ts';
export type { GatewayRequest, GatewayResponse, SettingName };
export { ConfigError };

export interface GatewayOptions {
  /**
   * Settings by the names that they have in the environment, which is not read: `COUNTRY_DATA_URL` has to be among them.
   * Those of the program around it (where it listens, its processes, its log, GraphiQL, and how it ends) do nothing here.
   */
  readonly settings: Readonly<Partial<Record<SettingName, string>>>;
  /** Called with each operation once it has been answered. */
  readonly onOperation?: Parameters<typeof openGateway>[0]['observer']['operation'];
  /** Called with each request to the service. */
  readonly onAttempt?: Parameters<typeof openGateway>[0]['observer']['attempt'];
  /** Called with faults of the gateway and troubles of its cache. What it is given may hold headers of a request. */
  readonly onProblem: (error: unknown, where: string, requestId?: string) => void;
}

export interface CountryGraph {
  /** The subgraph SDL. */
  readonly sdl: string;
  /** `/graphql` with all of its forms and refusals, for a Fastify server of your own. */
  readonly plugin: FastifyPluginAsync;
  /**
   * Answers one request of GraphQL over HTTP, whose body has been read and parsed. How long and how deeply nested that may
   * be is for the caller to bound. Never throws for a client's fault.
   */
  handle(request: GatewayRequest): Promise<GatewayResponse>;
  /** Waits for operations in flight, then closes connections. */
  stop(): Promise<void>;
}

/**
 * The gateway without a program around it. It shares nothing with others of the same process. No schema and no document
 * goes in or comes out but as text: it has a `graphql` of its own, of generation 16, and a project may have any other beside it, or none.
 * @throws ConfigError naming every setting that is wrong or unknown
 */
export async function createGateway({
  settings,
  onOperation = () => {},
  onAttempt = () => {},
  onProblem,
}: GatewayOptions): Promise<CountryGraph> {
  const known = new Set<string>(settingNames);
  const unknown = Object.keys(settings).filter((name) => !known.has(name));
  if (unknown.length > 0) throw new ConfigError(`There is no setting ${unknown.join(', ')}.`);
  const config = readConfig(settings);
  const { countryDataUrl: upstreamUrl } = config;
  if (upstreamUrl === undefined)
    throw new ConfigError('COUNTRY_DATA_URL: must be given, since the library has no sandbox of its own.');
  const gateway = await openGateway({
    config,
    upstreamUrl,
    observer: { operation: onOperation, attempt: onAttempt, problem: onProblem },
  });

  return {
    sdl: gateway.sdl,
    async plugin(app) {
      app.addHook('onRoute', (route) => {
        route.bodyLimit ??= config.maxBodyBytes;
      });
      app.addHook('onRequest', (request, reply, done) => {
        // How the server around it names requests is its own matter, but the name stands in answers as it is.
        if (!isRequestId(request.id)) request.id = requestIdOf(request);
        reply.header('x-request-id', request.id);
        done();
      });
      // In a scope of its own, since the prefix of a plugin holds for what is registered in it.
      await app.register(graphqlRoute, {
        gateway,
        hasGraphiql: false,
        isDraining: () => false,
        isClosing: () => false,
        outgoing: createOutgoing({ ...waitingBounds(config), onCut() {} }),
        isSubgraph: config.subgraph,
        onTransport() {},
        problem: (error, requestId) => onProblem(error, 'server', requestId),
      });
    },
    handle: async (request) => gateway.handle(request),
    stop: gateway.stop,
  };
}
