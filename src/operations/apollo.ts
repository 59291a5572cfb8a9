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
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  type OperationDefinitionNode,
  type ValidationRule,
} from 'graphql';
import { yieldToEventLoop } from '../async/turns.ts';
import type { Config } from '../config.ts';
import { errorBody, Failure, type FailureCode } from '../errors.ts';
import { conditionsOf, fragmentsIn } from '../execution/plan.ts';
import type { GraphContext } from '../graph/context.ts';
import { formatError } from '../graph/errors.ts';
import { limitRules, listRefusal, type OperationLimits } from '../graph/limits.ts';
import { leadsToFigures, type SelectionScope } from '../graph/selection.ts';
import { TOO_DEEP } from '../nesting.ts';
import { boundOf, type ListSizes } from '../price/bound.ts';
import {
  type Explanation,
  mayReadSchema,
  type PlannedOperation,
  readsSchemaAlone,
  type ValidOperation,
} from './documents.ts';
import { type PreparedParts, preparedFor, wholeRefused } from './execution.ts';
import {
  bringsUnlisted,
  forApollo,
  hasText,
  isDeepRequest,
  type PersistedTexts,
  PREFLIGHTED_HEADERS,
  unlisted,
} from './requests.ts';
import {
  entityTag,
  type GatewayResponse,
  isModern,
  mayAccept,
  statusOf,
  tagged,
  toldErrors,
  writeBody,
} from './responses.ts';
import { extensionsOf, type HandleRun, type OperationRun, type PlainRequests, setRunHeaders } from './run.ts';

/**
 * Refuses `_service`, which tells routers the SDL, and so all of the schema. If the schema is closed, Apollo Server's
 * own rule refuses `__schema` and `__type` alone.
 */
const noSdl: ValidationRule = (context) => ({
  Field(node) {
    if (node.name.value !== '_service' || context.getParentType() !== context.getSchema().getQueryType())
      return;
    context.reportError(
      new GraphQLError('The schema of this gateway is closed, so it does not answer `_service`.', {
        nodes: node,
        extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
      }),
    );
  },
});

/**
 * Takes suggestions out of errors of variables, which would name values of enums. Apollo Server does so to errors of
 * validation alone.
 */
function withoutSuggestion(message: string): string {
  return message.startsWith('Variable "$') ? message.replace(/ ?Did you mean (.+?)\?$/, '') : message;
}

/** A response that Apollo Server is about to send. */
interface Sent {
  readonly status: number | undefined;
  readonly data: Readonly<Record<string, unknown>> | null | undefined;
  readonly errors: readonly GraphQLFormattedError[];
  readonly operation: OperationDefinitionNode | null;
  /** True if the request had the text of an operation. */
  readonly hadOperation: boolean;
}

