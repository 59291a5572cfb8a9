import { ApolloServer, type ApolloServerPlugin, HeaderMap } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled';
import {
  type DocumentNode,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
} from 'graphql';
import { formatError } from '../graph/error-formatting.ts';
import { limitRules, type OperationLimits } from '../graph/limits.ts';
import type { PersistedTexts } from './persisted.ts';

/** An operation that Apollo Server has found valid. */
export interface Admitted {
  readonly text: string;
  readonly operationName: string | undefined;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** A response that Apollo Server is about to send. */
export interface Sent {
  readonly status: number | undefined;
  readonly data: Readonly<Record<string, unknown>> | null | undefined;
  readonly errors: readonly GraphQLFormattedError[];
  readonly operation: OperationDefinitionNode | null;
  /** Whether the request had the text of an operation at all. */
  readonly hadOperation: boolean;
}

/** What happens to an operation beside reading and validating it. */
export interface Course<Context> {
  /**
   * Answers an operation that was found valid, before it is executed. `execute` leaves it to graphql-js; `done` says that
   * the answer stands elsewhere.
   * @throws GraphQLError why the operation is refused
   */
  answer(admitted: Admitted, context: Context): Promise<'execute' | 'done' | Explained>;
  /** Completes a response, and says which status it is sent with, if another than Apollo's. */
  complete(
    sent: Sent,
    context: Context,
  ): { readonly status: number | undefined; readonly extensions: Record<string, unknown> };
}

/** The plan of an operation, in place of its answer. */
export interface Explained {
  readonly errors: readonly GraphQLFormattedError[];
  readonly extensions: Record<string, unknown>;
}

export interface ApolloParts<Context> {
  readonly schema: GraphQLSchema;
  readonly config: OperationLimits & { readonly introspection: boolean };
  readonly course: Course<Context>;
  readonly persisted: PersistedTexts;
  /** Hears of faults of ours. */
  readonly onFault: (fault: unknown, where: string) => void;
}

/**
 * Apollo Server: reads GraphQL over HTTP in all its forms, parses and validates, and words what is wrong with a request.
 */
export async function createApollo<Context extends object>({
  schema,
  config,
  course,
  persisted,
  onFault,
}: ApolloParts<Context>): Promise<ApolloServer<Context>> {
  const apollo = new ApolloServer<Context>({
    schema,
    introspection: config.introspection,
    hideSchemaDetailsFromClientErrors: !config.introspection,
    includeStacktraceInErrorResponses: false,
    persistedQueries: {
      cache: {
        get: async (key) => persisted.get(hashIn(key)),
        set: async (key, text) => persisted.set(hashIn(key), text),
        delete: async () => false,
      },
    },
    // What is run again and again is kept in a form of ours.
    documentStore: null,
    stopOnTerminationSignals: false,
    parseOptions: { maxTokens: config.maxTokens },
    validationRules: limitRules(config),
    formatError: (formatted, error) => formatError(formatted, error, (fault) => onFault(fault, 'operation')),
    logger: { debug() {}, info() {}, warn() {}, error: (message) => onFault(message, 'apollo') },
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      coursePlugin(course),
    ],
  });
  await apollo.start();
  return apollo;
}

/** Apollo puts a word before the hash. */
function hashIn(key: string): string {
  return key.slice(key.indexOf(':') + 1);
}

function coursePlugin<Context extends object>(course: Course<Context>): ApolloServerPlugin<Context> {
  return {
    async requestDidStart({ contextValue }) {
      let answered: 'execute' | 'done' | Explained = 'execute';
      return {
        async didResolveOperation({ source = '', document, operation, request }) {
          // Where the request names an operation that isn't there, there is none, whatever the types say.
          if (operation === undefined) return;
          const { operationName, variables = {} } = request;
          const admitted = { text: source, operationName, document, operation, variables };
          answered = await course.answer(admitted, contextValue);
        },
        async responseForOperation() {
          if (answered === 'execute') return null;
          const { errors, extensions } = answered === 'done' ? { errors: [], extensions: {} } : answered;
          return {
            http: { status: 200, headers: new HeaderMap() },
            body: {
              kind: 'single',
              singleResult: { data: null, ...(errors.length > 0 ? { errors } : {}), extensions },
            },
          };
        },
        async willSendResponse({ response, request, document, operationName }) {
          if (response.body.kind !== 'single' || answered === 'done') return;
          const { singleResult } = response.body;
          const { status, extensions } = course.complete(
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
