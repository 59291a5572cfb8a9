import {
  ApolloServer,
  type ApolloServerOptionsWithGateway,
  type ApolloServerPlugin,
  HeaderMap,
} from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled';
import {
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
} from 'graphql';
import { formatError } from '../graph/error-formatting.ts';
import { limitRules, type OperationLimits } from '../graph/limits.ts';
import { noSdl, withoutSuggestion } from './closed-schema.ts';
import type { PersistedTexts } from './persisted.ts';
import type { Explanation, ValidOperation } from './prepared.ts';
import { PREFLIGHTED_HEADERS } from './requests.ts';

/** A response that Apollo Server is about to send. */
export interface Sent {
  readonly status: number | undefined;
  readonly data: Readonly<Record<string, unknown>> | null | undefined;
  readonly errors: readonly GraphQLFormattedError[];
  readonly operation: OperationDefinitionNode | null;
  /** True if the request had the text of an operation. */
  readonly hadOperation: boolean;
}

/** The work on an operation beside reading and validating it. */
export interface OperationHooks<Context> {
  /**
   * Checks an operation that was found valid, before it is executed.
   * @returns the answer in place of its execution; null if it is to be executed
   * @throws GraphQLError that says why the operation is refused
   */
  check(operation: ValidOperation, context: Context): Promise<Explanation | null>;
  /** Executes an operation. There is none if the request names one that isn't in its document. */
  execute(operation: ExecutionArgs, context: Context): Promise<ExecutionResult>;
  /** Completes a response, and returns the status that it is sent with, if another than Apollo's. */
  complete(
    sent: Sent,
    context: Context,
  ): { readonly status: number | undefined; readonly extensions: Record<string, unknown> };
}

export interface ApolloParts<Context> {
  readonly schema: GraphQLSchema;
  readonly config: OperationLimits & { readonly introspection: boolean };
  readonly hooks: OperationHooks<Context>;
  readonly persisted: PersistedTexts;
  /** Called with a fault of ours, and the request that met it, if that is known. */
  readonly onFault: (fault: unknown, where: string, requestId?: string) => void;
  readonly requestIdOf?: (context: Context) => string | undefined;
}

/**
 * Opens Apollo Server. It reads GraphQL over HTTP in all its forms, parses and validates, and words the faults of a
 * request.
 */
export async function createApollo<Context extends object>({
  schema,
  config,
  hooks,
  persisted,
  onFault,
  requestIdOf = () => undefined,
}: ApolloParts<Context>): Promise<ApolloServer<Context>> {
  /** Contexts by errors that are about to be worded: a fault of ours is logged with the request that met it. */
  const contexts = new WeakMap<object, Context>();
  const apollo = new ApolloServer<Context>({
    gateway: executorSeam(schema, hooks),
    introspection: config.introspection,
    hideSchemaDetailsFromClientErrors: !config.introspection,
    includeStacktraceInErrorResponses: false,
    csrfPrevention: { requestHeaders: [...PREFLIGHTED_HEADERS] },
    persistedQueries: {
      cache: {
        get: async (key) => persisted.get(hashIn(key)),
        set: async (key, text) => persisted.set(hashIn(key), text),
        delete: async () => false,
      },
    },
    // The gateway keeps operations that run again and again in a form of its own.
    documentStore: null,
    stopOnTerminationSignals: false,
    parseOptions: { maxTokens: config.maxTokens },
    validationRules: [...limitRules(config), ...(config.introspection ? [] : [noSdl])],
    formatError(formatted, error) {
      const told = formatError(formatted, error, (fault) => {
        const context = contexts.get(error as object);
        onFault(fault, 'operation', context && requestIdOf(context));
      });
      return config.introspection ? told : { ...told, message: withoutSuggestion(told.message) };
    },
    logger: { debug() {}, info() {}, warn() {}, error: (message) => onFault(message, 'apollo') },
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      // It would wrap every resolver of the schema for good, at the first request with a header that anyone can send.
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      hooksPlugin(hooks, contexts),
    ],
  });
  await apollo.start();
  return apollo;
}

/** Takes the hash out of a key: Apollo puts a word before it. */
function hashIn(key: string): string {
  return key.slice(key.indexOf(':') + 1);
}

/**
 * Leaves execution to the gateway by a seam of Apollo Server's own, which it has for gateways that hand operations on
 * to other servers.
 */
function executorSeam<Context extends object>(
  schema: GraphQLSchema,
  { execute }: Pick<OperationHooks<Context>, 'execute'>,
): ApolloServerOptionsWithGateway<Context>['gateway'] {
  return {
    onSchemaLoadOrUpdate(callback) {
      callback({ apiSchema: schema, coreSupergraphSdl: '' });
      return () => {};
    },
    load: async () => ({
      executor: ({ document, request: { operationName, variables }, context }) =>
        execute(
          { schema, document, operationName, variableValues: variables },
          // Apollo hands on the context that it was given.
          context as Context,
        ),
    }),
    async stop() {},
  };
}

function hooksPlugin<Context extends object>(
  hooks: OperationHooks<Context>,
  contexts: WeakMap<object, Context>,
): ApolloServerPlugin<Context> {
  return {
    async requestDidStart({ contextValue }) {
      let explained: Explanation | null = null;
      return {
        async didResolveOperation({ source = '', document, operation, request }) {
          // There is none if the request names an operation that isn't in its document, although the types say
          // otherwise.
          if (operation === undefined) return;
          const { operationName, variables = {} } = request;
          const valid = { text: source, operationName, document, operation, variables };
          explained = await hooks.check(valid, contextValue);
        },
        async didEncounterErrors({ errors }) {
          for (const error of errors) contexts.set(error, contextValue);
        },
        async responseForOperation() {
          if (explained === null) return null;
          const { errors, extensions } = explained;
          return {
            http: { status: 200, headers: new HeaderMap() },
            body: {
              kind: 'single',
              singleResult: { data: null, ...(errors.length > 0 ? { errors } : {}), extensions },
            },
          };
        },
        async willSendResponse({ response, request, document, operationName }) {
          if (response.body.kind !== 'single') return;
          const { singleResult } = response.body;
          const { status, extensions } = hooks.complete(
            {
              status: response.http.status,
              data: singleResult.data,
              errors: singleResult.errors ?? [],
              operation: document === undefined ? null : (getOperationAST(document, operationName) ?? null),
              hadOperation: request.query !== undefined,
            },
            contextValue,
          );
          singleResult.extensions = { ...singleResult.extensions, ...extensions };
          if (status !== undefined) response.http.status = status;
        },
      };
    },
  };
}