/** The work on an operation beside reading and validating it. */
interface OperationHooks<Context> {
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

interface ApolloParts<Context> {
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

interface ByApolloParts extends PreparedParts, Pick<ApolloParts<object>, 'persisted' | 'onFault'> {
  readonly schema: GraphQLSchema;
  readonly config: Config;
  readonly plainRequests: PlainRequests;
  /** Tells the sizes that the service's own lists have shown. */
  readonly listed: () => ListSizes;
}

interface ApolloContext extends GraphContext {
  readonly run: OperationRun;
  /** Apollo Server clones the context, but not the objects in it. */
  readonly passed: Passed;
}

/** The marks of one request on its way through Apollo Server. */
interface Passed {
  /** The operation, with its plan; null if graphql-js has to execute it, or nobody. */
  planned: PlannedOperation | null;
  /** The answer's data, if no plan has written it. */
  data: unknown;
}

const NOT_ACCEPTABLE = { extensions: { code: 'BAD_REQUEST' } };

/** Words the refusal of a subscription, and names the way to subscribe. */
function subscribedByPost({ subscriptions }: Pick<Config, 'subscriptions'>): GraphQLError {
  const message = subscriptions
    ? 'A subscription takes a connection of its own: accept text/event-stream, here or at /graphql/stream (graphql-sse), or subscribe at /graphql over WebSocket (graphql-transport-ws).'
    : 'This gateway offers no subscriptions (SUBSCRIPTIONS=off). Ask by a query, again and again: what has not changed is held.';
  return new GraphQLError(message, { extensions: { code: 'BAD_REQUEST', http: { status: 400 } } });
}

/** Opens the last stage: Apollo Server reads, validates and answers a request. */
export async function byApollo(
  parts: ByApolloParts,
): Promise<{ readonly handle: HandleRun; stop(): Promise<void> }> {
  const { schema, config, persisted, onFault, keeping, plainRequests, execution } = parts;
  const apollo = await createApollo<ApolloContext>({
    schema,
    config,
    persisted,
    onFault,
    hooks: hooksOf(parts),
    requestIdOf: ({ run }) => run.requestId,
  });

  const handle: HandleRun = async ({ request, plain }, run) => {
    if (isDeepRequest(request)) return refused({ code: 'BAD_REQUEST', message: TOO_DEEP }, 400, run, parts);
    if (bringsUnlisted(request, persisted))
      return refused(unlisted(), isModern(run.accepts) ? 403 : 200, run, parts);
    const { method, headers: given, search, body: content } = forApollo(request);
    const passed: Passed = { planned: null, data: null };
    const {
      status = 200,
      headers,
      body,
    } = await apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: { method, headers: new HeaderMap(Object.entries(given)), search, body: content },
      context: async () => ({ ...run.context, isByGraphqlJs: true, run, passed }),
    });
    // An answer that the client can't take is not sent, though it may have been made.
    if (status === 406) run.errors = null;
    const tooLong = body.kind === 'complete' ? execution.tooLong([body.string]) : null;
    if (tooLong !== null) run.errors = [tooLong];
    setRunHeaders(headers, status, run, parts);
    if (body.kind !== 'complete') return { status, headers, body: body.asyncIterator };
    const { planned } = passed;
    const { written } = run;
    // An answer that a plan has written is sent as it is: Apollo would write it in one go, however long it is.
    const byApollo =
      tooLong === null
        ? worded(body.string, run)
        : writeBody(['null'], toldErrors([tooLong], run.requestId), extensionsOf(run));
    const text = written !== null && run.errors !== null ? written.body : byApollo;
    const response = { status, headers, body: text };
    if (run.errors === null) return response;
    const isAnswered = status === 200 && run.errors.length === 0;
    if (planned !== null || (run.isOfSchema && isAnswered))
      plainRequests.learn(run.accepts, headers.get('content-type') ?? '');
    if (plain !== null && run.isOfSchema && isAnswered) keeping.keepOfSchema(plain.params, text, run);
    // An operation that has come only once is not kept, and neither is its answer.
    else if (plain !== null && written !== null && preparedFor(plain.params, run, parts) !== undefined)
      keeping.keep(plain.params, written, run);
    return tagged(request, !hasText(request), response, run.errors, () =>
      entityTag(written?.data ?? [JSON.stringify(passed.data)]),
    );
  };
  return { handle, stop: () => apollo.stop() };
}

