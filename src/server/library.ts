import type { FastifyPluginAsync } from 'fastify';
import { ConfigError, readConfig, type SettingName, settingNamesOf } from '../config/config.ts';
import { waitingBounds } from '../config/memory-budget.ts';
import { createGateway as openGateway } from '../gateway/gateway.ts';
import { type GatewayRequest, methodAnswered } from '../graphql/request/requests.ts';
import type { GatewayResponse } from '../graphql/request/responses.ts';
import type { PluginDefinition } from '../plugin/definition.ts';
import { libraryPlugins, plugins as shipped } from '../plugins.ts';
import { graphqlRoute } from './graphql-route.ts';
import { type AnswerSending, createOutgoing, markAnswers, requestIdOf, unlessLeft } from './http.ts';
import { routeHost } from './route-host.ts';

export type { OperationEvent } from '../graphql/request/operation-events.ts';
export type { Attempt } from '../service/attempt.ts';
export type { GatewayRequest, GatewayResponse, PluginDefinition, SettingName };
export { ConfigError, libraryPlugins };

/** One request of GraphQL over HTTP, its body parsed. */
export interface HandledRequest extends Omit<GatewayRequest, 'signal'> {
  /** Aborts when the client leaves; left out, the operation runs to its end. */
  readonly signal?: AbortSignal | undefined;
}

export interface GatewayOptions {
  /**
   * Settings by their names in the environment, which is not read: `COUNTRY_DATA_URL` has to be among them. Those of
   * the program around the gateway (its address, processes, log, GraphiQL, and end) do nothing here.
   */
  readonly settings: Readonly<Partial<Record<SettingName | (string & {}), string>>>;
  /** Plugins, the outermost first; left out for {@link libraryPlugins}. `docs/plugins.md` says how to write one. */
  readonly plugins?: readonly PluginDefinition[];
  /** Called with each operation once it has been answered. */
  readonly onOperation?: Parameters<typeof openGateway>[0]['observer']['operation'];
  /** Called with each request to the service. */
  readonly onAttempt?: Parameters<typeof openGateway>[0]['observer']['attempt'];
  /** Called with internal errors of the gateway and troubles of its cache. The error may hold headers of a request. */
  readonly onProblem: (error: unknown, where: string, requestId?: string) => void;
}

export interface CountryGraph {
  readonly sdl: string;
  /** A plugin for a Fastify server of your own: `/graphql` with all of its forms and refusals. */
  readonly plugin: FastifyPluginAsync;
  /**
   * Answers one request of GraphQL over HTTP, whose body has been read and parsed. The caller bounds its length and its
   * nesting. Never throws for an error of the client. A request without a `requestId` is named by its `x-request-id`,
   * or anew.
   */
  handle(request: HandledRequest): Promise<GatewayResponse>;
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
  plugins = libraryPlugins,
  onOperation = () => {},
  onAttempt = () => {},
  onProblem,
}: GatewayOptions): Promise<CountryGraph> {
  const settingNames = new Set(settingNamesOf([...shipped, ...plugins]));
  const unknown = Object.keys(settings).filter((name) => !settingNames.has(name));
  if (unknown.length > 0) throw new ConfigError(`There is no setting ${unknown.join(', ')}.`);
  const config = readConfig(settings, plugins);
  const { countryDataUrl: upstreamUrl } = config;
  if (upstreamUrl === undefined)
    throw new ConfigError('COUNTRY_DATA_URL: must be given, since the library has no sandbox of its own.');
  const gateway = await openGateway({
    config,
    plugins,
    upstreamUrl,
    observer: { operation: onOperation, attempt: onAttempt, problem: onProblem },
  });

  const problem = unlessLeft((error, requestId) => onProblem(error, 'server', requestId));
  const sending: AnswerSending = {
    course: { isClosing: false, isDraining: false },
    outgoing: createOutgoing(waitingBounds(config), () => {}),
    problem,
  };

  return {
    sdl: gateway.sdl,
    async plugin(app) {
      app.addHook('onRoute', (route) => {
        route.bodyLimit ??= config.maxBodyBytes;
      });
      app.addHook('onRequest', (request, _reply, done) => {
        // The host names requests as it likes, but the name is sent in answers.
        request.id = requestIdOf(request, request.id);
        done();
      });
      markAnswers(app);
      // In a scope of its own, since the prefix of a plugin holds for all routes that are registered in it.
      const graphql = { ...sending, gateway, isSubgraph: config.subgraph };
      await app.register(graphqlRoute, graphql);
      const host = routeHost(graphql, config, null);
      for (const http of gateway.plugins.http)
        await app.register(async (scope) => http.routes?.(scope, host));
    },
    async handle({ method, headers, search, body, signal, requestId, address }) {
      return gateway.handle({
        method: methodAnswered(method),
        headers,
        search,
        body,
        // One for each request, since listeners stay for as long as a signal lives.
        signal: signal ?? new AbortController().signal,
        requestId: requestIdOf({ headers }, requestId),
        address,
      });
    },
    stop: gateway.stop,
  };
}
