import type { FastifyPluginAsync } from 'fastify';
import { ConfigError, readConfig, type SettingName, settingNames } from '../config.ts';
import { createGateway as openGateway } from '../gateway.ts';
import { waitingBounds } from '../memory-budget.ts';
import type { GatewayRequest, GatewayResponse } from '../operations/messages.ts';
import { graphqlRoute } from './graphql-route.ts';
import { createOutgoing, requestIdOf } from './http.ts';

export type { OperationEvent } from '../operations/run.ts';
export type { Attempt } from '../service/call.ts';
export type { GatewayRequest, GatewayResponse, SettingName };
export { ConfigError };

export interface GatewayOptions {
  /**
   * Settings by the names that they have in the environment, which is not read: `COUNTRY_DATA_URL` has to be among
   * them. The settings of the program around it (its address, its processes, its log, GraphiQL, and its end) do nothing
   * here.
   */
  readonly settings: Readonly<Partial<Record<SettingName, string>>>;
  /** Called with each operation once it has been answered. */
  readonly onOperation?: Parameters<typeof openGateway>[0]['observer']['operation'];
  /** Called with each request to the service. */
  readonly onAttempt?: Parameters<typeof openGateway>[0]['observer']['attempt'];
  /** Called with faults of the gateway and troubles of its cache. The error may hold headers of a request. */
  readonly onProblem: (error: unknown, where: string, requestId?: string) => void;
}

export interface CountryGraph {
  /** The subgraph SDL. */
  readonly sdl: string;
  /** A plugin for a Fastify server of your own: `/graphql` with all of its forms and refusals. */
  readonly plugin: FastifyPluginAsync;
  /**
   * Answers one request of GraphQL over HTTP, whose body has been read and parsed. The caller bounds its length and its
   * nesting. Never throws for a client's fault.
   */
  handle(request: GatewayRequest): Promise<GatewayResponse>;
  /** Waits for operations in flight, then closes connections. */
  stop(): Promise<void>;
}

/**
 * Opens the gateway without a program around it. It shares nothing with others of the same process. Schemas and
 * documents go in and come out only as text: it has a `graphql` of its own, of generation 16, and a project may have
 * any other beside it, or none.
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
        // The server around it names requests as it likes, but the name stands in answers as it is.
        request.id = requestIdOf(request, request.id);
        reply.header('x-request-id', request.id);
        done();
      });
      // The scope is its own, since the prefix of a plugin holds for all routes that are registered in it.
      await app.register(graphqlRoute, {
        gateway,
        hasGraphiql: false,
        course: { isClosing: false, isDraining: false },
        outgoing: createOutgoing(waitingBounds(config), () => {}),
        isSubgraph: config.subgraph,
        onTransport() {},
        problem: (error, requestId) => onProblem(error, 'server', requestId),
      });
    },
    handle: async (request) => gateway.handle(request),
    stop: gateway.stop,
  };
}