/** Builds the hooks for operations that Apollo Server has found valid. */
function hooksOf(parts: ByApolloParts): OperationHooks<ApolloContext> {
  const { schema, config, operations, proven, execution, listed } = parts;
  return {
    async check(valid, { run, passed }) {
      const { text, operationName, document, operation, variables } = valid;
      if (operation.operation === 'subscription') throw subscribedByPost(config);
      const tooLong = listRefusal(operation, variables, config.maxListItems);
      if (tooLong !== null) throw tooLong;
      const scope = scopeOf(schema, document, operation, variables);
      // If the variables don't fit, execution says so.
      if (scope === null) return null;
      const nullCondition = mayReadSchema(text) ? nullConditionIn(document, scope.variableValues) : null;
      if (nullCondition !== null) throw nullCondition;
      run.isOfSchema = readsSchemaAlone(operation);
      if (!mayAccept(run.accepts))
        throw new GraphQLError('The client takes no answer of ours.', NOT_ACCEPTABLE);
      const { variableValues } = scope;
      const { caller } = run.context;
      // Parsing and validating take one slice, planning and pricing another, and the beginning a third: the first time,
      // each takes tens of milliseconds. The first turn may be one of the same iteration of the event loop, ahead of
      // its timers.
      await yieldToEventLoop(caller);
      await yieldToEventLoop(caller);
      if (run.isExplained) return execution.explain(valid, variableValues, run);
      const planned = operations
        .prepare(text, operationName, document, operation, proven.has(caller.keyDigest))
        .with(variables);
      const bound = planned?.bound ?? boundOf(schema, operation, scope, listed());
      const refusal = await execution.refusalOf(valid, variableValues, bound, planned?.plan ?? null, run);
      if (refusal !== null) throw refusal;
      await yieldToEventLoop(caller);
      passed.planned = planned;
      const root = schema.getRootType(operation.operation);
      if (planned === null && root) {
        if (leadsToFigures(root, operation.selectionSet, scope)) run.participant.expect();
        else run.participant.forgo();
      }
      return null;
    },
    async execute(operation, context) {
      const { planned } = context.passed;
      if (planned === null) {
        const result = await execute({ ...operation, contextValue: context });
        const { refusal } = context.effort;
        return refusal === null ? result : { data: null, errors: [wholeRefused(refusal)] };
      }
      await execution.answer(planned, context.run);
      return { data: null };
    },
    complete({ operation, errors, data, status, hadOperation }, { run, passed }) {
      if (run.written !== null) return { status: run.written.status, extensions: {} };
      passed.data = data;
      execution.finish(run, operation, errors);
      return {
        status: statusOf({ accepts: run.accepts, errors, data: () => data, operation, hadOperation }, status),
        extensions: { ...extensionsOf(run) },
      };
    },
  };
}

/**
 * Refuses an operation with a condition that is null if it may read the schema. graphql-js runs such operations and
 * reads the schema in one go, however long that takes. Each field with the condition would be an error there.
 */
function nullConditionIn(
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
): GraphQLError | null {
  const name = conditionsOf(document).find((condition) => variables[condition] === null);
  if (name === undefined) return null;
  const message = `Variable "$${name}" stands in a condition (@skip, @include), and may not be null.`;
  return new GraphQLError(message, {
    originalError: new Failure('BAD_USER_INPUT', message),
    extensions: { http: { status: 400 } },
  });
}

/**
 * Bounds the words of Apollo's answer. A request that was refused before it was an operation has cost nothing, and says
 * so like any other.
 */
function worded(body: string, { errors, bill, requestId }: OperationRun): string {
  const isRefused = errors === null && body.startsWith('{');
  if (!isRefused && !body.startsWith('{"errors"')) return body;
  const said: { errors?: GraphQLFormattedError[]; extensions?: unknown } = JSON.parse(body);
  return JSON.stringify({
    ...said,
    ...(said.errors ? { errors: toldErrors(said.errors, requestId) } : {}),
    ...(isRefused ? { extensions: { upstream: bill } } : {}),
  });
}

/** Refuses a request without looking into it. */
function refused(
  { message, code }: { readonly message: string; readonly code: FailureCode | 'BAD_REQUEST' },
  status: number,
  run: OperationRun,
  clocks: Pick<ByApolloParts, 'now' | 'steadyNow'>,
): GatewayResponse {
  const { accepts, bill, requestId } = run;
  const type = isModern(accepts) ? 'graphql-response+json' : 'json';
  const headers = new Map([['content-type', `application/${type}; charset=utf-8`]]);
  setRunHeaders(headers, status, run, clocks);
  return {
    status,
    headers,
    body: errorBody(code, message, { requestId }, { extensions: { upstream: bill } }),
  };
}

/** Collects the data for a look at an operation's selections; null if its variables don't fit. */
function scopeOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): SelectionScope | null {
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  return coerced === undefined ? null : { schema, fragments: fragmentsIn(document), variableValues: coerced };
}
